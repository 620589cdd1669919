"""Calls in Python and Polars, and commands, warn of missing-value codes as `profile` lists them."""

import warnings
from pathlib import Path

import duckdb
import polars as pl
import pytest

import reid_sql
import reid_sql.polars as rp
from reid_sql.errors import MissingCodesWarning
from tests.cells import each_cell
from tests.coded_columns import DRAW, codes_in, draw_column, sentence
from tests.processes import command


def caution(ask: object) -> str:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        ask()  # type: ignore[operator]
    return " ".join(str(each.message) for each in warned if each.category is MissingCodesWarning)


@each_cell("seed", range(2))
@each_cell("kind", DRAW)
@pytest.mark.first(cells=6)
def test_a_call_warns_of_the_codes_that_a_loop_finds(kind: str, seed: int) -> None:
    columns = {
        name: draw_column(kind, place + 10 * seed)
        for place, name in enumerate(["a", "visitor_id", "v"])
    }
    rows = max(map(len, columns.values()))
    columns = {name: [*values, *[None] * (rows - len(values))] for name, values in columns.items()}
    codes = {
        name: codes_in(values, identifies=name == "visitor_id") for name, values in columns.items()
    }
    expected = " ".join(filter(None, (sentence(found, name) for name, found in codes.items())))
    with duckdb.connect() as con:
        con.execute(f"CREATE TABLE people ({', '.join(f'{name} {kind}' for name in columns)})")
        con.executemany(
            "INSERT INTO people VALUES (?, ?, ?)", [*map(list, zip(*columns.values(), strict=True))]
        )
        frame = con.sql("FROM people").pl()
        profiled = reid_sql.profile(con, "people").fetchall()
        assert [dict(zip(row[8], row[9], strict=True)) for row in profiled] == [*codes.values()]
        assert caution(lambda: reid_sql.risk_summary(con, "people", [*columns])) == expected
    assert caution(lambda: rp.risk_summary(frame, [*columns]).collect()) == expected


def test_all_sensitive_texts_are_compared_where_no_query_waits() -> None:
    """Two of 150,000 are written alike, wherever in the table they stand."""
    frame = pl.DataFrame({"age": [i % 7 for i in range(150_000)]}).with_columns(
        illness=pl.Series([f"text {i}" for i in range(149_998)] + ["Flu 1", "flu 1"])
    )
    with duckdb.connect() as con:
        con.register("people", frame)
        with pytest.warns(UserWarning, match="but for capitals"):
            reid_sql.l_diversity(con, "people", ["age"], "illness")


@pytest.mark.parametrize("distinct", [100_000, 100_001])
def test_very_many_sensitive_texts_are_not_compared_and_it_is_said(distinct: int) -> None:
    """Two of them are written alike, and two rows lack a value in words."""
    with duckdb.connect() as con:
        con.execute(
            f"""CREATE TABLE people AS SELECT i % 7 AS age, CASE i WHEN 0 THEN 'Flu 1' WHEN 1 THEN 'flu 1'
            WHEN 2 THEN 'n/a' ELSE 'text ' || i END AS illness FROM range({distinct}) AS r(i)"""
        )
        reid_sql.register(con)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            con.sql("FROM l_diversity(people, ['age'], 'illness')").fetchall()
    said = " ".join(str(each.message) for each in warned)
    is_compared = distinct == 100_000
    assert ("has more than 100,000 texts, so no one looked" in said) is not is_compared
    assert (
        "written alike" in said.partition("so no one")[0] or "but for capitals" in said
    ) is is_compared


@pytest.mark.parametrize("role", ["sensitive", "by", "weight"])
def test_codes_are_found_in_every_role(role: str) -> None:
    frame = pl.DataFrame({"q": [1, 2] * 40, "x": [*range(1, 5)] * 19 + [999] * 4})
    calls = {
        "sensitive": lambda: rp.l_diversity(frame, ["q"], "x").collect(),
        "by": lambda: rp.risk_summary(frame, ["q"], by=["x"]).collect(),
        "weight": lambda: rp.individual_risk(frame, ["q"], weight="x").collect(),
    }
    assert caution(calls[role]).startswith(
        "4 records have '999' in x, which looks like a missing-value code"
    )


@pytest.mark.parametrize(
    "asked",
    [
        ["risk", "t.csv", "--qi", "age,sex"],
        ["risk", "t.csv", "--qi", "age,sex", "--population", "10000"],
        ["query", "FROM risk_summary('t.csv', ['age', 'sex'])"],
        ["safe", "t.csv", "--by", "age,sex"],
    ],
)
def test_a_command_says_which_columns_have_codes(tmp_path: Path, asked: list[str]) -> None:
    rows = [
        f"{20 + number % 40},{'mf'[number % 2] if number % 50 else '?'}" for number in range(400)
    ]
    (tmp_path / "t.csv").write_text("\n".join(["age,sex", *rows]), encoding="utf-8")
    done = command(*asked, folder=tmp_path)
    shown = " ".join(f"{done.stdout} {done.stderr}".replace("│", " ").split())
    assert "8 records have '?' in sex, which looks like a missing-value code" in shown
