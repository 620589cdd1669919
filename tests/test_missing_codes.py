"""Calls in Python and Polars, and commands, warn of missing-value codes as `profile` lists them."""

import random
import warnings
from pathlib import Path

import duckdb
import polars as pl
import pytest

import reid_sql
import reid_sql.polars as rp
from reid_sql.errors import MissingCodesWarning
from reid_sql.models.columns.missing_value_codes import describe_missing_values
from tests.processes import command

VALUES: dict[str, list[object]] = {
    "words": ["a", "b", " Unknown", "?", "N/A"],
    "numbers": [1, 2, 3, 9, 99, -1, 97],
    "many numbers": [*range(100, 130), 999, 999, 999],
    "texts of numbers": ["1", "2", "03", "99", ""],
    "floats": [0.5, 1.5, 99.0, 9999.0, float("nan")],
    "dates": ["2001-02-03", "2001-02-04", "9999-12-31"],
    "none": ["x", "y", None],
}


def drawn(kind: str, seed: int) -> pl.DataFrame:
    rng = random.Random(seed)  # noqa: S311 - no secret
    return pl.DataFrame(
        {
            "a": pl.Series([rng.choice(VALUES[kind]) for _ in range(90)]),
            "b": [rng.randrange(3) for _ in range(90)],
        }
    )


def caution(ask: object) -> str:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        ask()  # type: ignore[operator]
    return " ".join(str(each.message) for each in warned if each.category is MissingCodesWarning)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", VALUES)
def test_a_call_warns_of_the_codes_of_the_profile(kind: str, seed: int) -> None:
    frame = drawn(kind, seed)
    if kind == "dates" and seed == 1:
        frame = frame.with_columns(pl.col("a").str.to_date())
    with duckdb.connect() as con:
        con.register("frame", frame.to_arrow())
        con.execute("CREATE TABLE people AS FROM frame")
        profiled = rp.profile(frame, ["a", "b"]).collect().to_dicts()
        expected = " ".join(f"{each}." for each in describe_missing_values(profiled).values())
        assert bool(expected) == (kind != "none")
        assert caution(lambda: reid_sql.risk_summary(con, "people", ["a", "b"])) == expected
        assert caution(lambda: rp.risk_summary(frame, ["a", "b"]).collect()) == expected
        assert caution(lambda: rp.unicity(frame.with_row_index("id"), "id", ["a", "b"]).collect()) == expected


@pytest.mark.parametrize("role", ["sensitive", "by", "weight"])
def test_codes_are_found_in_every_role(role: str) -> None:
    frame = pl.DataFrame({"q": [1, 2] * 40, "x": [*range(1, 5)] * 19 + [999] * 4})
    calls = {
        "sensitive": lambda: rp.l_diversity(frame, ["q"], "x").collect(),
        "by": lambda: rp.risk_summary(frame, ["q"], by=["x"]).collect(),
        "weight": lambda: rp.individual_risk(frame, ["q"], weight="x").collect(),
    }
    assert caution(calls[role]).startswith("4 records have '999' in x, which looks like a missing-value code")


@pytest.mark.parametrize(
    "asked",
    [
        ["risk", "t.csv", "--qi", "age,sex"],
        ["forecast", "t.csv", "--qi", "age,sex", "--population", "10000"],
        ["query", "FROM risk_summary('t.csv', ['age', 'sex'])"],
        ["safe", "t.csv", "--by", "age,sex"],
    ],
)
def test_a_command_says_which_columns_have_codes(tmp_path: Path, asked: list[str]) -> None:
    rows = [f"{20 + number % 40},{'mf'[number % 2] if number % 50 else '?'}" for number in range(400)]
    (tmp_path / "t.csv").write_text("\n".join(["age,sex", *rows]), encoding="utf-8")
    done = command(*asked, folder=tmp_path)
    shown = " ".join(f"{done.stdout} {done.stderr}".replace("│", " ").split())
    assert "8 records have '?' in sex, which looks like a missing-value code" in shown
