"""Polars: the reductions as lazy frames, the functions as expressions and lazy-frame functions."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from itertools import combinations
from math import comb
from typing import Any, Final, TypeAlias

import polars as pl

from reid_sql.domains import (
    COLUMNS_AND_KEY,
    MAX_COLUMNS,
    QUASI_IDENTIFIERS,
    Checked,
    Column,
    Columns,
    Document,
    Number,
)
from reid_sql.engines.arrow import answer_columns, answer_rows, kernel
from reid_sql.engines.polars_codes import coded, matched
from reid_sql.engines.polars_copula import pairs
from reid_sql.engines.polars_disclosure import disclosed
from reid_sql.engines.polars_sets import matches
from reid_sql.engines.polars_uniqueness import IN_POPULATION
from reid_sql.function import Answer, Function
from reid_sql.models.classes.sensitive import WORDS
from reid_sql.reduction import HOW_NULLS, reductions, refuse_own_names
from reid_sql.reductions.codes import RECORD_CODES
from reid_sql.reductions.known import KEYED_COLUMNS, SCENARIO_COLUMNS
from reid_sql.reductions.subsets import refuse_subsets

Frame: TypeAlias = pl.LazyFrame | pl.DataFrame
IntoColumn: TypeAlias = str | pl.Expr

OF_SENSITIVE: Final = tuple(each for each in reductions().values() if each.room.endswith(".disclosure"))
AS_THEY_ARE: Final = 4  # columns compared as they are
TYPES: Final[dict[str, pl.DataType]] = {
    "BIGINT": pl.Int64(),
    "HUGEINT": pl.Int128(),
    "DOUBLE": pl.Float64(),
    "VARCHAR": pl.String(),
    "VARCHAR[]": pl.List(pl.String()),
    "BIGINT[]": pl.List(pl.Int64()),
    "BOOLEAN[]": pl.List(pl.Boolean()),
    "INTEGER[][]": pl.List(pl.List(pl.Int32())),
}


def row_expression(declared: Function, arguments: Sequence[Any]) -> pl.Expr:
    """Bind a row function to expressions, column names or numbers: an expression named after the function."""
    call = kernel(declared)
    names = [parameter.name for parameter in declared.parameters]
    inputs = [_expression(argument).alias(name) for name, argument in zip(names, arguments, strict=True)]

    def of_struct(struct: pl.Series) -> pl.Series:
        columns = [struct.struct.field(name).cast(pl.Float64).to_arrow() for name in names]
        return pl.Series(declared.name, call(*columns), dtype=pl.Float64)

    struct = pl.struct(inputs)
    return struct.map_batches(of_struct, return_dtype=pl.Float64, is_elementwise=True).alias(declared.name)


def _expression(argument: Any) -> pl.Expr:  # noqa: ANN401 - a name, an expression or a number
    if isinstance(argument, pl.Expr):
        return argument
    return pl.col(argument) if isinstance(argument, str) else pl.lit(argument, dtype=pl.Float64)


def class_size(columns: Sequence[IntoColumn]) -> pl.Expr:
    """Records that share this record's values: up to four columns as they are, more by two 64-bit hashes."""
    if not 1 <= len(columns) <= MAX_COLUMNS:
        QUASI_IDENTIFIERS.check([str(column) for column in columns], [])
    found = [pl.col(column) if isinstance(column, str) else column for column in columns]
    if len(found) > AS_THEY_ARE:
        key = _hash(found, seed=1).cast(pl.UInt128) * pl.lit(2**64, dtype=pl.UInt128)
        return pl.len().over(key + _hash(found[::-1], seed=2).cast(pl.UInt128)).cast(pl.Int64)
    return pl.len().over(found).cast(pl.Int64)


