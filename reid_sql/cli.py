"""The command `reid-sql`: loads what a command needs when needed, and answers Ctrl-C from the start."""

import os
import signal
import sys

TYPE_CHECKING = False  # as typing spells it, whose import would leave Ctrl-C without an answer for longer
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

PASSED = 0
REFUSED = 2
STOPPED = 130
TERMINATED = 143
LIGHT = {"reid_sql.commands.completion", "reid_sql.commands.functions"}  # commands that count nothing
ended: "list[int]" = []  # by what the process was asked to end, where it was not Ctrl-C
INTERRUPTED = "Query interrupted"  # what DuckDB makes of Ctrl-C in a query of the main thread


def main(arguments: "Sequence[str] | None" = None) -> int:
    """Run the command: 0 done, 1 a check failed, 2 refused or not judged, 130 by Ctrl-C, 143 by SIGTERM.

    A refusal is one sentence; 130 and 143 are the codes of what was stopped.
    """
    _take_sigterm()
    try:
        return _answered(arguments)
    except KeyboardInterrupt:
        _stop()
    except RuntimeError as error:
        if str(error) != INTERRUPTED:
            raise
        _stop()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return PASSED


def _answered(arguments: "Sequence[str] | None") -> int:
    """The exit code of the command, or the refusal in one sentence."""
    from reid_sql.commands.parser import parser  # noqa: PLC0415 - Ctrl-C while it loads is answered too
    from reid_sql.errors import ReidError  # noqa: PLC0415 - the same

    try:
        options = parser().parse_args(arguments)
        if options.run.__module__ not in LIGHT:
            _load()
        outcome = _watched(options)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except (ReidError, OSError, UnicodeError, ImportError, MemoryError) as error:
        return _refused(error)
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in {"duckdb", "_duckdb"}:
            raise
        return _refused(error)
    return outcome


def _load() -> None:
    """Load DuckDB while Ctrl-C ends the process at once: interrupted, its own code tells of it and aborts."""
    try:
        held = signal.signal(signal.SIGINT, lambda *_: _stop())
    except ValueError:  # only the main thread may take signals
        return
    try:
        import duckdb  # noqa: F401, PLC0415 - what is shown without counting does not load it
    finally:
        signal.signal(signal.SIGINT, held)


def _watched(options: "argparse.Namespace") -> int:
    """Run the command, and show from its first second on what it does, where a person watches."""
    from reid_sql import progress  # noqa: PLC0415 - Ctrl-C while it loads is answered too

    progress.ask(getattr(options, "progress", None))
    progress.begin("starting")
    try:
        return int(options.run(options))
    finally:
        progress.end()


def _refused(error: Exception) -> int:
    from reid_sql.runner import sentence  # noqa: PLC0415 - only a refusal needs it

    print(f"reid-sql: {sentence(error)}", file=sys.stderr)  # noqa: T201 - one line, never wrapped
    return REFUSED


def _take_sigterm() -> None:
    """Take SIGTERM for Ctrl-C, so that what was begun is taken away.

    A stream need not know every letter.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        signal.signal(signal.SIGTERM, _terminated)
    except ValueError:  # only the main thread may take signals
        return


def _terminated(number: int, frame: object) -> None:  # noqa: ARG001 - as signals are handed on
    ended.append(TERMINATED)
    raise KeyboardInterrupt


def _stop() -> None:
    """Leave at once: no endless query may hold the terminal, no second Ctrl-C show a traceback."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    print("reid-sql: stopped", file=sys.stderr, flush=True)  # noqa: T201 - the terminal is the reader
    sys.stdout.flush()
    os._exit(ended[0] if ended else STOPPED)


if __name__ == "__main__":
    sys.exit(main())
