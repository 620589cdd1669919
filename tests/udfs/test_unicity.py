import random
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from itertools import combinations
from statistics import median_low
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cells import each_cell
from tests.tables import by_duckdb, by_polars, on_polars

POINT = st.tuples(st.sampled_from("abc"), st.integers(1, 2))
SETS = st.lists(st.sets(POINT, min_size=1), min_size=1, max_size=6)
COLUMNS = ["place", "day"]
POINTS = [1, 2, 3, 4, 6]


def table(sets: Sequence[set[tuple[str, int]]]) -> pl.DataFrame:
    """Each person's rows, the first of them twice."""
    rows = [
        (who, *point) for who, points in enumerate(sets) for point in [*sorted(points), min(points)]
    ]
    schema = {"person": pl.Int64, "place": pl.String, "day": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def by_hand(sets: Sequence[set[tuple[str, int]]], points: int | None) -> dict[str, float]:
    """Count who matches each subset of each person's rows, one after the other."""
    alone, right, every = 0.0, 0.0, []
    for rows in sets:
        size = len(rows) if points is None else min(points, len(rows))
        known = [set(some) for some in combinations(sorted(rows), size)]
        matches = [sum(some <= other for other in sets) for some in known]
        alone += sum(each == 1 for each in matches) / len(known)
        right += sum(1 / each for each in matches) / len(known)
        every += [(each, len(known)) for each in matches]
    repeated = [each for each, times in every for _ in range(27720 // times)]
    return {
        "uniqueness": alone / len(sets),
        "correctness": right / len(sets),
        "median_matches": median_low(repeated),
        "people": len(sets),
        "people_with_fewer": sum(len(rows) < (points or 0) for rows in sets),
    }


def by_engines(frame: pl.DataFrame, **options: Any) -> list[list[dict[str, Any]]]:
    extras = "".join(
        f", {name} := {'NULL' if value is None else repr(value)}" for name, value in options.items()
    )
    duck = by_duckdb(f"FROM unicity(t, 'person', {COLUMNS}{extras})", t=frame)
    return [duck, on_polars(duck, "unicity", frame, "person", COLUMNS, **options)]


@settings(max_examples=12)
@given(SETS)
def test_it_is_the_mean_over_all_people_and_subsets_of_their_rows(
    sets: list[set[tuple[str, int]]],
) -> None:
    for asked in (POINTS, None):
        for answer in by_engines(table(sets), points=asked):
            wanted = POINTS if asked else [None]
            assert [row["points"] for row in answer] == wanted
            for row in answer:
                truth = by_hand(sets, row["points"])
                assert {name: row[name] for name in truth} == pytest.approx(truth, rel=1e-12)
                assert (row["draws"], row["standard_error"], row["correctness_standard_error"]) == (
                    0,
                    0,
                    0,
                )


@settings(max_examples=8)
@given(SETS, st.integers(0, 9))
@pytest.mark.all
def test_engines_draw_the_same_and_the_order_of_rows_is_no_matter(
    sets: list[set[tuple[str, int]]], seed: int
) -> None:
    frame = table(sets)
    shuffled = pl.concat([frame.reverse(), frame])
    for asked in (POINTS, None):
        options = {"points": asked, "seed": seed, "exact_up_to": 0, "samples": 7}
        duck, polars = by_engines(frame, **options)
        for row, other, third in zip(duck, polars, by_engines(shuffled, **options)[0], strict=True):
            assert row == pytest.approx(other)
            assert row == pytest.approx(third)
            assert (row["draws"], row["standard_error"] > 0) == (7, True)


def visits(people: int) -> pl.DataFrame:
    drawn = random.Random(7)  # noqa: S311 - tables, no secrets
    sets = [
        {(drawn.choice("abcdefgh"), drawn.randint(1, 9)) for _ in range(drawn.randint(1, 6))}
        for _ in range(people)
    ]
    return table(sets)


@pytest.mark.all
def test_draws_are_within_two_standard_errors_of_what_is_counted_in_95_of_100_seeds() -> None:
    frame = visits(500)
    exact = {row["points"]: row for row in by_engines(frame, points=[1, 2, 3])[0]}
    inside = {(name, points): 0 for name in ("uniqueness", "correctness") for points in exact}
    within = dict(inside)
    for seed in range(100):
        drawn = by_polars(
            "unicity",
            frame,
            "person",
            COLUMNS,
            points=[1, 2, 3],
            exact_up_to=0,
            samples=200,
            seed=seed,
        )
        for row in drawn:
            for name, error in (
                ("uniqueness", "standard_error"),
                ("correctness", "correctness_standard_error"),
            ):
                truth = exact[row["points"]][name]
                inside[name, row["points"]] += abs(row[name] - truth) <= 1.96 * row[error]
                within[name, row["points"]] += row[f"{name}_low"] <= truth <= row[f"{name}_high"]
    assert min(within.values()) >= 90, within
    assert sum(within.values()) / len(within) >= 94, within
    # of 100 at 95 %, fewer than 90 come once in 90 times or less
    assert min(inside.values()) >= 90, inside
    assert sum(inside.values()) / len(inside) >= 94, inside


def test_more_known_rows_and_finer_columns_single_out_more() -> None:
    frame = visits(400)
    fine, coarse = (
        by_polars("unicity", frame, "person", columns, points=[1, 2, 3, 4])
        for columns in (COLUMNS, ["place"])
    )
    assert [row["uniqueness"] for row in fine] == sorted(row["uniqueness"] for row in fine)
    assert all(
        one["uniqueness"] >= other["uniqueness"] for one, other in zip(fine, coarse, strict=True)
    )


def test_two_wards_single_out_whom_one_does_not() -> None:
    """28 people whose two wards are a pair that nobody else has: k is 7, and both wards are always right."""
    wards = [(a, b) for a in range(8) for b in range(a)]
    frame = pl.DataFrame(
        {"person": [i for i in range(28) for _ in "ab"], "ward": [w for p in wards for w in p]}
    )
    one, two, three = by_duckdb(
        "FROM unicity(t, 'person', ['ward'], points := [3, 1, 2, 2])", t=frame
    )
    assert (one["uniqueness"], one["median_matches"]) == (0, 7)
    assert (two["uniqueness"], two["correctness"]) == (1, 1)
    assert (three["people_with_fewer"], three["status"]) == (
        28,
        "fewer_rows: nobody has so many rows, so all rows of each person are known",
    )


def test_nulls_are_values_of_their_own_or_left_out() -> None:
    frame = pl.DataFrame(
        {"person": [1, 1, 2, 3], "place": ["a", None, None, "b"], "day": [1, 1, 1, 1]},
    )
    for answer in by_engines(frame, points=[1]):
        assert answer[0]["uniqueness"] == pytest.approx((1 / 2 + 0 + 1) / 3)
        assert (answer[0]["records_dropped"], answer[0]["nulls"]) == (0, "value")
    for answer in by_engines(frame, points=[1], nulls="drop"):
        assert [(row["people"], row["records_dropped"], row["nulls"]) for row in answer] == [
            (2, 2, "drop")
        ]


@pytest.mark.newest
@each_cell(
    "call, sentence",
    [
        (
            "t, 'persn', ['day']",
            "entity and columns must be columns of the table, got 'persn'; did you mean",
        ),
        (
            "t, 'day', ['day']",
            "entity and columns must be distinct, got 'day' twice; name each column once",
        ),
        ("t, 'person', []", "entity and columns must name 1 to 64 columns, got 0"),
        (
            "t, 'person', ['day'], points := [1, 17]",
            "points must be a whole number of known rows from 1 to 16, got 17; pass how many rows",
        ),
        (
            "t, 'person', ['day'], points := []",
            "points must be a number or a list of one or more numbers, got []",
        ),
        (
            "t, NULL, ['day']",
            "entity and columns must be a list of column names, got [NULL, day]; write",
        ),
        (
            "t, 'person', ['day'], nulls := 'wildcard'",
            "nulls must be one of 'value', 'drop', got 'wildcard'",
        ),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call: str, sentence: str) -> None:
    with pytest.raises(Exception, match="Error") as refused:
        by_duckdb(f"FROM unicity({call})", t=table([{("a", 1)}]))
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    "ask",
    [
        lambda none: by_duckdb(f"FROM unicity(t, 'person', {COLUMNS})", t=none),
        lambda none: by_polars("unicity", none, "person", COLUMNS),
    ],
)
def test_an_empty_table_is_refused(ask: Any) -> None:
    with pytest.raises(Exception, match="the table must contain at least one record, got 0"):
        ask(table([]))


def test_a_sample_tells_how_many_are_singled_out_among_all_people() -> None:
    """The truth is counted among all 2,000 people, who go to popular places more often."""
    drawn = random.Random(3)  # noqa: S311 - tables, no secrets
    weights = [1 / rank for rank in range(1, 91)]
    places = [f"{chr(97 + number % 9)}{number // 9}" for number in range(90)]
    everybody = table(
        [
            {(place, 1) for place in drawn.choices(places, weights, k=drawn.randint(1, 8))}
            for _ in range(2000)
        ]
    )
    truth = {row["points"]: row["uniqueness"] for row in by_engines(everybody, points=[2, 3])[0]}
    some = everybody.filter(pl.col("person") < 400)
    duck, polars = by_engines(some, points=[2, 3], population=2000)
    assert duck == polars
    for row in duck:
        low, high = row["population_uniqueness_low"], row["population_uniqueness_high"]
        assert low <= truth[row["points"]] <= high < low + 0.3
        assert row["population_uniqueness"] < row["uniqueness"]
        assert row["status"] == "ok"


def test_a_population_is_the_table_or_more_people() -> None:
    frame = visits(100)
    row = by_duckdb(
        "FROM unicity(t, 'person', ['place'], points := 2, population := 100)", t=frame
    )[0]
    assert [row[f"population_uniqueness{end}"] for end in ("", "_low", "_high")] == [
        row["uniqueness"]
    ] * 3
    far = by_duckdb(
        "FROM unicity(t, 'person', ['place'], points := 2, population := 5001)", t=frame
    )[0]
    assert far["status"].startswith("far_beyond: ")
    with pytest.raises(
        Exception, match=r"population must be at least 100 \(the number of people\), got 99; "
    ):
        by_duckdb("FROM unicity(t, 'person', ['place'], population := 99)", t=frame)


def test_few_people_have_only_an_upper_end() -> None:
    row = by_polars("unicity", visits(59), "person", COLUMNS, points=3, population=1000)[0]
    assert (row["population_uniqueness"], row["population_uniqueness_low"]) == (None, 0)
    assert row["uniqueness"] < row["population_uniqueness_high"] <= 1
    assert row["status"].startswith("few_people: ")


def test_each_resolution_is_that_of_a_table_with_coarser_columns() -> None:
    drawn = random.Random(4)  # noqa: S311 - tables, no secrets
    start = datetime(2024, 1, 1)  # noqa: DTZ001 - a local time
    rows = [
        (
            person,
            drawn.randint(0, 40),
            start + timedelta(hours=drawn.randint(0, 700)),
        )
        for person in range(60)
        for _ in range(5)
    ]
    frame = pl.DataFrame(rows, ["person", "place", "day"], orient="row")
    frame = frame.with_columns(district=pl.col("place") // 13)
    bins = {"day": ["1 day", "7 days"], "place": [5, "district"]}
    sql = "{'day': ['1 day', '7 days'], 'place': ['place', 'district']}"
    found = by_polars("unicity", frame, "person", COLUMNS, points=[1, 2], bins=bins)
    asked = f"FROM unicity(t, 'person', {COLUMNS}, points := [1, 2], bins := {sql})"
    others = {(row["resolution"], row["points"]): row for row in by_duckdb(asked, t=frame)}
    names = [
        f"day: {day}, place: {place}" for day in ("1 day", "7 days") for place in ("5", "district")
    ]
    assert [row["resolution"] for row in found] == [name for name in names for _ in range(2)]
    monday = date(2000, 1, 3)  # where weeks of DuckDB begin
    for row in found:
        day, place = row["resolution"].removeprefix("day: ").split(", place: ")
        width = int(day.split()[0])
        coarse = pl.DataFrame(
            {
                "person": frame["person"],
                "place": frame["district"] if place == "district" else frame["place"] // 5,
                "day": [(each.date() - monday).days // width for each in frame["day"]],
            }
        )
        truth = by_polars("unicity", coarse, "person", COLUMNS, points=row["points"])[0]
        assert {**row, "resolution": None} == pytest.approx(truth)
        if place == "district":
            assert others[row["resolution"], row["points"]] == pytest.approx(row)


@each_cell(
    "bins, words",
    [
        (
            "{'place': ['1 day']}",
            "bins must fit the values of 'place', got some that are no dates or times for '1",
        ),
        (
            "{'place': [2]}",
            "bins must fit the values of 'place', got some that are no numbers below 9e15",
        ),
        ("{'plce': [2]}", "bins must name some of the columns, got 'plce'; add it to columns"),
        (
            "{'day': []}",
            "bins must be resolutions by column, in at most 64 combinations, got {'day': []}",
        ),
        (
            "{'day': [0]}",
            "bins must be resolutions by column, in at most 64 combinations, got {'day': [0]}",
        ),
        (
            "{'day': ['dya']}",
            "entity and columns must be columns of the table, got 'dya'; did you mean 'day'",
        ),
        ("{'day': [1]}, tolerance := {'day': 1}", "bins must be left out with tolerance, got both"),
    ],
)
def test_bins_that_do_not_fit_are_refused(bins: str, words: str) -> None:
    with pytest.raises(Exception, match="Error") as refused:
        by_duckdb(
            f"FROM unicity(t, 'person', {COLUMNS}, bins := {bins})",
            t=table([{("a", 1)}, {("b", 2)}]),
        )
    assert words in str(refused.value)


def test_a_row_of_nobody_is_refused_at_any_resolution() -> None:
    frame = pl.DataFrame({"person": [1, None], "place": ["a", "b"], "day": [1, 2]})
    with pytest.raises(Exception, match="entity must have a value in every row, got none"):
        by_duckdb(f"FROM unicity(t, 'person', {COLUMNS}, bins := {{'day': [7]}})", t=frame)
