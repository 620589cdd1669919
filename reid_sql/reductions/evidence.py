"""What a sample shows of its population: what a model of people, a copula and estimators are fitted to.

One reduction of rows of several kinds (reid_sql/models/evidence.py) under three names, by the arguments that
the functions have. `Parts` says which kinds are counted.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final, TypeVar

from reid_sql.models.evidence import (
    CLASS_SIZE,
    DRAWN_RECORD,
    MARGINAL_SHARE,
    PAIR,
    VALUE,
    EvidenceRows,
)
from reid_sql.models.people.evidence import MAX_DRAWN, MAX_PAIRED, max_combinations
from reid_sql.models.population.population_uniqueness import METHOD
from reid_sql.parameters import (
    OPTIONAL_TABLE,
    QUASI_IDENTIFIERS,
    SEED,
    WEIGHT,
    ColumnNames,
    Columns,
    fold_case,
    order_by_name,
)
from reid_sql.reduction import BY, DROPPABLE_NULLS, MAX_FITTED_GROUPS, QI, TBL, Argument, Reduction
from reid_sql.sql.people import (
    class_columns,
    class_size,
    count_by_group,
    group_aliases,
    rows_by_group,
    weight_number,
)
from reid_sql.sql.records import log_expected, value_text, value_texts, with_null_report
from reid_sql.sql.text import Source, aliases, fold_case_in_sql, numbered, prefix, text, texts

Counts = TypeVar("Counts")  # what an engine counts: a relation, or the text of a query
WITH_WEIGHT: Final = Columns("quasi-identifiers and weight")
# these show first which pairs of columns have very many combinations
ROWS_LOOKED_AT: Final = 32_768


@dataclass(frozen=True)
class Parts:
    """What is counted beyond the sizes of classes.

    Only pairs of columns with few combinations are counted (max_combinations), unless `all_pairs`.
    `log_expected` is the logarithm of the count that independent columns would give a class. Records are
    drawn where there is a `seed`.
    """

    pairs: bool = False
    all_pairs: bool = False
    log_expected: bool = False
    seed: int | None = None


def parts_of(method: str) -> Parts:
    """What the estimators of population uniqueness need; records are drawn as population_risk draws them."""
    copula, people = method in {"all", "copula"}, method in {"all", "people"}
    return Parts(
        pairs=copula or people,
        all_pairs=copula,
        log_expected=method in {"all", "loglinear", "loglinear_nb"},
        seed=0 if people else None,
    )


def columns_asked(qi: ColumnNames, weight: str | None) -> tuple[Columns, list[str]]:
    """All columns that are read, the weight last, and what a refusal calls them."""
    return (QUASI_IDENTIFIERS, [*qi]) if weight is None else (WITH_WEIGHT, [*qi, weight])


def counted_for(name: str, words: str, *arguments: Argument) -> Reduction:
    """The reduction with these arguments between the columns and the treatment of NULLs."""
    return Reduction(
        __name__,
        name=name,
        words=words,
        arguments=(TBL, QI, *arguments, DROPPABLE_NULLS),
        columns={
            "line": "BIGINT",
            "kind": "VARCHAR",
            "first": "BIGINT",
            "second": "BIGINT",
            "label": "VARCHAR",
            "first_value": "VARCHAR",
            "second_value": "VARCHAR",
            "class_size": "BIGINT",
            "log_expected": "DOUBLE",
            "records": "BIGINT",
            "weight": "DOUBLE",
            "draw_order": "DOUBLE",
            "texts": "VARCHAR[]",
        },
        arrays=EvidenceRows,
        max_groups=MAX_FITTED_GROUPS,
    )


OUTSIDE: Final = (
    Argument("weight", WEIGHT, optional=True),
    Argument("marginals", OPTIONAL_TABLE, optional=True),
)
PAIRS: Final = counted_for(
    "pairs",
    "how often each value of each column occurs, each pair of values of two columns, and each class size",
    *OUTSIDE,
)
PEOPLE: Final = counted_for(
    "people",
    "how often each value, each pair of values of two columns and each class size occurs, and some records "
    "drawn",
    *OUTSIDE,
    Argument("seed", SEED, 0),
    BY,
)
EVIDENCE: Final = counted_for(
    "evidence",
    "how many classes have each size, and each logarithm of the count that independent columns would give "
    "them, to a thousandth; pairs of values, and some records drawn",
    Argument("method", METHOD, "all"),
    BY,
)


def implement(count: Callable[..., Counts]) -> tuple[Callable[..., Counts], ...]:
    """Bind pairs, people and evidence to an engine's count, by the parts of the evidence that each needs."""

    def pairs(**arguments: Any) -> Counts:  # noqa: ANN401 - the arguments of the reduction
        return count(**arguments, parts=Parts(pairs=True, all_pairs=True), by=None)

    def people(*, seed: float, by: ColumnNames | None = None, **arguments: Any) -> Counts:  # noqa: ANN401 - the same
        return count(**arguments, parts=Parts(pairs=True, seed=int(seed)), by=by)

    def evidence(*, method: str, by: ColumnNames | None = None, **arguments: Any) -> Counts:  # noqa: ANN401 - the same
        return count(**arguments, parts=parts_of(method), by=by, weight=None, marginals=None)

    return pairs, people, evidence


