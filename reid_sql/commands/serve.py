"""Serve the answers of tables to every DuckDB client."""

import os
import secrets
import sys
import threading
import tomllib
from argparse import Namespace
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from itertools import combinations
from pathlib import Path
from types import ModuleType
from typing import Final

import duckdb
from duckdb import DuckDBPyConnection

from reid_sql import register
from reid_sql.check.policy import read_policy
from reid_sql.check.policy_model import columns_named
from reid_sql.commands.options import PASSED, number
from reid_sql.errors import (
    OutOfDomainError,
    UnavailableError,
    UnknownNameError,
    suggestion,
)
from reid_sql.models.columns.identifiers import hint
from reid_sql.parameters import Number, fold_case, quoted, sql_text
from reid_sql.serve.catalogue import Columns, ServedColumn, read_columns
from reid_sql.serve.log import Log, Words
from reid_sql.serve.masks import Mask
from reid_sql.serve.record import Record
from reid_sql.serve.server import CLOSED, Answerer, Server
from reid_sql.serve.statement import Reader
from reid_sql.serve.typed_columns import type_columns
from reid_sql.sources.files import (
    CONFIG,
    DATABASES,
    attach_source,
    check_source,
    kind_of,
    limit_memory,
)
from reid_sql.sources.identifiers import repeated
from reid_sql.sources.notes import take_notes
from reid_sql.sources.spill import process_folder, spill_into
from reid_sql.sources.text_content import TEXTS
from reid_sql.terminal.control_characters import escape_control_characters

TOKEN: Final = "REID_SQL_TOKEN"  # noqa: S105 - the name of a variable of the environment
PORT: Final = Number(
    "a whole number from 1 to 65535", "write a free port, such as 9494", 1.0, 65535.0, whole=True
)
SECONDS: Final = Number("a number of seconds from 1 to 86400", "write it like 60", 1.0, 86400.0)
MIN_TOKEN: Final = 12  # characters
SHARE_OF_ANSWERS: Final = 0.25  # of --memory-limit
IN_MAIN: Final = """SELECT table_name FROM duckdb_tables() WHERE database_name = $1 AND schema_name = 'main'
    UNION ALL SELECT view_name FROM duckdb_views()
    WHERE database_name = $1 AND schema_name = 'main' AND NOT internal ORDER BY ALL"""
ROWS_LEAVE: Final = "--rows is set: every client reads every row of every table that is served."
UNNAMED: Final = "in {}, which is served with every column, the policy does not name: {}."
SHARED: Final = (
    "{0} and {1} have values of {2} in common; if these are the same people, counts by other columns of each "
    "are not linked: serve each person in one table."
)
FEW_COUNTED: Final = (
    "without --policy, summaries of a whole table show small counts, and are not recorded."
)


def run_serve(options: Namespace) -> int:
    """Serve until the process is stopped."""
    port = int(PORT.check("--port", number("--port", options.port)))
    seconds = float(SECONDS.check("--time-limit", number("--time-limit", options.time_limit)))
    if options.mcp and options.rows:
        raise OutOfDomainError("--rows must not be given with --mcp, got both; omit one")
    tokens, is_shown = read_tokens(options.clients)
    is_typed = not (options.policy or options.rows)  # a policy measures texts, as the gate does
    data = open_data(options.files, options.table, options.memory_limit, is_typed=is_typed)
    tables = [row[0] for row in data.execute(IN_MAIN, ["memory"]).fetchall()]
    mask = open_mask(options.policy, options.record, options.rows, tables)
    columns = {} if options.rows else read_columns(data, tables)
    answerer = Answerer(data, mask, seconds, columns)
    spill_into(answerer.public, process_folder())
    if options.memory_limit is not None:
        share_memory(data, answerer.public)
    data.execute(CLOSED)
    cautions = {} if options.rows else dict(describe_rows(data, tables, mask))
    reader = Reader(tables, mask.functions, columns, mask.of_people, cautions)
    words = read_words(data, reader)
    server = Server(reader, answerer, tokens, Log(options.log), words, rows=options.rows)
    notes = [*take_notes(), *describe_unnamed(data, tables, options.policy), *cautions.values()]
    notes += describe_shared(data, columns)
    if options.rows or not options.policy:
        notes.append(ROWS_LEAVE if options.rows else FEW_COUNTED)
    for line in notes:
        print(f"reid-sql: {line}", file=sys.stderr)  # noqa: T201 - said aloud
    if options.mcp:
        server.add_functions()
        answerer.public.execute(CLOSED)
        import_agents().serve_agent(server, columns, options.policy).run("stdio")
        return PASSED
    server.start(port)
    print(describe(port, tables, next(iter(tokens.values())) if is_shown else None), flush=True)  # noqa: T201
    threading.Event().wait()
    return PASSED


