"""Numbers with marks of any country are numbers: they come in bands, not as their first characters."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

from reid_sql.cli import main
from reid_sql.prepare.preparation import prepare

POLICY = """
[[tables]]
name = "bills"
file = "bills.csv"
quasi_identifiers = ["sum", "sex"]
[[tables.checks]]
measure = "k"
at_least = 5
"""


def as_written(cents: int, between: str, before: str, form: str = "{}") -> str:
    """1265.5 as 1.265,50; whole numbers without a fraction; the form has a currency or a percent sign."""
    whole, rest = divmod(cents, 100)
    text = f"{whole:,}".replace(",", between)
    return form.format(f"{text}{before}{rest:02}" if rest else text)


@pytest.fixture(
    params=[
        ("", ","),
        (".", ","),
        (",", "."),
        ("'", "."),
        ("\u202f", ","),
        (",", ".", "${}"),
        (".", ",", "€ {}"),
        (" ", ",", "{} kr"),
        (".", ",", "R$ {}"),
        ("\u202f", ",", "{}\u00a0€"),
        ("'", ".", "CHF {}"),
        ("", ",", "{} %"),
    ]
)
def values(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Decimal]:
    """The number of each text of a table of 600 bills."""
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(4)
    cents = [int(each) for each in draw.integers(0, 400_000, 600)]
    cents += [100 * int(each) for each in draw.integers(0, 4_000, 100)]
    texts = [as_written(each, *request.param) for each in cents]
    lines = [f"{text};{'fm'[place % 2]}" for place, text in enumerate(texts)]
    Path("bills.csv").write_text("\n".join(["sum;sex", *lines, ";f"]) + "\n", encoding="utf-8")
    Path("p.toml").write_text(POLICY, encoding="utf-8")
    return {text: Decimal(each) / 100 for text, each in zip(texts, cents, strict=True)}


def test_the_profile_calls_them_numbers(
    values: Mapping[str, Decimal], capsys: pytest.CaptureFixture[str]
) -> None:
    assert values
    assert main(["profile", "bills.csv", "--json"]) == 0
    rows = {row["column_name"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["sum"]["looks_like"] == "number"
    assert "bands are safer" in rows["sum"]["suggestion"]


def test_each_engine_writes_the_band_of_the_number(
    values: Mapping[str, Decimal], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["prepare", "p.toml", "--sql", "r.sql", "--polars", "r.py", "--json"]) == 0
    page = json.loads(capsys.readouterr().out)
    form = next(each["form"] for each in page["tables"][0]["columns"] if each["column"] == "sum")
    assert form.startswith("sum in bands of ")
    width = int(form.split()[4].rstrip(","))
    source = pl.read_csv("bills.csv", separator=";", infer_schema=False)
    expected: Counter[Any] = Counter()
    for text, sex in source.rows():
        low = None if text is None else int(values[text] // width) * width
        expected[None if low is None else f"[{low}, {low + width})", sex] += 1
    kept = {row: count for row, count in expected.items() if count >= 5}
    with duckdb.connect() as con:
        con.execute(Path("r.sql").read_text(encoding="utf-8"))
        by_sql = Counter(con.execute('SELECT "sum", "sex" FROM bills_released').fetchall())
    assert by_sql == kept
    made: dict[str, Any] = {}
    exec(compile(Path("r.py").read_text(encoding="utf-8"), "r.py", "exec"), made)  # noqa: S102 - our own file
    released = made["released_bills"](source.lazy()).select("sum", "sex").collect()
    assert Counter(released.rows()) == kept


def test_a_point_before_a_fraction_is_no_thousand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    texts = [f"{place},5" if place % 2 else f"{place}.5" for place in range(300)]
    Path("bills.csv").write_text(
        "\n".join(["sum;sex", *(f"{text};f" for text in texts)]), encoding="utf-8"
    )
    Path("p.toml").write_text(POLICY, encoding="utf-8")
    main(["prepare", "p.toml", "--sql", "r.sql", "--json"])
    capsys.readouterr()
    assert "replace(" not in Path("r.sql").read_text(encoding="utf-8")


def test_commas_before_three_digits_are_between_thousands_and_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """1,265 may be one and a fraction; with 12,5 or 0,1255 among them, they all are."""
    monkeypatch.chdir(tmp_path)
    Path("p.toml").write_text(POLICY, encoding="utf-8")
    for more, is_said in (("905", True), ("12,5", False), ("0,1255", False)):
        texts = [f"{place % 7 + 1},{place % 1000:03}" for place in range(300)]
        lines = "\n".join(["sum;sex", *(f"{text};f" for text in [*texts, more])])
        Path("bills.csv").write_text(lines, encoding="utf-8")
        made = prepare("p.toml")
        [table] = made.page["tables"]
        said = [each for each in table["cautions"] if "is read with ',' between thousands" in each]
        assert len(said) == is_said, table["cautions"]
        with duckdb.connect() as con:
            con.execute(made.sql)
            bands = con.execute('SELECT DISTINCT "sum" FROM bills_released').fetchall()
        ends = [int(each) for (band,) in bands for each in re.findall("[0-9]+", band)]
        assert (max(ends) > 1000) == is_said


@pytest.mark.parametrize("between", [" ", ".", ",", "'"])
def test_identifiers_in_groups_of_three_digits_are_no_numbers(
    between: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """601 234 567 of as many digits each, as telephones are written in Poland and Spain."""
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(1)
    groups = draw.integers(100, 1000, (300, 3)).astype(str)
    lines = "\n".join(["number;sex", *(f"{between.join(each)};f" for each in groups)])
    Path("calls.csv").write_text(lines, encoding="utf-8")
    assert main(["profile", "calls.csv", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)[0]
    assert row["looks_like"] in {"identifier", "free text"}, row


@pytest.mark.parametrize(
    ("form", "kind"),
    [
        ("{0:03} {1:03}", "identifier"),  # numbers of telephones and of people
        ("{0:03} {1:03} {2:03}", "identifier"),
        ("{0:03}.{1:03}.{2:03}", "identifier"),
        (
            "{0:03},{1:03}",
            "identifier",
        ),  # pairs of codes: of amounts, some have a zero behind the comma
        ("{0:03},0{3}0", "number"),
        ("52,{0:03}", "number"),
        ("0{0:03}{3:01}", "code"),
        ("{3}.{0:03}.{3}", "identifier"),
    ],
)
def test_what_is_no_amount_is_not_called_one(
    form: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draw = np.random.default_rng(7)
    texts = {form.format(*draw.integers(100, 1000, 3), place % 9 + 1): "" for place in range(300)}
    repeated = 2 if kind == "code" else 1
    pl.DataFrame({"v": list(texts) * repeated}).write_parquet(tmp_path / "v.parquet")
    assert main(["profile", str(tmp_path / "v.parquet"), "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out)
    assert row["looks_like"] == kind


def test_a_telephone_number_of_a_country_is_no_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = [f"+49 {place:03} {997 - place:03}" for place in range(200, 500)]
    pl.DataFrame({"v": texts}).write_parquet(tmp_path / "v.parquet")
    assert main(["profile", str(tmp_path / "v.parquet"), "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out)
    assert row["looks_like"] == "free text"  # to be omitted


def test_a_date_among_marked_numbers_stays_a_text_and_codes_do_not_hide_marks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.toml").write_text(POLICY, encoding="utf-8")
    draw = np.random.default_rng(7)
    others = ((".", ",", "12.05.1980"), (",", ".", "1,2,3"), (" ", ",", "1 2 3"))
    for between, before, other in others:
        cents = [int(each) for each in draw.integers(0, 400_000, 600)]
        texts = [as_written(each, between, before) for each in cents]
        texts += [other] * 10 + ["-9999"] * 20
        lines = "\n".join(["sum;sex", *(f"{text};f" for text in texts)])
        Path("bills.csv").write_text(lines, encoding="utf-8")
        made = prepare("p.toml")
        source = pl.read_csv("bills.csv", separator=";", infer_schema=False)
        with duckdb.connect() as con:
            con.execute(made.sql)
            by_sql = Counter(con.execute('SELECT "sum" FROM bills_released').fetchall())
        assert by_sql[other,] == 10
        assert sum(by_sql.values()) > 600
        parts: dict[str, Any] = {}
        exec(compile(made.python, "r.py", "exec"), parts)  # noqa: S102 - our own file
        released = parts["released_bills"](source.lazy()).select("sum").collect()
        assert Counter(released.rows()) == by_sql
