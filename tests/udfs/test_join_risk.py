"""What a join singles out, against going through the people of small tables one by one."""

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reid_sql.polars as rp
from reid_sql.errors import ReidError
from tests.cells import each_cell
from tests.tables import by_duckdb, by_polars, key

NUMBER = st.none() | st.integers(0, 5)
VALUE = st.sampled_from(["x", "y", None])
SIZE = st.sampled_from([0.0, -0.0, float("nan"), 1.0, None])
LEFT = st.lists(st.tuples(NUMBER, NUMBER, VALUE, SIZE, st.integers(0, 6)), min_size=1, max_size=14)
RIGHT = st.lists(st.tuples(NUMBER, NUMBER, VALUE, SIZE), min_size=1, max_size=14)
LEFT_SCHEMA = {
    "id": pl.Int64,
    "year": pl.Int64,
    "sex": pl.String,
    "size": pl.Float64,
    "who": pl.Int64,
}
RIGHT_SCHEMA = {"pid": pl.Int64, "year": pl.Int64, "job": pl.String, "income": pl.Float64}
ON = {"id": "pid", "year": "year"}
COLUMNS = ["job", "income"]
Rows = list[tuple[Any, ...]]


def plain(values: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(key(value + 0.0 if isinstance(value, float) else value) for value in values)


def truth(left: Rows, right: Rows, places: list[int], k: int, *, by_entity: bool) -> dict[str, Any]:
    """Go through all pairs of rows with the same key, and through all people of a class."""
    own, theirs = [], []
    for number, row in enumerate(left):
        lone = ("left", number) if None in row[:2] else row[:2]
        own.append((row[:2], plain(row[2:4]), row[4] if by_entity else lone))
    for number, (*on, job, income) in enumerate(right):
        values = plain((job, income))
        lone = ("right", number) if None in on else tuple(on)
        theirs.append((tuple(on), tuple(values[place] for place in places), lone))
    pairs = [
        (p, a, b) for on, a, p in own for other, b, _ in theirs if on == other and None not in on
    ]
    people = {p for p, _, _ in pairs}
    alone = [(p, b) for p, _, b in pairs] if by_entity else [(p, b) for _, b, p in theirs]

    def sizes(rows: list[tuple[Any, Any]]) -> dict[Any, int]:
        classes: dict[Any, set[Any]] = {}
        for person, values in rows:
            classes.setdefault(values, set()).add(person)
        return {
            each: min(len(classes[values]) for person, values in rows if person == each)
            for each in people
        }

    one, other = sizes([(p, a) for _, a, p in own]), sizes(alone)
    both = sizes([(p, (a, b)) for p, a, b in pairs])
    keys = {on for on, _, _ in own if None not in on}
    return {
        "people": len(people),
        "below_k_left": sum(one[p] < k for p in people),
        "below_k_right": sum(other[p] < k for p in people),
        "below_k_joined": sum(both[p] < k for p in people),
        "singled_out": sum(both[p] < k <= min(one[p], other[p]) for p in people),
        "left_only": len({p for _, _, p in own} - people),
        "right_only": len({p for on, _, p in theirs if on not in keys}),
        "without_key": sum(None in on for on, *_ in (*own, *theirs)),
    }


@given(LEFT, RIGHT, st.sampled_from([2, 3]), st.booleans(), st.booleans())
def test_each_join_is_counted_as_by_going_through_the_people(
    left: Rows,
    right: Rows,
    k: int,
    by_entity: bool,  # noqa: FBT001 - drawn
    dropped: bool,  # noqa: FBT001 - drawn
) -> None:
    one = pl.DataFrame(left, schema=LEFT_SCHEMA, orient="row")
    two = pl.DataFrame(right, schema=RIGHT_SCHEMA, orient="row")
    options: dict[str, Any] = {"k": k, "nulls": "drop" if dropped else "value"}
    options |= {"entity": "who"} if by_entity else {}
    if dropped:
        left, right = ([row for row in rows if None not in row[2:4]] for rows in (left, right))
    if not left or not right:
        with pytest.raises(ReidError, match="must contain at least one record, got 0"):
            by_polars("join_risk", one, two, ON, ["sex", "size"], COLUMNS, **options)
        return
    extras = "".join(f", {name} := {value!r}" for name, value in options.items())
    sql = by_duckdb(
        f"FROM join_risk(one, two, {ON}, ['sex', 'size'], {COLUMNS}{extras})", one=one, two=two
    )
    assert sql == by_polars("join_risk", one, two, ON, ["sex", "size"], COLUMNS, **options)
    for row in sql:
        places = [COLUMNS.index(each) for each in row["columns"]]
        expected = truth(left, right, sorted(places), k, by_entity=by_entity)
        assert {name: row[name] for name in expected} == expected
        if len(places) == 1:
            rest = truth(left, right, [1 - places[0]], k, by_entity=by_entity)
            assert row["without"] == rest["singled_out"]
    losses = [row["without"] for row in sql[1:]]
    assert losses == sorted(losses)


PATIENTS = pl.DataFrame({"id": [1, 2, 3, 4, 5, None], "sex": ["F", "F", "M", "M", "M", "F"]})
STAFF = pl.DataFrame({"pid": [1, 2, 3, 4, 4, 9], "job": ["a", "b", "a", "b", "b", "a"]})


def test_the_sentence_names_the_column_and_rows_that_match_nothing_are_counted() -> None:
    row, alone = by_polars("join_risk", PATIENTS, STAFF, {"id": "pid"}, ["sex"], ["job"])
    whom = "the join singles out 4 (100.0 %) whom neither table singles out alone"
    assert row["sentence"] == f"Of 4 people in both tables, {whom}."
    assert (row["left_only"], row["right_only"], row["without_key"], row["several_rows"]) == (
        2,
        1,
        1,
        0,
    )
    assert alone["without"] == 0


def test_a_key_that_repeats_is_a_caution_unless_people_are_named() -> None:
    twice = pl.concat([PATIENTS.with_row_index("person")] * 2)
    asked = (twice, STAFF, {"id": "pid"}, ["sex"], ["job"])
    row = by_polars("join_risk", *asked)[0]
    assert row["status"].startswith("repeated_key: 5 values of on repeat in left")
    named = by_polars("join_risk", *asked, entity="person")[0]
    assert (named["status"], named["singled_out"]) == ("ok", row["singled_out"])


def test_tables_without_a_common_value_show_nothing() -> None:
    others = STAFF.filter(pl.col("pid") == 9)
    row = by_polars("join_risk", PATIENTS, others, {"id": "pid"}, ["sex"], ["job"])[0]
    assert row["status"].startswith("no_match: ")
    assert row["share"] is None
    assert row["sentence"] == "No value of on is in both tables, so the join shows nothing."


@each_cell(
    "left, right, code",
    [
        (5, 5, "few_match"),
        (4, 5, "ok"),
        (5, 4, "ok"),
        (2, 60, "ok"),
        (60, 2, "ok"),
        (60, 60, "few_match"),
    ],
)
@each_cell("entity", [None, "person"])
def test_keys_that_hardly_match_are_a_caution(
    left: int, right: int, code: str, entity: str | None
) -> None:
    """Two people match: fewer than half of both tables, as where most keys are written otherwise."""
    one = pl.DataFrame({"id": range(left), "person": range(left), "sex": ["F"] * left})
    two = pl.DataFrame({"id": range(left - 2, left - 2 + right), "job": ["a"] * right})
    [row, _] = by_polars("join_risk", one, two, "id", ["sex"], ["job"], entity=entity)
    assert row["people"] == 2
    assert row["status"].partition(":")[0] == code


@each_cell(
    "write",
    [
        lambda key: key.lstrip("0"),
        lambda key: f"{key}.0",
        lambda key: f" {key} ",
        lambda key: f"{int(key):,}",
        lambda key: f"{key}\u00a0" if int(key) % 40 else key,
    ],
)
@each_cell("entity", [None, "person"])
def test_keys_that_are_written_otherwise_are_a_caution(
    write: Callable[[str], str], entity: str | None
) -> None:
    """Nobody is in both, or the few who are written alike: it is not said that a join shows nothing."""
    keys = [f"{place:05}" for place in range(900, 1300)]
    one = pl.DataFrame({"id": keys, "person": keys, "sex": ["F", "M"] * 200})
    two = pl.DataFrame({"id": list(map(write, keys)), "job": list("abcd") * 100})
    due = sum(write(key) != key for key in keys)
    [row, _] = by_polars("join_risk", one, two, "id", ["sex"], ["job"], entity=entity)
    if due:
        assert row["status"].startswith(f"few_comparable: {due:,} values of on match nothing")
    same = two.with_columns(id=pl.Series(keys))
    [row, _] = by_polars("join_risk", one, same, "id", ["sex"], ["job"], entity=entity)
    assert row["status"] == "ok"


@each_cell(
    "change, words",
    [
        ({"on": []}, "on must be column names, or pairs of them, got []"),
        ({"on": 5}, "on must be column names, or pairs of them, got 5"),
        ({"on": "pid"}, "quasi-identifiers and on must be columns of the left table, got 'pid'"),
        (
            {"on": "id"},
            "right_qi and on must be columns of the right table, got 'id'; did you mean 'pid'",
        ),
        ({"qi": ["id"]}, "on must not be a quasi-identifier, got 'id'; leave it out of qi"),
        (
            {"right_qi": ["pid"]},
            "on must not be a quasi-identifier, got 'pid'; leave it out of right_qi",
        ),
        ({"entity": "sex"}, "entity must not be a quasi-identifier, got 'sex'"),
        ({"k": 1}, "k must be a whole number of people from 2 to 1e+6, got 1"),
        ({"right": STAFF.cast({"pid": pl.String})}, "on must have the same type in both tables"),
    ],
)
def test_what_cannot_be_joined_is_refused(change: dict[str, Any], words: str) -> None:
    usual: dict[str, Any] = {
        "left": PATIENTS,
        "right": STAFF,
        "on": {"id": "pid"},
        "qi": ["sex"],
        "right_qi": ["job"],
    }
    with pytest.raises(ReidError) as refused:
        rp.join_risk(**(usual | change)).collect()
    assert words in str(refused.value)
