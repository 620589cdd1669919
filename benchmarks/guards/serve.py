"""The guard of reid-sql: what `reid-sql serve` answers, without its protocol."""

from typing import Any

import duckdb

import reid_sql
from reid_sql.serve.catalogue import read_columns
from reid_sql.serve.log import Log, Words
from reid_sql.serve.masks import Mask
from reid_sql.serve.record import Record
from reid_sql.serve.server import Answerer, Server
from reid_sql.serve.statement import Reader


class Serve:
    """Serves the table `people` of a database, with a new record."""

    def __init__(self, data: duckdb.DuckDBPyConnection, below: int) -> None:
        """Open the server; its mask without a policy is 10."""
        reid_sql.register(data)
        columns = read_columns(data, ["people"])
        mask = Mask(None, Record())
        if mask.below != below:
            raise ValueError(f"the mask must be {mask.below}, got {below}")
        answerer = Answerer(data, mask, 60.0, columns)
        words = Words(frozenset(), frozenset())
        self.server = Server(Reader(["people"], columns=columns), answerer, {}, Log(None), words)

    def __call__(self, sql: str) -> list[tuple[Any, ...]]:
        """Answer a statement, or refuse it by an error."""
        query = self.server.ask(sql, "client", "session")
        return self.server.answerer.public.execute(query).fetchall()
