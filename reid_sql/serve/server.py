"""A DuckDB that clients reach by the Quack protocol: it has no table, and asks another for answers."""

import hmac
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import duckdb

from reid_sql.engines.duckdb import register
from reid_sql.errors import UnavailableError
from reid_sql.parameters import sql_text
from reid_sql.serve.answering import Answerer
from reid_sql.serve.statement import Question, Reader
from reid_sql.terminal.runner import sentence
from reid_sql_udfs import declared

MAX_SESSIONS: Final = 10_000  # that are remembered; a client whose session is forgotten connects again
EXTENSIONS: Final = ("httpfs", "quack")
REFUSAL_NO_QUACK: Final = (
    "serving must have DuckDB's extension quack, got none ({}); pip install 'reid-sql[serve]' for DuckDB 1.5"
)
CLOSED: Final = "SET enable_external_access = false; SET lock_configuration = true"


@dataclass(frozen=True)
class LogLine:
    """What was asked and what became of it, without a value."""

    client: str
    verdict: str
    functions: tuple[str, ...]
    tables: tuple[str, ...]
    statement: str
    seconds: float


class Server:
    """Serves answers; `tokens` are by the names of the clients."""

    def __init__(
        self,
        reader: Reader,
        answerer: Answerer,
        tokens: Mapping[str, str],
        log: Callable[[LogLine], None],
        *,
        rows: bool = False,
    ) -> None:
        """Remember who may ask, what is read, and what answers; `rows` lets the tables themselves leave."""
        self.reader, self.answerer, self.tokens, self.log, self.rows = reader, answerer, tokens, log, rows
        self._sessions: OrderedDict[str, str] = OrderedDict()
        self._lock = threading.Lock()

    def start(self, port: int) -> None:
        """Listen on localhost."""
        con = self.answerer.public
        load_extensions(con)
        register(con, declared())
        for name, function, count, kind in (
            ("authentication", self.authenticate, 3, "BOOLEAN"),
            ("authorization", self.authorize, 2, "VARCHAR"),
        ):
            con.create_function(f"reid_{name}", function, ["VARCHAR"] * count, kind, side_effects=True)
            con.execute(f"SET GLOBAL quack_{name}_function = 'reid_{name}'")
        unused = secrets.token_hex(16)  # a client has a token of its own
        con.execute(f"CALL quack_serve('quack:localhost:{port}', token = '{unused}')").fetchall()
        con.execute(CLOSED)

    def authenticate(self, session: str, token: str, _: str) -> bool:
        """Find the client of a token, and remember its session."""
        given = str(token).encode()
        found = [name for name, each in self.tokens.items() if hmac.compare_digest(each.encode(), given)]
        with self._lock:
            self._sessions.update((str(session), name) for name in found)
            while len(self._sessions) > MAX_SESSIONS:
                self._sessions.popitem(last=False)
        return bool(found)

    def authorize(self, session: str, sql: str) -> str:
        """Return the query that runs in place of the client's: it reads the answer, or refuses."""
        started, question, verdict = time.monotonic(), Question((), ""), "refused"
        try:
            client = self._sessions[str(session)]
            question = Question((), str(sql)) if self.rows else self.reader.read(str(sql), client)
            query = self.answerer.read(str(sql)) if self.rows else self.answerer.answer(question)
            verdict = "answered"
        except Exception as error:  # noqa: BLE001 - whatever fails is refused, never answered
            query = f"SELECT error({sql_text(sentence(error))})"
        functions = tuple(call.function.name for call in question.calls)
        tables = tuple(dict.fromkeys(table for call in question.calls for table in call.tables))
        seconds = round(time.monotonic() - started, 4)
        client = self._sessions.get(str(session), "")
        self.log(LogLine(client, verdict, functions, tables, question.shape, seconds))
        return query


def load_extensions(con: duckdb.DuckDBPyConnection) -> None:
    """Load Quack, from packages of Python where they are, else from DuckDB's repository."""
    for name in EXTENSIONS:
        package = find_spec(f"duckdb_extension_{name}")
        folder = Path(package.origin).parent if package and package.origin else None
        files = sorted(folder.rglob(f"{name}.duckdb_extension")) if folder else []
        try:
            con.execute(f"LOAD {sql_text(str(files[0]))}" if files else f"INSTALL {name}; LOAD {name}")
        except duckdb.Error as error:
            raise UnavailableError(REFUSAL_NO_QUACK.format(sentence(error).rstrip("."))) from None
