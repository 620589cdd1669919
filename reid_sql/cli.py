"""The command `reid-sql`: loads a command's module when it is chosen, and answers Ctrl-C from the start."""

import os
import signal
import sys

TYPE_CHECKING = False  # importing typing would leave Ctrl-C unanswered for longer
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

PASSED = 0
REFUSED = 2
STOPPED = 130
SIGNALED = 128  # and the number of the signal
INTERRUPTED = "Query interrupted"  # DuckDB's error for Ctrl-C in a query of the main thread
_exit_codes: "list[int]" = []  # of the signal that stopped the process, other than Ctrl-C


def main(arguments: "Sequence[str] | None" = None) -> int:
    """Run the command: 0 done, 1 a check failed, 2 refused or not judged, 128 and the number of a signal.

    A refusal is one sentence.
    """
    _prepare_streams()
    _handle_signals()
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        _stop()
    except RuntimeError as error:
        if str(error) != INTERRUPTED:
            raise
        _stop()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return PASSED


def _run(arguments: "Sequence[str] | None") -> int:
    """Return the command's exit code, or print the refusal in one sentence."""
    from reid_sql.commands.parser import parser  # noqa: PLC0415 - Ctrl-C is answered while it loads
    from reid_sql.errors import ReidError  # noqa: PLC0415 - the same
    from reid_sql.terminal.hints import use_options  # noqa: PLC0415 - the same

    use_options(None)
    try:
        words = sys.argv[1:] if arguments is None else arguments
        # `reid-sql` alone and `reid-sql help` print the help; `reid-sql help COMMAND` that of the command.
        if not words or words[0] == "help":
            words = [*words[1:2], "--help"]
        options = parser().parse_args(words)
        use_options(getattr(options, "parser", None))
        if options.command.duckdb:
            _load_duckdb()
        exit_code = _run_with_progress(options)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except (ReidError, OSError, UnicodeError, ImportError, MemoryError) as error:
        return _refuse(error)
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in {"duckdb", "_duckdb"}:
            raise
        return _refuse(error)
    return exit_code


def _load_duckdb() -> None:
    """Load DuckDB while Ctrl-C ends the process at once; interrupted, its own code would abort loudly."""
    try:
        handler = signal.signal(signal.SIGINT, lambda *_: _stop())
    except ValueError:  # only the main thread may handle signals
        return
    try:
        import duckdb  # noqa: F401, PLC0415 - help is shown without it
    finally:
        signal.signal(signal.SIGINT, handler)


def _run_with_progress(options: "argparse.Namespace") -> int:
    """Import the command's module and run it; show progress from the first second on a terminal."""
    from importlib import import_module  # noqa: PLC0415 - Ctrl-C is answered while it loads

    from reid_sql.terminal import progress  # noqa: PLC0415 - the same

    progress.configure(getattr(options, "progress", None))
    progress.begin("starting")
    try:
        if getattr(options, "plot", None):
            from reid_sql.charts.svg import check_plot_file  # noqa: PLC0415 - before anything is counted

            check_plot_file(options.plot)
        module, _, function = options.command.run.partition(":")
        command = getattr(import_module(f"reid_sql.commands.{module}"), function)
        if not options.command.duckdb:
            return int(command(options))
        from reid_sql.engines.counted_rows import report_people  # noqa: PLC0415 - it imports DuckDB's types
        from reid_sql.sources.notes import collect_notes  # noqa: PLC0415 - only these commands read files

        with report_people(), collect_notes():
            return int(command(options))
    finally:
        progress.end()


def _refuse(error: Exception) -> int:
    from reid_sql.terminal.hints import in_options  # noqa: PLC0415 - only a refusal needs it
    from reid_sql.terminal.runner import sentence  # noqa: PLC0415 - the same

    print(f"reid-sql: {in_options(sentence(error))}", file=sys.stderr)  # noqa: T201 - one line, never wrapped
    return REFUSED


def _prepare_streams() -> None:
    """Write characters that a stream cannot encode as escapes; one that the caller closed takes all."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123 - for the process
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _handle_signals() -> None:
    """Handle SIGTERM, and a terminal that is closed, like Ctrl-C, so that temporary files are removed."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is None or signal.getsignal(number) is signal.SIG_IGN:  # which nohup ignores
            continue
        try:
            signal.signal(number, _terminate)
        except ValueError:  # only the main thread may handle signals
            return


def _terminate(number: int, frame: object) -> None:  # noqa: ARG001 - as signals are passed
    _exit_codes.append(SIGNALED + number)
    raise KeyboardInterrupt


def _stop() -> None:
    """Exit at once: no endless query may block the terminal, no second Ctrl-C show a traceback."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if spill := sys.modules.get("reid_sql.sources.spill"):
        spill.remove_process_folder()
    from contextlib import suppress  # noqa: PLC0415 - as typing above

    with suppress(OSError):  # of a terminal that is closed
        print("reid-sql: stopped", file=sys.stderr, flush=True)  # noqa: T201
        sys.stdout.flush()
    os._exit(_exit_codes[0] if _exit_codes else STOPPED)


if __name__ == "__main__":
    sys.exit(main())
