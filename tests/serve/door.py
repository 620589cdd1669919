"""A server of tables without its protocol: what a client asks is read, masked, recorded and logged."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from reid_sql.check.policy import read_policy
from reid_sql.commands.serve import read_words
from reid_sql.serve.catalogue import read_columns
from reid_sql.serve.log import Log
from reid_sql.serve.masks import Mask
from reid_sql.serve.record import Record
from reid_sql.serve.server import Answerer, Server
from reid_sql.serve.statement import Reader

SECONDS = 60.0


class Door:
    """Asks a server, and returns the rows of its answers."""

    def __init__(
        self,
        data: duckdb.DuckDBPyConnection,
        tables: Sequence[str] = ("people",),
        policy: Path | None = None,
        log: Path | None = None,
        record: Path | None = None,
    ) -> None:
        mask = Mask(read_policy(policy) if policy else None, Record(record or ":memory:"))
        self.columns = read_columns(data, tables)
        answerer = Answerer(data, mask, SECONDS, self.columns)
        reader = Reader(tables, mask.functions, self.columns, mask.of_people)
        self.server = Server(
            reader, answerer, {}, Log(str(log) if log else None), read_words(data, reader)
        )
        self.server.add_functions()

    def ask(self, sql: str, client: str = "ann") -> list[tuple[Any, ...]]:
        query = self.server.ask(sql, client, "session")
        return self.server.answerer.public.execute(query).fetchall()


def fill_people(con: duckdb.DuckDBPyConnection, seed: int) -> None:
    """People of three regions, two sexes and ages of which the oldest are few."""
    draws = np.random.default_rng(seed)
    number = 600
    columns = {
        "region": draws.choice(["north", "south", "west"], number, p=[0.6, 0.38, 0.02]),
        "sex": draws.choice(["F", "M"], number),
        "age": draws.choice(
            range(20, 30), number, p=[0.2, 0.2, 0.2, 0.15, 0.1, 0.1, *[0.0125] * 4]
        ),
    }
    con.register("drawn", dict(columns) | {"pid": np.arange(number)})
    con.execute(
        """CREATE TABLE people AS SELECT *, DATE '2026-01-01' + (pid % 5)::INT AS seen,
        1000 + pid * 7 % 601 AS pay, CASE WHEN pid % 50 > 0 THEN 'a' END AS note FROM drawn"""
    )
