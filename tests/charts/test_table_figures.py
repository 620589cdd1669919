"""The figure of an audit of published tables, held against the rows that it is drawn from."""

import polars as pl
import pytest

import reid_sql.polars as rp
from reid_sql import plot
from reid_sql.errors import NoRecordsError
from tests.charts.marks import cells_of


def table(hidden: int | None) -> pl.DataFrame:
    cells: dict[tuple[str | None, str | None], int | None] = {
        ("N", "F"): hidden,
        ("N", "M"): None,
        ("S", "F"): None,
        ("S", "M"): 30,
        ("N", None): 12,
    }
    cells |= {("S", None): 37, (None, "F"): 9, (None, "M"): 40, (None, None): 49}
    rows = [(*key, count) for key, count in cells.items()]
    return pl.DataFrame(rows, schema=["region", "sex", "records"], orient="row")


def test_each_hidden_cell_shows_its_interval_and_a_cross_where_it_is_revealed() -> None:
    answer = rp.audit_tables([table(None)]).collect()
    picture = plot.audited_cells(answer)
    (cells,) = cells_of(picture)
    rows, columns = picture.charts[0].up.names, picture.charts[0].across.names
    shown = {
        (rows[row], columns[column]): words
        for row, column, words in zip(cells.up, cells.across, cells.words, strict=True)
    }
    expected = {
        tuple(row["categories"]): str(row["low"])
        if row["width"] == 0
        else f"{row['low']}–{row['high']}"
        for row in answer.to_dicts()
    }
    crossed = {
        tuple(row["categories"]) for row in answer.to_dicts() if row["finding"] != "protected"
    }
    assert {key: text.removesuffix(" ×") for key, text in shown.items()} == expected
    assert {key for key, text in shown.items() if text.endswith("×")} == crossed


def test_an_answer_without_a_hidden_cell_has_no_figure() -> None:
    whole = pl.DataFrame({"region": ["N", "S"], "records": [3, 9]})
    with pytest.raises(NoRecordsError, match="with a hidden cell, got none"):
        plot.audited_cells(rp.audit_tables([whole]))
