"""A release by local recoding as a reader gets it: classes meet the policy, values are in what is shown."""

import datetime as dt
import re
from collections import Counter
from math import log2
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

from reid_sql.errors import UnavailableError
from reid_sql.models.generalization.boxes import Boxes, PartitionColumn
from reid_sql.models.generalization.lattice import LevelCodes
from reid_sql.prepare.local import Texts, label_classes
from reid_sql.prepare.preparation import Prepared
from reid_sql.prepare.preparation import prepare as run
from tests.cells import each_cell
from tests.prepare.brute import K, class_sizes, made_by, policy, written
from tests.processes import command

QI = ["age", "born", "score", "zip", "sex", "job"]
L2 = 'measure = "l_diversity"\nat_least = 2'
T = 'measure = "t_closeness"\nat_most = 0.45'
HIERARCHIES = 'keep = ["name"]\nhierarchies.zip = [{ prefix = 3 }, { prefix = 1 }]\n'
SENSITIVE = 'sensitive = ["ill"]'


def people(records: int, seed: int) -> pl.DataFrame:
    """Whole numbers, dates, floats, codes and words, some of them missing or odd."""
    rng = np.random.default_rng(seed)
    days = [
        dt.date(1931, 1, 1) + dt.timedelta(int(each)) for each in rng.integers(0, 30_000, records)
    ]
    scores = rng.normal(0, 1, records).round(2)
    jobs = ["it's", "nurse", "clerk", "*", "other", "37 to 40", "", "smith"]
    weights = np.array([1, 30, 20, 2, 3, 2, 1, 9]) / 68
    return pl.DataFrame(
        {
            "name": [f"P{at}" for at in range(records)],
            "age": [
                None if rng.random() < 0.03 else int(each) for each in rng.integers(-3, 95, records)
            ],
            "born": [None if at % 31 == 0 else day for at, day in enumerate(days)],
            "score": [
                None if at % 17 == 0 else float(each) + 0.0 for at, each in enumerate(scores)
            ],
            "zip": [
                str(each)
                for each in rng.choice(["13010", "13020", "20010", "20990", "éa990"], records)
            ],
            "sex": [str(each) for each in rng.choice(["F", "M"], records)],
            "job": [
                None if rng.random() < 0.02 else str(each)
                for each in rng.choice(jobs, records, p=weights)
            ],
            "ill": [
                str(each) for each in rng.choice(["flu", "Flu", "cold"], records, p=[0.7, 0.2, 0.1])
            ],
        },
        schema_overrides={"age": pl.Int16, "born": pl.Date},
    )


def asked(
    qi: list[str], *checks: str, more: str = 'method = "local"', table: str = SENSITIVE
) -> str:
    given = HIERARCHIES if "zip" in qi else 'keep = ["name"]\n'
    return policy("people.parquet", qi, *checks, prepare=f"{given}{more}", table=table)


def made_of(folder: Path, frame: pl.DataFrame, text: str) -> Prepared:
    frame.write_parquet(folder / "people.parquet")
    return run(written(folder, text))


def parsed(column: str, text: str) -> Any:
    """The value that one end of a range names."""
    if column == "born":
        return dt.date.fromisoformat(text)
    return int(text) if column == "age" else float(text)


def shown_values(column: str, label: str | None, table: pl.DataFrame) -> set[Any]:
    """The values of the table that a label contains, by what the documentation says of it."""
    values = set(table[column])
    if label == "*":
        return values
    if label is None:
        return {None}
    if column in ("age", "born", "score"):
        low, _, high = label.partition(" to ")
        ends = parsed(column, low), parsed(column, high or low)
        return {value for value in values if value is not None and ends[0] <= value <= ends[1]}
    if column == "zip" and label.endswith("*"):
        return {value for value in values if value.startswith(label[:-1])}
    return {label}


