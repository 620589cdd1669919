"""A DuckDB that clients reach by the Quack protocol: it has no table, and asks another for answers.

The calls are answered where the data is, the rest where none is: a client's SELECT runs in a database that
contains the answers of its calls and nothing else. So a statement that deceived the reader finds no table.
"""

import hmac
import secrets
import socket
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from hashlib import sha256
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Final
from weakref import ref

import duckdb
import pyarrow as pa

from reid_sql.engines.duckdb import register
from reid_sql.errors import OutOfDomainError, ReidError, UnavailableError
from reid_sql.parameters import ModelName, sql_text
from reid_sql.serve.audited_counts import RevealingError
from reid_sql.serve.calls import Call
from reid_sql.serve.catalogue import IN_UTC, Columns, open_catalogue
from reid_sql.serve.log import Log, LogLine, Words, describe_reveals
from reid_sql.serve.masked_answers import hide_numbers
from reid_sql.serve.masks import Mask
from reid_sql.serve.record import Reveal
from reid_sql.serve.statement import ANSWER, MAX_REMEMBERED, Question, Reader
from reid_sql.terminal.runner import sentence
from reid_sql_udfs import declared

HELD: Final = 60.0  # seconds for which an answer waits to be fetched
REMEMBERED: Final = (
    600.0  # seconds for which a call is not computed again, nor one that was refused
)
MAX_BYTES: Final = 100_000  # of an answer that is remembered
CONFIG: Final[dict[str, str | bool | int | float | list[str]]] = {
    "allow_unsigned_extensions": "true",  # they come from packages
    "threads": "1",  # of a question: answers are small, and clients may be many
    "arrow_lossless_conversion": "true",
}
PATIENCE: Final = 0.1  # seconds between two interrupts of a question that took too long
Cursors = tuple[duckdb.DuckDBPyConnection, duckdb.DuckDBPyConnection, duckdb.DuckDBPyConnection]


