"""Tables that leave nothing to protect, or much: an answer or one sentence on each face."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import reid_sql
from reid_sql.cli import main
from reid_sql.errors import ReidError
from tests.cells import each_cell

PLACES = {"place": ["x", "y", "y", "z"] * 10, "kind": ["p", "p", "q", "q"] * 10}
NUMBERS: dict[str, list[float | None]] = {
    "negative": [-5.0] * 40,
    "zero": [0.0] * 40,
    "NULL": [None] * 40,
    "NaN": [float("nan"), *[1.0] * 39],
    "infinite": [float("inf"), *[1.0] * 39],
    "one contributor": [900.0, *[0.0] * 39],
    "a large and a negative": [1e15, -1e15, *[1.0] * 38],
}
TABLES = {
    name: pa.table({**PLACES, "pay": pa.array(values, pa.float64())})
    for name, values in NUMBERS.items()
}
TABLES["all in one cell"] = pa.table({"place": ["x"] * 40, "kind": ["p"] * 40, "pay": [1.0] * 40})
TABLES["one record"] = pa.table({"place": ["x"], "kind": ["p"], "pay": [1.0]})
TABLES["one record a cell"] = pa.table(
    {"place": list("abcd"), "kind": list("pqrs"), "pay": [1.0] * 4}
)
TABLES["no record"] = TABLES["one record"].slice(1)
ASKED: dict[str, dict[str, Any]] = {
    "counts": {},
    "sums": {"value": "pay"},
    "hidden counts": {"suppress": "secondary"},
    "hidden sums": {"value": "pay", "suppress": "secondary"},
    "all unsafe": {"value": "pay", "suppress": "secondary", "k": 100},
    "rounded": {"suppress": "rounding", "base": 5},
}
REFUSED = ("NaN", "infinite")  # values, where they are added up
SENTENCE = "value must be a column of finite numbers, got another value; cast it in a view, or leave it out"
Row = dict[str, Any]


def in_sql(table: pa.Table, asked: dict[str, Any], folder: Path) -> list[Row] | str:
    del folder
    named = "".join(
        f", {name} := {json.dumps(value)}".replace('"', "'") for name, value in asked.items()
    )
    with duckdb.connect() as con:
        reid_sql.register(con)
        con.register("t", table)
        try:
            found = con.sql(f"FROM safe_table(t, ['place', 'kind'], totals := 'margins'{named})")
            return list(found.to_arrow_table().to_pylist())
        except duckdb.Error as error:
            return str(error)


def in_python(table: pa.Table, asked: dict[str, Any], folder: Path) -> list[Row] | str:
    del folder
    with duckdb.connect() as con:
        try:
            answer = reid_sql.safe_table(con, table, ["place", "kind"], totals="margins", **asked)
            return list(answer.to_arrow_table().to_pylist())
        except ReidError as error:
            return str(error)


def by_command(table: pa.Table, asked: dict[str, Any], folder: Path) -> str:
    pq.write_table(table, folder / "t.parquet")
    named = [part for name, value in asked.items() for part in (f"--{name}", str(value))]
    command = [
        "safe",
        str(folder / "t.parquet"),
        "--by",
        "place,kind",
        "--totals",
        "margins",
        *named,
        "--json",
    ]
    code = main(command)
    return "refused" if code else "answered"


def cell_of(row: Row) -> tuple[Any, ...]:
    """What tells one cell from another, and its count."""
    return row["place"], row["kind"], row["records"], row["value_sum"]


@each_cell("asked", ASKED)
@each_cell("name", TABLES)
def test_an_unusual_table_has_an_answer_or_one_sentence(
    name: str, asked: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ASKED[asked]
    answers = {face.__name__: face(TABLES[name], given, tmp_path) for face in (in_sql, in_python)}
    code = by_command(TABLES[name], given, tmp_path)
    captured = capsys.readouterr()
    assert "Traceback" not in captured.out + captured.err
    if "value" in given and name in REFUSED:
        assert code == "refused"
        for words in (*map(str, answers.values()), " ".join(captured.err.split())):
            assert SENTENCE in words
            assert "900" not in words
        return
    assert code == "answered", captured.err
    rows = json.loads(captured.out)["cells"]
    assert answers["in_sql"] == answers["in_python"]
    in_sql_too = [row for row in answers["in_sql"] if isinstance(row, dict)]
    assert Counter(map(cell_of, rows)) == Counter(map(cell_of, in_sql_too))
    assert bool(rows) == (name != "no record")
    unsafe = [bool({"few_people", "dominance", "p_percent"} & set(row["unsafe"])) for row in rows]
    if given.get("suppress") == "secondary":
        hidden = [row for is_unsafe, row in zip(unsafe, rows, strict=True) if is_unsafe]
        assert all(row["records"] is None and row["value_sum"] is None for row in hidden)
    if asked == "all unsafe":
        assert all(unsafe)
    if asked == "rounded":
        assert all(row["records"] % 5 == 0 for row in rows)
