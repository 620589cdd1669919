"""Cells of a table of aggregates in Polars."""

from collections.abc import Sequence
from functools import partial, reduce
from math import prod
from typing import Any, Final

import numpy as np
import polars as pl

from reid_sql.engines.codes import rank_values
from reid_sql.engines.polars.frames import (
    aliases,
    check_columns,
    drop_nulls,
    exact_column,
    map_whole,
    null_report,
    schema,
    with_aliases,
)
from reid_sql.errors import OutOfDomainError
from reid_sql.models.tables.suppression import STATUS_WORDS, suppress_cells
from reid_sql.reductions.tables import (
    CELL_COLUMNS,
    CELL_COLUMNS_AND_MORE,
    DOMINANCE,
    FEW_PEOPLE,
    FIGURES,
    HIDING,
    MAX_ZEROS,
    NOBODY,
    ONE_CELL,
    P_PERCENT,
    REFUSAL_VALUE,
    REFUSAL_ZEROS,
    SAFE_CELLS,
    CellRules,
    check_cells,
    width_of,
)

VALUE: Final = "reid value"


def safe_cells(
    tbl: pl.LazyFrame,
    by: Sequence[str],
    nulls: str,
    k: int,
    dominance: Sequence[float],
    p_percent: float,
    totals: str,
    suppress: str,
    protection: int,
    zeros: str,
    value: str | None = None,
    entity: str | None = None,
) -> pl.LazyFrame:
    """Group the rows by the columns, then the cells by the totals, and judge each cell."""
    check_columns(CELL_COLUMNS, by, tbl)
    rules = check_cells(by, value, entity, dominance, totals)
    named = [each for each in (value, entity) if each is not None]
    check_columns(CELL_COLUMNS_AND_MORE, [*by, *named], tbl)
    types = tbl.collect_schema()
    own = pl.lit(None, dtype=pl.Float64) if value is None else exact_column(value)
    is_number = value is None or types[value].is_numeric() or types[value] in {pl.String, pl.Boolean}
    number = own.cast(pl.Float64, strict=False) if is_number else pl.lit(None, dtype=pl.Float64)
    is_bad = (own.is_not_null() & number.is_null()).alias("is_bad")
    person = [] if entity is None else [exact_column(entity).alias("entity")]
    rows, names = with_aliases(tbl, by, number.alias(VALUE), is_bad, *person), aliases(by)
    base = _base(drop_nulls(rows, names, nulls), names, rules, of_people=entity is not None)
    keys = {name: types[column] for name, column in zip(names, by, strict=True)}
    judged = partial(_answer, names=names, rules=rules, k=k, p=p_percent)
    hide = partial(_hide, names=names, suppress=suppress, width=width_of(protection, k))
    show = partial(
        _show, names=names, by=by, suppress=suppress, zeros=rules.totals if zeros == "list" else ()
    )
    listed = map_whole(base, lambda cells: show(hide(judged(cells))), keys | schema(SAFE_CELLS.columns))
    reported = null_report(rows, names, nulls, listed)
    return reported.select(
        *(pl.col(alias).alias(column) for alias, column in zip(names, by, strict=True)),
        *SAFE_CELLS.columns,
        "records_dropped",
        "nulls",
    )


def _base(rows: pl.LazyFrame, names: Sequence[str], rules: CellRules, *, of_people: bool) -> pl.LazyFrame:
    """Group the rows, by people too if there are any."""
    size = pl.col(VALUE).abs()
    records, bad = pl.len().cast(pl.Int64).alias("records"), pl.col("is_bad").any()
    total = pl.when(pl.col(VALUE).count() > 0).then(pl.col(VALUE).sum())
    if of_people:
        return rows.group_by([*names, "entity"]).agg(records, bad, total.alias(VALUE))
    return rows.group_by(names).agg(
        records,
        bad,
        total.alias("value_sum"),
        size.sum().alias("size"),
        size.drop_nulls().top_k(rules.largest).alias("largest"),
    )


