"""A release has random numbers in place of people's identifier, and lacks what nobody named."""

from collections import defaultdict
from collections.abc import Sequence
from html import unescape
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

from reid_sql.cli import main

PEOPLE = 300
POLICY = """
[[tables]]
file = "visits.csv"
quasi_identifiers = ["age", "sex"]
entity = "Patient ID"
{}
[[tables.checks]]
measure = "k"
at_least = 5
"""


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Visits of people, in the order of their identifiers."""
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(3)
    made = [
        (70_000 + i, 20 + i % 50, "fm"[i % 2], f"N{i}")
        for i in range(PEOPLE)
        for _ in range(int(draw.choice([1, 1, 2])))
    ]
    frame = pl.DataFrame(made, ["Patient ID", "age", "sex", "Name"], orient="row")
    frame.write_csv("visits.csv")
    return made


def prepare(lines: str = "", prepare_lines: str = "") -> int:
    Path("p.toml").write_text(POLICY.format(lines) + prepare_lines, encoding="utf-8")
    return main(["prepare", "p.toml", "--sql", "r.sql", "--polars", "r.py", "--html", "r.html"])


def by_sql() -> pl.DataFrame:
    con = duckdb.connect()
    con.execute(Path("r.sql").read_text(encoding="utf-8"))
    read: pl.DataFrame = con.sql("FROM visits_released").pl()
    again = con.sql("FROM visits_released").pl()
    assert sorted(map(repr, read.rows())) == sorted(map(repr, again.rows()))  # drawn once
    return read


def by_polars() -> pl.DataFrame:
    made: dict[str, Any] = {}
    exec(compile(Path("r.py").read_text(encoding="utf-8"), "r.py", "exec"), made)  # noqa: S102 - our own file
    frame = pl.scan_csv("visits.csv", infer_schema=False)
    released: pl.DataFrame = made["released_visits"](frame).collect()
    return released


@pytest.mark.parametrize("read", [by_sql, by_polars])
def test_each_person_has_one_random_number(
    rows: Sequence[tuple[Any, ...]], capsys: pytest.CaptureFixture[str], read: Any
) -> None:
    assert prepare() == 0
    said = capsys.readouterr().out
    first, second = read(), read()
    for frame in (first, second):
        assert frame.columns == ["Patient ID", "age", "sex"]
        assert set(frame["Patient ID"].cast(str)).isdisjoint(str(row[0]) for row in rows)
        # as many rows of as many people with each combination as without the numbers
        assert frame["Patient ID"].n_unique() == PEOPLE
        counts = sorted(frame["Patient ID"].value_counts()["count"])
        own: defaultdict[int, int] = defaultdict(int)
        for row in rows:
            own[row[0]] += 1
        assert counts == sorted(own.values())
    assert set(first["Patient ID"]) == set(second["Patient ID"]) == {*range(1, PEOPLE + 1)}
    for text in (
        said,
        *(Path(f"r.{kind}").read_text(encoding="utf-8") for kind in ("sql", "html")),
    ):
        words = " ".join(unescape(text).split())
        assert "random numbers" in words
        assert "Name" in words  # is left out, and said
        assert "70000" not in words


def test_the_numbers_say_nothing_of_the_order(rows: Sequence[tuple[Any, ...]]) -> None:
    """Ages follow the identifiers here, so a number that did would follow them, too; each draw is another."""
    del rows
    frame = pl.read_csv("visits.csv")
    frame.with_columns(age=(pl.col("Patient ID") - 70_000) // 6 + 20).write_csv("visits.csv")
    assert prepare() == 0
    draws = [by_sql().unique("Patient ID").sort("Patient ID") for _ in range(2)]
    ages = [draw["age"].rank("average").to_numpy() for draw in draws]
    numbers = np.arange(PEOPLE)
    assert all(abs(np.corrcoef(numbers, each)[0, 1]) < 5 / PEOPLE**0.5 for each in ages)
    assert draws[0].rows() != draws[1].rows()


@pytest.mark.parametrize("lines", ["", 'released = ["age", "sex", "Patient ID"]'])
@pytest.mark.first(cells=1)
def test_only_a_written_wish_releases_the_identifier(
    rows: Sequence[tuple[Any, ...]], capsys: pytest.CaptureFixture[str], lines: str
) -> None:
    assert prepare(lines) == 0
    assert "random numbers" in capsys.readouterr().out
    assert prepare(lines, '[prepare]\nkeep = ["Patient ID"]\n') == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Patient ID identifies each person, and is released as it is" in said
    assert set(by_sql()["Patient ID"]) == {str(row[0]) for row in rows}
    for without in ('left_out = ["Patient ID"]', 'released = ["age", "sex"]'):
        assert prepare(without) == 0
        assert by_sql().columns == by_polars().columns == ["age", "sex"]
        capsys.readouterr()


@pytest.mark.parametrize("method", ["global", "local"])
def test_columns_that_became_stars_are_left_out_and_said(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    method: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(1)
    ages = [20 + i % 4 for i in range(400)]
    pl.DataFrame({"age": ages, "code": [f"{draw.random()}" for _ in ages]}).write_csv("t.csv")
    Path("t.toml").write_text(
        f'prepare.method = "{method}"\n[[tables]]\nfile = "t.csv"\n'
        'quasi_identifiers = ["age", "code"]\n[[tables.checks]]\nmeasure = "k"\nat_least = 20\n',
        encoding="utf-8",
    )
    assert main(["prepare", "t.toml", "--sql", "t.sql", "--html", "t.html"]) == 0
    con = duckdb.connect()
    text = Path("t.sql").read_text(encoding="utf-8")
    con.execute(text)
    read = con.sql("FROM t_released").pl()
    assert read.columns == ["age"]
    assert sorted(map(int, read["age"])) == sorted(ages)
    for words in (
        text,
        capsys.readouterr().out,
        unescape(Path("t.html").read_text(encoding="utf-8")),
    ):
        assert "Left out, as each record would show '*': code" in " ".join(words.split())
