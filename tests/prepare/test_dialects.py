"""The release in another dialect: on PostgreSQL it gives DuckDB's rows, of the others it is read back."""

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import sqlglot

from reid_sql.commands.parser import DIALECTS
from reid_sql.errors import UnavailableError
from reid_sql.prepare.files import NAMES
from reid_sql.prepare.preparation import prepare as run
from tests.prepare.brute import K, policy, written
from tests.processes import command
from tests.warehouses import connected

ODD = [
    " 37",
    "3e1",
    "x",
    None,
    "",
    "-5",
    "4_0",
    "É",
    "nan",
    "0x10",
    "1e400",
    ".5",
    "5.",
    "'\\",
    "B",
]
QI = ["age", "words", "born", "zip", "score"]
HIERARCHIES = """suppression = 0.4
keep = ["name"]
hierarchies.age = [{ bands = 10, below = 20, above = 80 }]
hierarchies.words = [{ bands = 25 }]
hierarchies.born = [{ date = "quarter" }, { date = "decade" }]
hierarchies.zip = [{ prefix = 2 }, { groups = { "it's" = ["1301", "1302", "13"] } }]
hierarchies.score = [{ bands = 0.5 }]
"""


def people(records: int = 600, seed: int = 3) -> pl.DataFrame:
    """Values that databases may read each in their own way: before 1970, below 0, as text, beyond ASCII."""
    rng = np.random.default_rng(seed)
    days = [
        dt.date(1931, 1, 1) + dt.timedelta(int(each)) for each in rng.integers(0, 30_000, records)
    ]
    texts = [str(each) for each in rng.integers(-60, 60, records)]
    words = [ODD[at % len(ODD)] if at % 9 == 0 else text for at, text in enumerate(texts)]
    return pl.DataFrame(
        {
            "name": [f"P{at}" for at in range(records)],
            "age": rng.integers(-3, 95, records),
            "words": words,
            "born": [None if at % 31 == 0 else day for at, day in enumerate(days)],
            "zip": [
                str(each)
                for each in rng.choice(["1301", "1302", "2001", "éa99", "ÉA99", "13"], records)
            ],
            "score": [
                None if at % 17 == 0 else float(each)
                for at, each in enumerate(rng.normal(0, 1, records))
            ],
            "ill": [str(each) for each in rng.choice(["flu", "Flu", "cold"], records)],
        }
    )


def on_postgres(folder: str, frame: pl.DataFrame, sql: str) -> list[tuple[Any, ...]]:
    """The rows of the release, made by PostgreSQL of the table: a table where people have random numbers."""
    connection = connected("postgres", folder)
    connection.create_table("people", frame.to_arrow(), overwrite=True)
    with connection.raw_sql("SET client_min_messages = error"):
        pass
    with connection.raw_sql(sql):
        pass
    with connection.raw_sql('SELECT * FROM "people_released"') as found:
        rows: list[tuple[Any, ...]] = found.fetchall()
    made = "TABLE" if "CREATE TABLE" in sql else "VIEW"
    with connection.raw_sql(f'DROP {made} "people_released"; DROP TABLE "people"'):
        pass
    return rows


def ordered(rows: list[tuple[Any, ...]]) -> list[str]:
    return sorted(map(repr, rows))


L2 = 'measure = "l_diversity"\nat_least = 2'
T = 'measure = "t_closeness"\nat_most = 0.45'
CASES = [
    ("", "", QI, [K.format(3)]),
    ("cells = true", "", ["zip", "age"], [K.format(4)]),
    ("", 'sensitive = ["ill"]', ["age", "zip"], [K.format(3), L2, T]),
    ("", 'sensitive = ["ill"]', ["born", "words"], [K.format(2), L2]),
]