def _hash(columns: Sequence[pl.Expr], seed: int) -> pl.Expr:
    """Polynomial in an odd multiplier of the columns' seeded hashes, modulo 2^64."""
    multiplier = pl.lit(0x9E3779B97F4A7C15, dtype=pl.UInt64)
    return reduce(
        lambda total, column: total * multiplier + column.hash(seed), columns[1:], columns[0].hash(seed)
    )


def table_frame(
    declared: Function, frames: Sequence[Frame], columns: Sequence[str], options: dict[str, Any]
) -> pl.LazyFrame:
    """Bind a table function: reduce the frames lazily, then answer from the reduced arrays when collected."""
    _check(declared, options)
    if declared.reduction is None:
        return pl.LazyFrame(
            answer_rows(declared, {}, options), schema=_schema(declared.columns), orient="row"
        )
    lazy = [frame.lazy() for frame in frames]
    key = options.get("key") if declared.reduction.keyed else None
    for words in (
        Columns(p.domain.words) for p in declared.parameters if isinstance(p.domain, Column | Columns)
    ):
        for frame in lazy:
            known = frame.collect_schema().names()
            (words if key is None else COLUMNS_AND_KEY).check(columns, known)
            COLUMNS_AND_KEY.known([] if key is None else [str(key)], known)
    counted = {a.name: options[a.name] for a in declared.reduction.arguments if a.name in options}
    reduced = REDUCED[declared.reduction.name](*lazy, list(columns), **counted)
    if declared.answer is Answer.REDUCTION:
        return reduced
    own = {parameter.name: options[parameter.name] for parameter in declared.own_parameters}
    schema = _schema({**declared.columns, **HOW_NULLS})
    if declared.answer is Answer.RECORDS:
        record = reduced.collect_schema()["members"].inner  # type: ignore[attr-defined]
        return reduced.map_batches(_answering_each(declared, own), schema={"record": record, **schema}).sort(
            "record"
        )
    if declared.reduction.keyed:
        schema["record"] = TYPES["BIGINT"] if key is None else lazy[0].collect_schema()[str(key)]
    return reduced.map_batches(_answering(declared, own), schema=schema)


def _check(declared: Function, options: dict[str, Any]) -> None:
    """Refuse what lies outside its domain; documents become texts, whole numbers whole."""
    for parameter in declared.parameters:
        if isinstance(parameter.domain, Checked):
            parameter.domain.check(parameter.name, options[parameter.name])
        if isinstance(parameter.domain, Document):
            options[parameter.name] = parameter.domain.check(parameter.name, options[parameter.name])
        if isinstance(parameter.domain, Number) and parameter.domain.whole:
            options[parameter.name] = int(options[parameter.name])


def _schema(columns: Mapping[str, str]) -> dict[str, pl.DataType]:
    return {name: TYPES[kind] for name, kind in columns.items()}


def _answering(declared: Function, options: dict[str, Any]) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Call the body with the reduction's arrays, and put how NULLs were treated beside its answer."""
    reduction = declared.reduction

    def answer(frame: pl.DataFrame) -> pl.DataFrame:
        rows = answer_rows(declared, _arrays(declared, frame), options)
        table = pl.DataFrame(rows, schema=_schema(declared.columns), orient="row")
        if reduction and reduction.keyed:
            table = table.with_columns(frame["keys"][0].gather(table["record"]).alias("record"))
        if reduction and reduction.rowwise:
            return table.hstack(frame.select(*HOW_NULLS))
        return table.with_columns(
            pl.lit(frame[name].max(), dtype=TYPES[kind]).alias(name) for name, kind in HOW_NULLS.items()
        )

    return answer


