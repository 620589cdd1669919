"""Tables of counts that safe_table rounds or makes publishable, in SQL, Polars and on the command line."""

import csv
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import reid_sql
import reid_sql.polars as rp
from reid_sql.cli import main
from reid_sql.errors import ReidError

BY = ["region", "sex", "drug"]
SECRET = ("unsafe", "status", "loss", "largest_share")


def people() -> pl.DataFrame:
    """Cells of 1 to 40 people, and a cell of nobody."""
    rows = [(place, region, sex, drug) for place, (region, sex, drug) in enumerate(cells())]
    sizes = [1, 2, 7, 40, 0, 13, 3, 21]
    frame = pl.DataFrame(rows, schema=["place", *BY], orient="row")
    return frame.select(pl.col(BY).repeat_by(pl.Series(sizes)).explode()).drop_nulls()


def cells() -> list[tuple[str, str, str]]:
    return [(region, sex, drug) for region in "NS" for sex in "FM" for drug in "ab"]


def test_rounded_counts_add_up_and_are_near_the_true_ones() -> None:
    frame = people()
    true = rp.safe_table(frame, BY, totals="margins").collect()
    made = rp.safe_table(frame, BY, totals="margins", suppress="rounding", base=3).collect()
    assert made[[*BY, "total_over"]].equals(true[[*BY, "total_over"]])
    assert (made["records"] % 3 == 0).all()
    distance = (made["records"] - true["records"]).abs()
    assert (distance < 3).all()
    assert set(made["status"]) == {"rounded"}
    is_fine = made["total_over"].list.len() == 0
    assert made["loss"][0] == pytest.approx(distance.filter(is_fine).sum() / frame.height)
    for row in made.rows(named=True):
        own = [pl.col(column) == row[column] for column in BY if column not in row["total_over"]]
        parts = made.filter(is_fine, *own)
        assert parts["records"].sum() == row["records"]


@pytest.mark.parametrize("suppress", ["secondary", "rounding"])
@pytest.mark.parametrize("zeros", ["omit", "list"])
def test_a_stored_answer_can_be_published_as_it_is(suppress: str, zeros: str) -> None:
    """Nothing says which cells are unsafe; a count that is rounded to 0 is listed only if nobody's is."""
    frame = people()
    asked = f"['region', 'sex', 'drug'], totals := 'margins', suppress := '{suppress}', zeros := '{zeros}'"
    with duckdb.connect() as con:
        reid_sql.register(con)
        con.register("people", frame)
        con.execute(f"CREATE TABLE whole AS FROM safe_table(people, {asked})")
        con.execute(
            f"CREATE TABLE published AS FROM safe_table(people, {asked}, output := 'publishable')"
        )
        whole, published = con.table("whole").pl(), con.table("published").pl()
    assert published.columns == whole.columns
    assert all(published[name].is_null().all() for name in SECRET)
    shown = [*BY, "total_over", "records"]
    is_listed = whole["records"].is_null() | (whole["records"] > 0) | (zeros == "list")
    assert published[shown].equals(whole.filter(is_listed)[shown])
    assert zeros == "list" or suppress == "secondary" or published.height < whole.height


def test_people_of_several_rows_are_not_published() -> None:
    frame = people().with_row_index("person").with_columns(pl.col("person") // 2)
    asked: Any = {
        "entity": "person",
        "suppress": "secondary",
        "totals": "margins",
        "output": "publishable",
    }
    assert rp.safe_table(frame, BY, **asked).collect()["people"].is_null().all()


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (
            {"suppress": "rounding", "value": "pay"},
            "value must be left out with suppress := 'rounding'",
        ),
        (
            {"suppress": "rounding", "entity": "person"},
            "entity must be left out with suppress := 'rounding'",
        ),
        ({"suppress": "rounding", "base": 1}, "base must be a whole number from 2 to 1e"),
        (
            {"output": "publishable"},
            "suppress must be 'secondary' or 'rounding' with output := 'publishable'",
        ),
        ({"output": "publishable", "suppress": "primary"}, "got 'primary'; pass one of them"),
    ],
)
def test_what_cannot_be_rounded_or_published_is_refused(asked: Any, words: str) -> None:
    frame = people().with_row_index("person").with_columns(pay=pl.col("person") * 2)
    with pytest.raises(Exception, match="must be") as refused:
        rp.safe_table(frame, BY, **asked).collect()
    assert words in str(refused.value)
    with duckdb.connect() as con, pytest.raises(ReidError) as in_python:
        reid_sql.safe_table(con, frame, BY, **asked)
    assert words in str(in_python.value)


def test_the_command_rounds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    people().write_csv(tmp_path / "people.csv")
    asked = ["safe", str(tmp_path / "people.csv"), "--by", ",".join(BY), "--suppress", "rounding"]
    # in a file to publish, what is rounded to 0 is no row: a listed cell would be known to have people
    for output, cells in (("publishable", 4), ("all", 7)):
        assert main([*asked, "--base", "10", "--format", "csv", "--output", output]) == 0
        rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
        assert len(rows) == cells
        assert {int(row["records"]) % 10 for row in rows} == {0}
