import json
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reid_sql
import reid_sql.polars as rp
from reid_sql.engines import registry
from reid_sql.errors import ReidError
from tests.attacker import attack
from tests.tables import by_duckdb, by_polars, frames, keys

PEOPLE = pl.DataFrame(
    {
        "age": [20, 20, 30, 30, 30, None],
        "sex": ["F", "M", "F", "F", None, "M"],
        "state": ["CA", "CA", "NY", "TX", "TX", None],
        "id": ["p1", "p2", "p3", "p4", "p5", "p5"],
    }
)
SCENARIO: dict[str, Any] = {
    "population": 1000,
    "presence_disclosed": 0.5,
    "uniqueness_confirmed": 0.8,
    "link_confirmed": 0.6,
    "groups": [
        {
            "columns": ["age"],
            "by": "state",
            "probabilities": {"CA": 0.75, "NY": 0.1},
            "otherwise": 0.3,
        },
        {"columns": ["sex"], "probability": 0.5},
    ],
    "hierarchies": {"age": {"broader": {"20": ["30"]}}},
}
MEASURES = ("prosecutor", "journalist", "marketer", "overall")


def ask(scenario: Any, options: str = "") -> str:
    return f"FROM adversary_risk(t, '{json.dumps(scenario)}'{options})"


def asked(frame: pl.DataFrame, scenario: Any, **options: Any) -> list[list[dict[str, Any]]]:
    extras = "".join(f", {name} := {value!r}" for name, value in options.items())
    return [
        by_duckdb(ask(scenario, extras), t=frame),
        by_polars("adversary_risk", frame, scenario, **options),
    ]


@pytest.mark.parametrize("nulls", ["value", "wildcard"])
def test_every_record_has_the_risk_that_going_through_everything_by_hand_gives(nulls: str) -> None:
    records = PEOPLE.with_columns(pl.col("age").cast(pl.String)).to_dicts()
    expected = attack(records, SCENARIO, nulls)
    for answer in asked(PEOPLE, SCENARIO, nulls=nulls):
        assert [row["record"] for row in answer] == list(range(6))
        for row, risks in zip(answer, expected, strict=True):
            assert [row[measure] for measure in MEASURES] == pytest.approx(risks, abs=1e-12)
            assert (row["standard_error"], row["records_dropped"], row["nulls"]) == (0.0, 0, nulls)


def test_records_with_missing_values_may_be_left_out_and_the_others_keep_their_places() -> None:
    scenario = SCENARIO | {
        "groups": [{"columns": ["age", "sex"], "probability": 0.5}],
        "hierarchies": {},
    }
    for answer in asked(PEOPLE, scenario, nulls="drop"):
        assert [row["record"] for row in answer] == [0, 1, 2, 3]
        assert {row["records_dropped"] for row in answer} == {2}
        assert [row["prosecutor"] for row in answer] == [0.5, 0.5, 0.0, 0.0]


def test_records_may_be_identified_by_a_key() -> None:
    keyed = PEOPLE.with_columns(pl.Series("id", [f"p{place}" for place in range(PEOPLE.height)]))
    places = [row["overall"] for row in by_polars("adversary_risk", keyed, SCENARIO)]
    expected = sorted(zip(keyed["id"].to_list(), places, strict=True), key=repr)
    for answer in asked(keyed, SCENARIO, key="id"):
        assert sorted(((row["record"], row["overall"]) for row in answer), key=repr) == expected


def test_a_key_that_names_two_records_is_refused() -> None:
    twice = PEOPLE.with_columns(pl.lit("p1").alias("id"))
    with pytest.raises(ValueError, match="key must differ between records, got a value that"):
        by_polars("adversary_risk", twice, SCENARIO, key="id")


@given(frames(min_rows=1, max_columns=4), st.sampled_from(["value", "wildcard"]))
def test_engines_count_values_of_any_type(frame: pl.DataFrame, nulls: str) -> None:
    scenario = {
        "population": 100,
        "groups": [{"columns": [name], "probability": 0.5} for name in frame.columns],
    }
    codes = [dict(zip(frame.columns, row, strict=True)) for row in keys(frame)]
    expected = attack(codes, scenario, nulls)
    for answer in asked(frame, scenario, nulls=nulls):
        assert [row["record"] for row in answer] == list(range(frame.height))
        found = [[row[measure] for measure in MEASURES] for row in answer]
        assert found == [pytest.approx(risks, abs=1e-12) for risks in expected]