def _answering_each(declared: Function, options: dict[str, Any]) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Call the body with the distinct records, and give its answer to every record that holds one."""

    def answer(frame: pl.DataFrame) -> pl.DataFrame:
        found = pl.DataFrame(
            answer_columns(declared, _arrays(declared, frame), options), schema=_schema(declared.columns)
        )
        each = frame.select(pl.col("members").alias("record")).hstack(found).hstack(frame.select(*HOW_NULLS))
        return each.explode("record", empty_as_null=False, keep_nulls=False)

    return answer


def _arrays(declared: Function, frame: pl.DataFrame) -> dict[str, Any]:
    """Columns of the reduction as the body takes them: numbers as an array, lists of them as a matrix, else a list."""
    reduction = declared.reduction
    series = {name: frame[name] for name in reduction.inputs} if reduction else {}
    if reduction and reduction.whole:
        series = {name: values[0] for name, values in series.items()}
    return {name: _array(values) for name, values in series.items()}


def _array(values: pl.Series) -> Any:  # noqa: ANN401 - see above
    if values.dtype in {pl.List(pl.Int32), pl.List(pl.Int64)} and len(values):
        return values.explode(empty_as_null=False).to_numpy().reshape(len(values), -1)
    return values.to_numpy() if values.dtype in {pl.Int64, pl.Float64} else values.to_list()


def _kept(frame: pl.LazyFrame, columns: list[str], nulls: str) -> pl.LazyFrame:
    rows = frame.select(columns)
    return rows.drop_nulls() if nulls == "drop" else rows


def _how_nulls(frame: pl.LazyFrame, reduced: pl.LazyFrame, columns: list[str], nulls: str) -> pl.LazyFrame:
    """Put beside each row how many records were dropped and how NULLs were treated."""
    if nulls == "drop":
        dropped = frame.select(
            pl.any_horizontal(pl.col(columns).is_null()).sum().cast(pl.Int64).alias("records_dropped")
        )
        reduced = reduced.join(dropped, how="cross")
    else:
        reduced = reduced.with_columns(pl.lit(0, dtype=pl.Int64).alias("records_dropped"))
    return reduced.with_columns(pl.lit(nulls).alias("nulls"))


def _counted(frame: pl.LazyFrame, columns: list[str], nulls: str, count: str) -> pl.LazyFrame:
    return _kept(frame, columns, nulls).group_by(columns).agg(pl.len().cast(pl.Int64).alias(count))


def _numbered(frame: pl.LazyFrame, columns: list[str]) -> tuple[pl.LazyFrame, list[str]]:
    """Give the columns names of our own, so that none can meet one of the counts'."""
    names = [f"q{place}" for place in range(1, len(columns) + 1)]
    return frame.select(
        pl.col(column).alias(name) for column, name in zip(columns, names, strict=True)
    ), names


def _classes(frame: pl.LazyFrame, columns: list[str], nulls: str) -> pl.LazyFrame:
    refuse_own_names(columns)
    counted = _counted(frame, columns, nulls, "records")
    if nulls == "wildcard":
        counted = matched(counted, counted, columns, "class_size")
    else:
        counted = counted.with_columns(pl.col("records").alias("class_size"))
    return _how_nulls(frame, counted.select(*columns, "class_size", "records"), columns, nulls)


def _sizes(frame: pl.LazyFrame, columns: list[str], nulls: str) -> pl.LazyFrame:
    numbered, names = _numbered(frame, columns)
    counted = _counted(numbered, names, nulls, "records")
    if nulls == "wildcard":
        return matched(counted, counted, names, "class_size").select("class_size", "records")
    return counted.select(pl.col("records").alias("class_size"), "records")


def _histogram(frame: pl.LazyFrame, columns: list[str], nulls: str) -> pl.LazyFrame:
    counts = pl.len().cast(pl.Int64).alias("classes"), pl.col("records").sum()
    reduced = _sizes(frame, columns, nulls).group_by("class_size").agg(*counts)
    return _how_nulls(frame, reduced, columns, nulls).sort("class_size")


