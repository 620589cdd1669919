"""Cells of a table of aggregates in SQL, and the rows of published tables."""

from collections.abc import Sequence
from typing import Final

from reid_sql.reductions.tables import (
    CELL_COLUMNS,
    CELL_COLUMNS_AND_MORE,
    DOMINANCE,
    FEW_PEOPLE,
    HIDING,
    ONE_CELL,
    P_PERCENT,
    REFUSAL_VALUE,
    CellRules,
    check_cells,
    width_of,
)
from reid_sql.sql.records import SUPPRESSED, with_null_report
from reid_sql.sql.text import Source, aliases, name, none_null, numbered, refusal, text, texts

STATUSES: Final = texts(["published", "primary", "secondary", "unprotected"])


def safe_cells(
    tbl: Source,
    by: Sequence[str],
    value: str | None,
    entity: str | None,
    k: int,
    dominance: Sequence[float],
    p_percent: float,
    totals: str,
    suppress: str,
    protection: int,
    nulls: str,
) -> str:
    """Group the rows by the columns, then the cells by the totals, and judge each cell.

    The table is grouped once; totals and rules see one row a cell, or a row for each person in a cell.
    """
    rules = check_cells(by, value, entity, dominance, totals)
    columns = [*by, *([] if value is None else [value]), *([] if entity is None else [entity])]
    body = f"""
        WITH reid_base AS MATERIALIZED ({_base(tbl, by, value, entity, rules, nulls)}),
        reid_cells AS MATERIALIZED ({_cells(by, entity, rules, has_value=value is not None)}),
        reid_judged AS MATERIALIZED ({_judge(by, rules, k, p_percent)}),
        {_hide(by, suppress, width_of(protection, k))}
        {_listed(by, suppress)}"""
    label = (CELL_COLUMNS if len(columns) == len(by) else CELL_COLUMNS_AND_MORE).words
    return tbl.check_columns(label, columns, with_null_report(tbl, by, nulls, body))


def _base(
    tbl: Source, by: Sequence[str], value: str | None, entity: str | None, rules: CellRules, nulls: str
) -> str:
    """Group the rows, by people too if there are any: the one scan of the table.

    Values that are no finite numbers are refused where the cells are: a test of each row would cost more than
    the sum. No rule finds a cell unsafe of which the largest contribution is NaN or infinite.
    """
    every = [*by, *([] if entity is None else [entity])]
    where = f"WHERE {none_null(by)}" if nulls == "drop" else ""
    cell = "NULL" if value is None else name(value)
    has_value = value is not None
    before = {"reid_given": cell, "reid_value": f"try_cast({cell} AS DOUBLE)"} if has_value else {}
    rows = tbl.rows(every, before=before)
    total = "sum(reid_value)" if has_value else "NULL::DOUBLE"
    bad = "count(reid_given) - count(reid_value)" if has_value else "0"
    if entity is not None:
        return f"""
          SELECT {numbered(by)}, q{len(every)} AS entity, count(*) AS records, {bad} AS bad,
            {total} AS reid_value
          FROM {rows} {where} GROUP BY {numbered(every)}"""
    size = "sum(abs(reid_value))" if has_value else "NULL::DOUBLE"
    largest = f"max(abs(reid_value), {rules.largest})" if has_value else "NULL::DOUBLE[]"
    return f"""
          SELECT {numbered(by)}, count(*) AS records, {bad} AS bad, {total} AS value_sum, {size} AS size,
            {largest} AS largest
          FROM {rows} {where} GROUP BY {numbered(by)}"""


