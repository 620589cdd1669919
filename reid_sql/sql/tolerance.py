"""Records within a tolerance of each other, in SQL.

Two values match if the greater is at most the end of the other's reach: x + t, or x / (1 - p) of a percentage
(|a - b| <= p max(|a|, |b|)). Matching is symmetric and not transitive, so that it is no grouping. The values
of a column are numbered in order; a record matches the values from its first number to its last. Whole
numbers, decimals and times are compared exactly, as HUGEINT; doubles with a slack above their rounding,
so that the boundary always matches (0.7 and 0.8 differ by 0.1). NULL, NaN and infinities match themselves.
Texts, as all columns of a CSV file are, are read as numbers or times if every value is one.

One column in an order is counted by a running sum: a record counts from its first number to its last. For
each further column, a record is repeated for what it matches there. A person counts once where the spans of
several of their records overlap.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from reid_sql.parameters.tolerance import MONTHS, PERCENT, SECONDS, Allowance, Allowances
from reid_sql.sql.text import same, text

MAX_WHOLE: Final = 2**127 - 1
MAX: Final = f"{MAX_WHOLE}::HUGEINT"
MAX_SCALE: Final = 38
# of a DOUBLE: 8 roundings; more than those of two decimals, a sum and a product
SLACK: Final = 2.0**-50
FLOAT_SLACK: Final = 2.0**-21
NANOSECONDS: Final = 10**9
WHOLE_TYPES: Final = (
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"),
)
ZONED: Final = "TIMESTAMP WITH TIME ZONE"
NANO: Final = "TIMESTAMP_NS"
TIME_TYPES: Final = ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", NANO, ZONED)
EPOCH: Final = "DATE '1970-01-01'"
# Nodes of a binary tree over whole numbers, of one level: the one above a number, and those among the fewest
# that cover the numbers from one to below another: an odd first one, and a last one before an odd end.
NODE: Final = 2**40
ABOVE: Final = f"[reid_level * {NODE} + ({{0}} >> reid_level)]"
LOW: Final = "(({0} + (1::BIGINT << reid_level) - 1) >> reid_level)"
HIGH: Final = "(({1}) >> reid_level)"
COVER: Final = f"""list_concat(
  CASE WHEN {LOW} % 2 = 1 AND {LOW} < {HIGH} THEN [reid_level * {NODE} + {LOW}] ELSE [] END,
  CASE WHEN {HIGH} % 2 = 1 AND {LOW} < {HIGH} THEN [reid_level * {NODE} + {HIGH} - 1] ELSE [] END)"""
REFUSAL: Final = "tolerance of '{}' must be used with a column of {}, got one of type "
NUMBERS: Final = "whole numbers, decimals, FLOAT or DOUBLE"
REMEDY: Final = "; cast it in a view, or leave it out of the tolerance"
# Texts are decided on together: one that is no number or time is refused; few fractions make all doubles.
IS_TEXT: Final = "(typeof(v) = 'VARCHAR' OR typeof(v) LIKE 'ENUM(%')"
REFUSAL_TEXTS: Final = "tolerance of '{}' must be used with a column of {}, got a text column with "
REMEDY_TEXTS: Final = "; write them so, make them NULL, or leave the column out of the tolerance"
DATES: Final = "dates such as 2024-01-31"
TIMES: Final = "dates or times such as 2024-01-31 or 2024-01-31 23:59:00"
MAX_PLACES: Final = 9  # of texts that are exact; with them, 28 digits before fit a HUGEINT
PLAIN: Final = r"\s*[+-]?\d{1,20}(\.\d{1,9})?\s*"
ISO_DATE: Final = r"\s*\d{4}-\d{1,2}-\d{1,2}\s*"


def tolerance_tables(columns: Sequence[str], relation: str, allowances: Allowances) -> str:
    """Name reid_near_1, …, the values of the tolerant columns, and reid_placed the relation with them.

    Each value has its number, `code`, and, if it is in an order, the first and the last number that it
    matches, `low` and `high`, else `near`, the list of those.
    """
    tables = [
        _near_values(place, columns[place - 1], relation, each)
        for place, each in allowances.items()
    ]
    cells = ", ".join(
        f"coalesce(n{place}.code, 0) AS c{place}, "
        + (
            f"coalesce(n{place}.near, [0]) AS near{place}"
            if each.is_of_text
            else f"coalesce(n{place}.low, 0) AS low{place}, coalesce(n{place}.high, 0) AS high{place}"
        )
        for place, each in allowances.items()
    )
    joins = " ".join(
        f"LEFT JOIN reid_near_{place} AS n{place} ON q{place} = n{place}.v" for place in allowances
    )
    tables.append(
        f"reid_placed AS MATERIALIZED (SELECT {relation}.*, {cells} FROM {relation} {joins})"
    )
    return ", ".join(tables)


def match_within(
    columns: Sequence[str],
    distinct_records: str,
    allowances: Allowances,
    other: int = 0,
    groups: Sequence[str] = (),
    *,
    of_people: bool = False,
) -> str:
    """Match distinct records, or people, with those of the other side: tables of a WITH clause, reid_matched.

    With `groups`, the aliases of their columns, each record matches within its group alone.
    """
    exact = [
        *(f"q{place}" for place, _ in enumerate(columns, 1) if place not in allowances),
        *groups,
    ]
    sizes = count_within(exact, allowances, f"side = {other}", "class_size", of_people=of_people)
    return f"""reid_distinct AS MATERIALIZED ({distinct_records}),
        {tolerance_tables(columns, "reid_distinct", allowances)},
        reid_sizes AS ({sizes}),
        reid_matched AS MATERIALIZED (
          SELECT reid_distinct.*, class_size
          FROM reid_distinct JOIN reid_sizes ON reid_distinct.id = reid_sizes.id
          WHERE side = 0
        )"""


def count_within(
    exact: Sequence[str],
    allowances: Allowances,
    other: str,
    alias: str,
    *,
    of_people: bool,
) -> str:
    """Count for each record of side 0, by its id, the records, or people, of others that match it.

    `other` is the condition by which reid_placed has the others; `exact` are the columns of equal values.
    """
    return _Count(tuple(exact), allowances, of_people).write(other, alias)


def link_within(
    q: Sequence[str], columns: Sequence[str], allowances: Allowances, *, is_keyed: bool
) -> str:
    """Name reid_links the rows of side 0 of reid_rows, with how many of side 1 match, and back.

    `q` are the aliases of the `columns`.

    Where one matches alone, the sum of the matching records' numbers is its number. `second_size` and
    `people` are of the row of the same person, if there is one and it is within the tolerance.
    """
    exact = [alias for place, alias in enumerate(q, 1) if place not in allowances]
    count = _Count(tuple(exact), allowances, is_of_people=False)
    both = f"SELECT side, {', '.join(q)}, count(*) AS records FROM reid_rows GROUP BY side, {', '.join(q)}"
    person, joined = "0", ""
    if is_keyed:
        person = f"CASE WHEN {is_within(exact, allowances, 'o', 'r')} THEN 1 ELSE 0 END"
        joined = f"""
          LEFT JOIN (
            SELECT reid_placed.*, p2, 1 AS is_there FROM reid_rows JOIN reid_placed
              ON reid_rows.side = 1 AND reid_placed.side = 1 AND {same("reid_rows", "reid_placed", q)}
          ) AS r ON r.is_there = 1 AND reid_rows.p1 IS NOT DISTINCT FROM r.p2
          LEFT JOIN reid_back AS h ON h.id = r.id"""
    second = "h.back" if is_keyed else "0"
    return f"""
        reid_both AS MATERIALIZED (SELECT *, row_number() OVER () AS id FROM ({both})),
        {tolerance_tables(columns, "reid_both", allowances)},
        reid_ahead AS MATERIALIZED ({count.write("side = 1", "ahead")}),
        reid_alone AS MATERIALIZED ({count.write("side = 1", "other", weight="id")}),
        reid_back AS MATERIALIZED ({count.write("side = 0", "back", counted="side = 1")}),
        reid_links AS (
          SELECT first_size, people * coalesce(second_size, 0) AS second_size, people, is_followed_first,
            is_followed_first * people AS is_followed_second
          FROM (
            SELECT a.ahead AS first_size, {second} AS second_size, {person} AS people,
              CASE WHEN a.ahead = 1 AND b.back = 1 THEN 1 ELSE 0 END AS is_followed_first
            FROM reid_rows
            JOIN reid_placed AS o ON reid_rows.side = 0 AND o.side = 0 AND {same("reid_rows", "o", q)}
            JOIN reid_ahead AS a ON a.id = o.id
            LEFT JOIN reid_alone AS l ON l.id = o.id AND a.ahead = 1
            LEFT JOIN reid_back AS b ON b.id = l.other {joined}
          )
        )"""


def is_within(exact: Sequence[str], allowances: Allowances, one: str, other: str) -> str:
    """Test whether two records of reid_placed match in every column."""
    tests = [
        f"list_contains({one}.near{place}, {other}.c{place})"
        if each.is_of_text
        else f"{other}.c{place} BETWEEN {one}.low{place} AND {one}.high{place}"
        for place, each in allowances.items()
    ]
    return " AND ".join([*tests, *([same(one, other, exact)] if exact else [])])


def join_within(exact: Sequence[str], allowances: Allowances) -> str:
    """Join each record of reid_placed, `id`, with those that match it, `other`, in every column."""
    query = "SELECT * FROM reid_placed"
    for place, each in allowances.items():
        listed = f"near{place}" if each.is_of_text else f"range(low{place}, high{place} + 1)"
        query = f"SELECT *, unnest({listed}) AS x{place} FROM ({query})"
    codes = [f"o.x{place} = m.c{place}" for place in allowances]
    alike = " AND ".join([*codes, *([same("o", "m", exact)] if exact else [])])
    return f"SELECT m.id, o.id AS other FROM ({query}) AS o JOIN reid_placed AS m ON {alike}"


@dataclass(frozen=True)
class _Count:
    """A count of matches: columns of equal values, by how much others may differ, and whether of people."""

    exact: tuple[str, ...]
    allowances: Allowances
    is_of_people: bool

    def write(
        self, other: str, alias: str, counted: str = "side = 0", weight: str = "records"
    ) -> str:
        """Write the running sum: a record counts from the first place where it matches to the last."""
        keys = [*self.exact, *(f"x{place}" for place in self.repeated)]
        listed = "".join(f"{key}, " for key in keys)
        part = f"PARTITION BY {', '.join(keys)}" if keys else ""
        owners = self._repeat_records(["id", f"{self._running('c')} AS spot"], "own", counted)
        weighed = ["entity", "1 AS weight"] if self.is_of_people else [f"{weight} AS weight"]
        cells = [f"{self._running('low')} AS low", f"{self._running('high')} AS high", *weighed]
        spans = self._repeat_records(cells, "near", other)
        spans = _join_spans(spans, keys) if self.is_of_people else spans
        return f"""
        SELECT id, sum(matches)::BIGINT AS {alias}
        FROM (
          SELECT id, sum(change) OVER ({part} ORDER BY spot ASC) AS matches
          FROM (
            SELECT id, {listed}spot, 0 AS change FROM ({owners})
            UNION ALL
            SELECT NULL, {listed}spot, sum(change)
            FROM (
              WITH reid_spans AS ({spans})
              SELECT {listed}low AS spot, weight AS change FROM reid_spans
              UNION ALL SELECT {listed}high + 1, -weight FROM reid_spans
            ) GROUP BY {listed}spot
          )
        ) WHERE id IS NOT NULL GROUP BY id"""

    @property
    def in_order(self) -> list[int]:
        """The columns whose values are in an order."""
        return [place for place, each in self.allowances.items() if not each.is_of_text]

    @property
    def repeated(self) -> list[int]:
        """The columns by whose values records are repeated: all, but for the only one in an order."""
        return [place for place in self.allowances if self.in_order != [place]]

    def _running(self, cell: str) -> str:
        """Choose a cell of the column by which the sum runs: of several, that with the most matches."""
        if len(self.in_order) < 2:  # noqa: PLR2004 - nothing to choose
            return "".join(f"{cell}{place}" for place in self.in_order) or "0"
        cases = "".join(f" WHEN {place} THEN {cell}{place}" for place in self.in_order)
        return f"CASE {self._widest}{cases} END"

    @property
    def _widest(self) -> str:
        """The place of the column whose records match the most values, as a query of one value."""
        widths = " UNION ALL ".join(
            f"SELECT {place} AS place, sum(high{place} - low{place}) AS width FROM reid_placed"
            for place in self.in_order
        )
        return f"(SELECT arg_max(place, width) FROM ({widths}))"

    def _repeat_records(self, cells: Sequence[str], role: str, where: str) -> str:
        """Select records, each once for all values of the repeated columns that it is counted by there."""
        lists = [f"{self._list_values(place, role)} AS list{place}" for place in self.repeated]
        query = f"SELECT {', '.join([*self.exact, *cells, *lists])} FROM reid_placed WHERE {where}"
        for place in self.repeated:
            query = (
                f"SELECT * EXCLUDE (list{place}), unnest(list{place}) AS x{place} FROM ({query})"
            )
        return query

    def _list_values(self, place: int, role: str) -> str:
        """List by which values a record is counted in a column: its own, or those `near`.

        Without people, these are nodes of a binary tree over the numbers: the few that cover the near ones
        exactly, and the nodes above the own number, of which just one is among them if it is near. A person's
        values are listed one by one, as the person counts once for all of them.
        """
        if place not in self.in_order:
            return f"near{place}" if role == "near" else f"[c{place}]"
        if self.is_of_people:
            listed = f"range(low{place}, high{place} + 1)" if role == "near" else f"[c{place}]"
        else:
            levels = f"range(0, (SELECT 1 + length(bin(max(c{place}))) FROM reid_placed))"
            nodes = (
                COVER.format(f"low{place}", f"high{place} + 1")
                if role == "near"
                else ABOVE.format(f"c{place}")
            )
            listed = f"flatten(list_transform({levels}, lambda reid_level: {nodes}))"
        return f"CASE WHEN {self._widest} = {place} THEN [0] ELSE {listed} END"


def _join_spans(spans: str, keys: Sequence[str]) -> str:
    """Join the spans of a person that overlap or touch, so that nobody counts twice for a record."""
    listed = "".join(f"{key}, " for key in keys)
    part = ", ".join([*keys, "entity"])
    return f"""
        SELECT {listed}entity, min(low) AS low, max(high) AS high, 1 AS weight
        FROM (
          SELECT *, count(CASE WHEN is_new THEN 1 END) OVER (PARTITION BY {part} ORDER BY low ASC, high ASC
            ROWS UNBOUNDED PRECEDING) AS span
          FROM (
            SELECT *, low > 1 + coalesce(max(high) OVER (PARTITION BY {part} ORDER BY low ASC, high ASC
              ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), low - 2) AS is_new
            FROM ({spans})
          )
        ) GROUP BY {listed}entity, span"""


# The values of a column


def _near_values(place: int, column: str, relation: str, allowance: Allowance) -> str:
    values = f"(SELECT DISTINCT q{place} AS v FROM {relation} WHERE q{place} IS NOT NULL)"
    if allowance.is_of_text:
        return _near_texts(place, column, values)
    if allowance.unit in {"", PERCENT}:
        cells = _number_cells(column, allowance)
        readings = _read_numbers()
    else:
        cells = _time_cells(column, allowance)
        readings = _read_times(allowance.unit)
    return f"""reid_spots_{place} AS MATERIALIZED (
          SELECT v, {cells} FROM (SELECT v, {readings} FROM {values})
        ),
        reid_near_{place} AS MATERIALIZED ({_numbered_values(f"reid_spots_{place}")})"""


def _numbered_values(spots: str) -> str:
    """Number values in their order, with the first and the last that each matches.

    A value's last match is the last value up to the end of its reach, its first the first whose reach gets to
    it. Values that are no finite numbers are of another `kind` than those, and reach themselves. DuckDB takes
    quadratic time to count with FILTER over a window.
    """
    return f"""
        SELECT v, max(code) AS code, max(low) AS low, max(high) AS high
        FROM (
          SELECT v,
            CASE WHEN NOT is_end THEN count(CASE WHEN NOT is_end THEN 1 END) OVER reid_up_to END AS code,
            CASE WHEN NOT is_end THEN 1 + count(CASE WHEN is_end THEN 1 END) OVER reid_before END AS low,
            CASE WHEN is_end THEN count(CASE WHEN NOT is_end THEN 1 END) OVER reid_up_to END AS high
          FROM (
            SELECT v, kind, e, f, false AS is_end FROM {spots}
            UNION ALL SELECT v, kind, end_e, end_f, true FROM {spots}
          )
          WINDOW reid_up_to AS (ORDER BY kind ASC, e ASC, f ASC),
            reid_before AS (ORDER BY kind ASC, e ASC, f ASC, is_end ASC)
        ) GROUP BY v"""


def _refuse_type(column: str, what: str, kind: str = "INTEGER") -> str:
    """Refuse the type of the column without its words: those of an ENUM are values."""
    head = text(REFUSAL.format(column, what))
    return f"error(concat({head}, split_part(typeof(v), '(', 1), {text(REMEDY)}))::{kind}"


def _refuse_texts(column: str, what: str) -> str:
    """Refuse a column of texts of which some are nothing of the kind, with their number."""
    head = text(REFUSAL_TEXTS.format(column, what))
    count = (
        "others, CASE WHEN others = 1 THEN ' value that is none' ELSE ' values that are none' END"
    )
    return f"error(concat({head}, {count}, {text(REMEDY_TEXTS)}))::INTEGER"


def _read_numbers() -> str:
    """How many distinct texts are no numbers, and whether all are exact as decimals: others, is_exact."""
    none = f"{IS_TEXT} AND try_cast(v::VARCHAR AS DOUBLE) IS NULL"
    plain = f"{IS_TEXT} AND regexp_full_match(v::VARCHAR, {text(PLAIN)})"
    return f"count(CASE WHEN {none} THEN 1 END) OVER () AS others, bool_and({plain}) OVER () AS is_exact"


def _read_times(unit: str) -> str:
    """How many distinct texts are no times, or no dates, and whether all are dates: others, is_day."""
    day = f"regexp_full_match(v::VARCHAR, {text(ISO_DATE)}) AND try_cast(v::VARCHAR AS DATE) IS NOT NULL"
    time = day if unit in MONTHS else "try_cast(v::VARCHAR AS TIMESTAMP) IS NOT NULL"
    is_day = (
        f"bool_and({IS_TEXT} AND {day}) OVER ()" if unit in {"day", "week", *MONTHS} else "false"
    )
    return f"""count(CASE WHEN {IS_TEXT} AND NOT ({time}) THEN 1 END) OVER () AS others,
            {is_day} AS is_day"""


def _number_cells(column: str, allowance: Allowance) -> str:
    """The place of a number and the end of its reach, exact (e) or as a double (f)."""
    whole = f"typeof(v) IN ({', '.join(map(text, WHOLE_TYPES))})"
    decimal = "typeof(v) LIKE 'DECIMAL%'"
    floating = f"(typeof(v) IN ('FLOAT', 'DOUBLE') OR {IS_TEXT} AND NOT is_exact)"
    number = "try_cast(v AS DOUBLE)"
    e = f"""CASE WHEN {decimal} THEN try_cast(replace(v::VARCHAR, '.', '') AS HUGEINT)
          WHEN {whole} THEN try_cast(v AS HUGEINT)
          WHEN is_exact THEN
            try_cast(replace(try_cast(v::VARCHAR AS DECIMAL(38, {MAX_PLACES}))::VARCHAR, '.', '') AS HUGEINT)
          ELSE 0 END"""
    f = f"CASE WHEN {floating} AND isfinite({number}) THEN {number} ELSE 0 END"
    scale = f"""CASE WHEN {decimal} THEN regexp_extract(typeof(v), ',(\\d+)', 1)::INTEGER
          WHEN is_exact THEN {MAX_PLACES} ELSE 0 END"""
    end_e, end_f = _reach_of_numbers(allowance, f"({e})", f"({f})", f"({scale})")
    return f"""CASE WHEN {IS_TEXT} AND others > 0 THEN {_refuse_texts(column, "numbers")}
          WHEN {whole} OR {decimal} OR is_exact OR isfinite({number}) AND {floating} THEN 0
          WHEN NOT {floating} THEN {_refuse_type(column, NUMBERS)}
          WHEN {number} = 'inf'::DOUBLE THEN 1 WHEN {number} = '-inf'::DOUBLE THEN 2 ELSE 3 END AS kind,
        {e} AS e, {f} AS f, CASE WHEN {floating} THEN 0 ELSE {end_e} END AS end_e,
        CASE WHEN {floating} AND isfinite({number}) THEN {end_f} ELSE 0 END AS end_f"""


def _reach_of_numbers(allowance: Allowance, e: str, f: str, scale: str) -> tuple[str, str]:
    """Write x + t, or of a percentage x / (1 - p), which is x (1 - p) below 0, without an overflow."""
    slack = f"CASE WHEN typeof(v) = 'FLOAT' THEN {FLOAT_SLACK!r}::DOUBLE ELSE {SLACK!r}::DOUBLE END"
    if allowance.unit != PERCENT:
        steps = [
            min(int(allowance.amount.scaleb(each)), MAX_WHOLE) for each in range(MAX_SCALE + 1)
        ]
        step = f"[{', '.join(map(str, steps))}]::HUGEINT[]"
        step = f"list_extract({step}, {scale} + 1)"
        more = f"{float(allowance.amount)!r}::DOUBLE * (1 + {slack})"
        wide = f"{f} * CASE WHEN {f} < 0 THEN 1 - {slack} ELSE 1 + {slack} END"
        return f"least({e}, {MAX} - {step}) + {step}", f"{wide} + {more}"
    share = (allowance.amount / 100).normalize()
    places = max(0, -int(share.as_tuple().exponent))
    whole = 10**places
    left = whole - int(share.scaleb(places))
    below = f"greatest({e}, -{MAX})"
    up = f"""CASE WHEN {e} // {left} >= {MAX} // {whole} THEN {MAX}
          ELSE ({e} // {left}) * {whole} + (({e} % {left}) * {whole}) // {left} END"""
    down = f"""(({below}) // {whole}) * {left} - ((-(({below}) % {whole})) * {left} + {whole - 1}) // {whole}"""
    kept = f"{left / whole!r}::DOUBLE"
    reach = (
        f"CASE WHEN {f} < 0 THEN {f} * {kept} * (1 - {slack}) ELSE {f} / {kept} * (1 + {slack}) END"
    )
    return f"CASE WHEN {e} >= 0 THEN {up} ELSE {down} END", reach


def _time_cells(column: str, allowance: Allowance) -> str:
    """The place of a date, in days, or of a time, in nanoseconds, and the end of its reach."""
    amount, unit = int(allowance.amount), allowance.unit
    date = "(typeof(v) = 'DATE' OR is_day)"
    day, time = "try_cast(v AS DATE)", "try_cast(v AS TIMESTAMP)"
    times = f"(typeof(v) IN ({', '.join(map(text, TIME_TYPES))}) OR {IS_TEXT} AND NOT is_day)"
    days = f"try({day} - {EPOCH})"
    nanoseconds = f"""CASE WHEN typeof(v) = '{NANO}' THEN epoch_ns(try_cast(v AS {NANO}))::HUGEINT
          WHEN typeof(v) = '{ZONED}' THEN epoch_us(try_cast(v AS TIMESTAMPTZ))::HUGEINT * 1000
          ELSE epoch_us({time})::HUGEINT * 1000 END"""
    if unit in MONTHS:
        is_time, e, refused = date, f"{days}::HUGEINT", "DATE"
        later = f"try(try_cast({day} + INTERVAL ({amount * MONTHS[unit]}) MONTH AS DATE) - {EPOCH})"
        end = f"coalesce({later}, CASE WHEN {e} > 0 THEN {MAX} ELSE {e} END)"
    else:
        seconds = amount * SECONDS[unit]
        in_days = seconds // SECONDS["day"] if unit in {"day", "week"} else None
        is_time, refused = times, "TIMESTAMP"
        e, end = nanoseconds, f"{nanoseconds} + {seconds * NANOSECONDS}::HUGEINT"
        if in_days is not None:
            is_time, refused = f"({date} OR {times})", "DATE or TIMESTAMP"
            e = f"CASE WHEN {date} THEN {days}::HUGEINT ELSE {nanoseconds} END"
            end = (
                f"({e}) + CASE WHEN {date} THEN {in_days} ELSE {seconds * NANOSECONDS} END::HUGEINT"
            )
    finite = f"CASE WHEN {date} THEN isfinite({day}) ELSE isfinite({time}) END"
    return f"""CASE WHEN {IS_TEXT} AND others > 0 THEN {_refuse_texts(column, DATES if unit in MONTHS else TIMES)}
          WHEN NOT {is_time} THEN {_refuse_type(column, refused)} WHEN {finite} THEN 0
          WHEN v::VARCHAR LIKE '-%' THEN 1 ELSE 2 END AS kind,
        coalesce(CASE WHEN {finite} THEN {e} END, 0) AS e, 0 AS f,
        coalesce(CASE WHEN {finite} THEN {end} END, 0) AS end_e, 0 AS end_f"""


def _near_texts(place: int, column: str, values: str) -> str:
    """List for each text those within one edit: a character inserted, left out, or replaced.

    Two texts of one length match if they are equal without the character at one place; two others, if one is
    the other without a character. So none is compared with all.
    """
    is_text = "typeof(v) = 'VARCHAR' OR typeof(v) LIKE 'ENUM(%'"
    word = (
        f"CASE WHEN {is_text} THEN v::VARCHAR ELSE {_refuse_type(column, 'VARCHAR', 'VARCHAR')} END"
    )
    words, holes = f"reid_words_{place}", f"reid_holes_{place}"
    return f"""{words} AS MATERIALIZED (SELECT v, row_number() OVER () AS code, {word} AS word FROM {values}),
        {holes} AS MATERIALIZED (
          SELECT code, hole, substr(word, 1, hole - 1) || substr(word, hole + 1) AS rest
          FROM (SELECT code, word, unnest(range(1, length(word) + 1)) AS hole FROM {words})
        ),
        reid_near_{place} AS MATERIALIZED (
          SELECT v, code, near
          FROM {words} JOIN (
            SELECT code, list(DISTINCT other ORDER BY other ASC) AS near
            FROM (
              SELECT code, code AS other FROM {words}
              UNION ALL SELECT a.code, b.code FROM {holes} AS a JOIN {holes} AS b
                ON a.hole = b.hole AND a.rest = b.rest
              UNION ALL SELECT a.code, b.code FROM {holes} AS a JOIN {words} AS b ON a.rest = b.word
              UNION ALL SELECT b.code, a.code FROM {holes} AS a JOIN {words} AS b ON a.rest = b.word
            ) GROUP BY code
          ) USING (code)
        )"""
