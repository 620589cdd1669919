"""Open a page on this machine on which a person chooses, and sees the risk move."""

import argparse
import sys

from reid_sql.check.policy import MASK
from reid_sql.commands.options import PASSED, number
from reid_sql.commands.output import print_answer
from reid_sql.commands.proposals import propose
from reid_sql.commands.starter import source_of
from reid_sql.commands.tables import open_file
from reid_sql.errors import OutOfDomainError
from reid_sql.explore.exploration import explore
from reid_sql.explore.server import Server
from reid_sql.terminal import progress
from reid_sql.terminal.console import Text


def run_explore(options: argparse.Namespace) -> int:
    """Serve the page until the process is stopped."""
    mask = int(MASK.check("--mask", number("--mask", options.mask)))
    if options.file == "-":
        raise OutOfDomainError(
            "FILE must be a file, got standard input, which can be read once; write it to a file"
        )
    con, table = open_file(options, keep=True)
    starter = propose(con, table, source_of(options))
    con.close()  # a database of DuckDB is opened once more
    with explore(starter, mask, options.memory_limit) as exploration, Server(exploration) as server:
        progress.end()
        if options.format == "table":  # on one line, whatever its width, to be copied
            print(f"{server.address}\nOpen this address in a browser. Ctrl-C stops it.")  # noqa: T201
        else:
            page = {"address": server.address}
            print_answer(options, page, [page], lambda: Text(server.address))
        sys.stdout.flush()
        try:
            server.serve_forever()
        finally:
            exploration.interrupt()
    return PASSED
