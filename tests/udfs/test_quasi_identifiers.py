from itertools import combinations
from typing import Any

import duckdb
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reid_sql
from tests.cells import each_cell
from tests.tables import Row, by_both, by_duckdb, by_polars, frames, keys

Sets = list[dict[str, Any]]


def minimal(
    rows: list[Row], people: list[Any], columns: list[str], at_least: float
) -> dict[tuple[str, ...], int]:
    """By the definition: every set that reaches the share, while no smaller set in it does."""
    unique = {
        names: _unique(rows, people, [columns.index(name) for name in names])
        for size in range(1, len(columns) + 1)
        for names in combinations(columns, size)
    }
    reaching = {names for names, count in unique.items() if count / len(set(people)) >= at_least}
    return {
        names: unique[names]
        for names in reaching
        if not any(set(other) < set(names) for other in reaching)
    }


def _unique(rows: list[Row], people: list[Any], places: list[int]) -> int:
    members: dict[Row, set[Any]] = {}
    for row, person in zip(rows, people, strict=True):
        members.setdefault(tuple(row[place] for place in places), set()).add(person)
    return len(set().union(*(each for each in members.values() if len(each) == 1)))


def found(answer: Sets) -> dict[tuple[str, ...], int]:
    assert {row["status"] for row in answer} <= {"ok"} or not any(row["columns"] for row in answer)
    return {tuple(row["columns"]): row["unique_records"] for row in answer if row["columns"]}


@given(
    frames(min_rows=1, max_columns=5),
    st.sampled_from(["value", "drop"]),
    st.sampled_from([0.1, 0.5, 1.0]),
)
def test_every_minimal_set_of_columns_of_any_type(
    frame: pl.DataFrame, nulls: str, at_least: float
) -> None:
    every = [row for row in keys(frame) if nulls == "value" or None not in row]
    if not every:
        return
    expected = minimal(every, list(range(len(every))), frame.columns, at_least)
    for columns in (frame.columns, None):
        for answer in by_both(
            "quasi_identifiers", {"t": frame}, columns, nulls=nulls, at_least=at_least
        ):
            assert found(answer) == expected
            for row in answer:
                assert (row["records"], row["nulls"]) == (len(every), nulls)
                assert row["records_dropped"] == frame.height - len(every)


@given(frames(min_rows=1, max_columns=4), st.data())
def test_people_of_several_rows_are_unique_by_one_of_them(
    frame: pl.DataFrame, data: st.DataObject
) -> None:
    people = data.draw(st.lists(st.integers(0, 4), min_size=frame.height, max_size=frame.height))
    table = frame.with_columns(pl.Series("Person", people, dtype=pl.Int64))
    at_least = data.draw(st.sampled_from([0.1, 0.5, 1.0]))
    expected = minimal(keys(frame), people, frame.columns, at_least)
    for columns in (frame.columns, None):
        for answer in by_both(
            "quasi_identifiers", {"t": table}, columns, entity="Person", at_least=at_least
        ):
            assert found(answer) == expected
            assert {row["records"] for row in answer} == {len(set(people))}


TOWN = pl.DataFrame(
    {
        "age": [30, 30, 40, 40],
        "sex": ["F", "M", "F", "M"],
        "zip": ["1", "1", "1", "2"],
        "town": ["A"] * 4,
    }
)


def test_share_and_classes_and_size_stand_next_to_each_set() -> None:
    for answer in by_both("quasi_identifiers", {"t": TOWN}, TOWN.columns, at_least=0.25):
        rows = [
            (r["columns"], r["size"], r["share_unique"], r["unique_records"], r["classes"])
            for r in answer
        ]
        assert rows == [(["zip"], 1, 0.25, 1, 2), (["age", "sex"], 2, 1.0, 4, 4)]


def test_the_smallest_sets_alone() -> None:
    keyed = TOWN.with_columns(pl.Series("number", [1, 2, 3, 4]))
    for at_least, sets, expected in (
        (1.0, "minimal", [["number"], ["age", "sex"]]),
        (1.0, "smallest", [["number"]]),
        (0.25, "minimal", [["number"], ["zip"], ["age", "sex"]]),
        (0.25, "smallest", [["number"], ["zip"]]),
    ):
        for answer in by_both(
            "quasi_identifiers", {"t": keyed}, None, at_least=at_least, sets=sets
        ):
            assert [row["columns"] for row in answer] == expected
            assert {row["status"] for row in answer} == {"ok"}


