"""The cells of a table of aggregates, the rules by which one is unsafe, and the rows of published tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from reid_sql.errors import OutOfDomainError
from reid_sql.models.tables.audit import LEAST_COUNT
from reid_sql.models.tables.published_tables import PublishedRows
from reid_sql.parameters import (
    TABLES,
    Choice,
    ColumnNames,
    Columns,
    Key,
    Number,
    Numbers,
    Tables,
    Texts,
    fold_case,
    list_text,
)
from reid_sql.reduction import (
    DROPPABLE_NULLS,
    ENTITY,
    NULL_REPORT_COLUMNS,
    TBL,
    Argument,
    Reduction,
    refuse_entity,
    refuse_groups_named_like_results,
)
from reid_sql.sql.cells import (
    IS_UNSAFE,
    CellRules,
    bits_of,
    choose_hidden,
    judge_cells,
    round_cells,
    select_figures,
    shown_aliases,
    sum_of_largest,
)
from reid_sql.sql.records import with_null_report
from reid_sql.sql.shown_cells import ROUNDING, Form, list_hidden, list_shown
from reid_sql.sql.text import Source, aliases, name, none_null, prefix, refusal
from reid_sql.sql.totals import list_margins, list_totals, read_levels, refuse_unlinked

PUBLISHED_ROWS: Final = Reduction(
    __name__,
    name="published_rows",
    words="the rows of published tables, each as a JSON object of its columns",
    arguments=(Argument("tables", TABLES),),
    columns={"place": "BIGINT", "tbl": "BIGINT", "text": "VARCHAR"},
    arrays=PublishedRows,
    reasons={
        "by": "the tables are read as a whole",
        "entity": "the tables hold counts, not people",
    },
)


@dataclass(frozen=True)
class Value(Key):
    """The name of the column that is added up, or NULL."""


CELL_COLUMNS: Final = Columns("columns of by")
CELL_COLUMNS_AND_MORE: Final = Columns("columns of by, value and entity")
MAX_CUBE: Final = 8  # columns of which every set of totals is counted
DOMINANCE_RULE: Final = Numbers(
    Number(
        "a number from 0 to 100",
        "pass how many people and their share, such as [1, 0.5]",
        0.0,
        100.0,
    ),
    example="[1, 0.5]",
)
P_SHARE: Final = Number(
    "a share from 0 to 10", "pass how near an estimate may come, such as 0.1 for 10 %", 0.0, 10.0
)
TOTAL_WORDS: Final = Choice(("none", "margins", "rollup"))
SUPPRESS_WORDS: Final = Choice(("none", "primary", "secondary", ROUNDING))
PROTECTING: Final = ("secondary", ROUNDING)  # so that what is hidden or moved cannot be computed
PUBLISHABLE: Final = "publishable"
OUTPUT_WORDS: Final = Choice(("all", PUBLISHABLE))
ROUND_TO: Final = Number(
    "a whole number from 2 to 1e+6",
    "pass the number that rounded counts are multiples of, such as 5",
    2.0,
    1e6,
    whole=True,
)
ZERO_WORDS: Final = Choice(("omit", "list"))
PROTECTION: Final = Number(
    "a whole number of people from 0 to 1e+6",
    "pass how wide the interval of a hidden cell must be, or 0 for k",
    0.0,
    1e6,
    whole=True,
)
SETS_OF_COLUMNS: Final = Texts()  # each a text of several columns
REFUSAL_VALUE: Final = (
    "value must be a column of finite numbers, got another value; "
    "cast it in a view, or leave it out to count people (write a text like -1234.5)"
)
SAFE_CELLS: Final = Reduction(
    __name__,
    name="safe_cells",
    words="the cells of a table of aggregates, each with the rules by which it is unsafe",
    arguments=(
        TBL,
        Argument("by", CELL_COLUMNS),
        Argument("value", Value(), optional=True),
        ENTITY,
        Argument("k", LEAST_COUNT, 5),
        Argument("dominance", DOMINANCE_RULE, (1.0, 0.5)),
        Argument("p_percent", P_SHARE, 0.1),
        Argument("totals", TOTAL_WORDS, "none"),
        Argument("suppress", SUPPRESS_WORDS, "none"),
        Argument("protection", PROTECTION, 0),
        Argument("zeros", ZERO_WORDS, "omit"),
        DROPPABLE_NULLS,
        Argument("base", ROUND_TO, 5),
        Argument("output", OUTPUT_WORDS, "all"),
        Argument("levels", SETS_OF_COLUMNS, optional=True),
        Argument("tables", SETS_OF_COLUMNS, optional=True),
        Argument("published", Tables(optional=True), optional=True),
    ),
    columns={
        "total_over": "VARCHAR[]",
        "records": "BIGINT",
        "people": "BIGINT",
        "value_sum": "DOUBLE",
        "largest_share": "DOUBLE",
        "unsafe": "VARCHAR[]",
        "status": "VARCHAR",
        "loss": "DOUBLE",
    },
)


def check_cells(
    by: ColumnNames,
    value: str | None,
    entity: str | None,
    dominance: Sequence[float],
    totals: str,
    levels: Sequence[str] | None,
    tables: Sequence[str] | None,
) -> CellRules:
    """Check what the columns and rules must be together."""
    refuse_entity(by, entity, "value")
    refuse_groups_named_like_results(by, {*SAFE_CELLS.columns, *NULL_REPORT_COLUMNS})
    if value is not None and fold_case(value) in (
        fold_case(each) for each in [*by, *([entity] if entity else [])]
    ):
        rule = f"value must be no column of by and not the entity, got '{value}'"
        raise OutOfDomainError(f"{rule}; leave it out of one of them")
    contributors, share = check_dominance(dominance)
    if totals == "margins" and len(by) > MAX_CUBE:
        rule = f"by must name at most {MAX_CUBE} columns with totals := 'margins', got {len(by)}"
        raise OutOfDomainError(f"{rule}; name fewer, or pass totals := 'rollup'")
    hierarchies = read_levels(by, levels)
    listed = list_totals(by, totals, hierarchies, tables)
    return CellRules(
        contributors, share, listed, list_margins(len(by), listed, hierarchies), hierarchies
    )


def _check_protection(
    columns: Mapping[str, object], suppress: str, output: str, published: Sequence[Source] | None
) -> None:
    """Check that what is rounded are counts of rows, and what is published is protected."""
    for name_, column in columns.items():
        if suppress == ROUNDING and column:
            rule = (
                f"{name_} must be left out with suppress := 'rounding', which rounds counts of rows"
            )
            raise OutOfDomainError(f"{rule}, got '{column}'; pass suppress := 'secondary'")
    if published and suppress != "secondary":
        rule = f"published must come with suppress := 'secondary', got '{suppress}'"
        raise OutOfDomainError(f"{rule}; pass it, or audit all tables by audit_tables")
    if output == PUBLISHABLE and suppress not in PROTECTING:
        rule = "suppress must be 'secondary' or 'rounding' with output := 'publishable'"
        raise OutOfDomainError(f"{rule}, got '{suppress}'; pass one of them")


def check_dominance(dominance: Sequence[float]) -> tuple[int, float]:
    """Give the number of contributors and their share, or refuse them."""
    number, share = (*dominance, 0.0, 0.0)[:2]
    if len(dominance) != 2 or number < 1 or number != int(number) or not 0 < share <= 1:  # noqa: PLR2004
        raise OutOfDomainError(
            f"dominance must be a whole number of people and a share above 0 and at most 1, got {list_text(list(dominance))}; write it like [1, 0.5]"
        )
    return int(number), float(share)


NO_VALUE: Final = {"value_sum": "NULL::DOUBLE", "size": "NULL::DOUBLE", "largest": "NULL::DOUBLE[]"}


@dataclass(frozen=True)
class CellShape:
    """The columns of a table's cells, and what is counted of each."""

    width: int
    counts_people: bool
    has_value: bool


