"""A tolerance of a column of texts, as a CSV file has them: the typed column's answer, or one refusal."""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import reid_sql
from reid_sql.cli import main
from reid_sql.function import Function
from reid_sql_udfs import declared
from tests.cells import each_cell
from tests.engines.asking import empty

KNOWN = [{"columns": ["age"], "probability": 0.9}, {"columns": ["sex"], "probability": 0.5}]
SCENARIO = json.dumps({"population": 1000, "groups": KNOWN})
ARGUMENTS = {
    "tbl": "t",
    "population_tbl": "t",
    "first": "t",
    "second": "u",
    "original": "t",
    "released": "u",
    "qi": ["age", "sex"],
    "columns": ["age", "sex"],
    "entity": "id",
    "points": [1, 2],
    "scenario": SCENARIO,
}
KEYED = {"compare": {"key": "id"}, "compare_releases": {"key": "id"}}


def tolerant() -> list[Function]:
    """Every function that takes a tolerance."""
    return [
        each
        for each in declared().values()
        if any(parameter.name == "tolerance" for parameter in each.parameters)
    ]


def create(con: duckdb.DuckDBPyConnection, values: Sequence[str], kind: str) -> None:
    """Create t, and u with the values of the next person."""
    rng = random.Random(7)  # noqa: S311 - a test
    people = [(i, value, rng.choice("FM")) for i, value in enumerate(values)]
    moved = [
        (i, after, sex) for (i, _, sex), after in zip(people, [*values[1:], values[0]], strict=True)
    ]
    for name, rows in (("t", people), ("u", moved)):
        con.register("rows_of", pl.DataFrame(rows, schema=["id", "age", "sex"], orient="row"))
        con.execute(
            f"CREATE OR REPLACE TABLE {name} AS SELECT id, age::{kind} AS age, sex FROM rows_of"
        )


def ask(con: duckdb.DuckDBPyConnection, function: Function, tolerance: Any) -> list[Any]:
    """Call a function with what it needs, and the tolerance of age."""
    needed = ("tbl", "population_tbl", "first", "second", "original", "released")
    given: dict[str, Any] = {
        parameter.name: ARGUMENTS[parameter.name]
        for parameter in function.parameters
        if parameter.name in ARGUMENTS
        and (parameter.name != "entity" or function.name.startswith("unicity"))
        and (parameter.name != "population_tbl" or function.name == "journalist_risk")
    }
    tables = [given.pop(name) for name in needed if name in given]
    given |= KEYED.get(function.name, {}) | {"tolerance": {"age": tolerance}}
    answer = getattr(reid_sql, function.name)(con, *tables, **given).fetchall()
    return sorted(answer, key=str)


CASES = {
    "whole": ([str(n) for n in (1, 2, 4, 7, 9, 30, -5, 4, 12)], "BIGINT", 2),
    "large": ([str(2**62 + n) for n in (0, 1, 3, 6, 8, 20)], "HUGEINT", 2),
    "decimal": (["0.1", "0.2", "0.4", "0.70", "-0.1", "12.05"], "DECIMAL(12, 4)", "0.2"),
    "double": (["1e-3", "0.1", "0.30000000000000004", "5", "7.5"], "DOUBLE", "0.2"),
    "percent": (["100", "104", "111", "300", "-5", "-4"], "BIGINT", "5 %"),
    "day": (["2024-01-31", "2024-02-01", "2024-03-05", "1999-12-31"], "DATE", "1 day"),
    "month": (["2024-01-31", "2024-02-29", "2024-03-05", "1999-12-31"], "DATE", "1 month"),
    "time": (
        ["2024-01-31 10:00:00", "2024-01-31 11:30:00", "2024-02-03 00:00:00"],
        "TIMESTAMP",
        "2 hours",
    ),
}


@each_cell(
    "function, case",
    [
        *((each.name, "double") for each in tolerant()),
        *(("class_size_histogram", case) for case in CASES if case != "double"),
    ],
    after=empty,
)
@pytest.mark.first(cells=5)
def test_texts_have_the_answer_of_their_numbers_or_times(
    con: duckdb.DuckDBPyConnection, function: str, case: str
) -> None:
    """As texts, equal values are equal, so that each has one writing here.

    One rule reads the texts of all functions, so that each is asked one kind, and one of them all kinds.
    """
    values, kind, tolerance = CASES[case]
    if case == "decimal":
        values = [f"{float(value):.4f}" for value in values]
    create(con, values, kind)
    typed = ask(con, declared()[function], tolerance)
    create(con, values, "VARCHAR")
    read = ask(con, declared()[function], tolerance)
    if function == "equivalence_classes":  # the values themselves are listed as they are
        typed, read = (sorted(tuple(row[2:]) for row in rows) for rows in (typed, read))
    assert len(typed) > 0
    assert read == typed