def compare(table: pl.DataFrame, released: pl.DataFrame, qi: list[str]) -> tuple[float, float]:
    """Bits that are lost, and all bits, record by record; every value must be within its label."""
    joined = released.join(table, on="name", suffix="_before")
    assert len(joined) == len(table) == len(released)
    assert sorted(released["name"]) == sorted(table["name"])
    lost = whole = 0.0
    for column in qi:
        counts: dict[Any, int] = dict(table[column].value_counts().rows())
        inside: dict[Any, set[Any]] = {}
        for label, value in zip(joined[column], joined[f"{column}_before"], strict=True):
            shown = inside.setdefault(
                label, shown_values(column, None if label is None else str(label), table)
            )
            assert value in shown, column
            lost += log2(sum(counts[each] for each in shown) / counts[value])
            whole += log2(len(table) / counts[value])
    return lost, whole


CASES = [
    (["age", "sex"], [K.format(5)]),
    (["age", "born", "score"], [K.format(4)]),
    (["zip", "sex", "age"], [K.format(3), L2]),
    (["zip", "score", "born"], [K.format(3), L2, T]),
    (["sex"], [K.format(2), 'measure = "alpha_k_anonymity"\nat_most = 0.9']),
]


@each_cell("seed", [1, 2])
@each_cell("qi, checks", CASES)
@pytest.mark.first(cells=3)
def test_each_class_meets_the_policy_and_each_value_is_in_what_is_shown(
    tmp_path: Path, qi: list[str], checks: list[str], seed: int
) -> None:
    table = people(400, seed)
    made = made_of(tmp_path, table, asked(qi, *checks))
    assert made.passed, made.page["tables"]
    released = made_by(made.sql, "people_released")
    k = int(re.findall(r"at_least = (\d+)", checks[0])[0])
    assert class_sizes(released, qi)[0] >= k
    (page,) = made.page["tables"]
    lost, whole = compare(table, released, qi)
    assert page["losses"]["entropy"] == pytest.approx(lost / whole, rel=1e-3)
    assert page["local_loss"] == page["losses"]["entropy"]
    sizes = np.array(class_sizes(released, qi), dtype=float)
    assert page["losses"]["discernibility"] in (
        None,
        pytest.approx(sizes @ sizes / len(table) ** 2, rel=1e-3),
    )
    everywhere = table["ill"].value_counts(normalize=True)
    for _, values in released.group_by(qi):
        if L2 in checks:
            assert values["ill"].n_unique() >= 2
        if T in checks:
            here = dict(values["ill"].value_counts(normalize=True).rows())
            assert sum(abs(here.get(v, 0.0) - p) for v, p in everywhere.rows()) / 2 <= 0.45 + 1e-9
        if len(checks) > 1 and "alpha" in checks[1]:
            assert max(Counter(values["ill"]).values()) <= 0.9 * len(values)


def test_a_label_never_has_two_meanings() -> None:
    """A group of one name at two levels, which is a value, too: each label must contain one set of values."""
    values = (None, "clerk", "cook", "judge", "other")
    levels = (values, (None, "judge", "other", "cook"), (None, "judge", "other"), ("*",))
    codes = [[levels[1].index(each) for each in (None, "other", "cook", "judge", "other")]]
    codes += [
        [levels[2].index(each) for each in (None, "other", "other", "judge", "other")],
        [0] * 5,
    ]
    column = PartitionColumn(
        LevelCodes((np.arange(5), *map(np.array, codes)), np.array([1, 2, 3, 4, 5])), ordered=False
    )
    level = np.array([0, 1, 2, 0, 3, 0])
    low = np.array([4, 2, 2, 3, 0, 0])
    labels = label_classes(column, Texts(levels), Boxes(low, low, level))
    assert labels == ("other (level 0)", "other (level 1)", "other (level 2)", "judge", "*", None)
    alone = label_classes(column, Texts(levels), Boxes(low[2:], low[2:], level[2:]))
    assert alone == ("other", "judge", "*", None)


def test_best_is_global_recoding_where_that_loses_less(tmp_path: Path) -> None:
    """One odd record: leaving it out loses hardly anything, sharing a class with it loses much."""
    table = people(300, 1).with_columns(
        sex=pl.Series(["F", "M"] * 149 + ["X", "F"]), age=pl.lit(30), zip=pl.lit("13010")
    )
    made = made_of(tmp_path, table, asked(["sex"], K.format(5), more='method = "best"'))
    (page,) = made.page["tables"]
    assert (page["method"], made.passed) == ("global", True)
    assert page["local_loss"] > page["global_loss"]
    assert page["optimal"]


