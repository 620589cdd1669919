"""Drawn tables are answered as by a loop: of people, by group, against a population, of choices of columns.

Each question is asked of DuckDB and of Polars. REID_SQL_DRAWN says of how many (docs/reliability.md).
"""

import os
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any

import duckdb
import polars as pl
import pytest

import reid_sql
import reid_sql.polars as rp
from reid_sql.errors import ReidError
from tests.all.reliability.drawn import canonical, table
from tests.cells import each_cell

SEEDS = range(int(os.environ.get("REID_SQL_DRAWN", "100")) // 8)
MISSING, NOT_A_NUMBER = canonical(None), canonical(float("nan"))
UNKNOWN_PEOPLE = "entity must have a value in every row"
Value = Any
Record = tuple[Value, ...]
Answered = list[tuple[Any, ...]]


class Drawn:
    """A drawn table: its records, their classes by all columns but the last, and how both engines see it."""

    def __init__(self, con: duckdb.DuckDBPyConnection, seed: int) -> None:
        given = table(seed)
        self.con, self.names = con, given.column_names
        self.records = [tuple(map(canonical, row.values())) for row in given.to_pylist()]
        self.frame = pl.DataFrame(pl.from_arrow(given))
        con.execute("CREATE OR REPLACE TABLE drawn AS FROM given")
        self.qi, self.last = self.names[:-1], self.names[-1]
        self.few = self.names[:5]
        self.classes: dict[Record, list[Value]] = defaultdict(list)
        for *values, last in self.records:
            self.classes[tuple(values)].append(last)

    def has_unknown_people(self) -> bool:
        """Whether the last column, where it identifies people, lacks a value in some row."""
        return any(last in {MISSING, NOT_A_NUMBER} for *_, last in self.records)

    def key(self, record: Record, names: Sequence[str]) -> Record:
        return tuple(record[self.names.index(name)] for name in names)

    def asked(self, sql: str) -> Answered:
        return tidy(self.con.execute(sql).fetchall())


def tidy(rows: Sequence[Sequence[Any]]) -> Answered:
    """Rows in an order of their own, numbers to nine digits."""
    return sorted(tuple(round(x, 9) if isinstance(x, float) else x for x in row) for row in rows)


def polars(frame: pl.LazyFrame, *columns: str) -> Answered:
    return tidy(frame.select(columns).collect().rows())


def people(drawn: Drawn) -> tuple[Answered, Answered, Answered]:
    """The last column identifies people: how many have a smallest class of each size."""
    smallest: dict[Value, int] = {}
    for members in drawn.classes.values():
        for person in members:
            smallest[person] = min(smallest.get(person, len(set(members))), len(set(members)))
    expected = tidy(list(Counter(smallest.values()).items()))
    sql = f"class_size_histogram(drawn, {drawn.qi}, entity := '{drawn.last}')"
    asked = f"SELECT class_size, records FROM {sql} WHERE records > 0"
    counted = rp.class_size_histogram(drawn.frame, drawn.qi, entity=drawn.last)
    by_polars = counted.filter(pl.col("records") > 0).select("class_size", "records")
    return answered_or_refused(drawn, asked, by_polars, expected)


def answered_or_refused(
    drawn: Drawn, sql: str, by_polars: pl.LazyFrame, expected: Answered
) -> tuple[Answered, Answered, Answered]:
    """Both engines' answers; where a row identifies nobody, both refuse and nothing is compared."""
    if not drawn.has_unknown_people():
        return drawn.asked(sql), polars(by_polars, *by_polars.collect_schema().names()), expected
    with pytest.raises(duckdb.Error, match=UNKNOWN_PEOPLE):
        drawn.asked(sql)
    with pytest.raises((ReidError, pl.exceptions.PolarsError), match=UNKNOWN_PEOPLE):
        by_polars.collect()
    return [], [], []


def people_of_each(drawn: Drawn) -> tuple[Answered, Answered, Answered]:
    expected = tidy([(len(set(members)),) for members in drawn.classes.values() for _ in members])
    sql = f"SELECT equivalence_class_people({drawn.last}, {', '.join(drawn.qi)}) FROM drawn"
    counted = rp.equivalence_class_people(drawn.last, *drawn.qi).alias("people")
    return answered_or_refused(drawn, sql, drawn.frame.lazy().select(counted), expected)


def groups(drawn: Drawn) -> tuple[Answered, Answered, Answered]:
    """The last column divides the records."""
    divided: dict[Value, Counter[Record]] = defaultdict(Counter)
    for *values, last in drawn.records:
        divided[last][tuple(values)] += 1
    figures = [
        (min(each.values()), each.total(), list(each.values()).count(1))
        for each in divided.values()
    ]
    columns = ("k", "records", "unique_records")
    sql = (
        f"SELECT {', '.join(columns)} FROM risk_summary(drawn, {drawn.qi}, by := ['{drawn.last}'])"
    )
    by_polars = rp.risk_summary(drawn.frame, drawn.qi, by=[drawn.last])
    return drawn.asked(sql), polars(by_polars, *columns), tidy(figures)


def population(drawn: Drawn) -> tuple[Answered, Answered, Answered]:
    """The first records are the sample, all of them the population."""
    sample = drawn.records[: max(1, len(drawn.records) // 2)]
    counts = Counter(drawn.records)
    rows = f"(SELECT *, row_number() OVER () AS reid_place FROM drawn) WHERE reid_place <= {len(sample)}"
    drawn.con.execute(f"CREATE OR REPLACE TABLE sample AS FROM {rows}")
    found = drawn.asked(
        f"SELECT k, uncovered_records FROM journalist_risk(sample, drawn, {drawn.names})"
    )
    by_polars = rp.journalist_risk(drawn.frame.head(len(sample)), drawn.frame, drawn.names)
    return (
        found,
        polars(by_polars, "k", "uncovered_records"),
        [(min(counts[each] for each in sample), 0)],
    )


def sensitive(
    drawn: Drawn, reported: Callable[[list[Value]], float], function: str, how: str = ""
) -> Any:
    """The last column is sensitive; a value that is missing has a meaning of its own there."""
    if any(record[-1] == MISSING for record in drawn.records):
        return [], [], []
    expected = [reported(members) for members in drawn.classes.values()]
    worst = min(expected) if function == "l_diversity" else max(expected)
    variant = f", variant := '{how}'" if how else ""
    found = drawn.asked(
        f"SELECT value::DOUBLE FROM {function}(drawn, {drawn.qi}, '{drawn.last}'{variant})"
    )
    by_polars = getattr(rp, function)(
        drawn.frame, drawn.qi, drawn.last, **({"variant": how} if how else {})
    )
    return found, polars(by_polars, "value"), tidy([(float(worst),)])


def distinct(drawn: Drawn) -> Any:
    return sensitive(drawn, lambda members: len(set(members)), "l_diversity")


def most_frequent(drawn: Drawn) -> Any:
    return sensitive(
        drawn, lambda members: max(Counter(members).values()) / len(members), "attribute_disclosure"
    )


def distance(drawn: Drawn) -> Any:
    whole, records = Counter(record[-1] for record in drawn.records), len(drawn.records)
    shares = {value: count / records for value, count in whole.items()}
    return sensitive(
        drawn,
        lambda members: (
            sum(
                abs(Counter(members)[value] / len(members) - share)
                for value, share in shares.items()
            )
            / 2
        ),
        "t_closeness",
        "equal",
    )


def choices(drawn: Drawn) -> tuple[Answered, Answered, Answered]:
    n, expected = len(drawn.records), []
    for chosen in (each for size in (1, 2) for each in combinations(drawn.few, size)):
        counts = Counter(drawn.key(record, chosen) for record in drawn.records)
        alike = sum(count * (count - 1) for count in counts.values())
        expected.append((list(chosen), len(counts) / n, 1 - alike / (n * (n - 1))))
    columns = ("columns", "distinction", "separation")
    found = drawn.asked(
        f"SELECT {', '.join(columns)} FROM attribute_risk(drawn, {drawn.few}, max_size := 2)"
    )
    return (
        found,
        polars(rp.attribute_risk(drawn.frame, drawn.few, max_size=2), *columns),
        tidy(expected),
    )


def why(drawn: Drawn) -> tuple[Answered, Answered, Answered]:
    """The smallest sets of columns that single a record out."""
    counts = {
        chosen: Counter(drawn.key(record, chosen) for record in drawn.records)
        for size in (1, 2, 3)
        for chosen in combinations(drawn.few, size)
    }
    expected = []
    for place, record in enumerate(drawn.records):
        found: list[tuple[str, ...]] = []
        for chosen, counted in counts.items():
            if counted[drawn.key(record, chosen)] == 1 and not any(
                set(one) <= set(chosen) for one in found
            ):
                found.append(chosen)
        expected += [(place, list(each)) for each in found]
    asked = f"SELECT record, columns FROM suda_scores(drawn, {drawn.few}, max_size := 3, output := 'subsets')"
    by_polars = rp.suda_scores(drawn.frame, drawn.few, max_size=3, output="subsets")
    return drawn.asked(asked), polars(by_polars, "record", "columns"), tidy(expected)


def matches(drawn: Drawn) -> tuple[Answered, Answered, Answered]:
    """NULL matches anything; of records without any value each is matched by all others, and matches none."""
    few = [drawn.key(record, drawn.few) for record in drawn.records]
    blank = [all(value == MISSING for value in record) for record in few]
    sizes = [
        sum(
            all(x == y or MISSING in (x, y) for x, y in zip(one, other, strict=True))
            for place, other in enumerate(few)
            if alone or not blank[place]
        )
        for one, alone in zip(few, blank, strict=True)
    ]
    asked = f"SELECT class_size, records FROM class_size_histogram(drawn, {drawn.few}, nulls := 'wildcard')"
    by_polars = rp.class_size_histogram(drawn.frame, drawn.few, nulls="wildcard")
    return (
        drawn.asked(asked),
        polars(by_polars, "class_size", "records"),
        tidy(list(Counter(sizes).items())),
    )


def columns_alone(drawn: Drawn) -> tuple[Answered, Answered, Answered]:
    expected = []
    for name in drawn.names:
        counts = Counter(drawn.key(record, [name])[0] for record in drawn.records)
        values = sum(value != MISSING for value in counts)
        expected.append((name, values, list(counts.values()).count(1) / len(drawn.records)))
    columns = ("column_name", "distinct_values", "uniqueness")
    asked = drawn.asked(f"SELECT {', '.join(columns)} FROM profile(drawn)")
    assert drawn.asked(f"SELECT {', '.join(columns)} FROM profile(drawn, {drawn.names})") == asked
    return asked, polars(rp.profile(drawn.frame), *columns), tidy(expected)


QUESTIONS = (
    people,
    people_of_each,
    groups,
    population,
    distinct,
    most_frequent,
    distance,
    choices,
    why,
)
MORE = (matches, columns_alone)


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        reid_sql.register(connection)
        yield connection


@each_cell("seed", SEEDS)
def test_engines_answer_as_a_loop_does(con: duckdb.DuckDBPyConnection, seed: int) -> None:
    while len(table(seed).column_names) < 2 or table(seed).num_rows < 2:
        seed = random.Random(seed).randint(10**6, 10**9)  # noqa: S311 - a table of two columns
    drawn = Drawn(con, seed)
    for question in (*QUESTIONS, *MORE):
        by_duckdb, by_polars, expected = question(drawn)
        assert by_duckdb == expected, (question.__name__, seed)
        assert by_polars == expected, (question.__name__, seed)