def safe_cells(
    tbl: Source,
    by: ColumnNames,
    value: str | None,
    entity: str | None,
    k: int,
    dominance: Sequence[float],
    p_percent: float,
    totals: str,
    suppress: str,
    protection: int,
    zeros: str,
    nulls: str,
    base: int,
    output: str,
    levels: Sequence[str] | None,
    tables: Sequence[str] | None,
    published: Sequence[Source] | None,
) -> str:
    """Group the rows by the columns, then the cells by the totals, and judge each cell.

    The table is grouped once; totals and rules see one row a cell, or a row for each person in a cell.
    """
    rules = check_cells(by, value, entity, dominance, totals, levels, tables)
    _check_protection(
        {"value": value, "entity": entity, "tables": tables}, suppress, output, published
    )
    columns = [*by, *([] if value is None else [value]), *([] if entity is None else [entity])]
    shape = CellShape(len(by), counts_people=entity is not None, has_value=value is not None)
    form = Form(suppress, int(base), shape.counts_people, zeros == "list", output == PUBLISHABLE)
    body = f"""
        WITH reid_base AS MATERIALIZED ({_base(tbl, by, value, entity, shape, rules, nulls)}),
        reid_cells AS MATERIALIZED ({list_cells(by if suppress == "secondary" else (), shape, rules, k)}),
        reid_judged AS MATERIALIZED ({judge_cells(len(by), rules, k, p_percent)}),
        {_hide(shape, by, rules, form, int(protection or k), p_percent, published)},
        reid_listed AS ({list_hidden(len(by), rules, zeros, is_rounded=suppress == ROUNDING)})
        {list_shown(by, rules, form)}"""
    label = (CELL_COLUMNS if len(columns) == len(by) else CELL_COLUMNS_AND_MORE).words
    return tbl.check_columns(label, columns, with_null_report(tbl, by, nulls, body))