@pytest.mark.parametrize("seed", range(6))
def test_candidates_within_a_tolerance_of_texts_are_those_of_all_pairs(
    con: duckdb.DuckDBPyConnection, seed: int
) -> None:
    rng = random.Random(seed)  # noqa: S311 - a test
    tenths = [rng.randrange(-60, 60) for _ in range(40)]
    texts = [rng.choice(("{:.1f}", "{:.2f}", " {:.1f}")).format(n / 10) for n in tenths]
    create(con, texts, "VARCHAR")
    within = rng.randrange(1, 9)
    sizes = [sum(abs(n - m) <= within for m in tenths) for n in tenths]
    expected = [(size, sizes.count(size)) for size in sorted(set(sizes))]
    asked = f"class_size_histogram(t, ['age'], tolerance := {{'age': {within / 10}}})"
    counted = con.sql(f"SELECT class_size, sum(records) FROM {asked} GROUP BY 1 ORDER BY 1")
    assert counted.fetchall() == expected


@each_cell(
    "values, tolerance, words",
    [
        (["30", "old", "very old"], 1, "column of numbers, got a text column with 2 values that"),
        (["30", "31"], "1 day", "dates or times .* got a text column with 2 values that are none"),
        (["2024-01-01", "x"], "1 month", "column of dates .* with 1 value that is none"),
    ],
)
@each_cell("function", tolerant(), after=empty)
def test_a_text_that_is_none_is_refused_by_its_column_and_its_number(
    con: duckdb.DuckDBPyConnection,
    function: Function,
    values: Sequence[str],
    tolerance: float | str,
    words: str,
) -> None:
    create(con, values, "VARCHAR")
    with pytest.raises(
        Exception, match=f"tolerance of 'age' must be used with a .*{words}"
    ) as told:
        ask(con, function, tolerance)
    assert "old" not in str(told.value)


def test_commands_and_the_gate_read_a_csv_file_within_a_tolerance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    days = [f"2024-01-{1 + 4 * (i % 5):02d}" for i in range(45)]
    rows = [f"{i},{30 + 4 * (i % 9)},{day}" for i, day in enumerate(days)]
    for name in ("x", "y"):
        Path(f"{name}.csv").write_text("\n".join(["id,age,day", *rows]) + "\n", encoding="utf-8")
    Path("words.csv").write_text("id,age\n1,30\n2,old\n", encoding="utf-8")
    for amount in ("age=1", "day=1 day"):
        asked = ("--qi", amount.partition("=")[0], "--tolerance", amount)
        for call in (
            ("risk", "x.csv"),
            ("compare", "x.csv", "y.csv"),
            ("compare", "x.csv", "y.csv", "--as", "later"),
        ):
            assert main([*call, *asked, *(() if call[0] == "risk" else ("--key", "id"))]) == 0
    assert main(["risk", "words.csv", "--qi", "age", "--tolerance", "age=1"]) != 0
    assert "tolerance of 'age' must" in capsys.readouterr().err
    tables = {"file": "x.csv", "former_file": "y.csv", "population_file": "y.csv"}
    checks = [
        {"measure": name, bound: limit, "tolerance": {"age": 1}}
        for name, bound, limit in (
            ("k", "at_least", 2),
            ("journalist_highest_risk", "at_most", 0.5),
            ("people_followed", "at_most", 0),
        )
    ]
    for file, code in (("x.csv", 0), ("words.csv", 2)):
        table = {**tables, "file": file, "quasi_identifiers": ["age"], "checks": checks}
        policy = {"cautions": "allow", "tables": [table]}
        Path("p.json").write_text(json.dumps(policy), encoding="utf-8")
        assert main(["check", "p.json"]) == code
    said = " ".join(capsys.readouterr().out.split())
    assert "tolerance of 'age' must be used with" in said
    assert not [each for each in range(9) if f"'q{each}'" in said]
