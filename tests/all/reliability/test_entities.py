"""With `entity`, people are counted and not their rows, the same on every engine as in a loop."""

import random
from collections import Counter, defaultdict
from fractions import Fraction

import duckdb
import polars as pl
import pytest

import reid_sql
import reid_sql.polars as rp
from tests.cells import each_cell

SEEDS = range(30)


def visits(seed: int) -> pl.DataFrame:
    """Visits of people, whose values may change from one to the next."""
    rng = random.Random(seed)  # noqa: S311 - tables, no secrets
    people = range(rng.randint(2, 13))
    rows = [
        (rng.choice(people), rng.choice([None, 1, 2]), rng.choice("FM"), rng.randint(0, 1))
        for _ in range(40)
    ]
    return pl.DataFrame(
        rows,
        schema={"person": pl.Int64, "age": pl.Int64, "sex": pl.String, "zip": pl.Int64},
        orient="row",
    )


def people_of(frame: pl.DataFrame, qi: list[str]) -> dict[tuple[object, ...], set[object]]:
    """The people of each class."""
    found: dict[tuple[object, ...], set[object]] = defaultdict(set)
    for person, *values in frame.select("person", *qi).rows():
        found[tuple(values)].add(person)
    return dict(found)


def by_smallest(classes: dict[tuple[object, ...], set[object]]) -> dict[object, int]:
    """The size of each person's smallest class: that is where they are found."""
    smallest: dict[object, int] = {}
    for people in classes.values():
        for person in people:
            smallest[person] = min(smallest.get(person, len(people)), len(people))
    return smallest


@pytest.fixture(scope="module")
def con() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    reid_sql.register(connection)
    return connection


QIS = [["age", "sex", "zip"], ["sex"], ["age", "sex", "zip", "age2", "sex2", "zip2"]]


@each_cell("seed", SEEDS)
def test_people_are_counted_not_their_rows(con: duckdb.DuckDBPyConnection, seed: int) -> None:
    frame = visits(seed).with_columns(
        pl.col("age").alias("age2"), pl.col("sex").alias("sex2"), pl.col("zip").alias("zip2")
    )
    qi = QIS[seed % 3]
    classes, listed = people_of(frame, qi), ", ".join(qi)
    sizes = [len(classes[tuple(values)]) for values in frame.select(qi).rows()]
    smallest = by_smallest(classes)
    con.register("visits", frame)
    asked = f"SELECT {listed}, class_size, records FROM equivalence_classes(visits, {qi}, entity := 'person')"
    rows = Counter(frame.select(qi).rows())
    assert set(con.execute(asked).fetchall()) == {
        (*key, len(people), rows[key]) for key, people in classes.items()
    }
    assert (
        frame.select(rp.equivalence_class_size(*qi, entity="person")).to_series().to_list() == sizes
    )
    counted, people = Counter(map(len, classes.values())), Counter(smallest.values())
    expected = [(size, counted[size], people[size]) for size in sorted(counted)]
    columns = "class_size, classes, records"
    in_sql = con.execute(
        f"SELECT {columns} FROM class_size_histogram(visits, {qi}, entity := 'person')"
    ).fetchall()
    in_polars = (
        rp.class_size_histogram(frame, qi, entity="person")
        .select(columns.split(", "))
        .collect()
        .rows()
    )
    assert in_sql == in_polars == expected
    alone = sum(size == 1 for size in smallest.values())
    risk = float(sum(Fraction(1, size) for size in smallest.values()) / len(smallest))
    row = con.execute(
        f"SELECT records, k, unique_records, average_risk FROM risk_summary(visits, {qi}, entity := 'person')"
    ).fetchall()[0]
    assert row == (len(smallest), min(sizes), alone, pytest.approx(risk))
    assert rp.risk_summary(frame, qi, entity="person").select(
        "records", "k", "unique_records", "average_risk"
    ).collect().row(0) == (len(smallest), min(sizes), alone, pytest.approx(risk))
