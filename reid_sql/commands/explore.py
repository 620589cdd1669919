"""Open a page on this machine on which a person chooses, and sees the risk move."""

import argparse

from reid_sql.check.policy import MASK
from reid_sql.commands.measure import profile_columns
from reid_sql.commands.options import PASSED, number
from reid_sql.commands.starter import Starter, columns_of_diseases, source_of
from reid_sql.commands.tables import open_file
from reid_sql.errors import OutOfDomainError
from reid_sql.explore.exploration import explore
from reid_sql.explore.server import Server
from reid_sql.terminal import progress


def run_explore(options: argparse.Namespace) -> int:
    """Serve the page until the process is stopped."""
    mask = int(MASK.check("--mask", number("--mask", options.mask)))
    if options.file == "-":
        rule = "FILE must be a file, got standard input, which can be read once"
        raise OutOfDomainError(f"{rule}; write it to a file")
    con, table = open_file(options)
    rows = profile_columns(con, table, [])
    starter = Starter(rows, source_of(options), None, columns_of_diseases(con, table, rows))
    con.close()  # a database of DuckDB is opened once more
    with explore(starter, mask, options.memory_limit) as exploration, Server(exploration) as server:
        progress.end()
        print(f"{server.address}\nOpen this address in a browser. Ctrl-C stops it.", flush=True)  # noqa: T201
        server.serve_forever()
    return PASSED