def import_agents() -> ModuleType:
    """Import what serves agents, which needs a package of its own."""
    try:
        return import_module("reid_sql.serve.agents")
    except ModuleNotFoundError as error:
        raise UnavailableError(
            f"--mcp must have the package mcp, got none ({error.name}); pip install 'reid-sql[mcp]'"
        ) from None


def describe_unnamed(
    data: DuckDBPyConnection, tables: list[str], policy: str | None
) -> Iterator[str]:
    """Name the columns of each table that its policy does not name: clients may ask about them."""
    declared = () if policy is None else read_policy(policy).tables
    for name in tables:
        table = next((each for each in declared if each.name.casefold() == name.casefold()), None)
        if table is None:
            continue
        named = set(map(fold_case, columns_named(table)))
        columns = data.execute(f"DESCRIBE memory.main.{quoted(name)}").fetchall()
        unnamed = [column for column, *_ in columns if fold_case(column) not in named]
        if unnamed:
            yield UNNAMED.format(name, ", ".join(map(escape_control_characters, unnamed)))


def describe_rows(
    data: DuckDBPyConnection, tables: list[str], mask: Mask
) -> Iterator[tuple[str, str]]:
    """Say of which tables rows may not be people, though each counts as one: small groups would be shown."""
    for name in tables:
        table = mask.tables.get(name.casefold())
        if table is not None and table.entity is not None:
            continue
        counted = () if table is None else table.quasi_identifiers
        columns = repeated(data, f"memory.main.{quoted(name)}", counted)
        if columns:
            advice = hint(columns, "entity =")
            yield name, f"in {name}, each row counts as a person. {advice}"


def describe_shared(data: DuckDBPyConnection, columns: Columns) -> Iterator[str]:
    """Say which tables have the same people, by a column that names each record of one of them once."""
    if len(columns) == 1:
        return
    identifying = {table: _find_identifying(data, table, each) for table, each in columns.items()}
    for one, other in combinations(columns, 2):
        likely = (identifying[one] | identifying[other]) & {*map(fold_case, columns[other])}
        for name in sorted(name for name in columns[one] if fold_case(name) in likely):
            values = (
                f"SELECT {quoted(name)}::VARCHAR FROM memory.main.{quoted(each)}"
                for each in (one, other)
            )
            if data.execute(" INTERSECT ".join(values) + " LIMIT 1").fetchall():
                yield SHARED.format(one, other, escape_control_characters(name))


def _find_identifying(
    data: DuckDBPyConnection, table: str, columns: Mapping[str, ServedColumn]
) -> set[str]:
    """Find the columns with a value of its own in each record; by the estimates, most need no count."""
    source = f"memory.main.{quoted(table)}"
    records = data.execute(f"SELECT count(*) FROM {source}").fetchall()[0][0]
    likely = [name for name, each in columns.items() if each.values > records / 2]
    counts = ", ".join(f"count(DISTINCT {quoted(name)})" for name in likely)
    values = data.execute(f"SELECT {counts} FROM {source}").fetchall()[0] if likely else ()
    return {
        fold_case(name) for name, number in zip(likely, values, strict=True) if number == records
    }


def open_mask(policy: str | None, record: str | None, rows: bool, tables: list[str]) -> Mask:  # noqa: FBT001
    """Open the mask of a policy, or the one without, and the record of the counts that leave."""
    masking = {"--policy": policy, "--record": record}
    if rows and any(masking.values()):
        option = next(option for option, value in masking.items() if value)
        raise OutOfDomainError(
            f"{option} must not be given with --rows, which masks nothing; omit one"
        )
    if policy is None:
        return Mask(record=Record(record) if record else None)
    declared = read_policy(policy)
    named = sorted(table.name.casefold() for table in declared.tables)
    if missing := [name for name in tables if name.casefold() not in named]:
        raise UnknownNameError(
            f"every table that is served must be one of the policy, got '{missing[0]}'; {suggestion(missing[0], named, 'tables')}"
        )
    return Mask(declared, Record(record or Path(policy).with_suffix(".record.duckdb")))


def read_tokens(clients: str | None) -> tuple[dict[str, str], bool]:
    """Read the tokens of the clients, or make one, which is shown."""
    if clients is None:
        token = os.environ.get(TOKEN)
        return {"client": _checked_token(TOKEN, token or secrets.token_urlsafe(24))}, token is None
    try:
        tokens = tomllib.loads(Path(clients).read_text(encoding="utf-8"))
    except (OSError, UnicodeError, tomllib.TOMLDecodeError):
        raise OutOfDomainError(
            f"--clients must be a TOML file, got '{clients}'"
            '; write a token for each client, like ann = "…"'
        ) from None
    if not tokens:
        raise OutOfDomainError(
            '--clients must name at least one client, got none; write ann = "a token"'
        )
    return {
        name: _checked_token(f"the token of {name}", token) for name, token in tokens.items()
    }, False