SHARES = ("column_name", "value", "share")  # the columns of a table of marginals
# one for each pair is faster, but takes 2 MB and 2 ms; one query counts more pairs
MAX_PAIR_QUERIES = 120
COUNTED = {name: kind for name, kind in EVIDENCE.columns.items() if name != "line"}


def _count_evidence(
    *,
    tbl: Source,
    qi: ColumnNames,
    parts: Parts,
    by: ColumnNames | None,
    nulls: str,
    weight: str | None,
    marginals: Source | None,
) -> str:
    """Count the parts over all records, or in each group."""
    label, columns_read = columns_asked(qi, weight)
    groups = group_aliases(columns_read, by or ())
    rows = tbl.rows(columns_read, drop_nulls=nulls == "drop", before=class_columns(tbl))
    classes = _group_records(
        rows if by is None else "reid_taken", qi, class_size(tbl), weight, groups
    )
    kind = "MATERIALIZED" if parts != Parts() else ""  # else it is read once
    tables = [f"reid_classes AS {kind} ({classes})"]
    if parts.seed is not None:
        drawn = _draw_records(qi, parts.seed, is_bounded=not groups)
        tables.append(f"reid_drawn AS {'' if groups else 'MATERIALIZED'} ({drawn})")
    if parts.pairs and not (parts.all_pairs or groups):
        tables.append(
            f"reid_paired AS MATERIALIZED ({_choose_paired(is_weighted=weight is not None)})"
        )
        tables.append(f"reid_few AS MATERIALIZED (FROM reid_paired LIMIT {ROWS_LOOKED_AT})")
    lines = _count_parts(qi, parts, groups, is_weighted=weight is not None)
    if marginals is not None:
        lines.append(_select_shares(qi, marginals, nulls, groups))
    lines.append(
        f"SELECT {', '.join(f'NULL::{kind} AS {name}' for name, kind in COUNTED.items())} WHERE false"
    )
    columns = (
        f"coalesce({name}, 0) AS {name}" if t == "BIGINT" else name for name, t in COUNTED.items()
    )
    tables.append(f"""reid_sized AS (
          SELECT row_number() OVER () AS line, {prefix(groups)}{", ".join(columns)}
          FROM ({" UNION ALL BY NAME ".join(lines)})
        )""")
    if by is None:
        body = f"WITH {', '.join(tables)} FROM reid_sized"
        return tbl.check_columns(
            label.words, columns_read, with_null_report(tbl, columns_read, nulls, body)
        )
    counts = ", ".join(
        "coalesce(records, 0)::BIGINT AS records" if name == "records" else name
        for name in EVIDENCE.columns
    )
    sized = ", ".join([rows_by_group(tbl, columns_read, by, nulls), *tables])
    return count_by_group(tbl, label.words, columns_read, by, None, nulls, counts, sized)


pairs, people, evidence = implement(_count_evidence)


