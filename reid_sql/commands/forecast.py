"""What becomes of the risk of a sample in larger populations."""

import argparse
from typing import TYPE_CHECKING, Any, Final

from reid_sql.commands.options import PASSED, answered, numbers, opened, print_json, source_options, whole

if TYPE_CHECKING:
    import duckdb

    from reid_sql.models.people.diagnostics import Check

WORDS: Final = "forecast the risk of a sample to larger populations"
DRAWN: Final = "drawn"  # name of the model whose fit is shown
POINTS: Final = 20  # of the curve that is drawn


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    source_options(parser)
    parser.add_argument(
        "--population",
        required=True,
        action="append",
        metavar="N[,N]",
        help="the sizes to forecast to, such as 67e6 or 67,000,000; given again, it adds",
    )
    parser.add_argument("--k", default="5", help="count people in classes smaller than this (default 5)")
    parser.add_argument("--nulls", default="value", help="NULL as a value (default), or drop such records")
    parser.add_argument(
        "--plot",
        metavar="FILE",
        help="draw the curve and the model's fit, with their bands, to a PNG or SVG file",
    )


def run_command(options: argparse.Namespace) -> int:
    """Show the forecast, and draw it where asked."""
    from reid_sql import screen  # noqa: PLC0415 - help is shown without what counts
    from reid_sql.domains import NULLS  # noqa: PLC0415 - the same
    from reid_sql.models.people.people_fit import once  # noqa: PLC0415 - the same
    from reid_sql.models.pyc.pitman_yor import CLASS_SIZE  # noqa: PLC0415 - the same
    from reid_sql.plot.file import check_plot_file, save  # noqa: PLC0415 - the same
    from reid_sql.plot.pages import forecast_page  # noqa: PLC0415 - the same
    from reid_sql.runner import run  # noqa: PLC0415 - the same

    populations = numbers("--population", options.population)
    k = whole("k", options.k, CLASS_SIZE)
    nulls = f"nulls := '{NULLS.check('nulls', options.nulls)}'"
    if options.plot:
        check_plot_file(options.plot)
    con, given = opened(options)
    forecast = f"FROM pyc_forecast(?, ?, ?, k := {k}, {nulls})"
    older = run(con, forecast, [*given, populations], "forecast").records()
    path: list[float] = []
    if options.plot:
        measured = run(con, f"FROM correctness_curve(?, ?, {nulls})", given, "curve").records()
        path = _path(measured[-1]["n"], max(populations))
    with once():  # one model for the figures and for what is drawn of its fit
        answer, k = answered(con, given, [*populations, *path], options.k, options.nulls)
        checks = checks_of(con, given, nulls) if options.plot else []
    found, drawn = answer[: len(populations)], answer[len(populations) :]
    if options.plot:
        before = run(con, forecast, [*given, path], "forecast").records()
        save(forecast_page(measured, drawn, before, checks), f"By {', '.join(given[1])}", options.plot)
    if options.json:
        print_json([row | {"pyc_forecast": other} for row, other in zip(found, older, strict=True)])
    else:
        screen.console().print(screen.forecast_page(found, older, k))
    return PASSED


def checks_of(con: "duckdb.DuckDBPyConnection", given: list[Any], nulls: str) -> "list[Check]":
    """What the model of people expects of the table's own class sizes, and what they are."""
    from reid_sql import registry  # noqa: PLC0415 - help is shown without what counts
    from reid_sql.models.people.diagnostics import predictive_checks  # noqa: PLC0415 - the same
    from reid_sql.models.people.people_model import PeopleModel  # noqa: PLC0415 - the same
    from reid_sql.runner import run  # noqa: PLC0415 - the same

    run(con, f"FROM fit_people('{DRAWN}', ?, ?, {nulls})", given, "the model")
    database = run(con, "SELECT reid_database()").rows[0][0]
    with registry.within(database):
        model = registry.known(DRAWN)
    return predictive_checks(model) if isinstance(model, PeopleModel) else []


def _path(first: float, last: float) -> list[float]:
    """Sizes of the population from one to another, evenly on a logarithmic axis."""
    return [first * (last / first) ** (step / POINTS) for step in range(POINTS)] + [last]
