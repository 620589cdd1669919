"""Measures that compare the values of a class with those of the table, in SQL over reid_cells."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from reid_sql.sql.text import prefix, same, text

NEARLY_ALL: Final = 0.9  # classes per cell, from which on classes of one value are separated first


@dataclass(frozen=True)
class Keys:
    """The columns of a class, those of its group among them, and whether classes are listed by them."""

    keys: Sequence[str]
    groups: Sequence[str]
    is_listed: bool
    is_materialized: bool = True  # whether the engine computes a common table expression once
    has_people: bool = False  # whether reid_people has the people of the cells, of one value each

    @property
    def listed(self) -> str:
        """The keys, for GROUP BY."""
        return ", ".join(self.keys)

    @property
    def shown(self) -> str:
        """What is selected with each class, before other columns: its keys, its group or nothing."""
        return prefix(self.keys if self.is_listed else self.groups)

    @property
    def group(self) -> str:
        """The group, before other columns."""
        return prefix(self.groups)

    @property
    def by_group(self) -> str:
        """Count within each group: GROUP BY ALL would compare a VARIANT by its bytes."""
        return f"GROUP BY {', '.join(self.groups)}" if self.groups else ""

    @property
    def of_class(self) -> str:
        """The test that rows c and h are of one class."""
        return same("c", "h", self.keys)

    @property
    def of_group(self) -> str:
        """The test that rows c and h are of one group."""
        return same("c", "h", self.groups) or "true"

    @property
    def of_group_asof(self) -> str:
        """The same for ASOF JOIN, where IS NOT DISTINCT FROM finds no NULL in DuckDB 1.5; rows compare it."""
        return " AND ".join(f"row(c.{group}) = row(h.{group})" for group in self.groups) or "true"

    @property
    def cells(self) -> str:
        """The relation of the cells that are measured class by class."""
        return "reid_rest" if self.is_materialized else "reid_cells"

    def with_parts(self, *parts: str) -> str:
        """Write a WITH clause of the parts, after those that separate classes of one value."""
        relations = [_separate_single_values(self), *parts] if self.is_materialized else [*parts]
        return f"WITH {', '.join(relations)}" if relations else ""

    def with_single_values(self, query: str) -> str:
        """Write the query of the classes of one value before that of the others, where they are separated."""
        return f"{query} UNION ALL" if self.is_materialized else ""

    @property
    def window(self) -> str:
        """The words by which a window is of one group."""
        return f"PARTITION BY {', '.join(self.groups)}" if self.groups else ""


def _separate_single_values(keys: Keys) -> str:
    """Name the classes of one value reid_alone, counted by it and their size, and all other cells reid_rest.

    What a class of one value reveals needs no other cell, and nearly all are such in a table of nearly unique
    records. Where they are fewer, by an estimate upon which no answer depends, it is quicker to put all cells
    into reid_rest. An engine that computes a common table expression wherever it is used gains nothing: it
    measures all cells.
    """
    classes, grouped = ("1", "") if keys.is_listed else ("count(*)", f"GROUP BY {keys.group}s, n")
    return f"""reid_sparse AS MATERIALIZED (
          SELECT approx_count_distinct(({keys.listed})) > {NEARLY_ALL} * count(*) AS sparse FROM reid_cells
        ),
        reid_many AS MATERIALIZED (
          SELECT {keys.listed} FROM reid_cells WHERE (FROM reid_sparse)
          GROUP BY {keys.listed} HAVING count(*) > 1
        ),
        reid_alone AS MATERIALIZED (
          SELECT {keys.shown}s, n, {classes} AS classes
          FROM reid_cells AS c ANTI JOIN reid_many AS h ON {keys.of_class}
          WHERE (FROM reid_sparse) {grouped}
        ),
        reid_rest AS MATERIALIZED (
          SELECT c.* FROM reid_cells AS c SEMI JOIN reid_many AS h ON {keys.of_class}
          UNION ALL
          FROM reid_cells WHERE NOT (FROM reid_sparse)
        )"""


def _records_by_value(keys: Keys) -> str:
    """The table's records of each value, or its people, each once however many classes they are in."""
    if keys.has_people:
        return f"""(
          SELECT {keys.group}s, 1 AS n FROM (SELECT DISTINCT {keys.group}entity, s FROM reid_people)
        )"""
    if not keys.is_materialized:
        return keys.cells
    return f"""(
          SELECT {keys.group}s, n * classes AS n FROM reid_alone
          UNION ALL SELECT {keys.group}s, n FROM reid_rest
        )"""