def _population_histogram(
    frame: pl.LazyFrame, population: pl.LazyFrame, columns: list[str], nulls: str
) -> pl.LazyFrame:
    numbered, names = _numbered(frame, columns)
    own = _counted(numbered, names, nulls, "records")
    other = _counted(_numbered(population, columns)[0], names, nulls, "records")
    if nulls == "wildcard":
        own = matched(own, own, names, "own")
        found = matched(own, other.with_columns(pl.lit(0, dtype=pl.Int64).alias("own")), [*names], "found")
    else:
        joined = own.join(other.rename({"records": "found"}), on=names, how="left", nulls_equal=True)
        found = joined.with_columns(pl.col("found").fill_null(0), pl.col("records").alias("own"))
    uncovered = pl.col("records").filter(pl.col("found") < pl.col("own")).sum().alias("uncovered")
    sized = found.group_by(pl.max_horizontal("found", "own").alias("class_size"))
    reduced = sized.agg(pl.len().cast(pl.Int64).alias("classes"), pl.col("records").sum(), uncovered)
    return _how_nulls(frame, reduced, columns, nulls).sort("class_size")


def _subsets(frame: pl.LazyFrame, columns: list[str], max_size: int, nulls: str) -> pl.LazyFrame:
    sizes = range(1, min(max_size, len(columns)) + 1)
    refuse_subsets(sum(comb(len(columns), size) for size in sizes))
    return pl.concat(
        [_subset(frame, list(subset), nulls) for size in sizes for subset in combinations(columns, size)]
    )


def _subset(frame: pl.LazyFrame, subset: list[str], nulls: str) -> pl.LazyFrame:
    alike = (pl.col("records").cast(pl.Int128) * (pl.col("class_size") - 1)).sum()
    counts = pl.col("records").sum(), pl.len().cast(pl.Int64).alias("classes"), alike.alias("pairs_alike")
    reduced = _sizes(frame, subset, nulls).select(
        pl.lit(subset, dtype=pl.List(pl.String)).alias("subset"), *counts
    )
    return _how_nulls(frame, reduced, subset, nulls)


def _matches(frame: pl.LazyFrame, columns: list[str], nulls: str, **options: int) -> pl.LazyFrame:
    person, item = (pl.col(column).alias(name) for column, name in zip(columns, ("p", "i"), strict=True))
    return _how_nulls(
        frame, matches(_kept(frame, columns, nulls).select(person, item), **options), columns, nulls
    )


def _pairs(
    frame: pl.LazyFrame, columns: list[str], weight: str | None, nulls: str, marginals: Frame | None = None
) -> pl.LazyFrame:
    every = [*columns, *([] if weight is None else [weight])]
    numbered, names = _numbered(frame, every)
    known = None if marginals is None else marginals.lazy()
    counted = pairs(
        _kept(numbered, names, nulls), columns, known, weighted=weight is not None, dropped=nulls == "drop"
    )
    return _how_nulls(frame, counted, every, nulls)


def _saved(frame: pl.LazyFrame, _: list[str]) -> pl.LazyFrame:
    Columns("columns of the saved models").check(["model", "json"], frame.collect_schema().names())
    numbered = frame.select(pl.col("model", "json").cast(pl.String)).with_row_index("line")
    return _how_nulls(frame, numbered.with_columns(pl.col("line").cast(pl.Int64)), [], "value")


def _codes(frame: pl.LazyFrame, columns: list[str], nulls: str, key: str | None = None) -> pl.LazyFrame:
    """Code each column by the ranks of its values, NULL as 0; one row of whole columns."""
    schema = frame.collect_schema()
    ordinal = [_ordinal(schema[column]) for column in columns]
    numbered, names = _numbered(frame, [*columns, *([] if key is None else [key])])
    coded, keyed = names[: len(columns)], "position" if key is None else names[-1]
    rows = numbered.with_row_index("position").with_columns(pl.col("position").cast(pl.Int64))
    rows = rows.drop_nulls(coded) if nulls == "drop" else rows
    types = _schema(RECORD_CODES.columns)
    types["keys"] = pl.List(rows.collect_schema()[keyed])

    def code(table: pl.DataFrame) -> pl.DataFrame:
        codes = table.select(pl.col(coded).rank("dense").fill_null(0).cast(pl.Int32)).get_columns()
        whole = {"names": [columns], "ordinal": [ordinal], "codes": [codes]}
        return pl.DataFrame(whole | {"position": [table["position"]], "keys": [table[keyed]]}, schema=types)

    return _how_nulls(frame, rows.map_batches(code, schema=types), columns, nulls)


