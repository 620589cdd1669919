"""Which method errs least on a file, by samples of it."""

import argparse
from typing import TYPE_CHECKING, Final

from reid_sql.commands.options import PASSED, listed, numbers, opened, print_answer, source_options, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDS: Final = "hold every method against a file whose truth is counted, by samples of it"


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    source_options(parser)
    parser.add_argument(
        "--fraction",
        action="append",
        metavar="F[,F]",
        help="the shares of the records that samples hold (default 0.1,0.01); given again, it adds",
    )
    parser.add_argument("--samples", default="5", help="how many samples of each (default 5)")
    parser.add_argument(
        "--methods", metavar="A,B", help="the methods, as in population_uniqueness (default all)"
    )
    parser.add_argument("--seed", default="0", help="for other samples (default 0)")
    parser.add_argument("--nulls", default="value", help="NULL as a value (default), or drop such records")
    parser.add_argument(
        "--plot", metavar="FILE", help="draw the estimates beside the truth to a PNG or SVG file"
    )


def run_command(options: argparse.Namespace) -> int:
    """Show the errors, and draw the estimates where asked."""
    from reid_sql import terminal  # noqa: PLC0415 - help is shown without what counts
    from reid_sql.charts.figures import validation  # noqa: PLC0415 - the same
    from reid_sql.charts.release_figures import check_plot_file, save  # noqa: PLC0415 - the same
    from reid_sql.runner import run  # noqa: PLC0415 - the same

    how = ", ".join(_given(options))
    if options.plot:
        check_plot_file(options.plot)
    con, given = opened(options)
    rows = run(con, f"FROM validate_risk(?, ?, {how})", given, "validation").records()
    if options.plot:
        save(validation(rows), f"Unique people by {', '.join(given[1])}", options.plot)
    print_answer(options, rows, rows, lambda: terminal.validation_page(rows))
    return PASSED


def _given(options: argparse.Namespace) -> "Iterator[str]":
    """The options of the function, as SQL."""
    from reid_sql.models.validation.backtest import REPEATS  # noqa: PLC0415 - the same
    from reid_sql.parameters import NULLS, SEED, sql_text  # noqa: PLC0415 - help is shown without what counts

    if options.fraction is not None:
        yield f"fractions := {numbers('--fraction', options.fraction)!r}"
    if options.methods is not None:
        named = ", ".join(sql_text(name) for name in listed("--methods", options.methods))
        yield f"methods := [{named}]"
    yield f"samples := {whole('samples', options.samples, REPEATS)}"
    yield f"seed := {whole('seed', options.seed, SEED)}"
    yield f"nulls := '{NULLS.check('nulls', options.nulls)}'"