class Answerer:
    """Answers questions about the tables of `data` within some seconds, each in a database for clients."""

    def __init__(
        self,
        data: duckdb.DuckDBPyConnection,
        mask: Mask,
        seconds: float,
        columns: Columns | None = None,
    ) -> None:
        """Open the database for clients, and the one of names and types."""
        self.data, self.mask, self.seconds = data, mask, seconds
        self.catalogue = open_catalogue(columns or {})
        self.public = duckdb.connect(config=CONFIG)
        for con in (data, self.public):
            con.execute(IN_UTC)
        self._answers: deque[tuple[float, str]] = deque()
        self._remembered: dict[str, tuple[pa.Table | ReidError, list[Reveal]]] = {}
        self._running: dict[Cursors, float] = {}
        self._lock = threading.Lock()
        threading.Thread(target=_interrupt_late, args=(ref(self),), daemon=True).start()

    def answer(self, question: Question, recorded: list[Reveal] | None = None) -> str:
        """Answer the calls and the SELECT from them; returns the query that reads the answer.

        What the calls reveal is added to the list, also of one that is remembered.
        """
        with self._cursors() as (data, public, catalogue):
            if question.is_catalogue:
                public.register(f"{ANSWER}0", catalogue.sql(question.select).to_arrow_table())
                return self._keep(public, f"FROM {ANSWER}0")
            for select in question.binds:
                catalogue.execute(f"EXPLAIN {select}")  # before anything is recorded
            for place, call in enumerate(question.calls, 1):
                public.register(f"{ANSWER}{place}", self._ask(data, call, recorded))
            return self._keep(public, question.select)

    def _ask(
        self, data: duckdb.DuckDBPyConnection, call: Call, recorded: list[Reveal] | None
    ) -> pa.Table:
        """Ask the mask, or remember what it answered or refused: served tables do not change for a while."""
        question = (call.function.key, sorted(call.arguments.items()))
        key = repr((time.monotonic() // REMEMBERED, question))
        recorded = [] if recorded is None else recorded
        if key in (remembered := self._remembered):
            answer, reveals = remembered[key]
            if isinstance(answer, ReidError):
                raise answer.with_traceback(None)
            recorded += reveals
            return answer
        before = len(recorded)
        try:
            answer = self.mask.ask(data, call, recorded)
        except ReidError as refusal:  # an audit may take seconds
            self._remember(key, call, refusal, [])
            raise
        except (duckdb.BinderException, duckdb.InterruptException):  # of names, and of time
            raise
        except duckdb.Error as error:
            hidden = OutOfDomainError(hide_numbers(sentence(error), key))
            self._remember(key, call, hidden, [])
            raise hidden from None
        if answer.nbytes < MAX_BYTES:
            self._remember(key, call, answer, recorded[before:])
        return answer

    def _remember(
        self, key: str, call: Call, answer: pa.Table | ReidError, reveals: list[Reveal]
    ) -> None:
        """Remember an answer or a refusal, but for those of models, which may change."""
        models = [
            each.name for each in call.function.parameters if isinstance(each.domain, ModelName)
        ]
        if call.arguments.keys() & set(models):
            return
        with self._lock:
            last = dict(list(self._remembered.items())[-MAX_REMEMBERED:])
            self._remembered = {**last, key: (answer, reveals)}

    def read(self, select: str) -> str:
        """Answer a SELECT of the tables themselves, where the owner lets rows leave."""
        with self._cursors() as (data, public, _):
            public.register(f"{ANSWER}0", data.sql(select).to_arrow_table())
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
    def _cursors(self) -> Iterator[Cursors]:
        """Open a cursor of each database, until the question has ended."""
        cursors = (self.data.cursor(), self.public.cursor(), self.catalogue.cursor())
        with self._lock:
            self._running[cursors] = time.monotonic() + self.seconds
        try:
            yield cursors
        except duckdb.InterruptException:
            raise OutOfDomainError(
                f"a question must be answered within {self.seconds:g} seconds, got a longer one; "
                "name fewer columns, or ask for a higher --time-limit"
            ) from None
        finally:
            with self._lock:
                del self._running[cursors]
            for cursor in cursors:
                cursor.close()

    def interrupt_late(self) -> None:
        """Interrupt what takes too long."""
        with self._lock:
            late = [each for each, ends in self._running.items() if ends < time.monotonic()]
            for cursor in chain(*late):
                cursor.interrupt()


def _interrupt_late(answerer: "ref[Answerer]") -> None:
    """Interrupt what takes too long, again and again until it has ended, as long as somebody answers."""
    while (living := answerer()) is not None:
        living.interrupt_late()
        del living
        time.sleep(PATIENCE)


# that are remembered; a client whose session is forgotten connects again
MAX_SESSIONS: Final = 10_000
EXTENSIONS: Final = ("httpfs", "quack")
REFUSAL_NO_QUACK: Final = "serving must have DuckDB's extension quack, got none ({}); pip install 'reid-sql[serve]' for DuckDB 1.5"
CLOSED: Final = "SET enable_external_access = false; SET lock_configuration = true"


class Server:
    """Serves answers; `tokens` are by the names of the clients."""

    def __init__(
        self,
        reader: Reader,
        answerer: Answerer,
        tokens: Mapping[str, str],
        log: Log,
        words: Words,
        *,
        rows: bool = False,
    ) -> None:
        """Remember who may ask, what is read, and what answers; `rows` lets the tables themselves leave."""
        self.reader, self.answerer, self.tokens, self.rows = reader, answerer, tokens, rows
        self.log, self.words = log, words
        self._sessions: OrderedDict[str, str] = OrderedDict()
        self._lock = threading.Lock()

    def start(self, port: int) -> None:
        """Listen on localhost where nobody does, as Quack would share the port of another server."""
        with suppress(OSError), socket.create_connection(("localhost", port), timeout=1):
            raise UnavailableError(
                f"--port must be a free port, got {port}, which is in use; name another"
            )
        con = self.answerer.public
        load_extensions(con)
        self.add_functions()
        for name, function, count, kind in (
            ("authentication", self.authenticate, 3, "BOOLEAN"),
            ("authorization", self.authorize, 2, "VARCHAR"),
        ):
            con.create_function(
                f"reid_{name}", function, ["VARCHAR"] * count, kind, side_effects=True
            )
            con.execute(f"SET GLOBAL quack_{name}_function = 'reid_{name}'")
        unused = secrets.token_hex(16)  # a client has a token of its own
        con.execute(f"CALL quack_serve('quack:localhost:{port}', token = '{unused}')").fetchall()
        con.execute(CLOSED)

    def add_functions(self) -> None:
        """Add functions of numbers to the database for clients."""
        register(self.answerer.public, declared())

    def authenticate(self, session: str, token: str, _: str) -> bool:
        """Find the client of a token, and remember its session."""
        presented = str(token).encode()
        clients = [
            name
            for name, each in self.tokens.items()
            if hmac.compare_digest(each.encode(), presented)
        ]
        with self._lock:
            self._sessions.update((str(session), name) for name in clients)
            while len(self._sessions) > MAX_SESSIONS:
                self._sessions.popitem(last=False)
        return bool(clients)

    def authorize(self, session: str, sql: str) -> str:
        """Return the query that runs in place of the client's: it reads the answer, or refuses."""
        try:
            client = self._sessions[str(session)]
            return self.ask(str(sql), client, str(session))
        except Exception as error:  # noqa: BLE001 - whatever fails is refused, never answered
            return f"SELECT error({sql_text(sentence(error))})"

    def ask(self, sql: str, client: str, session: str, recorded: list[Reveal] | None = None) -> str:
        """Answer a statement, or refuse it by an error, and log it; returns the query for the answer.

        What it reveals is added to the list.
        """
        began, started = datetime.now(UTC), time.monotonic()
        question, refusal = Question((), ""), None
        recorded = [] if recorded is None else recorded
        try:
            if self.rows:
                return self.answerer.read(sql)
            question = self.reader.read(sql, client, self.answerer.mask.record.is_whole)
            return self.answerer.answer(question, recorded)
        except Exception as error:
            refusal = error
            raise
        finally:
            shape = question.shape or self.reader.shape(sql)
            line = LogLine(
                time=began.isoformat(timespec="milliseconds"),
                client=client,
                session=sha256(session.encode()).hexdigest()[:12],
                verdict="answered" if refusal is None else "refused",
                functions=tuple(call.function.key for call in question.calls),
                tables=tuple(dict.fromkeys(chain(*(call.tables for call in question.calls)))),
                columns=self.words.columns_in(sql),
                statement=self.words.hide_unknown(shape),
                reason=self.words.reason_of(refusal, sql) if refusal else "",
                recorded=describe_reveals(recorded),
                hides=any(each.hides for each in recorded),
                near=isinstance(refusal, RevealingError),
                seconds=round(time.monotonic() - started, 4),
            )
            self.log.write(line)


def load_extensions(con: duckdb.DuckDBPyConnection) -> None:
    """Load Quack, from packages of Python where they are, else from DuckDB's repository."""
    for name in EXTENSIONS:
        package = find_spec(f"duckdb_extension_{name}")
        folder = Path(package.origin).parent if package and package.origin else None
        files = sorted(folder.rglob(f"{name}.duckdb_extension")) if folder else []
        try:
            con.execute(
                f"LOAD {sql_text(str(files[0]))}" if files else f"INSTALL {name}; LOAD {name}"
            )
        except duckdb.Error as error:
            raise UnavailableError(REFUSAL_NO_QUACK.format(sentence(error).rstrip("."))) from None
