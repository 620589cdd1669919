"""Weights with decimal commas are named, and columns that one of two tables lacks; no value is printed."""

from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import reid_sql
import reid_sql.polars as rp
from reid_sql.cli import main
from reid_sql.errors import ReidError
from tests.cells import each_cell

COMMAS = "weight must be a number for every record, got text with decimal commas"
CALLS = {
    "individual_risk": "individual_risk(w, ['a'], weight := 'w')",
    "individual_risk of people": "individual_risk(w, ['a'], weight := 'w', entity := 'p')",
    "population_risk": "population_risk(w, ['a'], [1e6], weight := 'w')",
    "population_risk of people": "population_risk(w, ['a'], [1e6], weight := 'w', entity := 'p')",
}


def weights(cell: str) -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    reid_sql.register(con)
    con.execute("CREATE TABLE w AS SELECT i % 7 AS a, i AS p, '2.5' AS w FROM range(150) t(i)")
    con.execute("UPDATE w SET w = ? WHERE p = 77", [cell])
    return con


@each_cell("cell", ["10,53", " 1.234,53 ", "-0,53"])
@each_cell("call", CALLS)
def test_a_weight_with_a_decimal_comma_is_named_and_not_printed(call: str, cell: str) -> None:
    with pytest.raises(duckdb.Error) as refused:
        weights(cell).execute(f"FROM {CALLS[call]}").fetchall()
    assert COMMAS in str(refused.value)
    assert "53" not in str(refused.value)


@pytest.mark.parametrize("call", CALLS)
def test_weights_as_texts_with_decimal_points_are_numbers(call: str) -> None:
    assert weights(" 10.5 ").execute(f"FROM {CALLS[call]}").fetchall()


def test_polars_refuses_the_same() -> None:
    frame = pl.DataFrame({"a": [1, 1], "w": ["10,53", "3"]})
    with pytest.raises(ReidError, match=COMMAS):
        rp.individual_risk(frame, ["a"], weight="w").collect()


NAMES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "compare": ("the original", "the release", {}),
    "compare_releases": ("the first release", "the second release", {"key": "id"}),
    "audit_synthetic": ("the original", "the synthetic table", {}),
    "journalist_risk": ("the table", "the population table", {}),
}


@each_cell("place", [0, 1])
@each_cell("function", NAMES)
def test_the_table_that_lacks_a_column_is_named(function: str, place: int) -> None:
    *names, options = NAMES[function]
    has = pl.DataFrame({"id": [1, 2], "a": [1, 2], "job": ["x", "y"]})
    lacks = has.rename({"job": "jobs"})
    tables = (lacks, has) if place == 0 else (has, lacks)
    con = duckdb.connect()
    reid_sql.register(con)
    for number, table in enumerate(tables):
        con.register(f"t{number}", table)
    words = f"must be columns of {names[place]}, got 'job'; did you mean 'jobs'"
    given = "".join(f", {name} := '{value}'" for name, value in options.items())
    with pytest.raises(duckdb.Error, match=words):
        con.execute(f"FROM {function}(t0, t1, ['a', 'job']{given})").fetchall()
    with pytest.raises(ReidError, match=words):
        getattr(rp, function)(*tables, ["a", "job"], **options).collect()


def test_the_verdict_is_of_the_attacker_that_was_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is unique by one item; by the set of two, each of the people is."""
    monkeypatch.setenv("COLUMNS", "160")
    baskets = [(person, item) for person in range(6) for item in (person, (person + 1) % 6)]
    file = tmp_path / "b.csv"
    pl.DataFrame(baskets, schema=["basket", "item"], orient="row").write_csv(file)
    assert main(["risk", str(file), "--qi", "item", "--entity", "basket", "--points", "1,2"]) == 0
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert (
        "AT RISK: an attacker who knows 2 rows of a person singles out 100.0 % of the people"
        in shown
    )