def _frequencies(keys: Keys) -> str:
    """Name reid_values the records of each value in the table, and reid_whole how many records and values."""
    return f"""reid_values AS MATERIALIZED (
          SELECT {keys.group}s AS v, sum(n)::BIGINT AS in_table FROM {_records_by_value(keys)}
          GROUP BY {keys.group}s
        ),
        reid_whole AS MATERIALIZED (
          SELECT {keys.group}sum(in_table)::BIGINT AS total, count(*) AS kinds
          FROM reid_values {keys.by_group}
        )"""


def gain(measure: str, keys: Keys) -> str:
    """Measure how much more, or less, frequent a value is in a class than in the table.

    With p the share of a value in the class and q in the table: beta is max (p - q) / q, enhanced beta is
    infinite where a gain exceeds -ln q, delta max |ln p / q|. `allowed` is how many records a class must have
    for each that has the value, so that its gain stays within -ln q.
    """
    allowed = (
        "total / (in_table * (1 - ln(in_table::DOUBLE / total)))"
        if measure == "beta enhanced"
        else "NULL::DOUBLE"
    )
    of_value = f"JOIN reid_allowed AS h ON s IS NOT DISTINCT FROM v AND {keys.of_group}"
    of_held = f"""reid_allowed AS (
          SELECT c.*, {allowed} AS allowed FROM reid_values AS c JOIN reid_whole AS h ON {keys.of_group}
        )"""
    single = f"""
            SELECT {keys.shown}classes, n AS size, n::DOUBLE / in_table AS most,
              n::DOUBLE / in_table AS least, n * allowed AS needed, 1 AS parts
            FROM (SELECT c.*, in_table, allowed FROM reid_alone AS c {of_value})"""
    return f"""{keys.with_parts(_frequencies(keys), of_held)}
        SELECT {keys.shown}size AS class_size, classes, {_gain_value(measure)} AS value
        FROM (
          SELECT c.*, total, kinds
          FROM (
            {keys.with_single_values(single)}
            SELECT {keys.shown}1 AS classes, sum(n)::BIGINT AS size, max(n::DOUBLE / in_table) AS most,
              min(n::DOUBLE / in_table) AS least, max(n * allowed) AS needed, count(*) AS parts
            FROM (SELECT c.*, in_table, allowed FROM {keys.cells} AS c {of_value})
            GROUP BY {keys.listed}
          ) AS c JOIN reid_whole AS h ON {keys.of_group}
        )"""


def _gain_value(measure: str) -> str:
    basic = "greatest(0, most * total / size - 1)"
    change = "ln(greatest(1, most * total / size, size / (least * total)))"
    return {
        "beta basic": basic,
        "beta enhanced": f"CASE WHEN needed <= size THEN {basic} ELSE 'infinity'::DOUBLE END",
        "delta all": f"CASE WHEN parts < kinds THEN 'infinity'::DOUBLE ELSE {change} END",
        "delta present": change,
    }[measure]


def distance(keys: Keys) -> str:
    """Measure how far the shares of a class are from those of the table: half the sum of |p - q|.

    That is sum max(0, p - q). Of a class in which each of its values is at least as frequent as in the table,
    as in nearly every small class, it is the share of all other values, from one GROUP BY. The others are
    measured from their cells.
    """
    if not keys.is_materialized:
        return _distance_of_cells(keys)
    return f"""WITH {_separate_single_values(keys)},
        {_frequencies(keys)},
        reid_shares AS (SELECT c.*, total FROM reid_values AS c JOIN reid_whole AS h ON {keys.of_group}),
        reid_classes AS MATERIALIZED (
          SELECT {keys.listed}, size, total, 1 - alike::DOUBLE / total AS apart,
            least * total >= size AS settled
          FROM (
            SELECT c.*, total
            FROM (
              SELECT {keys.listed}, sum(n)::BIGINT AS size, sum(in_table) AS alike,
                min(n::DOUBLE / in_table) AS least
              FROM (
                SELECT c.*, in_table
                FROM reid_rest AS c JOIN reid_values AS h ON s IS NOT DISTINCT FROM v AND {keys.of_group}
              )
              GROUP BY {keys.listed}
            ) AS c JOIN reid_whole AS h ON {keys.of_group}
          )
        ),
        reid_several AS MATERIALIZED (
          SELECT c.*, size, total
          FROM reid_rest AS c JOIN (FROM reid_classes WHERE NOT settled) AS h ON {keys.of_class}
        )
        SELECT {keys.shown}n AS class_size, classes, 1 - in_table::DOUBLE / total AS value
        FROM (
          SELECT c.*, in_table, total
          FROM reid_alone AS c JOIN reid_shares AS h ON s IS NOT DISTINCT FROM v AND {keys.of_group}
        )
        UNION ALL
        SELECT {keys.shown}size AS class_size, 1 AS classes, apart AS value FROM reid_classes WHERE settled
        UNION ALL
        SELECT {keys.shown}any_value(size) AS class_size, 1 AS classes,
          sum(greatest(0, n::DOUBLE / size - in_table::DOUBLE / total)) AS value
        FROM (
          SELECT c.*, in_table
          FROM reid_several AS c JOIN reid_values AS h ON s IS NOT DISTINCT FROM v AND {keys.of_group}
        )
        GROUP BY {keys.listed}"""


