"""The forms to choose from: each meets the policy as its own query is run, and the page shows them."""

import re
from pathlib import Path

import polars as pl
import pytest

from reid_sql.release.preparation import Prepared, run
from tests.processes import command
from tests.release.brute import K, class_sizes, made_by, policy, written
from tests.release.test_local import people

QI = ["age", "zip", "sex"]
MORE = 'suppression = 0.2\nkeep = ["name"]\ntarget = "ill"\ncross_tables = [["sex", "ill"]]\n'
L2 = 'measure = "l_diversity"\nat_least = 2'


def chosen(folder: Path, more: str, *checks: str) -> Prepared:
    people(400, 3).write_parquet(folder / "people.parquet")
    text = policy(
        "people.parquet", QI, K.format(3), *checks, prepare=MORE + more, table='sensitive = ["ill"]'
    )
    return run(written(folder, text), choices=True)


@pytest.mark.parametrize("more", ["", 'method = "best"', "cells = true"])
def test_each_form_meets_the_policy_by_its_own_query(tmp_path: Path, more: str) -> None:
    made = chosen(tmp_path, more, L2)
    (table,) = made.page["tables"]
    forms = table["choices"]
    assert 2 <= len(forms) <= 5
    losses = [form["losses"]["entropy"] for form in forms]
    assert losses == sorted(losses)
    assert losses[0] == table["losses"]["entropy"]
    assert forms[0]["sql"].split("AS\n", 1)[1] == made.sql.split("AS\n", 1)[1]
    for form in forms:
        released = made_by(form["sql"], "people_released")
        assert class_sizes(released, QI)[0] >= 3
        assert min(released.group_by(QI).agg(pl.col("ill").n_unique())["ill"].to_list()) >= 2
        left_out = 1 - len(released) / 400
        assert form["suppressed_share"] is None or form["suppressed_share"] == pytest.approx(
            left_out, abs=1e-6
        )
    assert {form["method"] for form in forms} == ({"local", "global"} if "best" in more else {"global"})


def test_the_page_shows_the_forms_side_by_side(tmp_path: Path) -> None:
    made = chosen(tmp_path, "")
    html = made.choices
    assert html.startswith("<!doctype html>")
    assert "http://" not in re.sub(r'xmlns="[^"]*"', "", html)
    forms = made.page["tables"][0]["choices"]
    for number in range(1, len(forms) + 1):
        assert f"<th>form {number}</th>" in html
        assert f"SQL of form {number}" in html
    for words in ("records left out", "cross table of sex and ill", "information kept about ill", "zip"):
        assert words in html
    assert "CREATE OR REPLACE VIEW" in html


def test_without_a_form_the_page_says_so(tmp_path: Path) -> None:
    people(40, 3).write_parquet(tmp_path / "people.parquet")
    made = run(written(tmp_path, policy("people.parquet", QI, K.format(50))), choices=True)
    assert "No form that meets the policy was found." in made.choices


def test_the_command_writes_the_page(tmp_path: Path) -> None:
    people(300, 5).write_parquet(tmp_path / "people.parquet")
    asked, file = written(tmp_path, policy("people.parquet", QI, K.format(3))), tmp_path / "c.html"
    ended = command("prepare", str(asked), "--choice", str(file))
    assert ended.returncode == 0
    assert "forms that meet the policy" in file.read_text(encoding="utf-8")
    other = tmp_path / "notes.html"
    other.write_text("mine", encoding="utf-8")
    refused = command("prepare", str(asked), "--choice", str(other))
    assert refused.returncode == 2
    assert other.read_text(encoding="utf-8") == "mine"
