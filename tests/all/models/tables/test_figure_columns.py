"""Figures beside the counts of published tables are named by the audit, and never taken for categories."""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

import reid_sql
from reid_sql.check import gate
from reid_sql.models.tables.figure_columns import find_figures
from reid_sql.models.tables.published_tables import PublishedRows, Reading
from reid_sql_udfs.audit_tables import audit_tables

REGIONS = ["N", "N", "N", "S", "S", "S"]
ILLS = ["a", "b", "c", "a", "b", "c"]
PEOPLE = [2, 50, 48, 20, 40, 41]  # the first is hidden
WOMEN = [1, 23, 30, 9, 22, 11]
# what an office publishes next to the count of a cell, computed from all counts and the place of the cell
FIGURES: Mapping[str, Callable[[Sequence[int], int], Any]] = {
    "percent": lambda counts, at: round(100 * counts[at] / sum(counts[at // 3 * 3 :][:3]), 1),
    "share": lambda counts, at: f"{100 * counts[at] / sum(counts):.1f} %",
    "per_mille": lambda counts, at: round(1000 * counts[at] / sum(counts)),
    "men": lambda counts, at: counts[at] - WOMEN[at],
    "people": lambda counts, at: counts[at],
    "region_total": lambda counts, at: sum(counts[at // 3 * 3 :][:3]),
    "value_sum": lambda counts, at: 100 * counts[at] + at,
    "index": lambda counts, at: round(100 * counts[at] / 50),
}


def publish(name: str, counts: Sequence[int]) -> list[dict[str, Any]]:
    """The table with the first count hidden, and a figure computed from the exact counts."""
    return [
        {
            "region": region,
            "ill": ill,
            "records": counts[at] if at else None,
            name: FIGURES[name](counts, at),
        }
        for at, (region, ill) in enumerate(zip(REGIONS, ILLS, strict=True))
    ]


@pytest.mark.parametrize("columns", [None, ["region", "ill"]])
@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_that_reveals_a_hidden_count_is_named(
    name: str, columns: list[str] | None
) -> None:
    """The oracle computes the table of each possible count: fewer of them show these figures."""
    rows = publish(name, PEOPLE)
    fitting = [n for n in range(1, 100) if publish(name, [n, *PEOPLE[1:]]) == rows]
    assert len(fitting) < 5
    texts = [json.dumps(row) for row in rows]
    found = audit_tables(PublishedRows(np.ones(6, dtype=int), texts), columns=columns)
    assert [(each.cell, each.finding) for each in found if each.kind == "column"] == [
        (f"column {name}", "not_audited")
    ]
    [hidden] = [each for each in found if each.kind == "suppressed"]
    assert hidden.categories == ["N", "a"]  # the figure is no category


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("code", [1, 1, 1, 7, 7, 7]),
        ("region_number", [36061, 36061, 36061, 36005, 36005, 36005]),
        ("year", [2019, 2020, 2021, 2022, 2023, 2024]),
        ("born", [1950, 1960, 1970, 1980, 1990, 2000]),
        ("nuts", ["01", "02", "04", "05", "07", "09"]),
        ("records", PEOPLE),
        ("note", ["p", "", "", "r", "", ""]),
    ],
)
def test_labels_and_notes_are_no_figures(name: str, values: list[Any]) -> None:
    rows = [
        {"region": region, "ill": ill, "records": count, name: value}
        for region, ill, count, value in zip(
            REGIONS, ILLS, [None, *PEOPLE[1:]], values, strict=True
        )
    ]
    assert find_figures(rows, [1] * 6, Reading(), 5) == {}


def test_the_answer_of_safe_table_has_no_other_figures() -> None:
    with duckdb.connect() as con:
        reid_sql.register(con)
        con.execute("CREATE TABLE people AS FROM demo_people()")
        for more in ("", ", output := 'publishable'", ", value := 'age'"):
            con.execute(
                "CREATE OR REPLACE TABLE safe AS FROM safe_table(people, ['sex', 'diagnosis'], k := 40, "
                f"totals := 'margins', suppress := 'secondary'{more})"
            )
            found = con.execute("SELECT kind FROM audit_tables(['safe'], k := 40)").fetchall()
            assert ("column",) not in found
            assert found


def judge(folder: Path, table: str = "", check: str = "") -> str:
    (folder / "policy.toml").write_text(
        f'cautions = "refuse"\n[[tables]]\nfile = "table.csv"\n{table}\n'
        f'[[tables.checks]]\nmeasure = "recoverable_cells"\nat_most = 0\n{check}\n',
        encoding="utf-8",
    )
    [found] = gate.check(folder / "policy.toml")["checks"]
    return str(found["verdict"])


@pytest.mark.parametrize("name", FIGURES)
def test_the_gate_does_not_pass_a_table_with_figures_in_silence(tmp_path: Path, name: str) -> None:
    rows = publish(name, PEOPLE)
    frame = pl.DataFrame([{**row, "records": row["records"] or "*"} for row in rows], strict=False)
    frame.with_columns(pl.all().cast(str)).write_csv(tmp_path / "table.csv")
    assert judge(tmp_path) == "not judged"
    assert judge(tmp_path, check='columns = ["region", "ill"]') == "not judged"
    assert judge(tmp_path, table=f'left_out = ["{name}"]') == "pass"
    assert judge(tmp_path, table='released = ["region", "ill", "records"]') == "pass"


def test_real_tables_have_figures_if_and_only_if_they_were_added(data: str) -> None:
    """Counts of adult by one to three columns, some of whole numbers; shares and other counts are added."""
    draw = random.Random(7)  # noqa: S311 - a test draws tables
    columns = [
        "education_num",
        "sex",
        "race",
        "age",
        "occupation",
        "hours_per_week",
        "relationship",
    ]
    with duckdb.connect() as con:
        con.execute(f"CREATE VIEW adult AS FROM '{data}/adult.parquet'")
        for _ in range(25):
            by = draw.sample(columns, draw.choice([1, 2, 3]))
            frame = con.sql(
                f"SELECT {', '.join(by)}, nullif(greatest(count(*), 4), 4) AS records, "
                "round(100 * count(*) / sum(count(*)) OVER (), 2) AS percent, "
                "count(*) FILTER (income = '>50K') AS rich FROM adult GROUP BY ALL"
            ).to_arrow_table()
            for more in ([], ["percent"], ["rich"]):
                rows = frame.select([*by, "records", *more]).to_pylist()
                assert list(find_figures(rows, [1] * len(rows), Reading(), 5)) == more, by
