"""Releases as a reader gets them: the SQL run in a DuckDB of its own, and the policies that ask for them."""

from pathlib import Path

import duckdb
import polars as pl


def written(folder: Path, text: str) -> Path:
    """The policy in a file."""
    file = folder / "policy.toml"
    file.write_text(text, encoding="utf-8")
    return file


def policy(file: str, qi: list[str], *checks: str, prepare: str = "", table: str = "") -> str:
    """A policy of one table, each check as the lines of its table."""
    reported = [
        f'[[tables]]\nfile = "{file}"\nquasi_identifiers = {qi!r}\n{table}'.replace("'", '"')
    ]
    reported += [f"[[tables.checks]]\n{check}" for check in checks]
    return "\n".join([f"[prepare]\n{prepare}", *reported])


K = 'measure = "k"\nat_least = {}'


def made_by(sql: str, view: str) -> pl.DataFrame:
    """Run the file as a reader does, without the functions of this project."""
    with duckdb.connect() as con:
        con.execute(sql)
        return frame(con, view)


def frame(con: duckdb.DuckDBPyConnection, view: str) -> pl.DataFrame:
    """The rows of a view."""
    found = con.execute(f'FROM "{view}"')
    names = [column[0] for column in found.description or []]
    return pl.DataFrame(found.fetchall(), schema=names, orient="row", infer_schema_length=None)


def class_sizes(frame: pl.DataFrame, qi: list[str]) -> list[int]:
    """The size of each class, the smallest first."""
    return sorted(frame.group_by(present(frame, qi)).len()["len"].to_list())


def present(frame: pl.DataFrame, qi: list[str]) -> list[str]:
    """The quasi-identifiers that a release has; one that it lacks is '*' in all of its records."""
    return [name for name in qi if name in frame.columns]
