"""Three releases and more: whom all single out together, held against going through the people."""

from itertools import combinations
from typing import Any

import duckdb
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reid_sql.polars as rp
from reid_sql.errors import ReidError
from tests.cells import each_cell
from tests.several_releases import combine
from tests.tables import by_duckdb, on_polars
from tests.udfs.test_compare_releases import PERSON, QI, figures, people, table

CELLS = (
    st.sampled_from([0.0, -0.0, float("nan"), None]),
    st.sampled_from(["a", None]),
    st.just("flu"),
)
RECORDS = st.lists(st.tuples(PERSON, *CELLS), min_size=1, max_size=9, unique_by=lambda row: row[0])
ROWS = st.lists(st.tuples(PERSON, *CELLS), min_size=1, max_size=12)
NAMES = ("one", "two", "three", "four")


def by_engines(tables: list[pl.DataFrame], **options: Any) -> list[list[dict[str, Any]]]:
    extras = "".join(f", {name} := {value!r}" for name, value in options.items())
    names = NAMES[: len(tables)]
    asked = f"FROM compare_releases(one, two, {QI}, more := {list(names[2:])}{extras})"
    sql = by_duckdb(asked, **dict(zip(names, tables, strict=True)))
    polars = on_polars(sql, "compare_releases", *tables[:2], QI, more=tables[2:], **options)
    return [sql, polars]


@given(st.data(), st.integers(3, 4), st.booleans(), st.booleans())
def test_people_are_unique_as_by_going_through_them(
    data: st.DataObject,
    number: int,
    of_people: bool,  # noqa: FBT001 - drawn
    drop: bool,  # noqa: FBT001 - drawn
) -> None:
    releases = [data.draw(ROWS if of_people else RECORDS) for _ in range(number)]
    options = {"entity" if of_people else "key": "id"} | ({"nulls": "drop"} if drop else {})
    known = [[row for row in rows if not drop or None not in row] for rows in releases]
    if not all(known):
        return  # an empty release is refused
    truth = combine([people(rows, sensitive=False) for rows in known])
    sql, polars = by_engines([table(rows) for rows in releases], **options)
    assert sql == polars
    found = figures(sql)
    assert {name: found[name] for name in truth} == truth
    assert {row["records_dropped"] for row in sql} == {
        sum(map(len, releases)) - sum(map(len, known))
    }


# Three months of 27 people, nine of whom are in each of three places each month, and three in each pair of
# places of two months.

MONTHS = [
    [(n, float(place), "a", "flu") for n, place in enumerate(places)]
    for places in zip(*[(n // 9 % 3, n // 3 % 3, n % 3) for n in range(27)], strict=True)
]


def test_no_two_releases_single_out_whom_three_do() -> None:
    for answers in by_engines([table(rows) for rows in MONTHS], key="id"):
        rows = {row["figure"]: row for row in answers}
        for one, other in combinations(range(3), 2):
            assert (
                combine([people(MONTHS[place], sensitive=False) for place in (one, other)])[
                    "unique_by_all"
                ]
                == 0
            )
        assert rows["unique_by_one"]["value"] == rows["unique_by_two"]["value"] == 0
        assert (
            rows["unique_by_all"]["value"]
            == rows["beyond_two"]["value"]
            == rows["all_people"]["value"]
            == 27
        )
        assert rows["unique_by_all"]["status"] == "ok"


def test_the_worst_releases_are_named() -> None:
    third = [(n, float(n), "a", "flu") for n in range(27)]
    for answers in by_engines([table(rows) for rows in (*MONTHS[:2], third)], key="id"):
        rows = {row["figure"]: row for row in answers}
        assert rows["unique_by_one"]["definition"].endswith("singles out the most: release 3")
        assert rows["unique_by_two"]["definition"].endswith("single out the most: 1 and 3")
        assert rows["beyond_one"]["value"] == 0


@pytest.mark.parametrize(
    ("start", "status", "is_known"),
    [(27, "nobody_shared", False), (20, "few_shared", True), (9, "ok", True)],
)
def test_people_of_another_name_are_doubted(start: int, status: str, *, is_known: bool) -> None:
    third = [(start + n, *rest) for n, *rest in MONTHS[2]]
    for answers in by_engines([table(rows) for rows in (*MONTHS[:2], third)], key="id"):
        rows = {row["figure"]: row for row in answers}
        assert rows["unique_by_all"]["status"].split(":")[0] == status
        assert (rows["unique_by_all"]["value"] is not None) == is_known
        assert rows["all_people"]["value"] == 27 + min(27, start)


THIRD = table(MONTHS[2])


@each_cell(
    "more, options, words",
    [
        (
            [THIRD],
            {},
            "more must come with key or entity, got neither; name the column that identifies",
        ),
        ([THIRD] * 11, {"key": "id"}, "more must be a list of at most 10 tables, got 11"),
        ([THIRD.drop("zip")], {"key": "id"}, "must be columns of release 3, got 'zip'"),
        (
            [THIRD.cast({"id": pl.String})],
            {"key": "id"},
            "key must have the same type in both tables",
        ),
        (
            [THIRD.cast({"size": pl.String})],
            {"key": "id"},
            "must have the same types in both tables",
        ),
        ([pl.concat([THIRD, THIRD])], {"key": "id"}, "key must differ between records"),
        ([THIRD.head(0)], {"key": "id"}, "release 3 must contain at least one record, got 0"),
        (
            [THIRD.with_columns(id=None).cast(THIRD.schema)],
            {"entity": "id"},
            "entity must have a value in every row",
        ),
    ],
)
def test_what_cannot_be_combined_is_refused(
    more: list[pl.DataFrame], options: dict[str, Any], words: str
) -> None:
    one, two = (table(rows) for rows in MONTHS[:2])
    names = [f"more_{place}" for place in range(len(more))]
    extras = "".join(f", {name} := {value!r}" for name, value in options.items())
    asked = f"FROM compare_releases(one, two, {QI}, more := {names}{extras})"
    with pytest.raises(duckdb.Error, match=words):
        by_duckdb(asked, one=one, two=two, **dict(zip(names, more, strict=True)))
    with pytest.raises(ReidError, match=words):
        rp.compare_releases(one, two, QI, more=more, **options).collect()