def test_a_scenario_is_a_file_a_text_a_struct_or_the_name_of_a_shipped_one(tmp_path: Path) -> None:
    file = tmp_path / "o'clock.json"
    file.write_text(json.dumps(SCENARIO), encoding="utf-8")
    quoted = str(file).replace("'", "''")
    expected = by_duckdb(ask(SCENARIO), t=PEOPLE)
    assert by_duckdb(f"FROM adversary_risk(t, '{quoted}')", t=PEOPLE) == expected
    assert by_polars("adversary_risk", PEOPLE, file) == expected
    struct = "{'population': 9, 'groups': [{'columns': ['sex'], 'probability': 0.5}]}"
    same = {"population": 9, "groups": [{"columns": ["sex"], "probability": 0.5}]}
    assert by_duckdb(f"FROM adversary_risk(t, {struct})", t=PEOPLE) == by_duckdb(
        ask(same), t=PEOPLE
    )


REFUSED: dict[str, tuple[Any, str]] = {
    "a column": (
        {"groups": [{"columns": ["agee"], "probability": 0.5}]},
        "columns of the scenario must be columns of the table, got 'agee'; did you mean 'age'?",
    ),
    "the column of by": (
        {"groups": [{"columns": ["age"], "by": "stat", "probabilities": {"CA": 0.5}}]},
        "columns of the scenario must be columns of the table, got 'stat'; did you mean 'state'?",
    ),
    "a value": (
        {
            "groups": [
                {"columns": ["age"], "by": "state", "probabilities": {"CAA": 0.5}, "otherwise": 0.1}
            ]
        },
        "scenario groups[1] must tell probabilities for values of 'state', got 'CAA', which no record has",
    ),
    "a value without probability": (
        {
            "groups": [
                {
                    "columns": ["age"],
                    "by": "state",
                    "probabilities": {"CA": 0.5, "NY": 0.5, "TX": 0.2},
                }
            ]
        },
        (
            "scenario groups[1] must tell a probability for every value of 'state', "
            "got none for NULL; add it, or write otherwise"
        ),
    ),
    "a small population": (
        {"population": 5},
        "scenario population must be at least the 6 records of the table, got 5",
    ),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_the_table_lacks_is_refused_by_both_engines(words: str) -> None:
    change, sentence = REFUSED[words]
    scenario = SCENARIO | {"hierarchies": {}} | change
    with pytest.raises(duckdb.Error) as by_sql:
        by_duckdb(ask(scenario), t=PEOPLE)
    assert str(by_sql.value).startswith(f"Invalid Input Error: {sentence}")
    with pytest.raises((ReidError, pl.exceptions.ComputeError)) as in_polars:
        by_polars("adversary_risk", PEOPLE, scenario)
    assert sentence in str(in_polars.value)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"key": "idd"},
            "columns of the scenario, and key, must be columns of the table, got 'idd'; did you mean 'id'?",
        ),
        ({"trials": 5}, "trials must be a whole number of trials from 100 to 1000000, got 5"),
        ({"seed": -1}, "seed must be a whole number from 0 to 4294967295, got -1"),
        ({"nulls": "dorp"}, "got 'dorp'; did you mean 'drop'?"),
    ],
)
def test_bad_options_are_refused_by_both_engines(options: dict[str, Any], sentence: str) -> None:
    extras = "".join(f", {name} := {value!r}" for name, value in options.items())
    with pytest.raises(duckdb.Error) as by_sql:
        by_duckdb(ask(SCENARIO, extras), t=PEOPLE)
    with pytest.raises(ReidError) as in_polars:
        rp.adversary_risk(PEOPLE, SCENARIO, **options).collect()
    assert sentence in str(by_sql.value)
    assert sentence in str(in_polars.value)


def test_a_hierarchy_of_other_values_is_kept_and_the_status_says_so() -> None:
    scenario = {"population": 1000, "groups": [{"columns": ["sex"], "probability": 0.5}]}
    idle = scenario | {"hierarchies": {"sex": {"includes_all": ["unknown"]}}}
    for answer, without in zip(asked(PEOPLE, idle), asked(PEOPLE, scenario), strict=True):
        assert answer[0]["status"].endswith(
            "unused_hierarchy: hierarchies.sex contains none of the values of 'sex' in this table"
        )
        assert [row["overall"] for row in answer] == [row["overall"] for row in without]


def test_an_empty_table_is_refused() -> None:
    empty = PEOPLE.clear()
    scenario = {"population": 10, "groups": [{"columns": ["age"], "probability": 0.5}]}
    with pytest.raises(
        duckdb.Error, match="Invalid Input Error: the table must contain at least one record, got 0"
    ):
        by_duckdb(ask(scenario), t=empty)
    with pytest.raises(Exception, match="the table must contain at least one record, got 0"):
        by_polars("adversary_risk", empty, scenario)