def _base(
    tbl: Source,
    by: ColumnNames,
    value: str | None,
    entity: str | None,
    shape: CellShape,
    rules: CellRules,
    nulls: str,
) -> str:
    """Group the rows, by people too if there are any: the one scan of the table.

    Values that are no finite numbers are refused where the cells are: a test of each row would cost more than
    the sum. No rule finds a cell unsafe of which the largest contribution is NaN or infinite.
    """
    columns = [*by, *([] if entity is None else [entity])]
    cell = "NULL" if value is None else name(value)
    before = {"reid_given": cell, "reid_value": f"try_cast({cell} AS DOUBLE)"}
    where = f"WHERE {none_null(by)}" if nulls == "drop" else ""
    rows = f"{tbl.rows(columns, before=before if value is not None else {})} {where}"
    keys = aliases(shape.width)
    figures = {"records": "count(*)"}
    if shape.has_value:
        figures["bad"] = "count(reid_given) - count(reid_value)"
    if not shape.counts_people:
        return _with_largest(rows, keys, figures, shape, rules.largest)
    total = {"reid_value": "sum(reid_value)"} if shape.has_value else {}
    return f"""
          SELECT {", ".join(keys)}, q{shape.width + 1} AS entity, {select_figures(figures | total)}
          FROM {rows} GROUP BY {", ".join(aliases(shape.width + 1))}"""


def list_cells(by: ColumnNames, shape: CellShape, rules: CellRules, k: int) -> str:
    """The cells of every set of totals, from reid_base; of columns to protect, `by`, all must be linked.

    Each set is grouped by itself: GROUPING SETS would put the rows of all sets in one table, and take twice
    the time. The refusal is in WHERE, as DuckDB computes no column that nobody selects. Tables that do
    not link are refused in the first set alone: each set would compute it again.
    """
    sets = (*rules.totals, *rules.margins)
    list_set = _list_people if shape.counts_people else _list_records
    unlinked = refuse_unlinked(by, rules.totals, k, counts_people=shape.counts_people)
    values = {"bad > 0 OR NOT size < 'infinity'::DOUBLE": REFUSAL_VALUE} if shape.has_value else {}
    listed = ", ".join(aliases(shape.width))
    return " UNION ALL ".join(
        f"""
          SELECT {listed}, totalled, records, people, value_sum, size, largest
          FROM ({list_set(shape, totalled, rules.largest)}) AS reid_set
          WHERE {_is_listed(values if number else unlinked | values)}"""
        for number, totalled in enumerate(sets)
    )


def _is_listed(refused: Mapping[str, str]) -> str:
    """Whether a cell has records; what is refused, by what it is met by, ends the query."""
    tests = (f"WHEN {is_met} THEN {refusal(rule)}" for is_met, rule in refused.items())
    return f"CASE {' '.join(tests)} ELSE records > 0 END" if refused else "records > 0"


def _list_records(shape: CellShape, totalled: Sequence[int], most: int) -> str:
    """The cells of one set of totals, where each record is a person: sums of the cells of the base."""
    figures = {"records": "sum(records)::BIGINT", "people": "sum(records)::BIGINT"}
    if shape.has_value:
        figures |= {each: f"sum({each})" for each in ("bad", "value_sum", "size")}
        figures["largest"] = f"list_slice(list_reverse_sort(flatten(list(largest))), 1, {most})"
    else:
        figures |= NO_VALUE
    return f"""
          SELECT {_keys_of(shape.width, totalled)}, {select_figures(figures)}
          FROM reid_base {_grouped(shown_aliases(shape.width, totalled))}"""


