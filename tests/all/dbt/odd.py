"""Tables that databases take for others than they are: the town's people, and a drawn one of odd values."""

import random
from datetime import date
from math import nan
from typing import Any, Final

import duckdb
import polars as pl
import psycopg

from tests.postgres import FOLDING

ODD: Final[dict[str, list[Any]]] = {
    "name": ["a", "A", "a ", "", "ä", "a\u0308", None],
    "height": [0.0, -0.0, nan, None, 1.5],
    'say "a"': [1, 2, None],
    "nick": ["x", "X", None],
    "select": [date(2020, 2, 29), None],
    "disease": ["flu", "Flu", "flu ", None, ""],
}
TYPES: Final = ["{text}", "DOUBLE PRECISION", "INTEGER", "{nick}", "DATE", "{text}"]
RECORDS: Final = 400
SMALL: Final = 150  # of the same kind, before others came
PEOPLE: Final = ["age", "sex", "postcode", "diagnosis"]


def drawn(records: int) -> pl.DataFrame:
    """So many records of odd values."""
    chance = random.Random(18)  # noqa: S311 - a table to test by
    schema = {"name": pl.String, "height": pl.Float64, 'say "a"': pl.Int64, "nick": pl.String}
    rows = [[chance.choice(values) for values in ODD.values()] for _ in range(records)]
    return pl.DataFrame(rows, {**schema, "select": pl.Date, "disease": pl.String}, orient="row")


def tables(people: str) -> dict[str, pl.DataFrame]:
    """Each table by its name; `nobody` has no record."""
    everybody = pl.read_csv(people, schema_overrides={"postcode": pl.String}).select(PEOPLE)
    odd = drawn(RECORDS)
    return {"people": everybody, "odd": odd, "small": odd.head(SMALL), "nobody": odd.head(0)}


def put_in_duckdb(path: str, frames: dict[str, pl.DataFrame]) -> None:
    """As tables whose texts DuckDB itself compares without case and accents."""
    with duckdb.connect(path) as con:
        for name, frame in frames.items():
            con.execute(
                _created(name, frame, text="VARCHAR COLLATE NOCASE.NOACCENT", nick="VARCHAR")
            )
            con.execute(f"INSERT INTO {name} FROM frame")


def put_in_postgres(folder: str, frames: dict[str, pl.DataFrame]) -> None:
    """As tables whose texts PostgreSQL itself compares without case and accents, by collation and by type."""
    with connected(folder) as con:
        con.execute("CREATE EXTENSION IF NOT EXISTS citext")
        con.execute(FOLDING)
        for name, frame in frames.items():
            con.execute(f"DROP TABLE IF EXISTS {name} CASCADE")
            con.execute(_created(name, frame, text="TEXT COLLATE same", nick="CITEXT"))
            places = ", ".join(["%s"] * frame.width)
            with con.cursor() as cursor:
                cursor.executemany(f"INSERT INTO {name} VALUES ({places})", frame.rows())


def clear_postgres(folder: str) -> None:
    """Without these tables, what dbt made of them and what its tests keep."""
    with connected(folder) as con:
        con.execute("DROP SCHEMA IF EXISTS public_dbt_test__audit CASCADE")
        con.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        con.execute("GRANT USAGE ON SCHEMA public TO PUBLIC")  # as it was, for other files' users


def connected(folder: str) -> Any:
    """A connection to the tests' own PostgreSQL that commits each statement."""
    return psycopg.connect(f"host={folder} user=reid dbname=postgres", autocommit=True)


def _created(name: str, frame: pl.DataFrame, **words: str) -> str:
    types = TYPES if "nick" in frame.columns else ["INTEGER", "{text}", "{text}", "{text}"]
    named = ['"' + column.replace('"', '""') + '"' for column in frame.columns]
    columns = ", ".join(
        f"{column} {kind.format(**words)}" for column, kind in zip(named, types, strict=True)
    )
    return f"CREATE TABLE {name} ({columns})"


def plain_tables() -> dict[str, pl.DataFrame]:
    """The tables of the kept queries, of plain names: people, and the country that they are of."""
    chosen = {
        'say "a"': "age",
        "name": "name",
        "height": "height",
        "select": "select",
        "disease": "disease",
    }
    country = drawn(RECORDS).select(pl.col(name).alias(plain) for name, plain in chosen.items())
    return {"people": country.head(SMALL), "country": country}
