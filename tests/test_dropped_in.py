"""A file dropped into the functions' folder is a function everywhere, and nothing else is edited."""

import re
from pathlib import Path

import pytest

from tests.processes import python

ROW = '''
from reid_sql.parameters import Floats, Probability
from reid_sql.function import Question, function

@function(question=Question.CLASS_SIZES, source="none")
def square(p: Probability) -> Floats:
    """Square a probability."""
    import numpy as np
    return np.asarray(p) ** 2
'''
TABLE = '''
from dataclasses import dataclass
from reid_sql.parameters import Threshold
from reid_sql.function import Answer, Question, table_function
from reid_sql.models.classes.disclosure import Histogram
from reid_sql.reductions.classes import HISTOGRAM

@dataclass(frozen=True)
class Row:
    """A row."""
    size: int
    share: float
    word: str

@table_function(
    "tbl, qi, least, nulls", answer=Answer.ROWS, reduction=HISTOGRAM,
    question=Question.CLASS_SIZES, source="none"
)
def shares(histogram: Histogram, least: Threshold = 0.5) -> list[Row]:
    """Share of the records in classes of each size."""
    total = histogram.records.sum()
    rows = zip(histogram.class_size, histogram.records, strict=True)
    return [Row(int(s), float(r / total), "big" if r / total >= least else "small") for s, r in rows]
'''
LISTS = '''
from dataclasses import dataclass
from typing import Annotated
import numpy.typing as npt
from reid_sql.parameters import COUNT, Numbers
from reid_sql.function import Answer, Question, table_function

@dataclass(frozen=True)
class Half:
    """A row."""
    size: float
    half: float

Sizes = Annotated[npt.ArrayLike, Numbers(COUNT)]
More = Annotated[npt.ArrayLike | None, Numbers(COUNT, True)]

@table_function("sizes, more", answer=Answer.ROWS, question=Question.CLASS_SIZES, source="none")
def halves(sizes: Sizes, more: More = None) -> list[Half]:
    """Halve the sizes."""
    return [Half(float(size), float(size) / 2) for size in [*sizes, *(more or [])]]
'''
USE = """
import duckdb, polars as pl, reid_sql, reid_sql.polars as rp
con = duckdb.connect(); reid_sql.register(con); reid_sql.register(con.cursor())
frame = pl.DataFrame({"a": [1, 1, 1, 2, None], "p": [0.5, None, 0.0, 1.0, 0.25]})
con.execute("CREATE TABLE t AS FROM frame")
row = con.execute("SELECT square(p) FROM t").fetchall()
assert row == frame.select(rp.square("p")).rows() == [(0.25,), (None,), (0.0,), (1.0,), (0.0625,)], row
expected = [(1, 0.4, "small", 0, "value"), (3, 0.6, "big", 0, "value")]
assert con.execute("FROM shares(t, ['a'])").fetchall() == rp.shares(frame, ["a"]).collect().rows() == expected
least = con.execute("FROM shares(t, ['a'], least := 0.7, nulls := 'drop')").fetchall()
assert least[1] == (3, 0.75, "big", 1, "drop")
con.execute("CREATE TABLE e(a INT)")
halves = rp.halves([1, 2.5]).collect().rows()
assert con.execute("FROM halves([1, 2.5])").fetchall() == halves == [(1.0, 0.5), (2.5, 1.25)]
both = con.execute("FROM halves([1], more := [4])").fetchall(), rp.halves([1], more=[4]).collect().rows()
assert both == ([(1.0, 0.5), (4.0, 2.0)],) * 2
refused = ["halves([])", "halves([1, NULL])", "halves([1], more := [0.5])", "halves('x')"]
refused += ["shares(t, ['a'], least := 3)", "shares(e, ['a'])", "shares(t, ['a'], nulls := 'wildcard')"]
for bad in ("SELECT square(2)", *(f"FROM {call}" for call in refused)):
    try:
        con.execute(bad).fetchall()
    except duckdb.Error as error:
        print(error)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "square.py").write_text(ROW, encoding="utf-8")
    (tmp_path / "shares.py").write_text(TABLE, encoding="utf-8")
    (tmp_path / "halves.py").write_text(LISTS, encoding="utf-8")
    return tmp_path


def test_a_dropped_in_file_is_known_to_every_engine(folder: Path) -> None:
    out = python(f"import reid_sql_udfs; reid_sql_udfs.__path__.append({str(folder)!r})\n{USE}")
    assert "p must be a probability between 0 and 1, got 2" in out
    assert out.count("sizes must be a list of one or more numbers, got") == 3
    assert "more must be a number of people of at least 1 and at most 1e+15, got 0.5" in out
    assert "least must be a risk between 0 and 1, got 3" in out
    assert "the table must contain at least one record, got 0" in out
    assert "nulls must be one of 'value', 'drop', got 'wildcard': " in out


CARELESS = TABLE.replace("shares", "careless").replace(
    'source="none"',
    'duckdb="max(class_size) AS size, 1.0::DOUBLE AS share, \'big\' AS word", source="none"',
)
OWED = """
import pytest
options = ["-q", "-n0", "-rf", "-p", "no:cacheprovider", "--cell", "careless", "-m", "not spark and not postgres"]
pytest.main([*options, "tests/matrices/test_owed.py"])
"""


def test_a_function_that_forgets_what_it_owes_fails_the_tests(tmp_path: Path) -> None:
    """SQL that answers an empty table with nothing, and neither people nor groups, nor the reasons."""
    (tmp_path / "careless.py").write_text(CARELESS, encoding="utf-8")
    out = python(f"import reid_sql_udfs; reid_sql_udfs.__path__.append({str(tmp_path)!r})\n{OWED}")
    failed = {
        re.sub("-(first|rest)]", "-careless]", line.split("::")[1].split(" - ")[0].rstrip())
        for line in out.splitlines()
        if line.startswith("FAILED")
    }
    both = [
        f"test_{owed}_or_the_reason_is_given[{engine}-careless]"
        for owed in ("people_are_counted", "groups_are_answered")
        for engine in ("duckdb", "polars")
    ]
    reasons = "test_every_dataframe_engine_gives_the_reason"
    assert failed == {
        "test_an_empty_table_has_no_answer[duckdb-careless]",
        f"{reasons}[polars-careless]",
        f"{reasons}[ibis on duckdb-careless]",
        *both,
    }


def test_the_command_lists_it(folder: Path) -> None:
    call = "from reid_sql.cli import main; main(['functions', '--json'])"
    out = python(f"import reid_sql_udfs; reid_sql_udfs.__path__.append({str(folder)!r})\n{call}")
    assert '"name": "square"' in out
    assert '"name": "halves"' in out
    assert '"name": "shares"' in out
