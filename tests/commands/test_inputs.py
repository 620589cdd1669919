"""What a command reads: a file, standard input, files of a pattern where it is said, a place in a store."""

import io
import json
import sys
from gzip import compress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest

from reid_sql.cli import main
from tests.check.towns import PEOPLE

QI = ["--qi", "age,sex", "--json"]


def summary(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main(["risk", *words, *QI]) == 0
    return json.loads(capsys.readouterr().out)["summary"]


def refusal(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["risk", *words, *QI]) == 2
    message = capsys.readouterr()
    assert (message.out, message.err.count("\n")) == ("", 1)
    return message.err


@pytest.fixture
def forms(tmp_path: Path) -> dict[str, bytes]:
    """The made-up town as text, packed, as Parquet and as JSON of both kinds."""
    rows = f"FROM read_csv('{PEOPLE}', all_varchar = true)"
    duckdb.sql(f"COPY ({rows}) TO '{tmp_path}/t.parquet'")
    duckdb.sql(f"COPY ({rows}) TO '{tmp_path}/t.ndjson' (FORMAT json)")
    duckdb.sql(f"COPY ({rows}) TO '{tmp_path}/t.json' (FORMAT json, ARRAY true)")
    made = {kind: (tmp_path / f"t.{kind}").read_bytes() for kind in ("parquet", "ndjson", "json")}
    return {"csv": PEOPLE.read_bytes(), "csv.gz": compress(PEOPLE.read_bytes()), **made}


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet", "ndjson", "json"])
def test_standard_input_is_recognised_by_its_first_bytes(
    kind: str,
    forms: dict[str, bytes],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(forms[kind])))
    assert summary(capsys, "-") == summary(capsys, str(PEOPLE))


def test_an_empty_standard_input_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO()))
    assert "FILE must contain a table, got nothing on standard input; pipe" in refusal(capsys, "-")


@pytest.mark.parametrize("name", ["people[1].csv", "data?.csv", "*.csv"])
def test_a_path_is_that_very_file(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_bytes(PEOPLE.read_bytes())
    for other in ("people1.csv", "data1.csv"):
        (tmp_path / other).write_text("age,sex\n1,F\n", encoding="utf-8")
    assert summary(capsys, str(tmp_path / name))["records"] == 3000


def test_a_place_in_a_store_is_read_as_it_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert summary(capsys, f"file://{PEOPLE}") == summary(capsys, str(PEOPLE))
    assert "'file:///nowhere//people.csv'" in refusal(capsys, "file:///nowhere//people.csv")
    assert "got several for 'file:///" in refusal(capsys, f"file://{PEOPLE.parent}/*.py")
    signed = "https://store.invalid//people.csv?X-Amz-Signature=Tr0ub4dor"
    reported = refusal(capsys, signed)
    assert "'https://store.invalid//people.csv?X-Amz-Signature=***'" in reported
    assert "Tr0ub4dor" not in reported


@pytest.mark.parametrize(
    "file", ["https://store.invalid//people.csv", "s3://bucket//people.parquet"]
)
def test_the_gate_reads_files_alone(
    tmp_path: Path, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    checks = 'quasi_identifiers = ["age"]\nchecks = [{ measure = "k", at_least = 2 }]'
    policy = tmp_path / "policy.toml"
    policy.write_text(f'[[tables]]\nfile = "{file}"\n{checks}', encoding="utf-8")
    assert main(["check", str(policy)]) == 2
    assert (
        f"policy tables[1] must lie in a file here, got '{file}'; export it"
        in capsys.readouterr().err
    )


def test_no_macro_of_a_database_file_answers_for_a_function(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "town.duckdb")
    with duckdb.connect(file) as con:
        con.execute(f"CREATE TABLE people AS FROM '{PEOPLE}'")
        con.execute("CREATE MACRO risk_summary(tbl, qi) AS TABLE SELECT 1000 AS records, 7 AS k")
        con.execute("CREATE MACRO equivalence_class_size(a) AS 1000")
    assert summary(capsys, file) == summary(capsys, str(PEOPLE))