def _group_records(
    rows: str, columns: ColumnNames, size: str, weight: str | None, groups: Sequence[str]
) -> str:
    """Select the distinct records: how many there are of each, its class's size, the sum of any weights.

    A missing or negative weight makes the sum NaN, which the models refuse.
    """
    keys = f"{prefix(groups)}{numbered(columns)}"
    weights, number = "", weight_number(f"q{len(columns) + 1}")
    if weight is not None:
        weights = f""",
          sum(CASE WHEN {number} >= 0 THEN {number} ELSE 'NaN'::DOUBLE END) AS weights"""
    return f"""
        SELECT {keys}, count(*) AS records, {size} AS class_size{weights}
        FROM {rows}
        GROUP BY {keys}"""


def _count_parts(
    columns: ColumnNames, parts: Parts, groups: Sequence[str], *, is_weighted: bool
) -> list[str]:
    """Count the parts, one query per kind of row."""
    weight = "sum(weights)" if is_weighted else "sum(records)::DOUBLE"
    counts = f"sum(records)::BIGINT AS records, {weight} AS weight"
    # the records in classes of each size, and of each expected count, to a thousandth of its log
    classes, log, by = "reid_classes", "", ""
    if parts.log_expected:
        classes = f"({log_expected(columns, 'reid_classes', groups)})"
        log = "round(log_expected * 1000) / 1000 AS log_expected, "
        by = ", round(log_expected * 1000)"
    lines = [
        f"""
        SELECT {prefix(groups)}'{CLASS_SIZE}' AS kind, class_size, {log}sum(records)::BIGINT AS records
        FROM {classes}
        GROUP BY {prefix(groups)}class_size{by}"""
    ]
    if parts.pairs:
        lines.append(_count_values(columns, counts, groups))
        most = None if parts.all_pairs else max_combinations(len(columns))
        if len(columns) > 1 and most != 0:
            lines.append(_count_pairs(columns, counts, groups, most))
    # the first of the records drawn, with the mean weight of their class
    if parts.seed is not None:
        mean = "weights / records AS weight, " if is_weighted else ""
        first = f"ORDER BY draw_order ASC NULLS LAST LIMIT {MAX_DRAWN}"
        if groups:
            place = f"row_number() OVER (PARTITION BY {', '.join(groups)} ORDER BY draw_order ASC NULLS LAST)"
            first = f"QUALIFY {place} <= {MAX_DRAWN}"
        lines.append(f"""
        SELECT {prefix(groups)}'{DRAWN_RECORD}' AS kind, class_size, {mean}draw_order,
          {value_texts(columns)} AS texts
        FROM (FROM reid_drawn {first})""")
    return lines


def _count_values(columns: ColumnNames, counts: str, groups: Sequence[str]) -> str:
    """Count each value of each column.

    Values are checked here to differ as texts; the other queries rely on it.
    """
    head = prefix(groups)
    values = " UNION ALL ".join(
        f"""
        SELECT {head}'{VALUE}' AS kind, {place}::BIGINT AS first, {text(column)} AS label,
          {value_text(f"q{place}")} AS first_value, {counts}
        FROM reid_classes
        GROUP BY {head}q{place}"""
        for place, column in enumerate(columns, 1)
    )
    return f"FROM ({values})"


def _count_pairs(columns: ColumnNames, counts: str, groups: Sequence[str], most: int | None) -> str:
    """Count each pair of values of two columns, of those that have at most so many.

    Where all records are drawn without weights, no pair is counted: the drawn records are counted faster than
    as many lines are read.
    """
    head, limit = prefix(groups), None if groups else most
    places = list(combinations(range(1, len(columns) + 1), 2))
    if len(places) <= MAX_PAIR_QUERIES:
        pairs = " UNION ALL ".join(
            _count_pair(head, one, other, counts, limit) for one, other in places
        )
    else:
        pairs = _count_listed_pairs(columns, head, counts, limit)
    if most is None:
        return f"FROM ({pairs})"
    of_pair = f"PARTITION BY {head}first, second"
    beyond_drawn = (
        "" if "weights" in counts else f" AND sum(records) OVER ({of_pair}) > {MAX_DRAWN}"
    )
    return f"FROM ({pairs}) QUALIFY count(*) OVER ({of_pair}) <= {most}{beyond_drawn}"