def test_without_a_partition_nothing_is_written(tmp_path: Path) -> None:
    people(50, 1).write_parquet(tmp_path / "people.parquet")
    file = written(tmp_path, asked(["age"], K.format(60)))
    ended = command("prepare", str(file), "--sql", str(tmp_path / "out.sql"))
    assert ended.returncode == 1
    assert not (tmp_path / "out.sql").exists()
    assert "No transformation of the table was found" in ended.stdout


def test_the_report_of_the_gate_shows_the_partition(tmp_path: Path) -> None:
    people(400, 2).write_parquet(tmp_path / "people.parquet")
    file = written(tmp_path, asked(["age", "sex"], K.format(5)))
    ended = command("check", str(file), "--html", str(tmp_path / "r.html"), "--prepare")
    assert (ended.returncode, ended.stderr) == (1, "")
    assert "by local recoding." in (tmp_path / "r.html").read_text(encoding="utf-8")


SEVERAL_TEXTS = {"DOUBLE": ["-0.0", "0.0", "1.5"], "FLOAT": ["'nan'", "-'nan'::FLOAT", "2"]}
SEVERAL_TEXTS |= {"DOUBLE[]": ["[-0.0]", "[0.0]", "[2]"]}


@pytest.mark.parametrize("kind", SEVERAL_TEXTS)
@pytest.mark.parametrize("method", ["local", "best"])
@pytest.mark.first(cells=2)
def test_no_record_is_lost_where_equal_values_have_several_texts(
    tmp_path: Path, kind: str, method: str
) -> None:
    """The query compares texts, GROUP BY values: all records are in the release, or it is refused."""
    values = ", ".join(f"CAST({each} AS {kind})" for each in SEVERAL_TEXTS[kind])
    with duckdb.connect() as con:
        rows = f"SELECT i AS name, [{values}][i % 3 + 1] AS x, i % 7 AS age, 'flu' AS ill FROM range(90) r(i)"
        con.execute(f"COPY ({rows}) TO '{tmp_path}/people.parquet'")
    file = written(tmp_path, asked(["x", "age"], K.format(5), more=f'method = "{method}"'))
    try:
        made = run(file)
    except UnavailableError as refused:
        assert method == "local"
        assert "'x' of type" in str(refused)  # noqa: PT017 - or it is not refused
        return
    released = made_by(made.sql, "people_released")
    (page,) = made.page["tables"]
    assert page["method"] == "global" or len(released) == 90
    if made.passed:
        assert class_sizes(released, ["x", "age"])[0] >= 5


def test_a_target_is_predicted_by_what_is_shown(tmp_path: Path) -> None:
    table = people(2000, 4).with_columns(
        ill=pl.when(pl.col("age") < 40).then(pl.lit("flu")).otherwise(pl.lit("no"))
    )
    made = made_of(
        tmp_path, table, asked(["age", "sex"], K.format(5), more='method = "local"\ntarget = "ill"')
    )
    target = made.page["tables"][0]["target"]
    assert target["information_kept"] > 0.5
    released = made_by(made.sql, "people_released")
    counts = (
        released.group_by(["age", "sex", "ill"])
        .len()
        .group_by(["age", "sex"])
        .agg(pl.col("len").max())
    )
    assert target["classification_metric"] == pytest.approx(
        1 - counts["len"].sum() / len(table), abs=5e-3
    )


def test_a_column_of_one_value_has_no_bits_to_lose(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "name": [f"P{i}" for i in range(40)],
            "age": [i % 13 for i in range(40)],
            "sex": ["F"] * 40,
        }
    )
    page = made_of(tmp_path, frame, asked(["age", "sex"], K.format(5), table="")).page
    losses = {each["column"]: each["loss"] for each in page["tables"][0]["columns"]}
    assert losses["sex"] == 0
    assert losses["age"] > 0
