"""What the first tier leaves of tests/notebook/test_notebook.py."""

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
    assert [image[:4] for image in pictures(shown["text/html"])] == [SVG]
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
