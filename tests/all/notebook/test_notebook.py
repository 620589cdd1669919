"""What the first tier leaves of tests/notebook/test_notebook.py."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import reid_sql
from tests.notebook.test_notebook import *


@pytest.mark.parametrize("kind", ["relation", "polars", "pandas"])
def test_an_answer_with_a_picture_is_shown_with_it_whatever_frame_it_is_in(
    loaded: Any, kind: str
) -> None:
    relation = asked(f"FROM pyc_forecast('{PEOPLE}', ['age', 'sex'], [1e4, 1e5])")
    frame = {"relation": relation, "polars": relation.pl(), "pandas": relation.df()}[kind]
    shown = bundle(loaded, frame)
    assert [image[:4] for image in pictures(shown["text/html"])] == [PNG]
    assert "<table" in shown["text/html"].partition("<summary>the rows</summary>")[2]


HOSTILE = '<script>alert("1")</script>'


@pytest.mark.parametrize("kind", ["relation", "polars", "pandas"])
def test_no_text_of_the_data_is_html(loaded: Any, kind: str) -> None:
    people = pl.DataFrame({HOSTILE: [1, 2], "b": [1, 1]})
    relation = reid_sql.attribute_risk(duckdb.connect(), people, people.columns)
    frame = {"relation": relation, "polars": relation.pl(), "pandas": relation.df()}[kind]
    html = bundle(loaded, frame)["text/html"]
    assert "&lt;script&gt;" in html
    assert "<script" not in html


BARE = """
import sys
sys.modules["matplotlib"] = None
import duckdb
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell()
shell.run_line_magic("load_ext", "reid_sql")
answer = duckdb.sql("FROM class_size_histogram('reid_sql/demo/people.csv', ['age'])")
print(shell.display_formatter.format(answer)[0]["text/html"])
"""


def test_without_the_chart_library_an_answer_is_a_table(root: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", BARE], capture_output=True, text=True, check=True, cwd=root
    )
    assert "<table" in done.stdout
    assert pictures(done.stdout) == []
