"""Identifiers that are NaN in a Parquet file whose statistics leave NaN out, as Polars writes it."""

import math
from pathlib import Path

import duckdb
import ibis
import polars as pl
import pytest

import reid_sql
import reid_sql.ibis as ri
import reid_sql.polars as rp
from reid_sql.check import gate
from reid_sql.cli import main

ROWS = 200
REFUSED = "entity must have a value in every row"
POLICY = """
[[tables]]
file = "{}"
quasi_identifiers = ["age"]
entity = "pid"
[[tables.checks]]
measure = "uniqueness"
at_most = 0.9
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    ids = [math.nan if number % 4 == 0 else float(number) for number in range(ROWS)]
    path = tmp_path / "people.parquet"
    pl.DataFrame({"pid": ids, "age": [number % 90 for number in range(ROWS)]}).write_parquet(path)
    return str(path)


def test_sql_refuses_them(file: str) -> None:
    con = duckdb.connect()
    reid_sql.register(con)
    for function in ("risk_summary", "class_size_histogram"):
        with pytest.raises(duckdb.Error, match=f"{REFUSED}.*50 .*200"):
            con.execute(f"FROM {function}('{file}', ['age'], entity := 'pid')").fetchall()
    with pytest.raises(duckdb.Error, match=REFUSED):
        con.execute(f"SELECT equivalence_class_people(pid, age) FROM '{file}'").fetchall()


def test_a_household_that_is_nan_is_one_of_its_own(file: str) -> None:
    con = duckdb.connect()
    reid_sql.register(con)
    answer = con.execute(
        f"SELECT households, records FROM household_risk('{file}', 'pid', ['age'])"
    ).fetchall()
    assert answer == [(ROWS, ROWS)]


def test_polars_ibis_and_the_command_refuse_them(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(Exception, match=REFUSED):
        rp.risk_summary(pl.scan_parquet(file), ["age"], entity="pid").collect()
    table = ibis.duckdb.connect().read_parquet(file)
    with pytest.raises(Exception, match=REFUSED):
        ri.risk_summary(table, ["age"], entity="pid").execute()
    assert main(["risk", file, "--qi", "age", "--entity", "pid"]) == 2
    assert REFUSED in capsys.readouterr().err


def test_the_gate_judges_nothing(file: str, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY.format(file), encoding="utf-8")
    check = gate.run(policy).page["checks"][0]
    assert check["verdict"] == "not judged"


def test_nan_is_named_as_a_missing_value_code(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["risk", file, "--qi", "pid", "--format", "json"]) in {0, 1}
    assert "50 records have 'NaN' in pid" in capsys.readouterr().out
