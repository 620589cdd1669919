"""The page of a frame in Python: what a notebook calls, in a process that goes on."""

import gc
import urllib.request
from collections.abc import Callable
from pathlib import Path
from traceback import format_exception
from typing import Any
from urllib.error import URLError

import duckdb
import pandas as pd
import polars as pl
import pytest

import reid_sql
from reid_sql.explore.page import INTRODUCTION
from tests.cells import each_cell
from tests.explorations import MARK, people


def read(address: str) -> str:
    with urllib.request.urlopen(address) as answer:  # noqa: S310 - of this machine
        text: str = answer.read().decode()
    return text


def write(folder: Path, frame: pl.DataFrame) -> Path:
    frame.write_parquet(folder / "people.parquet")
    return folder / "people.parquet"


KINDS: dict[str, Callable[[Path, pl.DataFrame], Any]] = {
    "path": write,
    "text": lambda folder, frame: str(write(folder, frame)),
    "polars": lambda _, frame: frame,
    "pandas": lambda _, frame: frame.to_pandas(),
    "arrow": lambda _, frame: frame.to_arrow(),
    "relation": lambda _, frame: duckdb.from_arrow(frame.to_arrow()),
}


@each_cell("kind", KINDS)
def test_a_frame_has_a_page_until_it_is_stopped(tmp_path: Path, kind: str) -> None:
    """Of these people all are alone, as their birth is a day; no value is on the page."""
    page = reid_sql.explore(KINDS[kind](tmp_path, people(60)))
    try:
        assert page.address in repr(page)
        text = read(page.address)
        assert INTRODUCTION in text
        assert "60 of 60 people are the only one with their age, sex, postcode" in text
        assert MARK not in text
    finally:
        page.stop()
        page.stop()
    with pytest.raises(URLError):
        read(page.address)


@pytest.mark.parametrize(
    ("data", "mask", "words"),
    [
        (
            people(9).lazy(),
            1,
            "data must be a file or a frame that Arrow reads, got LazyFrame; collect",
        ),
        (None, 1, "data must be a file or a frame that Arrow reads, got NoneType"),
        ("none.parquet", 1, "must be an existing file, got 'none.parquet'"),
        (people(9), 0, "mask must be a whole number from 1 to 1000, got 0"),
    ],
)
def test_what_cannot_be_opened_is_refused(data: Any, mask: int, words: str) -> None:
    with pytest.raises(reid_sql.ReidError) as refused:
        reid_sql.explore(data, mask=mask)
    assert words in str(refused.value)


def test_a_refused_frame_prints_no_value() -> None:
    frame = pd.DataFrame({"name": [1, "Ermentrude"] * 20, "age": [1, 2] * 20})
    with pytest.raises(reid_sql.ReidError, match="values of one type") as refused:
        reid_sql.explore(frame)
    assert "Ermentrude" not in "".join(format_exception(refused.value))


def test_a_page_without_a_name_is_served_with_its_mask() -> None:
    (address, _) = repr(reid_sql.explore(people(60), mask=100)).split("\n")
    gc.collect()
    for _ in range(2):
        text = read(address)
        assert INTRODUCTION in text
        assert "60 of 60" not in text


def test_a_frame_leaves_no_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    page = reid_sql.explore(people(60))
    assert [*tmp_path.rglob("frame.parquet")]
    page.stop()
    assert not [*tmp_path.iterdir()]


def test_the_release_of_a_frame_as_sql_reads_the_frame(tmp_path: Path) -> None:
    """By its name: the copy of which the page counts is deleted."""
    page = reid_sql.explore(people(60))
    sql = read(f"{page.address}0/release.sql")
    page.stop()
    with duckdb.connect(tmp_path / "released.duckdb") as con:
        people(60).write_parquet(tmp_path / "people.parquet")
        con.execute(f"CREATE TABLE frame AS FROM '{tmp_path}/people.parquet'")
        con.execute(sql)
        assert con.sql("FROM frame_released").fetchall()