def _checked_token(label: str, token: object) -> str:
    if not isinstance(token, str) or len(token) < MIN_TOKEN:
        raise OutOfDomainError(
            f"{label} must be a text of at least {MIN_TOKEN} characters, got another; make one with openssl rand -hex 24"
        )
    return token


def open_data(
    files: list[str], named: list[str], memory: str | None, *, is_typed: bool = False
) -> DuckDBPyConnection:
    """Open the tables: those of a DuckDB file as they are, read-only, and other files read once.

    Those of text files are of texts, unless they are typed.
    """
    con = duckdb.connect(config=CONFIG)
    con.execute("SET TimeZone = 'UTC'")
    spill_into(con, process_folder())
    con.execute("SET arrow_lossless_conversion = true")
    if memory is not None:
        limit_memory(con, memory)
    pairs = [each.partition("=") for each in named]
    for name, _, file in pairs:
        if not name.isidentifier() or not file:
            raise OutOfDomainError(
                f"--table must be written as name=file, got '{name}'; write people=people.csv"
            )
    for place, file in enumerate(files):
        if check_source("FILE", file) in DATABASES:
            _serve_database(con, f"reid_file_{place}", file)
        else:
            pairs.append((Path(file).name.partition(".")[0], "=", file))
    for name, _, file in pairs:
        attach_source(con, "reid_read", "FILE", file)
        _create(con, "TABLE", name, "reid_read")
        con.execute("DROP VIEW reid_read")
    if is_typed:
        type_columns(con, [name for name, _, file in pairs if kind_of(Path(file)) in TEXTS])
    if not con.execute(IN_MAIN, ["memory"]).fetchall():
        raise UnknownNameError(
            "serve must have a table, got none; name a DuckDB, CSV, Parquet or JSON file"
        )
    register(con)
    return con


def share_memory(data: DuckDBPyConnection, public: DuckDBPyConnection) -> None:
    """Share the limit of the tables' database with that of the answers, which are small."""
    limit = data.execute("SELECT current_setting('memory_limit')").fetchall()[0][0]
    size, unit = str(limit).split()
    of_answers = float(size) * SHARE_OF_ANSWERS
    for con, part in ((public, of_answers), (data, float(size) - of_answers)):
        con.execute(f"SET memory_limit = '{part:.3f} {unit}'")


def _serve_database(con: DuckDBPyConnection, catalogue: str, file: str) -> None:
    con.execute(
        f"ATTACH {sql_text(str(Path(file).absolute()))} AS {catalogue} (READ_ONLY, TYPE duckdb)"
    )
    for (name,) in con.execute(IN_MAIN, [catalogue]).fetchall():
        _create(con, "VIEW", name, f"{catalogue}.main.{quoted(name)}")


def _create(con: DuckDBPyConnection, kind: str, name: str, source: str) -> None:
    if not name.isidentifier() or name.lower().startswith("reid_"):
        raise OutOfDomainError(
            f"a table must have a plain name, got '{name}'; write --table people=file"
        )
    with suppress(duckdb.CatalogException):
        con.execute(f"CREATE {kind} memory.main.{quoted(name)} AS FROM {source}")
        return
    raise OutOfDomainError(
        f"a table must have a name of its own, got '{name}' twice; write --table name=file"
    )


def read_words(data: DuckDBPyConnection, reader: Reader) -> Words:
    """Read the words that a log may contain: names of columns, and what everybody knows of SQL."""
    columns = data.execute("SELECT DISTINCT column_name FROM duckdb_columns() WHERE NOT internal")
    names = frozenset(str(row[0]).casefold() for row in columns.fetchall())
    keywords = data.execute("SELECT keyword_name FROM duckdb_keywords()").fetchall()
    return Words(names, reader.words | {str(row[0]) for row in keywords})


def describe(port: int, tables: list[str], token: str | None) -> str:
    """Write what a client types."""
    url, name = f"quack:localhost:{port}", tables[0]
    query = f"FROM quack_query('{url}', 'FROM reid.profile({name})', token := '{token or 'YOUR TOKEN'}')"
    load = "INSTALL quack; LOAD quack"
    return f"""Serving {", ".join(tables)} at {url}. Stop it with Ctrl-C. A client types:
DuckDB: {load}; {query};
Python: import duckdb; duckdb.sql("{load}"); duckdb.sql("{query}")
R:      library(DBI); db <- dbConnect(duckdb::duckdb()); dbExecute(db, "{load}"); dbGetQuery(db, "{query}")"""
