"""Every column of a file is in a check, or is named with the people whom it singles out, or left out."""

import json
from collections import Counter
from html import unescape
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from rich.console import Console

from reid_sql.check import gate
from reid_sql.check.html import render_html
from reid_sql.check.report import render_junit, to_json
from reid_sql.check.terminal import verdict_page
from reid_sql.errors import ReidError

N = 400


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pl.DataFrame:
    """People with columns that single out all, most, some and none of them, and one with few rare values."""
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(4)
    frame = pl.DataFrame(
        {
            "sex": ["f", "m"] * (N // 2),
            "region": [f"r{i % 4}" for i in range(N)],
            "Name": [f"P{i}" for i in range(N)],
            "cost": [i if i >= 40 else 7 for i in range(N)],
            "visits": [int(draw.integers(0, 251)) for _ in range(N)],
            "status": ["a", "b"] * (N // 2),
            "rare": ["x", "y", *["z"] * (N - 2)],
            "note": [None if i % 2 else "seen" for i in range(N)],
        }
    )
    frame.write_csv("people.csv")
    return frame


def check(*lines: str, head: str = "", file: str = "people.csv") -> Any:
    text = "\n".join(lines)
    Path("policy.toml").write_text(
        f'{head}\n[[tables]]\nfile = "{file}"\nquasi_identifiers = ["sex", "region"]\n{text}\n'
        '[[tables.checks]]\nmeasure = "k"\nat_least = 5\n',
        encoding="utf-8",
    )
    return gate.check("policy.toml")


def count_unique(frame: pl.DataFrame, *columns: str) -> int:
    """Count by hand the rows that no other row equals."""
    rows = Counter(frame.select(columns).rows())
    return sum(count == 1 for count in rows.values())


def everything(page: Any) -> dict[str, str]:
    shown = StringIO()
    Console(file=shown, width=10_000).print(verdict_page(page, 160))
    forms = {
        "html": unescape(render_html(page)),
        "json": to_json(page),
        "junit": render_junit(page),
    }
    return forms | {"terminal": shown.getvalue()}


def test_columns_in_no_check_are_named_with_those_whom_they_single_out(table: pl.DataFrame) -> None:
    page = check(head="mask_below = 1")
    found = page["tables"][0]["released_columns"]
    names = [name for name in table.columns if name not in {"sex", "region"}]
    assert {each["column"]: each["unique"] for each in found["unmeasured"]} == {
        name: count_unique(table, name) for name in names
    }
    assert found["unique_together"] == count_unique(table, *table.columns)
    assert found["columns_together"] == len(table.columns)
    for where, text in everything(page).items():
        assert all(name in text for name in names), where
        assert f"Name (by itself singles out {N} of {N} people)" in text, where


def test_counts_of_few_people_are_masked_and_follow_from_no_difference(table: pl.DataFrame) -> None:
    del table
    found = check()["tables"][0]["released_columns"]
    shown = {each["column"]: each["unique"] for each in found["unmeasured"]}
    assert shown["rare"] is None  # two people
    assert "rare (by itself singles out fewer than 10 of 400 people)" in found["sentences"][0]
    known = [n for n in (*shown.values(), found["unique_together"]) if n is not None]
    assert all(abs(a - b) >= 10 or a == b for a in known for b in known)


def test_people_and_not_rows_are_singled_out_where_a_column_identifies_them(
    table: pl.DataFrame,
) -> None:
    twice = pl.concat([table, table.with_columns(note=pl.lit("again"))])
    twice.write_csv("people.csv")
    page = check('entity = "Name"', head="mask_below = 1")
    found = page["tables"][0]["released_columns"]
    alone = {each["column"]: each["unique"] for each in found["unmeasured"]}
    assert alone["cost"] == count_unique(table, "cost")  # both rows of a person have it
    assert "Name" not in alone
    assert "Name identifies each person" in " ".join(found["sentences"])


@pytest.mark.parametrize(
    ("columns", "lines", "cautious"),
    [
        (["sex", "region", "status", "rare", "note"], (), False),  # few values: named, no caution
        (["sex", "region", "Name"], (), True),
        (["sex", "region", "cost", "status"], (), True),
        (["sex", "region", "Name"], ('left_out = ["Name"]',), False),
        (["sex", "region", "Name", "cost"], ('left_out = ["Name"]',), True),
        (["sex", "region", "Name", "cost"], ('released = ["sex", "region"]',), False),
        (["sex", "region", "Name"], ('released = ["sex", "region", "Name"]',), True),
        (["sex", "region", "cost"], ('sensitive = ["cost"]',), False),
        (["sex", "region", "Name"], ('entity = "Name"',), False),
    ],
)
def test_columns_that_single_people_out_and_are_in_no_list_are_a_caution(
    table: pl.DataFrame, columns: list[str], lines: tuple[str, ...], cautious: object
) -> None:
    table.select(columns).write_csv("people.csv")
    page = check(*lines, head='cautions = "refuse"')
    assert (page["exit_code"] == 2) == cautious, page["checks"][0]["cautions"]
    assert ("unnamed_columns" in page["checks"][0]["caution_codes"]) == cautious
    accepted = check(*lines, head='cautions = "refuse"\naccept = ["unnamed_columns"]')
    assert accepted["exit_code"] == 0
    remedies = [*page["checks"][0]["remedies"].values()]
    if remedies:  # what the page advises resolves the caution
        assert check(*remedies, head='cautions = "refuse"')["exit_code"] == 0
    left = page["tables"][0]["released_columns"]["left_out"]
    assert all(name in everything(page)[form] for name in left for form in ("html", "terminal"))


def test_a_release_keeps_its_quasi_identifiers_and_is_described_once(table: pl.DataFrame) -> None:
    del table
    for lines, words in (
        (('left_out = ["sex"]',), "quasi-identifiers in the release"),
        (('released = ["sex"]',), "quasi-identifiers in the release"),
        (('released = ["sex", "region"]', 'left_out = ["Name"]'), "one of the keys"),
        (('released = ["sex", "region", "Nmae"]',), "Name"),  # the nearest
    ):
        with pytest.raises(ReidError, match=words):
            check(*lines)


def test_other_files_count_the_same(table: pl.DataFrame) -> None:
    """A text file, a Parquet file and a table of DuckDB; values that cannot be ordered are counted, too."""
    table.write_parquet("people.parquet")
    pages = [
        check(file=name)["tables"][0]["released_columns"]
        for name in ("people.csv", "people.parquet")
    ]
    assert json.dumps(pages[0]) == json.dumps(pages[1])
    odd = table.select(
        "sex",
        "region",
        nested=pl.struct("Name", list=pl.concat_list("Name")),
        listed=pl.concat_list("Name"),
    )
    odd.write_parquet("people.parquet")
    found = check(file="people.parquet", head="mask_below = 1")["tables"][0]["released_columns"]
    assert {each["column"]: each["unique"] for each in found["unmeasured"]} == {
        "nested.Name": N,
        "nested.list": N,
        "listed": N,
    }


def test_a_file_of_many_columns_with_copies_is_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB limits the depth of a term to 1,000, and binding a wide table for each column takes minutes."""
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(3)
    rows = {f"c{place}": draw.integers(0, 5 + place % 40, 60) for place in range(1100)}
    frame = pl.DataFrame(rows)
    pl.concat([frame, frame[:30]]).write_parquet("wide.parquet")
    Path("policy.toml").write_text(
        """[[tables]]
        file = "wide.parquet"
        quasi_identifiers = ["c0"]
        checks = [{ measure = "k", at_least = 1 }]""",
        encoding="utf-8",
    )
    [check] = gate.check("policy.toml")["checks"]
    assert check["groups"][0]["verdict"] == "pass"
    assert "about 30 % of the rows equal another one" in json.dumps(check)
