"""Limits of columns and cross tables, as a reader of the release finds them."""

from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from reid_sql.errors import ReidError
from tests.cells import each_cell
from tests.prepare.brute import K, class_sizes, made_by, policy, written
from tests.prepare.test_local import made_of, people, shown_values
from tests.processes import command

QI = ["age", "zip", "sex", "job"]
NAME = 'keep = ["name"]\n'
ZIP = "hierarchies.zip = [{ prefix = 3 }, { prefix = 1 }]\n"
MANY = pl.DataFrame(
    {
        "name": [f"P{at}" for at in range(600)],
        "age": [20 + at % 37 for at in range(600)],
        "zip": [["13010", "13020", "13910", "20010"][at * at % 4 + at % 2] for at in range(600)],
        "sex": [["F", "M"][at % 2] for at in range(600)],
        "job": [["clerk", "nurse", "smith"][at % 3] for at in range(600)],
    }
)


def released_of(
    folder: Path, frame: pl.DataFrame, more: str, k: int = 5
) -> tuple[pl.DataFrame, Any]:
    made = made_of(folder, frame, policy("people.parquet", QI, K.format(k), prepare=NAME + more))
    assert made.passed, made.page["tables"]
    released = made_by(made.sql, "people_released")
    assert class_sizes(released, QI)[0] >= k
    return released, made.page["tables"][0]


def width(label: str) -> int:
    low, _, high = label.partition(" to ")
    return int(high or low) - int(low) + 1


@pytest.mark.parametrize("method", ["global", "local", "best"])
def test_the_release_keeps_to_the_limits(tmp_path: Path, method: str) -> None:
    more = 'fixed = ["sex"]\nnever_left_out = ["job"]\nmax_level = { zip = 2 }\nat_most = { age = 10 }\n'
    released, page = released_of(
        tmp_path, MANY, f'{more}{ZIP}method = "{method}"\nsuppression = 0.1\n'
    )
    before = dict(MANY.select("name", "sex").iter_rows())
    assert all(before[name] == sex for name, sex in released.select("name", "sex").iter_rows())
    assert max(width(str(label)) for label in released["age"]) <= 10
    assert "*" not in released["job"].to_list() + released["zip"].to_list()
    words = {each["column"]: each["limit"] for each in page["columns"]}
    assert words == {
        "age": "in bands of at most 10",
        "zip": "at level 2 at most",
        "sex": "as it is",
        "job": "never left out",
    }


def test_blank_values_spare_limited_columns(tmp_path: Path) -> None:
    frame = people(300, 4).drop("born", "score")
    more = 'cells = true\nnever_left_out = ["age"]\nsuppression = 0.3\n'
    released, page = released_of(tmp_path, frame, more, k=3)
    assert "*" not in released["age"].to_list()
    assert all("age" not in stage for stage in page["blank_columns"])


@pytest.mark.parametrize("method", ["global", "local"])
def test_what_the_limits_exclude_is_refused_by_their_names(tmp_path: Path, method: str) -> None:
    MANY.write_parquet(tmp_path / "people.parquet")
    asked = written(
        tmp_path,
        policy(
            "people.parquet",
            QI,
            K.format(60),
            prepare=f'fixed = ["age"]\nnever_left_out = ["job"]\nmethod = "{method}"',
        ),
    )
    ended = command("prepare", str(asked), "--sql", str(tmp_path / "r.sql"))
    assert ended.returncode == 1
    assert "The policy also limits columns: age as it is; job never left out." in " ".join(
        ended.stdout.split()
    )
    assert not (tmp_path / "r.sql").exists()


REFUSED = [
    ('fixed = ["agee"]', "prepare limits must name quasi-identifiers of the policy, got 'agee'"),
    ('fixed = ["age"]\nat_most = { age = 3 }', "got 'age' twice"),
    (
        "max_level = { sex = 9 }",
        "prepare.max_level.sex must be a level of the column's hierarchy, got 9",
    ),
    ("max_level = { sex = -1 }", "a whole number from 0 to 1000"),
    ("at_most = { sex = 10 }", "prepare.at_most must name columns of numbers, got 'sex'"),
    ("at_most = { age = 0 }", "a number from 1e-9 to 1e15"),
    ('fixed = "age"', "prepare.fixed must be a list of texts"),
    ('cross_tables = [["age"]]', "must name two columns"),
    ('cross_tables = ["age", "sex"]', "must name two columns"),
    ('cross_tables = [["age", "age"]]', "must name two columns"),
    ('cross_tables = [["age", "sexx"]]', "must name columns of people, got 'sexx'"),
    (
        'cross_tables = [["age", "ill"]]',
        "must name columns of the release, got 'ill'; add it to prepare.keep",
    ),
    (
        'cross_tables = [["sex", "name"]]\nkeep = ["name"]',
        "at most 500 distinct values, got 'name' with 600",
    ),
]


@each_cell("more, message", REFUSED)
def test_a_limit_that_makes_no_sense_is_refused(tmp_path: Path, more: str, message: str) -> None:
    frame = MANY.with_columns(ill=pl.lit("flu"))
    with pytest.raises(ReidError) as refused:
        made_of(tmp_path, frame, policy("people.parquet", QI, K.format(5), prepare=more))
    assert message in str(refused.value)


def cross_table(
    rows: list[tuple[set[Any], set[Any]]], frame: pl.DataFrame, pair: list[str]
) -> dict[Any, float]:
    """Spread each record over what it shows, by how frequent the original values are."""
    known = [Counter(frame[name]) for name in pair]
    shares: dict[Any, float] = {}
    for shown in rows:
        totals = [
            sum(count[value] for value in values)
            for count, values in zip(known, shown, strict=True)
        ]
        for one in shown[0]:
            for two in shown[1]:
                part = known[0][one] / totals[0] * known[1][two] / totals[1]
                shares[one, two] = shares.get((one, two), 0.0) + part / len(rows)
    return shares


@pytest.mark.parametrize("more", ['method = "local"', "", "cells = true\nsuppression = 0.2"])
def test_cross_tables_are_those_that_the_rows_show(tmp_path: Path, more: str) -> None:
    frame, pairs = people(400, 9), [["zip", "ill"], ["sex", "zip"]]
    qi, given = (
        ["zip", "sex", "job"],
        f"{NAME}{ZIP}cross_tables = {pairs}\n{more}\n".replace("'", '"'),
    )
    asked = policy("people.parquet", qi, K.format(4), prepare=given, table='sensitive = ["ill"]')
    made = made_of(tmp_path, frame, f"mask_below = 1\n{asked}")
    assert made.passed
    released = made_by(made.sql, "people_released")
    for pair, page in zip(pairs, made.page["tables"][0]["cross_tables"], strict=True):
        sets = [
            [
                {value} if name == "ill" else shown_values(name, value, frame)
                for value in released[name]
            ]
            for name in pair
        ]
        shown = list(zip(sets[0], sets[1], strict=True))
        plain = [({one}, {two}) for one, two in frame.select(pair).iter_rows()]
        before, after = cross_table(plain, frame, pair), cross_table(shown, frame, pair)
        gaps = [(before.get(each, 0.0), after.get(each, 0.0)) for each in {*before, *after}]
        assert page["columns"] == pair
        assert page["chi_square"] is None or page["chi_square"] == pytest.approx(
            sum((p - q) ** 2 / (p + q) for p, q in gaps if p + q) / 2, rel=2e-3
        )
        variation = sum(abs(p - q) for p, q in gaps) / 2
        assert (
            page["variation"] == pytest.approx(variation, rel=2e-3) or round(variation * 400) < 10
        )
