"""A server of tables without its protocol: what a client asks is read, masked, recorded and logged."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

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
