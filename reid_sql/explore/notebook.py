"""The page for a notebook: it is served by a thread, and goes on while other cells run."""

import atexit
import threading
from contextlib import ExitStack
from os import PathLike, fspath
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import pyarrow as pa

from reid_sql.check.policy import MASK
from reid_sql.commands.proposals import propose
from reid_sql.engines.counted_rows import report_people
from reid_sql.errors import OutOfDomainError
from reid_sql.explore.exploration import explore
from reid_sql.explore.server import Server
from reid_sql.sources.files import open_source


class Page:
    """A page that is served until it is stopped."""

    def __init__(self, data: Any, mask: int) -> None:  # noqa: ANN401 - a frame of any library
        """Open a file or a frame, and begin to serve; nothing stays open if that fails."""
        with ExitStack() as stack, report_people():
            name = None if isinstance(data, str | PathLike) else "frame"
            file = fspath(data) if name is None else write_frame(data, name, stack)
            con, table = open_source(file)
            with con:
                starter = propose(con, table, {"file": file})
            exploration = stack.enter_context(
                explore(starter, int(MASK.check("mask", mask)), copied_from=name)
            )
            server = stack.enter_context(Server(exploration))
            self.address = server.address
            threading.Thread(target=server.serve_forever, daemon=True).start()
            stack.callback(server.shutdown)
            stack.callback(exploration.interrupt)
            self._stack = stack.pop_all()
        atexit.register(self.stop)  # a page that nobody has a name for is served, too

    def stop(self) -> None:
        """End the page; twice is harmless."""
        atexit.unregister(self.stop)
        self._stack.close()

    def __repr__(self) -> str:
        """The address, as the command prints it."""
        return f"{self.address}\nOpen this address in a browser. stop() ends it."


def write_frame(data: Any, name: str, stack: ExitStack) -> str:  # noqa: ANN401 - a frame
    """Write a frame to a file that goes with the page, and give its path."""
    if not hasattr(data, "__arrow_c_stream__"):
        raise OutOfDomainError(
            f"data must be a file or a frame that Arrow reads, got {type(data).__name__}; "
            "collect it, or write it to a Parquet file"
        )
    file = Path(stack.enter_context(TemporaryDirectory())) / f"{name}.parquet"
    try:
        with duckdb.connect() as con:
            con.from_arrow(pa.RecordBatchReader.from_stream(data)).write_parquet(str(file))
    except (pa.ArrowException, duckdb.Error, ValueError, TypeError, OverflowError):
        # their words may have a value
        raise OutOfDomainError(
            f"data must have columns that Arrow reads, got others in a {type(data).__name__}; "
            "give each column a name of its own and values of one type, or write it to a Parquet file"
        ) from None
    return str(file)
