"""Transformations to choose from: each meets the policy by its query; none is coarser than another."""

import json
from pathlib import Path

from reid_sql.models.numerics.quantiles import percent
from reid_sql.prepare.choices import render_choices
from reid_sql.prepare.preparation import Prepared
from reid_sql.prepare.preparation import prepare as run
from tests.prepare.brute import K, policy, written
from tests.prepare.test_local import people
from tests.processes import command

QI = ["age", "zip", "sex"]
MORE = 'suppression = 0.2\nkeep = ["name"]\ntarget = "ill"\ncross_tables = [["sex", "ill"]]\n'


def chosen(folder: Path, more: str, *checks: str) -> Prepared:
    people(400, 3).write_parquet(folder / "people.parquet")
    text = policy(
        "people.parquet", QI, K.format(3), *checks, prepare=MORE + more, table='sensitive = ["ill"]'
    )
    return run(written(folder, text), choices=True)


def test_the_section_has_a_row_for_each_transformation(tmp_path: Path) -> None:
    tables = chosen(tmp_path, "").page["tables"]
    html = render_choices(tables)
    assert html.count("<tr>") == 1 + len(tables[0]["choices"])
    assert html.count("recoding (this release)<br>") == 1
    for words in (
        "cross table of sex and ill: ",
        "information kept about ill: ",
        "zip as it is",
        "k: ",
    ):
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