def _cells(by: Sequence[str], entity: str | None, rules: CellRules, *, has_value: bool) -> str:
    """The cells of every set of totals; a person counts once in each, with the sum of their contributions.

    The refusal is in HAVING, as DuckDB computes no column that nobody selects.
    """
    keys, most = aliases(len(by)), rules.largest
    sets = [
        [alias for place, alias in enumerate(keys) if place not in totalled]
        for totalled in (*rules.totals, *rules.margins)
    ]
    size = "sum(size)" if entity is None else "sum(reid_value)"  # neither is finite if a value is not
    is_refused = f"sum(bad) > 0 OR NOT isfinite({size})"
    checked = f"HAVING CASE WHEN {is_refused} THEN {refusal(REFUSAL_VALUE, 'BOOLEAN')} ELSE count(*) > 0 END"
    bits = f"{numbered(by)}, grouping({numbered(by)}) AS totalled"
    if entity is None:
        grouped = ", ".join(f"({', '.join(each)})" for each in sets)
        merged = f"list_slice(list_reverse_sort(flatten(list(largest))), 1, {most})"
        return f"""
          SELECT {bits}, sum(records)::BIGINT AS records, sum(records)::BIGINT AS people,
            sum(value_sum) AS value_sum, sum(size) AS size, {merged} AS largest
          FROM reid_base GROUP BY GROUPING SETS ({grouped}) {checked}"""
    grouped = ", ".join(f"({', '.join([*each, 'entity'])})" for each in sets)
    largest = f"max(abs(reid_value), {most})" if has_value else "NULL::DOUBLE[]"
    return f"""
          SELECT {numbered(by)}, totalled, sum(records)::BIGINT AS records, count(*) AS people,
            sum(reid_value) AS value_sum, sum(abs(reid_value)) AS size, {largest} AS largest
          FROM (
            SELECT {bits}, entity, sum(records) AS records,
              sum(reid_value) AS reid_value
            FROM reid_base GROUP BY GROUPING SETS ({grouped}) {checked}
          )
          GROUP BY {numbered(by)}, totalled"""


def _judge(by: Sequence[str], rules: CellRules, k: int, p_percent: float) -> str:
    """Judge each listed cell by each rule; a cell that has everybody of a margin is found by a join with it.

    A margin of a column with one category alone always has everybody in one cell, which says nothing.
    """
    top = _sum_of_largest(rules.contributors)
    rest = f"c.size - {_sum_of_largest(2)}"
    tests = {
        FEW_PEOPLE: f"c.people < {k}",
        DOMINANCE: f"c.size > 0 AND {top} > {rules.share!r} * c.size",
        P_PERCENT: f"c.size > 0 AND {rest} < {p_percent!r} * list_extract(c.largest, 1)",
        ONE_CELL: " OR ".join(f"c.people = m{place}.people" for place, _ in enumerate(by)),
    }
    found = ", ".join(f"CASE WHEN {test} THEN {text(rule)} END" for rule, test in tests.items())
    listed = ", ".join(str(_bits(by, totalled)) for totalled in rules.totals)
    return f"""
          SELECT c.*, CASE WHEN c.size > 0 THEN {top} / c.size END AS largest_share,
            list_filter([{found}], lambda reid_rule: reid_rule IS NOT NULL) AS unsafe
          FROM (SELECT * FROM reid_cells WHERE totalled IN ({listed})) AS c
          {"".join(_margin(by, place) for place, _ in enumerate(by))}"""


def _sum_of_largest(number: int) -> str:
    parts = (f"coalesce(list_extract(c.largest, {place}), 0)" for place in range(1, number + 1))
    return f"({' + '.join(parts)})"


def _bits(by: Sequence[str], totalled: Sequence[int]) -> int:
    """What grouping() gives for the columns that are totalled: the first column is the highest bit."""
    return sum(1 << (len(by) - 1 - place) for place in totalled)


def _margin(by: Sequence[str], place: int) -> str:
    bit, margin = _bits(by, [place]), f"m{place}"
    others = [
        f"AND c.q{o + 1} IS NOT DISTINCT FROM {margin}.q{o + 1}" for o, _ in enumerate(by) if o != place
    ]
    several = f"(SELECT count(*) > 1 FROM (SELECT DISTINCT q{place + 1} FROM reid_base))"
    return f"""
          LEFT JOIN (SELECT * FROM reid_cells WHERE {several}) AS {margin}
            ON c.totalled & {bit} = 0 AND {margin}.totalled = c.totalled + {bit} {" ".join(others)}"""