def _list_people(shape: CellShape, totalled: Sequence[int], most: int) -> str:
    """The cells of one set of totals; a person counts once in each, with the sum of their contributions."""
    keys, people = shown_aliases(shape.width, totalled), "reid_base"
    bad = ["bad"] * shape.has_value
    sums = {each: f"sum({each})::BIGINT" for each in ("records", *bad)}
    if totalled:
        total = {"reid_value": "sum(reid_value)"} if shape.has_value else {}
        people = f"""(
            SELECT {prefix(keys)} entity, {select_figures(sums | total)}
            FROM reid_base GROUP BY {prefix(keys)} entity
          ) AS reid_people"""
    cells = _with_largest(people, keys, sums | {"people": "count(*)"}, shape, most)
    figures = ("records", "people", *bad, "value_sum", "size", "largest")
    return f"""
          SELECT {_keys_of(shape.width, totalled)}, {", ".join(figures)} FROM ({cells}) AS reid_grouped"""


def _with_largest(
    relation: str, keys: Sequence[str], figures: Mapping[str, str], shape: CellShape, most: int
) -> str:
    """Group contributions, reid_value, by the keys: figures, sum, sum of sizes and the largest sizes."""
    if not shape.has_value:
        none = select_figures({**figures, **NO_VALUE})
        return f"SELECT {prefix(keys)} {none} FROM {relation} {_grouped(keys)}"
    sums = {**figures, "value_sum": "sum(reid_value)", "size": "sum(abs(reid_value))"}
    largest = f"max(abs(reid_value), {most}) AS largest"
    return (
        f"SELECT {prefix(keys)} {select_figures(sums)}, {largest} FROM {relation} {_grouped(keys)}"
    )


def _keys_of(width: int, totalled: Sequence[int]) -> str:
    """Select the columns of the cells of one set, NULL where they are totalled, and which are."""
    keys = shown_aliases(width, totalled)
    cells = [alias if alias in keys else f"NULL AS {alias}" for alias in aliases(width)]
    return f"{', '.join(cells)}, {bits_of(width, totalled)} AS totalled"


def _grouped(keys: Sequence[str]) -> str:
    return f"GROUP BY {', '.join(keys)}" if keys else ""


def codes_of_cells(width: int) -> list[str]:
    """The category of each column as a number, 0 for a total."""
    bits = [bits_of(width, [place]) for place in range(width)]
    return [
        f"CASE WHEN totalled & {bit} > 0 THEN 0 ELSE "
        f"dense_rank() OVER (ORDER BY totalled & {bit} DESC, q{place} ASC NULLS FIRST) END"
        for place, bit in enumerate(bits, 1)
    ]


def protection_of_sums(rules: CellRules, p_percent: float) -> str:
    """By how much more the sum of a cell must be possible: what the rules lack (Hundepool et al. 2012)."""
    dominance = f"{sum_of_largest(rules.contributors)} / {rules.share!r}"
    estimate = f"{sum_of_largest(2)} + {p_percent!r} * coalesce(list_extract(c.largest, 1), 0)"
    return f"greatest(0, {dominance} - c.size, {estimate} - c.size)::DOUBLE"


def _hide(
    shape: CellShape,
    by: ColumnNames,
    rules: CellRules,
    form: Form,
    protection: int,
    p_percent: float,
    published: Sequence[Source] | None,
) -> str:
    """Number the status of each cell: 0 where it is published; or round its count."""
    codes = {
        "codes": f"[{', '.join(codes_of_cells(shape.width))}]::BIGINT[]",
        "records": "c.records",
    }
    if form.suppress == ROUNDING:
        return round_cells(codes, form.base)
    if form.suppress != "secondary":
        status = "0" if form.suppress == "none" else f"CASE WHEN {IS_UNSAFE} THEN 1 ELSE 0 END"
        return f"reid_hidden AS MATERIALIZED (SELECT *, {status} AS hidden FROM reid_judged)"
    figures = codes | {"is_primary": f"({IS_UNSAFE})::BIGINT"}
    if shape.has_value:
        needed = protection_of_sums(rules, p_percent)
        figures |= {"cell_sum": "coalesce(c.value_sum, 0)::DOUBLE", "needed": needed}
    earlier = published_rows(published) if published else None
    return choose_hidden(figures, protection, rules.chains, by, earlier)


def published_rows(tables: Sequence[Source]) -> str:
    """List the rows of all tables, each as a JSON object; NULL for a table without rows."""
    rows = " UNION ALL ".join(
        f"SELECT {number}::BIGINT AS tbl, text FROM (SELECT 1) AS reid_one LEFT JOIN ("
        f"SELECT to_json(struct_pack(*COLUMNS(*)))::VARCHAR AS text FROM {table.items()}) AS reid_rows "
        "ON true"
        for number, table in enumerate(tables, 1)
    )
    return f"""
        SELECT row_number() OVER () AS place, tbl, text, 0::BIGINT AS records_dropped, 'value' AS nulls
        FROM ({rows})"""