def _distance_of_cells(keys: Keys) -> str:
    """The same from all cells at once, each with the size of its class."""
    return f"""{keys.with_parts(_frequencies(keys))}
        SELECT {keys.shown}max(size) AS class_size, 1 AS classes,
          sum(greatest(0, n::DOUBLE / size - in_table::DOUBLE / total)) AS value
        FROM (
          SELECT c.*, in_table, total
          FROM (SELECT *, sum(n) OVER (PARTITION BY {keys.listed}) AS size FROM reid_cells) AS c
          JOIN (SELECT c.*, total FROM reid_values AS c JOIN reid_whole AS h ON {keys.of_group}) AS h
            ON s IS NOT DISTINCT FROM v AND {keys.of_group}
        )
        GROUP BY {keys.listed}"""


def recursion(c: float, keys: Keys) -> str:
    """Measure the largest l for which all values from the l-th on, c times, exceed the most frequent one."""
    in_class = f"PARTITION BY {keys.listed} ORDER BY n ASC NULLS FIRST ROWS"
    single = f"""
        SELECT {keys.shown}n AS class_size, classes, {1 if c > 1 else 0}::DOUBLE AS value
        FROM reid_alone"""
    return f"""{keys.with_parts()} {keys.with_single_values(single)}
        SELECT {keys.shown}sum(n)::BIGINT AS class_size, 1 AS classes,
          count(*) FILTER (largest < {c!r}::DOUBLE * tail)::DOUBLE AS value
        FROM (
          SELECT *,
            max(n) OVER ({in_class} BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS largest,
            sum(n) OVER ({in_class} UNBOUNDED PRECEDING) AS tail
          FROM {keys.cells}
        )
        GROUP BY {keys.listed}"""


def distance_along(measure: str, sensitive: str, keys: Keys) -> str:
    """Measure how far the records of a class must move along a line to be distributed as the table is.

    It is the area between the two shares of records up to each value, run by run between the class's own
    values. Within a run the class's share is constant, `reached`, and the table's rises: where they cross,
    at cross_x, the sign of the difference changes.
    """
    return f"""WITH {_separate_single_values(keys)},
        {_line(measure, sensitive, keys)}
        SELECT {keys.shown}n AS class_size, classes, value
        FROM (
          SELECT c.*, value
          FROM reid_alone AS c
          JOIN (
            SELECT c.*, 2 * g - area + 1 - x AS value
            FROM reid_values AS c JOIN reid_area AS h ON {keys.of_group}
          ) AS h ON s IS NOT DISTINCT FROM v AND {keys.of_group}
        )
        UNION ALL
        SELECT {keys.shown}sum(n)::BIGINT AS class_size, 1 AS classes,
          sum(CASE WHEN first THEN g ELSE 0 END + reached * (2 * cross_x - x - next_x) + g + next_g
            - 2 * cross_g) AS value
        FROM (
          SELECT *,
            CASE WHEN coalesce(found_x, next_x) <= x THEN x
              WHEN coalesce(found_x, next_x) >= next_x THEN next_x ELSE found_x END AS cross_x,
            CASE WHEN coalesce(found_x, next_x) <= x THEN g
              WHEN coalesce(found_x, next_x) >= next_x THEN next_g ELSE found_g END AS cross_g
          FROM ({_runs(keys)})
        )
        GROUP BY {keys.listed}"""