def _hide(by: Sequence[str], suppress: str, width: int) -> str:
    """Number the status of each cell: 0 where it is published."""
    rules = ", ".join(map(text, HIDING))
    primary = f"len(list_filter(unsafe, lambda reid_rule: reid_rule IN ({rules}))) > 0"
    if suppress != "secondary":
        status = "0" if suppress == "none" else f"CASE WHEN {primary} THEN 1 ELSE 0 END"
        return f"reid_hidden AS MATERIALIZED (SELECT *, {status} AS hidden FROM reid_judged)"
    codes = ", ".join(
        f"CASE WHEN totalled & {_bits(by, [place])} > 0 THEN 0 ELSE "
        f"dense_rank() OVER (ORDER BY totalled & {_bits(by, [place])} DESC, q{place + 1} ASC NULLS FIRST) END"
        for place, _ in enumerate(by)
    )
    return f"""reid_numbered AS MATERIALIZED (
          SELECT row_number() OVER () AS reid_cell, *, [{codes}]::BIGINT[] AS codes,
            ({primary})::BIGINT AS is_primary FROM reid_judged
        ),
        reid_begun AS MATERIALIZED (
          SELECT reid_begin('{SUPPRESSED}', list(codes ORDER BY reid_cell ASC),
            list(records ORDER BY reid_cell ASC), list(is_primary ORDER BY reid_cell ASC),
            {width}::BIGINT) AS reid_number FROM reid_numbered
        ),
        reid_waited AS MATERIALIZED (
          SELECT reply
          FROM (SELECT {SUPPRESSED}(reid_number) AS reply FROM range(9223372036854775807), reid_begun)
          WHERE reply IS NOT NULL LIMIT 1
        ),
        reid_chosen AS MATERIALIZED (
          SELECT CASE WHEN struct_extract(reply, 'refusal') IS NULL THEN struct_extract(reply, 'answers')
            ELSE error(struct_extract(reply, 'refusal')) END AS chosen
          FROM reid_waited
        ),
        reid_hidden AS MATERIALIZED (
          SELECT reid_numbered.*, list_extract(chosen, reid_cell) AS hidden FROM reid_numbered, reid_chosen
        )"""


def _listed(by: Sequence[str], suppress: str) -> str:
    """List the cells under the columns' own names; what is hidden is NULL."""
    own = ", ".join(f"q{place} AS {name(column)}" for place, column in enumerate(by, 1))
    over = ", ".join(
        f"CASE WHEN totalled & {_bits(by, [place])} > 0 THEN {text(column)} END"
        for place, column in enumerate(by)
    )
    figures = ", ".join(
        f"CASE WHEN hidden = 0 THEN {column} END AS {column}" for column in ("records", "people", "value_sum")
    )
    share = "largest_share" if suppress == "none" else "NULL::DOUBLE"
    order = ", ".join(["totalled ASC", *(f"{alias} ASC NULLS LAST" for alias in aliases(len(by)))])
    loss = "sum(records) FILTER (hidden > 0 AND totalled = 0) / sum(records) FILTER (totalled = 0)"
    return f"""
        SELECT {own},
          list_filter([{over}], lambda reid_total: reid_total IS NOT NULL)::VARCHAR[] AS total_over,
          {figures}, {share} AS largest_share, unsafe::VARCHAR[] AS unsafe,
          list_extract({STATUSES}, hidden + 1) AS status, coalesce(loss, 0)::DOUBLE AS loss
        FROM reid_hidden, (SELECT {loss} AS loss FROM reid_hidden)
        ORDER BY {order}"""


def published_rows(tables: Sequence[Source]) -> str:
    """List the rows of all tables, each as a JSON object."""
    rows = " UNION ALL ".join(
        f"SELECT {number}::BIGINT AS tbl, to_json(struct_pack(*COLUMNS(*)))::VARCHAR AS text "
        f"FROM {table.items()}"
        for number, table in enumerate(tables, 1)
    )
    return f"""
        SELECT row_number() OVER () AS place, tbl, text, 0::BIGINT AS records_dropped, 'value' AS nulls
        FROM ({rows})"""