def test_odd_names_are_names() -> None:
    frame = pl.DataFrame({'a "b"': [1, 2, 2], "it's": ["x", "y", "y"], "record": [1, 3, 2]})
    scenario = {
        "population": 10,
        "groups": [{"columns": [name], "probability": 0.5} for name in frame.columns],
    }
    text = json.dumps(scenario).replace("'", "''")
    duck = by_duckdb(f"FROM adversary_risk(t, '{text}', key := 'record')", t=frame)
    assert sorted(duck, key=repr) == sorted(
        by_polars("adversary_risk", frame, scenario, key="record"), key=repr
    )
    assert sorted(row["record"] for row in duck) == [1, 2, 3]


REGISTER = pl.DataFrame(
    {
        "age": [20, 20, 30, 30, 40, None, 20],
        "sex": ["F", "M", "F", "M", None, "M", "F"],
    },
    schema_overrides={"age": pl.Int32},
)


@pytest.mark.parametrize("nulls", ["value", "wildcard", "drop"])
def test_a_population_table_tells_who_is_unique_in_it(nulls: str) -> None:
    texts = pl.col("age").cast(pl.String)
    records, people = (frame.with_columns(texts).to_dicts() for frame in (PEOPLE, REGISTER))
    if nulls == "drop":
        records, people = (
            [each for each in rows if each["age"] is not None and each["sex"] is not None]
            for rows in (records, people)
        )
    reported = {"CA": 0.75, "NY": 0.1}
    scenario = SCENARIO | {"hierarchies": {"age": {"broader": {"20": ["30"], "30": ["40"]}}}}
    assert scenario["groups"][0]["probabilities"] == reported
    expected = attack(records, scenario, nulls, people)
    duck = by_duckdb(
        ask(scenario, f", population_tbl := register, nulls := '{nulls}'"),
        t=PEOPLE,
        register=REGISTER,
    )
    polar = by_polars("adversary_risk", PEOPLE, scenario, population_tbl=REGISTER, nulls=nulls)
    for answer in (duck, polar):
        assert len(answer) == len(expected)
        for row, risks in zip(answer, expected, strict=True):
            assert [row[measure] for measure in MEASURES] == pytest.approx(risks, abs=1e-12)
            assert "match fewer people in the population table" in row["status"]
            assert "Pitman" not in row["status"]


def test_a_population_table_must_have_the_columns_as_the_same_type() -> None:
    named = REGISTER.rename({"sex": "gender"})
    other = REGISTER.with_columns(pl.col("age").cast(pl.String))
    scenario = SCENARIO | {"hierarchies": {}}
    for frame, sentence in (
        (named, "columns of the table, got 'sex'"),
        (other, "'age' as BIGINT and VARCHAR"),
    ):
        with pytest.raises(duckdb.Error) as by_sql:
            by_duckdb(ask(scenario, ", population_tbl := register"), t=PEOPLE, register=frame)
        with pytest.raises(ReidError) as in_polars:
            by_polars("adversary_risk", PEOPLE, scenario, population_tbl=frame)
        assert sentence in str(by_sql.value)
        assert sentence in str(in_polars.value)


def test_a_fitted_model_may_estimate_who_is_unique() -> None:
    town = pl.DataFrame(
        {"age": [20, 30, 40, 50] * 30, "sex": ["F", "M", "F"] * 40, "id": range(120)}
    )
    scenario = {
        "population": 5000,
        "groups": [
            {"columns": ["sex"], "probability": 0.5},
            {"columns": ["id"], "probability": 0.5},
        ],
    }
    columns = ["age", "id", "sex"]
    with duckdb.connect() as con:
        reid_sql.register(con)
        con.register("t", town)
        con.sql(f"FROM fit_people('town', t, {columns})").fetchall()
        duck = con.sql(ask(scenario, ", model := 'town'")).pl().sort("record")
    rp.fit_people("town of a test", town, columns).collect()
    model = registry.known("town of a test")
    by_name, by_model = (
        rp.adversary_risk(town, scenario, model=each).collect().sort("record")
        for each in ("town of a test", model)
    )
    assert by_name.equals(by_model)
    assert (duck["journalist"] - by_name["journalist"]).abs().max() < 1e-9
    assert 0 < duck["journalist"].max() < duck["prosecutor"].max()
    assert "model_uniqueness: " in duck["status"][0]
    with pytest.raises(ReidError, match="model must be a fitted model, got 'twon'"):
        rp.adversary_risk(town, scenario, model="twon").collect()