def _record_codes(frame: pl.LazyFrame, columns: list[str], key: str | None, nulls: str) -> pl.LazyFrame:
    return _codes(frame, columns, nulls, None if key is None else str(key))


def _ordinal(kind: pl.DataType) -> bool:
    return kind.is_numeric() or kind.is_temporal() or isinstance(kind, pl.Boolean | pl.Enum)


def _known_records(
    frame: pl.LazyFrame, _: list[str], scenario: str, nulls: str, key: str | None = None
) -> pl.LazyFrame:
    """Distinct records on the scenario's columns; the records that hold each by the key, else by their place."""
    document = json.loads(scenario)
    columns, told = document["columns"], document["told"]
    every = [*columns, *(column for column in told if column not in columns)]
    known = frame.collect_schema().names()
    words = SCENARIO_COLUMNS if key is None else KEYED_COLUMNS
    for names in (columns, *([column] for column in told), *([] if key is None else [[key]])):
        words.check(names, known)
    member = pl.int_range(pl.len(), dtype=pl.Int64) if key is None else pl.col(key)
    names = [f"q{place}" for place in range(1, len(every) + 1)]
    rows = frame.select(
        member.alias("members"), *(pl.col(c).alias(name) for c, name in zip(every, names, strict=True))
    )
    kept = rows.drop_nulls(names[: len(columns)]) if nulls == "drop" else rows
    counted = kept.group_by(names).agg(pl.len().cast(pl.Int64).alias("records"), pl.col("members"))
    told_names = [names[every.index(column)] for column in told]
    listed = coded(counted, names[: len(columns)], told_names).select(
        "place", "records", "codes", "texts", "members"
    )
    return _how_nulls(frame, listed, columns, nulls)


def _disclosure(measure: str) -> Callable[..., pl.LazyFrame]:
    """Reduce to how many classes have each size and value of the measure; with a threshold, to the classes that offend it."""

    def reduce_to(
        frame: pl.LazyFrame,
        columns: list[str],
        sensitive: str,
        nulls: str,
        **options: Any,  # noqa: ANN401
    ) -> pl.LazyFrame:
        every = [*columns, sensitive]
        Columns(WORDS).check(every, frame.collect_schema().names())
        if measure.endswith("_classes"):
            refuse_own_names(columns, ("class_size", "value"))
        numbered, _ = _numbered(_kept(frame, every, nulls), every)
        names = {f"q{place}": name for place, name in enumerate(columns, 1)}
        return _how_nulls(frame, disclosed(numbered, names, sensitive, measure, options), every, nulls)

    return reduce_to


def _in_population(name: str) -> Callable[..., pl.LazyFrame]:
    """Reduce to what uniqueness in the population is estimated from."""

    def reduce_to(frame: pl.LazyFrame, columns: list[str], nulls: str, **options: Any) -> pl.LazyFrame:  # noqa: ANN401
        return _how_nulls(frame, IN_POPULATION[name](frame, columns, nulls, **options), columns, nulls)

    return reduce_to


REDUCED: Final[dict[str, Callable[..., pl.LazyFrame]]] = {
    "classes": _classes,
    "histogram": _histogram,
    "population_histogram": _population_histogram,
    "subsets": _subsets,
    "matches": _matches,
    "pairs": _pairs,
    "saved": _saved,
    "known_records": _known_records,
    "codes": _codes,
    "record_codes": _record_codes,
    **{reduction.name: _disclosure(reduction.name) for reduction in OF_SENSITIVE},
    **{name: _in_population(name) for name in IN_POPULATION},
}
