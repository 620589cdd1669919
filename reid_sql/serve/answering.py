"""Answer a question in two databases: the calls where the data is, the rest where none is.

A client's SELECT runs in a database that contains the answers of its calls and nothing else. So a statement
that deceived the reader would find no table.
"""

import secrets
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import duckdb

from reid_sql.errors import OutOfDomainError
from reid_sql.serve.masks import Mask
from reid_sql.serve.statement import ANSWER, Question

HELD: Final = 60.0  # seconds for which an answer waits to be fetched
UNSIGNED: Final[dict[str, str | bool | int | float | list[str]]] = {  # extensions come from packages
    "allow_unsigned_extensions": "true",
    "arrow_lossless_conversion": "true",
}
PATIENCE: Final = 0.1  # seconds between two interrupts of a question that took too long


class Answerer:
    """Answers questions about the tables of `data` within some seconds, each in a database for clients."""

    def __init__(self, data: duckdb.DuckDBPyConnection, mask: Mask, seconds: float) -> None:
        """Open the database for clients."""
        self.data, self.mask, self.seconds = data, mask, seconds
        self.public = duckdb.connect(config=UNSIGNED)
        self._answers: deque[tuple[float, str]] = deque()
        self._lock = threading.Lock()

    def answer(self, question: Question) -> str:
        """Answer the calls and the SELECT from them; returns the query that reads the answer."""
        with self._cursors() as (data, public):
            for place, call in enumerate(question.calls, 1):
                public.register(f"{ANSWER}{place}", self.mask.ask(data, call))
            return self._keep(public, question.select)

    def read(self, select: str) -> str:
        """Answer a SELECT of the tables themselves, where the owner lets rows leave."""
        with self._cursors() as (data, public):
            public.register(f"{ANSWER}0", data.execute(select).to_arrow_table())
            return self._keep(public, f"FROM {ANSWER}0")

    def _keep(self, public: duckdb.DuckDBPyConnection, select: str) -> str:
        """Store an answer under a name that nobody guesses, and drop those that were fetched long ago."""
        name = f"memory.main.{ANSWER}{secrets.token_hex(16)}"
        public.execute(f"CREATE TABLE {name} AS {select}")
        with self._lock:
            self._answers.append((time.monotonic(), name))
            while self._answers[0][0] < time.monotonic() - HELD:
                public.execute(f"DROP TABLE {self._answers.popleft()[1]}")
        return f"FROM {name}"

    @contextmanager
    def _cursors(self) -> Iterator[Sequence[duckdb.DuckDBPyConnection]]:
        """Open a cursor of each database, and interrupt both after the limit until the question has ended."""
        cursors = (self.data.cursor(), self.public.cursor())
        ended = threading.Event()
        watch = threading.Thread(target=self._interrupt, args=(ended, cursors), daemon=True)
        watch.start()
        try:
            yield cursors
        except duckdb.InterruptException:
            rule = f"a question must be answered within {self.seconds:g} seconds, got a longer one"
            raise OutOfDomainError(f"{rule}; name fewer columns, or ask for a higher --time-limit") from None
        finally:
            ended.set()
            watch.join()
            for cursor in cursors:
                cursor.close()

    def _interrupt(self, ended: threading.Event, cursors: Sequence[duckdb.DuckDBPyConnection]) -> None:
        wait = self.seconds
        while not ended.wait(wait):
            wait = PATIENCE
            for cursor in cursors:
                cursor.interrupt()
