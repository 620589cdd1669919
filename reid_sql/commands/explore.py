"""Open a page on this machine on which a person chooses, and sees the risk move."""

import re
import sys
from argparse import Namespace
from contextlib import ExitStack
from typing import Final

from reid_sql.check.policy import MASK
from reid_sql.commands.options import PASSED, number
from reid_sql.commands.output import print_answer
from reid_sql.commands.proposals import propose
from reid_sql.commands.starter import source_of
from reid_sql.commands.tables import open_file, open_warehouse
from reid_sql.errors import OutOfDomainError
from reid_sql.explore.exploration import explore
from reid_sql.explore.notebook import write_frame
from reid_sql.explore.server import Server
from reid_sql.parameters import quoted
from reid_sql.sources.remote import is_connection
from reid_sql.terminal import progress
from reid_sql.terminal.console import Text

COPIED: Final = "All rows of {} were copied to this machine, and are deleted when the page ends.\n"


def run_explore(options: Namespace) -> int:
    """Serve the page until the process is stopped."""
    mask = int(MASK.check("--mask", number("--mask", options.mask)))
    if options.file == "-":
        raise OutOfDomainError(
            "FILE must be a file, got standard input, which can be read once; write it to a file"
        )
    with ExitStack() as stack:
        name, copied = None, ""
        if is_connection(options.file):
            name, copied = options.table or "", COPIED.format(options.table)
            name = name if re.fullmatch(r"\w+(\.\w+)*", name) else quoted(name)
            options.file, options.table = _copy_table(options, stack), None
        con, table = open_file(options, keep=True)
        starter = propose(con, table, source_of(options))
        con.close()  # a database of DuckDB is opened once more
        exploration = stack.enter_context(
            explore(starter, mask, options.memory_limit, copied_from=name)
        )
        server = stack.enter_context(Server(exploration))
        progress.end()
        if options.format == "table":  # on one line, whatever its width, to be copied
            print(f"{copied}{server.address}\nOpen this address in a browser. Ctrl-C stops it.")  # noqa: T201
        else:
            page = {"address": server.address}
            print_answer(options, page, [page], lambda: Text(server.address))
        sys.stdout.flush()
        try:
            server.serve_forever()
        finally:
            exploration.interrupt()
    return PASSED


def _copy_table(options: Namespace, stack: ExitStack) -> str:
    """Write the table of a warehouse to a file that goes with the page: a release is made of all its rows."""
    with open_warehouse(options) as (_, table):
        from reid_sql.engines.ibis.frames import collected  # noqa: PLC0415 - Ibis is optional
        from reid_sql.sources.warehouse import run_query  # noqa: PLC0415

        rows = run_query(lambda: collected(table, "the table"))
        return write_frame(rows, re.sub(r"\W+", "_", options.table), stack)