def _runs(keys: Keys) -> str:
    """The runs between a class's own values, each with where the table's share passes the class's."""
    return f"""
        SELECT c.*, h.x AS found_x, h.g AS found_g
        FROM (
          SELECT *, row_number() OVER by_value = 1 AS first,
            (sum(n) OVER by_value)::DOUBLE
              / sum(n) OVER (by_value ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS reached,
            coalesce(lead(x) OVER by_value, 1) AS next_x, coalesce(lead(g) OVER by_value, area) AS next_g
          FROM (
            SELECT c.*, area
            FROM (
              SELECT c.*, x, g
              FROM reid_rest AS c JOIN reid_values AS h ON s IS NOT DISTINCT FROM v AND {keys.of_group}
            ) AS c JOIN reid_area AS h ON {keys.of_group}
          )
          WINDOW by_value AS (PARTITION BY {keys.listed} ORDER BY x ASC)
        ) AS c ASOF LEFT JOIN reid_values AS h ON {keys.of_group_asof} AND reached < h.f"""


def _line(measure: str, sensitive: str, keys: Keys) -> str:
    """Place each sensitive value on a line from 0 to 1, x = spot / last.

    f is the share of records up to it, and g the area under f left of it: x times the records before it, less
    the sum of their own x.
    """
    if measure == "t ordered":
        spread = """CASE WHEN known THEN greatest(most, 1) END AS last,
            CASE WHEN most = 0 THEN 1 ELSE place END AS spot"""
    else:
        spread = """CASE WHEN known THEN 1 END AS last,
            CASE WHEN most = least THEN 1 ELSE (place / 2 - least / 2) / (most / 2 - least / 2) END AS spot"""
    return f"""reid_placed AS MATERIALIZED (
          SELECT {keys.group}s AS v, sum(n)::BIGINT AS in_table, {_place(measure, sensitive, keys)} AS place
          FROM {_records_by_value(keys)} GROUP BY {keys.group}s
        ),
        reid_whole AS MATERIALIZED (
          SELECT {keys.group}sum(in_table)::DOUBLE AS total, min(place) AS least, max(place) AS most,
            count(place) = count(*) AS known
          FROM reid_placed {keys.by_group}
        ),
        reid_spread AS (
          SELECT c.*, total, {spread} FROM reid_placed AS c JOIN reid_whole AS h ON {keys.of_group}
        ),
        reid_values AS MATERIALIZED (
          SELECT {keys.group}v, spot::DOUBLE / last AS x, reached / total AS f,
            (spot * reached - moment) / (last * total) AS g
          FROM (
            SELECT *, sum(in_table) OVER so_far AS reached, sum(spot * in_table) OVER so_far AS moment
            FROM reid_spread
            WINDOW so_far AS ({keys.window} ORDER BY place ASC ROWS UNBOUNDED PRECEDING)
          )
        ),
        reid_area AS MATERIALIZED (SELECT {keys.group}max(g) AS area FROM reid_values {keys.by_group})"""


def _place(measure: str, sensitive: str, keys: Keys) -> str:
    """The place of a value on the line: its number among all values, or itself."""
    numbers = "U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*"
    if measure == "t ordered":
        refusal = (
            "sensitive must be a column of numbers, dates, times, booleans or ENUMs for variant := "
            f"'ordered', got '{sensitive}'; cast it to one of them, or pass variant := 'equal'"
        )
        return f"""CASE WHEN regexp_full_match(typeof(s), '{numbers}|DATE|TIME.*|INTERVAL|BOOLEAN|ENUM.*')
            THEN CASE WHEN s IS NOT NULL
              THEN row_number() OVER ({keys.window} ORDER BY s ASC NULLS LAST) - 1 END
            ELSE error({text(refusal)})::BIGINT END"""
    refusal = (
        f"sensitive must be a column of numbers for variant := 'numeric', got '{sensitive}'; cast it to a "
        "number, or pass variant := 'equal'"
    )
    number = "try_cast(s::VARCHAR AS DOUBLE)"
    return f"""CASE WHEN regexp_full_match(typeof(s), '{numbers}')
        THEN CASE WHEN isfinite({number}) THEN {number} END
        ELSE error({text(refusal)})::DOUBLE END"""
