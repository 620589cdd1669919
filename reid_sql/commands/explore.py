"""Open a page on this machine on which a person chooses, and sees the risk move."""

import argparse
from collections.abc import Mapping
from pathlib import Path

import duckdb

from reid_sql.check.policy import MASK
from reid_sql.commands.measure import profile_columns
from reid_sql.commands.options import PASSED, number
from reid_sql.commands.starter import Starter, columns_of_diseases, source_of
from reid_sql.commands.tables import open_file
from reid_sql.errors import OutOfDomainError
from reid_sql.explore.exploration import explore
from reid_sql.explore.server import Server
from reid_sql.sources.files import open_source
from reid_sql.terminal import progress


def run_explore(options: argparse.Namespace) -> int:
    """Serve the page until the process is stopped."""
    mask = int(MASK.check("--mask", number("--mask", options.mask)))
    if options.file == "-":
        rule = "FILE must be a file, got standard input, which can be read once"
        raise OutOfDomainError(f"{rule}; write it to a file")
    starter = _propose(*open_file(options), source_of(options))
    with explore(starter, mask, options.memory_limit) as exploration, Server(exploration) as server:
        progress.end()
        print(f"{server.address}\nOpen this address in a browser. Ctrl-C stops it.", flush=True)  # noqa: T201
        server.serve_forever()
    return PASSED


def propose(file: Path) -> Starter:
    """Propose a role for each column of a file."""
    return _propose(*open_source(str(file)), {"file": str(file)})


def _propose(con: duckdb.DuckDBPyConnection, table: str, source: Mapping[str, str]) -> Starter:
    rows = profile_columns(con, table, [])
    diseases = columns_of_diseases(con, table, rows)
    con.close()  # a database of DuckDB is opened once more
    return Starter(rows, source, None, diseases)
