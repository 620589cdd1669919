"""Columns of text files become numbers and dates, and no count changes by it."""

from pathlib import Path

import duckdb
import pytest

from reid_sql.commands.serve import open_data

TYPES = {  # of a column with these texts
    ("30", "41", "-5", "0"): "BIGINT",
    ("30", "041", "55", ""): "VARCHAR",  # a leading zero
    ("30", "41", "+41", "7"): "VARCHAR",
    ("1234567890123456", "2", "3", "4"): "VARCHAR",  # an identifier
    ("10.50", "11", "12.25", ""): "DOUBLE",
    ("1", "1.0", "2", "3"): "VARCHAR",  # two texts of one number
    ("1e5", "2", "3", "4"): "VARCHAR",
    ("nan", "1.5", "2", "3"): "VARCHAR",
    ("2026-01-31", "2026-02-01", "2025-12-01", ""): "DATE",
    ("2026-02-31", "2026-02-01", "2025-12-01", ""): "VARCHAR",  # no day
    ("2026-01-31 10:00", "2026-01-31T11:30:00.5", "2026-01-31 09:00:00", ""): "TIMESTAMP",
    ("2026-01-31 10:00", "2026-01-31T10:00:00", "2026-01-31 09:00", ""): "VARCHAR",
    ("", "", "", ""): "VARCHAR",
}


def serve(folder: Path, **tables: list[tuple[str, ...]]) -> duckdb.DuckDBPyConnection:
    """Write tables as text files, each with its columns a, b, …, and open them typed."""
    files = []
    for name, columns in tables.items():
        names = "abcdefghijklmnop"[: len(columns)]
        rows = [",".join(names), *(",".join(row) for row in zip(*columns, strict=True))]
        files.append(str(folder / f"{name}.csv"))
        Path(files[-1]).write_text("\n".join(rows), encoding="utf-8")
    return open_data(files, [], None, is_typed=True)


def types(con: duckdb.DuckDBPyConnection, table: str) -> list[str]:
    return [str(row[1]) for row in con.execute(f"DESCRIBE {table}").fetchall()]


def test_a_column_has_the_type_of_its_texts(tmp_path: Path) -> None:
    con = serve(tmp_path, t=[*TYPES])
    assert dict(zip(TYPES, types(con, "t"), strict=True)) == TYPES
    for name, texts in zip("abcdefghijklmnop", TYPES, strict=False):
        [row] = con.execute(f"SELECT count(DISTINCT {name}), count({name}) FROM t").fetchall()
        written = [text for text in texts if text]
        assert row == (len({*written}), len(written))


def test_a_column_of_two_tables_has_one_type(tmp_path: Path) -> None:
    con = serve(tmp_path, t=[("1", "2"), ("3", "4")], u=[("01", "2"), ("3", "4")])
    assert types(con, "t") == types(con, "u") == ["VARCHAR", "BIGINT"]


@pytest.mark.first(cells=1)
@pytest.mark.parametrize("is_typed", [True, False])
def test_texts_stay_where_a_policy_measures_them(tmp_path: Path, is_typed: bool) -> None:  # noqa: FBT001
    (tmp_path / "t.csv").write_text("age,sex\n30,F\n31,M\n", encoding="utf-8")
    con = open_data([str(tmp_path / "t.csv")], [], None, is_typed=is_typed)
    assert types(con, "t") == (["BIGINT", "VARCHAR"] if is_typed else ["VARCHAR", "VARCHAR"])
