"""Samples of which hardly anything follows: all answers of their models report it, and no gate passes."""

import json
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import reid_sql.polars as rp
from reid_sql.check.gate import check
from reid_sql.errors import ReidError
from tests.cells import each_cell
from tests.tables import by_duckdb

FITS = ("fit_people", "fit_copula")
ONE: dict[str, list[dict[str, Any]]] = {
    "a record": [{"a": 30, "b": "m"}],
    "a record with NULL": [{"a": None, "b": "m"}],
}
FEW: dict[str, list[dict[str, Any]]] = {
    "two alike": [{"a": 30, "b": "m"}] * 2,
    "two": [{"a": 30 + i, "b": "mf"[i]} for i in range(2)],
    "three": [{"a": 30 + i, "b": "mfm"[i]} for i in range(3)],
    "a constant column": [{"a": 30, "b": "mfm"[i % 3]} for i in range(9)],
    "all alike": [{"a": 30, "b": "m"}] * 99,
    "with NULL": [{"a": 30 if i % 2 else None, "b": "m"} for i in range(99)],
}


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("rows", ONE)
def test_no_model_follows_from_one_record(fit: str, rows: str) -> None:
    frame = pl.DataFrame(ONE[rows], schema={"a": pl.Int64, "b": pl.String})
    with pytest.raises(duckdb.Error, match="at least two records for a model, got 1"):
        by_duckdb(f"FROM {fit}('one', t, ['a', 'b'])", t=frame)
    with pytest.raises(ReidError, match="at least two records for a model, got 1"):
        getattr(rp, fit)("one", frame, ["a", "b"]).collect()


@each_cell("fit", FITS)
@each_cell("rows", FEW)
@pytest.mark.first(cells=4)
def test_every_answer_of_few_records_reports_them(fit: str, rows: str, tmp_path: Path) -> None:
    """The model, its records, its subsets, its forecast, and all of them again when it was saved and read."""
    frame = pl.DataFrame(FEW[rows])
    answers: list[dict[str, Any]] = by_duckdb(f"FROM {fit}('few', t, ['a', 'b'])", t=frame)
    saved = tmp_path / "models.json"
    by_duckdb(f"COPY (FROM model_json('few')) TO '{saved}'")
    for reading in ("", f"FROM load_model('few', '{saved}')"):
        answers += by_duckdb(reading) if reading else []
        answers += by_duckdb("FROM score_records(t, 'few', 1e5)", t=frame)
        answers += by_duckdb("FROM copula_forecast('few', [1e5])")
        answers += [
            row
            for row in by_duckdb("FROM uniqueness_profile('few', ['30', 'm'], 1e5)")
            if row["kind"] != "smallest"
        ]
    assert [row for row in answers if "few_records" not in row["status"]] == []
    getattr(rp, fit)("few", frame, ["a", "b"]).collect()
    assert all(
        "few_records" in row for row in rp.score_records(frame, "few", 1e5).collect()["status"]
    )


@pytest.mark.parametrize("fit", FITS)
def test_a_hundred_records_are_not_few(fit: str) -> None:
    frame = pl.DataFrame({"a": [i % 7 for i in range(100)], "b": [i % 3 for i in range(100)]})
    by_duckdb(f"FROM {fit}('many', t, ['a', 'b'])", t=frame)
    found = by_duckdb("FROM score_records(t, 'many', 1e5)", t=frame)
    assert {row["status"] for row in found} == {"ok"}


@pytest.mark.parametrize("cautions", ["allow", "refuse"])
@pytest.mark.parametrize("entity", [False, True])
def test_a_gate_passes_no_share_of_few_records_in_silence(
    tmp_path: Path, cautions: str, *, entity: bool
) -> None:
    """A group of 1 record has no share; one of 50 has a caution, for which a policy may refuse it."""
    lines = ["p,a,b,g", *(f"{i},{30 + i % 5},m,{'one' if i == 0 else 'many'}" for i in range(51))]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    asked = {"measure": "xi_share", "at_most": 0.5, "population": 1e5}
    table: dict[str, Any] = {
        "file": "t.csv",
        "quasi_identifiers": ["a", "b"],
        "checks": [asked, {**asked, "by": ["g"]}],
    }
    if entity:
        table["entity"] = "p"
    policy = {"cautions": cautions, "mask_below": 1, "tables": [table]}
    (tmp_path / "p.json").write_text(json.dumps(policy), encoding="utf-8")
    whole, by_group = json.loads(json.dumps(check(tmp_path / "p.json")))["checks"]
    verdict = {"allow": "pass", "refuse": "not judged"}[cautions]
    assert [each["verdict"] for each in (*whole["groups"], *by_group["groups"])] == [
        verdict,
        verdict,
        "not judged",
    ]
    assert any("few_records" in caution for caution in whole["cautions"]) or cautions == "refuse"
    assert "two records" in by_group["groups"][1]["why"]