def test_minimal_keys_of_a_table() -> None:
    for answer in by_both("quasi_identifiers", {"t": TOWN}, None, at_least=1.0):
        assert [row["columns"] for row in answer] == [["age", "sex"]]
    for answer in by_both("quasi_identifiers", {"t": TOWN}, ["sex", "zip"], at_least=1.0):
        assert [(row["columns"], row["size"], row["status"]) for row in answer] == [
            ([], None, "no_set: no set of at most 2 columns reaches at_least")
        ]


def test_names_that_the_plan_uses_itself_are_columns_like_any_other() -> None:
    for names in (
        ("reid_keys", "records", "names", "codes"),
        ("reid_row", "reid_records", "reid_id", "reid_person"),
        ("reid_key", "reid_place", "reid_code", "reid_list"),
    ):
        odd = TOWN.rename(dict(zip(TOWN.columns, names, strict=True)))
        for answer in by_both("quasi_identifiers", {"t": odd}, None, at_least=1.0):
            assert [row["columns"] for row in answer] == [[*names[:2]]]
        for answer in by_both("quasi_identifiers", {"t": odd}, None, at_least=1.0, entity=names[3]):
            assert [row["columns"] for row in answer] == [[name] for name in names[:3]]


def test_engines_agree_on_more_records_than_a_morsel() -> None:
    frame = pl.DataFrame({"a": [n % 997 for n in range(5000)], "b": [n % 13 for n in range(5000)]})
    frame = frame.with_columns(
        pl.Series("c", [None if n % 499 == 0 else n % 7 for n in range(5000)])
    )
    duck, polars = by_both("quasi_identifiers", {"t": frame}, None, at_least=0.3)
    assert [row["columns"] for row in duck] == [["a", "b"], ["a", "c"]]
    assert duck == polars


@each_cell(
    "call, sentence",
    [
        ("['age', 'zap']", "columns must be columns of the table, got 'zap'; did you mean 'zip'?"),
        ("entity := 'zap'", "columns and entity must be columns of the table, got 'zap'"),
        ("['age'], entity := 'age'", "entity must not be a quasi-identifier, got 'age'"),
        ("at_least := 0", "at_least must be a share above 0 and at most 1, got 0"),
        ("sets := 'few'", "sets must be one of 'minimal', 'smallest', got 'few'"),
        ("max_size := 0", "max_size must be a whole number of columns from 1 to 64, got 0"),
        ("nulls := 'wildcard'", "nulls must be one of 'value', 'drop', got 'wildcard'"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call: str, sentence: str) -> None:
    with pytest.raises(Exception, match="Invalid Input Error: ") as refused:
        by_duckdb(f"FROM quasi_identifiers(t, {call})", t=TOWN)
    assert str(refused.value).startswith(f"Invalid Input Error: {sentence}")


@pytest.mark.parametrize("columns", [None, ["age"]])
def test_an_empty_table_is_refused(columns: list[str] | None) -> None:
    empty = TOWN.clear()
    call = "" if columns is None else f", {columns}"
    with pytest.raises(Exception, match="the table must contain at least one record"):
        by_duckdb(f"FROM quasi_identifiers(t{call})", t=empty)
    with pytest.raises(Exception, match="the table must contain at least one record"):
        by_polars("quasi_identifiers", empty, columns)


@pytest.mark.parametrize("function", ["quasi_identifiers", "unsafe_combinations"])
def test_all_columns_of_a_wide_table_fit_a_few_times_the_memory_of_their_values(
    function: str,
) -> None:
    with duckdb.connect(
        config={"memory_limit": "400MB", "temp_directory": "", "threads": 2}
    ) as con:
        reid_sql.register(con)
        columns = ", ".join(f"hash(i, {place}) % 50 AS c{place}" for place in range(60))
        # 1,200,000 values
        con.execute(f"CREATE TABLE wide AS SELECT {columns} FROM range(20000) AS t(i)")
        [row] = con.sql(f"FROM {function}(wide, max_size := 1)").pl().to_dicts()
        found = {"quasi_identifiers": "no_set: ", "unsafe_combinations": "incomplete: "}
        assert row["status"].startswith(found[function])