def prepared(folder: Path, frame: pl.DataFrame, case: tuple[str, str, list[str], list[str]]) -> Any:
    more, table, qi, checks = case
    frame.write_parquet(folder / "people.parquet")
    lines = [
        line
        for line in HIERARCHIES.splitlines()
        if not line.startswith("hierarchies") or line.removeprefix("hierarchies.").split()[0] in qi
    ]
    given = "\n".join([more, *lines])
    return run(written(folder, policy("people.parquet", qi, *checks, prepare=given, table=table)))


@pytest.mark.parametrize("case", CASES[:3], ids=["plain", "cells", "rules"])
def test_the_sql_is_read_back_as_its_dialect(
    tmp_path: Path, case: tuple[str, str, list[str], list[str]]
) -> None:
    made = prepared(tmp_path, people(), case)
    for dialect in (name for name in NAMES if name != "duckdb"):
        (tree,) = sqlglot.parse(made.sql_in(dialect), read=dialect)
        assert isinstance(tree, sqlglot.exp.Create)
        assert {each.kind for each in tree.find_all(sqlglot.exp.Create)} == {"VIEW"}
        reported = {table.name for table in tree.find_all(sqlglot.exp.Table)}
        steps = {each.alias for each in tree.find_all(sqlglot.exp.CTE)}
        assert reported - steps == {"people", "people_released"}
        texts = {each.name for each in tree.find_all(sqlglot.exp.Literal) if each.is_string}
        assert not any(name in text for text in texts for name in ("P17", "Flu", "parquet"))
        windows = [each.sql(dialect) for each in tree.find_all(sqlglot.exp.Window)]
        assert windows
        if dialect in {"postgres", "snowflake", "bigquery", "databricks"}:
            assert all("COLLATE" in each for each in windows if "PARTITION" in each)


def test_what_another_database_would_read_otherwise_is_refused(tmp_path: Path) -> None:
    frame = people().with_columns(day=pl.col("born").dt.strftime("%d.%m.%Y"))
    frame.write_parquet(tmp_path / "people.parquet")
    cases = [
        ("score", "[{ rare = 2 }]", "how a value is written as text"),
        ("day", '[{ date = "year", form = "%d.%m.%Y" }]', "how a date is read"),
    ]
    refused = 0
    for column, steps, why in cases:
        prepare = f"suppression = 0.5\nhierarchies.{column} = {steps}\nhierarchies.zip = []"
        text = policy("people.parquet", [column, "zip"], K.format(2), prepare=prepare)
        made = run(written(tmp_path, text))
        assert made.tables[0].transformation is not None
        assert made.tables[0].transformation.node[0] == 1, (
            column,
            made.tables[0].transformation.node,
        )
        with pytest.raises(UnavailableError, match=f"must not depend on {why}"):
            made.sql_in("postgres")
        assert made.sql
        refused += 1
    assert refused == 2


def test_the_command_writes_the_dialect_and_refuses_others(tmp_path: Path) -> None:
    people().write_parquet(tmp_path / "people.parquet")
    file = written(tmp_path, policy("people.parquet", ["zip"], K.format(3)))
    call = ["prepare", str(file), "--sql", str(tmp_path / "r.sql")]
    ended = command(*call, "--dialect", "snowflake")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert 'FROM "people"' in (tmp_path / "r.sql").read_text(encoding="utf-8")
    ended = command(*call, "--dialect", "oracle")
    assert ended.returncode == 2
    assert ended.stderr.startswith("reid-sql: --dialect must be one of 'duckdb', 'postgres'")
    assert ended.stderr.count("\n") == 1


def test_the_help_names_every_dialect() -> None:
    assert all(name in DIALECTS for name in NAMES)


def test_without_sqlglot_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = prepared(tmp_path, people(60), CASES[1])
    monkeypatch.setattr("reid_sql.prepare.files.find_spec", lambda _: None)
    with pytest.raises(
        UnavailableError, match=r"must have sqlglot, got none; pip install 'reid-sql\[ibis\]'"
    ):
        made.sql_in("postgres")