def _count_pair(head: str, one: int, other: int, counts: str, most: int | None) -> str:
    """Count one pair of columns.

    If the first of the rows have more combinations, so have all: the pair is then not counted.
    """
    few = (
        f"WHERE (SELECT count(*) <= {most} FROM (SELECT 1 FROM reid_few GROUP BY q{one}, q{other}))"
    )
    return f"""
        SELECT {head}'{PAIR}' AS kind, {one}::BIGINT AS first, {other}::BIGINT AS second,
          q{one}::VARCHAR AS first_value, q{other}::VARCHAR AS second_value, {counts}
        FROM {"reid_classes" if most is None else f"reid_paired {few}"}
        GROUP BY {head}q{one}, q{other}"""


def _count_listed_pairs(columns: ColumnNames, head: str, counts: str, most: int | None) -> str:
    """Count all pairs of columns in one query over lists of texts.

    Pairs of which the first of the classes have about twice as many combinations are not counted.
    """
    texts_of_class = (
        f"[{', '.join(f'{alias}::VARCHAR' for alias in aliases(len(columns)))}] AS reid_texts"
    )
    first, second = (f"list_extract(reid_texts, {place})" for place in ("first", "second"))
    listed = f"unnest(range(1, {len(columns) + 1}))"
    pairs = f"""
          SELECT first, second FROM (SELECT {listed} AS first), (SELECT {listed} AS second)
          WHERE first < second"""
    if most is not None:
        pairs = f"""
          SELECT first, second FROM (SELECT {texts_of_class} FROM reid_few), ({pairs})
          GROUP BY first, second
          HAVING approx_count_distinct(row({first}, {second})) <= {2 * most}"""
    return f"""
        SELECT {head}'{PAIR}' AS kind, first, second,
          {first} AS first_value, {second} AS second_value, {counts}
        FROM (SELECT *, {texts_of_class} FROM {"reid_classes" if most is None else "reid_paired"}), ({pairs})
        GROUP BY {head}first, second, first_value, second_value"""


def _draw_records(columns: ColumnNames, seed: int, *, is_bounded: bool) -> str:
    """Draw records in a random order that values and seed decide: all, or about MAX_PAIRED of more.

    Every record of a class gets a random number of its own, whatever order its rows and columns are in.
    """
    values = ", ".join(f"q{place + 1}" for place in order_by_name(columns))
    bound = f"WHERE draw_order * (SELECT sum(records) FROM reid_classes) <= {MAX_PAIRED}"
    return f"""
        SELECT *, hash({values}, copy, {seed}::BIGINT)::DOUBLE / 18446744073709551616 AS draw_order
        FROM (SELECT *, unnest(range(records)) AS copy FROM reid_classes)
        {bound if is_bounded else ""}"""


def _choose_paired(*, is_weighted: bool) -> str:
    """Select the classes, or the drawn records if there are more than MAX_PAIRED classes."""
    weights = ", weights / records AS weights" if is_weighted else ""
    is_few = f"(SELECT count(*) <= {MAX_PAIRED} FROM reid_classes)"
    return f"""
        FROM reid_classes WHERE {is_few}
        UNION ALL BY NAME
        SELECT * EXCLUDE (copy, draw_order) REPLACE (1 AS records{weights})
        FROM reid_drawn
        WHERE NOT {is_few}"""


def _select_shares(
    columns: ColumnNames, marginals: Source, nulls: str, groups: Sequence[str]
) -> str:
    """Select the shares of values in the population, each with the place of its column; 0 for no column.

    Each of the groups gets all of them.
    """
    checked = marginals.check_columns(
        "columns of the marginals", SHARES, f"FROM {marginals.rows(SHARES)}"
    )
    folded = texts(fold_case(column) for column in columns)
    shares = f"""
        SELECT '{MARGINAL_SHARE}' AS kind,
          coalesce(list_position({folded}, {fold_case_in_sql("q1::VARCHAR")}), 0)::BIGINT AS first,
          q1::VARCHAR AS label, q2::VARCHAR AS first_value,
          coalesce(try_cast(q3 AS DOUBLE), 'NaN'::DOUBLE) AS weight
        FROM ({checked}) AS reid_given(q1, q2, q3)
        {"WHERE q2 IS NOT NULL" if nulls == "drop" else ""}"""
    if not groups:
        return shares
    return f"""
        SELECT reid_divided.*, reid_shares.*
        FROM (SELECT DISTINCT {", ".join(groups)} FROM reid_classes) AS reid_divided,
          ({shares}) AS reid_shares"""