def _answer(base: pl.DataFrame, names: Sequence[str], rules: CellRules, k: int, p: float) -> pl.DataFrame:
    """The listed cells with the rules that each breaks."""
    finite = base["size" if "size" in base.columns else VALUE].is_finite()
    if base["is_bad"].any() or not finite.all():
        raise OutOfDomainError(REFUSAL_VALUE)
    sets = {totalled: _cells(base, names, totalled, rules) for totalled in (*rules.totals, *rules.margins)}
    one_cell = [
        _with_margins(sets, totalled, names, [base[name].n_unique() > 1 for name in names])
        for totalled in rules.totals
    ]
    cells = pl.concat(one_cell)
    top, two = (pl.col("largest").list.head(number).list.sum() for number in (rules.contributors, 2))
    has_value = pl.col("size") > 0
    tests = {
        FEW_PEOPLE: pl.col("people") < k,
        DOMINANCE: has_value & (top > rules.share * pl.col("size")),
        P_PERCENT: has_value & (pl.col("size") - two < p * pl.col("largest").list.first()),
        ONE_CELL: pl.col("is_one_cell"),
    }
    found = [pl.when(test).then(pl.lit(rule)) for rule, test in tests.items()]
    return cells.with_columns(
        pl.when(has_value).then(top / pl.col("size")).alias("largest_share"),
        pl.concat_list(found).list.drop_nulls().alias("unsafe"),
    )


def _cells(
    base: pl.DataFrame, names: Sequence[str], totalled: Sequence[int], rules: CellRules
) -> pl.DataFrame:
    """The cells of one set of totals; a person counts once in each, with the sum of what they contribute."""
    keys = [name for place, name in enumerate(names) if place not in totalled]
    total = {name: pl.lit(None, dtype=base[name].dtype).alias(name) for name in names if name not in keys}
    most = rules.largest
    if "entity" in base.columns:
        contribution = pl.when(pl.col(VALUE).count() > 0).then(pl.col(VALUE).sum()).alias(VALUE)
        people = base.group_by([*keys, "entity"]).agg(pl.col("records").sum(), contribution)
        size = pl.col(VALUE).abs()
        figures = [
            pl.col("records").sum(),
            pl.len().cast(pl.Int64).alias("people"),
            pl.when(pl.col(VALUE).count() > 0).then(pl.col(VALUE).sum()).alias("value_sum"),
            size.sum().alias("size"),
            size.drop_nulls().top_k(most).sort(descending=True).alias("largest"),
        ]
    else:
        people = base
        largest = pl.col("largest").explode(empty_as_null=False).top_k(most).sort(descending=True)
        figures = [
            pl.col("records").sum(),
            pl.col("records").sum().alias("people"),
            pl.when(pl.col("value_sum").count() > 0).then(pl.col("value_sum").sum()).alias("value_sum"),
            pl.col("size").sum(),
            largest.alias("largest"),
        ]
    grouped = people.group_by(keys or pl.lit(0).alias("all")).agg(figures)
    return grouped.with_columns(**total, totalled=pl.lit(totalled, dtype=pl.List(pl.Int64))).select(
        *names, "totalled", "records", "people", "value_sum", "size", "largest"
    )


def _with_margins(
    sets: dict[tuple[int, ...], pl.DataFrame],
    totalled: tuple[int, ...],
    names: Sequence[str],
    has_several: Sequence[bool],
) -> pl.DataFrame:
    """Add to the cells of a set whether one of them has everybody of a margin of several categories."""
    cells, tests = sets[totalled], [pl.lit(value=False)]
    for place, name in enumerate(names):
        margin = tuple(sorted((*totalled, place)))
        if place in totalled or not has_several[place] or margin not in sets:
            continue
        keys = [other for o, other in enumerate(names) if o not in margin]
        people = sets[margin].select(*keys, pl.col("people").alias(f"{name} people"))
        joined = (
            cells.join(people, on=keys, how="left", nulls_equal=True)
            if keys
            else cells.join(people, how="cross")
        )
        cells = joined
        tests.append(pl.col("people") == pl.col(f"{name} people"))
    return cells.select(pl.col(sets[totalled].columns), pl.any_horizontal(tests).alias("is_one_cell"))


