"""Transformations to choose from: each meets the policy by its query; none is coarser than another."""

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from reid_sql.models.numerics.quantiles import percent
from reid_sql.release.choices import render_choices
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


def levels_of(table: dict[str, Any], form: dict[str, Any]) -> list[int]:
    """The level of each column, by the words of its hierarchy."""
    hierarchies = {each["column"]: each["hierarchy"] for each in table["columns"]}
    return [hierarchies[each["column"]].index(each["form"]) for each in form["columns"]]


@pytest.mark.parametrize("more", ["", 'method = "best"', "cells = true"])
def test_each_form_meets_the_policy_by_its_own_query(tmp_path: Path, more: str) -> None:
    made = chosen(tmp_path, more, L2)
    (table,) = made.page["tables"]
    forms = table["choices"]
    assert 2 <= len(forms) <= 10
    assert [form["rank"] for form in forms] == list(range(1, len(forms) + 1))
    losses = [form["losses"]["entropy"] for form in forms]
    assert losses == sorted(losses)
    assert [form["retained"] for form in forms] == pytest.approx([1 - loss for loss in losses])
    [released] = [form for form in forms if form["is_release"]]
    assert released["losses"] == table["losses"]
    assert released["sql"].split("AS\n", 1)[1] == made.sql.split("AS\n", 1)[1]
    levels = [levels_of(table, form) for form in forms if form["method"] == "global"]
    for one, other in permutations(levels, 2):
        assert any(fine < coarse for fine, coarse in zip(one, other, strict=True))
    for form in forms:
        released = made_by(form["sql"], "people_released")
        assert class_sizes(released, QI)[0] >= 3
        assert min(released.group_by(QI).agg(pl.col("ill").n_unique())["ill"].to_list()) >= 2
        left_out = 1 - len(released) / 400
        assert form["suppressed_share"] is None or form["suppressed_share"] == pytest.approx(
            left_out, abs=1e-6
        )
    assert {form["method"] for form in forms} == ({"local", "global"} if "best" in more else {"global"})


def test_the_section_has_a_row_for_each_transformation(tmp_path: Path) -> None:
    tables = chosen(tmp_path, "").page["tables"]
    html = render_choices(tables)
    assert html.count("<tr>") == 1 + len(tables[0]["choices"])
    assert html.count("recoding (this release)<br>") == 1
    for words in ("cross table of sex and ill: ", "information kept about ill: ", "zip as it is", "k: "):
        assert words in html


def test_without_a_transformation_there_is_no_section(tmp_path: Path) -> None:
    people(40, 3).write_parquet(tmp_path / "people.parquet")
    made = run(written(tmp_path, policy("people.parquet", QI, K.format(50))), choices=True)
    assert made.page["tables"][0]["choices"] == []
    assert not render_choices(made.page["tables"])


def test_the_json_and_the_html_page_have_the_rows(tmp_path: Path) -> None:
    people(300, 5).write_parquet(tmp_path / "people.parquet")
    asked, file = written(tmp_path, policy("people.parquet", QI, K.format(3))), tmp_path / "r.html"
    ended = command("prepare", str(asked), "--json", "--html", str(file))
    assert ended.returncode == 0
    (table,) = json.loads(ended.stdout)["tables"]
    text = file.read_text(encoding="utf-8")
    for row in table["choices"]:
        assert f"<td>{percent(row['retained']).replace(' %', '&nbsp;%')}</td>" in text
    assert "transformations to choose from" in text
    assert "transformations to choose from" not in command("prepare", str(asked)).stdout