def _hide(cells: pl.DataFrame, names: Sequence[str], suppress: str, width: int) -> pl.DataFrame:
    """Number the status of each cell: 0 where it is published."""
    is_unsafe = cells.select(pl.col("unsafe").list.set_intersection(list(HIDING)).list.len() > 0).to_series()
    primary = (
        is_unsafe if suppress != "none" else pl.repeat(value=False, n=len(cells), eager=True)
    ).to_numpy()
    hidden = primary.astype(np.int64)
    if suppress == "secondary" and len(cells):
        codes = [_codes(cells, place, name) for place, name in enumerate(names)]
        counts = cells["records"].to_numpy()
        hidden = suppress_cells(np.stack(codes, axis=1), counts, primary, width).statuses
    return cells.with_columns(hidden=pl.Series(hidden))


def _show(
    cells: pl.DataFrame,
    names: Sequence[str],
    by: Sequence[str],
    suppress: str,
    zeros: Sequence[Sequence[int]],
) -> pl.DataFrame:
    """List the cells in order, with those of nobody in some sets of totals; what is hidden is NULL."""
    inner = pl.col("totalled").list.len() == 0
    is_hidden = pl.col("hidden") > 0
    lost = pl.col("records").filter(is_hidden & inner).sum() / pl.col("records").filter(inner).sum()
    loss = cells.select(lost.fill_nan(0.0).fill_null(0.0)).item() if len(cells) else 0.0
    empty = [_zeros(cells, names, totalled) for totalled in zeros if len(names) - len(totalled) > 1]
    every = pl.concat([cells, *empty], how="diagonal")
    over = pl.col("totalled").list.eval(
        pl.element().replace_strict(dict(enumerate(by)), return_dtype=pl.String)
    )
    share = pl.col("largest_share") if suppress == "none" else pl.lit(None, dtype=pl.Float64)
    bits = pl.col("totalled").list.eval(pl.lit(2) ** (len(by) - 1 - pl.element())).list.sum().fill_null(0)
    return every.sort([bits, *names], nulls_last=True).select(
        *names,
        over.alias("total_over"),
        *(pl.when(~is_hidden).then(pl.col(figure)).alias(figure) for figure in FIGURES),
        share.alias("largest_share"),
        "unsafe",
        pl.col("hidden")
        .replace_strict(dict(enumerate(STATUS_WORDS)), return_dtype=pl.String)
        .alias("status"),
        pl.lit(loss).alias("loss"),
    )


def _zeros(cells: pl.DataFrame, names: Sequence[str], totalled: Sequence[int]) -> pl.DataFrame:
    """The cells of nobody of one set of totals: all that the categories make, and no row has."""
    kept = [(place, name) for place, name in enumerate(names) if place not in totalled]
    categories = [
        cells.filter(~pl.col("totalled").list.contains(place)).select(name).unique() for place, name in kept
    ]
    if prod(map(len, categories)) > MAX_ZEROS:
        raise OutOfDomainError(REFUSAL_ZEROS)
    made = reduce(lambda one, other: one.join(other, how="cross"), categories)
    own = cells.filter(pl.col("totalled") == pl.lit(list(totalled), dtype=pl.List(pl.Int64)))
    empty = made.join(own, on=[name for _, name in kept], how="anti", nulls_equal=True)
    return empty.with_columns(
        totalled=pl.lit(list(totalled), dtype=pl.List(pl.Int64)),
        records=pl.lit(0, dtype=pl.Int64),
        people=pl.lit(0, dtype=pl.Int64),
        unsafe=pl.lit([NOBODY], dtype=pl.List(pl.String)),
        hidden=pl.lit(0, dtype=pl.Int64),
    )


def _codes(cells: pl.DataFrame, place: int, name: str) -> np.ndarray[Any, Any]:
    """The ranks of the categories of a column, NULL first, and 0 for a total."""
    is_total = cells["totalled"].list.contains(place).to_numpy()
    return np.where(is_total, 0, rank_values(cells[name]).to_numpy() + 1)
