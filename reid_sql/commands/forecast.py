"""What becomes of the risk of a sample in larger populations."""

import argparse
from typing import TYPE_CHECKING, Any, Final

from reid_sql.commands.asked import Asked, asked
from reid_sql.commands.options import (
    OR_CONNECTION,
    PASSED,
    PEOPLE,
    numbers,
    print_answer,
    source_options,
    whole,
)

if TYPE_CHECKING:
    from reid_sql.models.people.diagnostics import Check

WORDS: Final = "forecast the risk of a sample to larger populations"
DRAWN: Final = "drawn"  # name of the model whose fit is shown
POINTS: Final = 20  # of the curve that is drawn


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    source_options(parser, words_of_file=OR_CONNECTION)
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
    from reid_sql import terminal  # noqa: PLC0415 - help is shown without what counts
    from reid_sql.charts.release_figures import check_plot_file  # noqa: PLC0415 - the same
    from reid_sql.models.pyc.pitman_yor import CLASS_SIZE  # noqa: PLC0415 - the same
    from reid_sql.parameters import NULLS  # noqa: PLC0415 - the same

    populations = numbers("--population", options.population)
    how: dict[str, Any] = {
        "k": whole("k", options.k, CLASS_SIZE),
        "nulls": NULLS.check("nulls", options.nulls),
    }
    if options.plot:
        check_plot_file(options.plot)
    with asked(options) as table:
        older = table.ask("pyc_forecast", populations, words="forecast", **how)
        if options.plot:
            found = _drawn(table, populations, options.plot, how)
        else:
            found = table.ask("population_risk", populations, words=PEOPLE, **how)
    page = [row | {"pyc_forecast": other} for row, other in zip(found, older, strict=True)]
    print_answer(options, page, found, lambda: terminal.forecast_page(found, older, how["k"]))
    return PASSED


def _drawn(table: Asked, populations: list[float], plot: str, how: dict[str, Any]) -> list[dict[str, Any]]:
    """The one answer in each population, with its curve and the fit of its model in a picture."""
    from reid_sql.charts.release_figures import forecast_page, save  # noqa: PLC0415 - an optional extra
    from reid_sql.models.people.people_fit import once  # noqa: PLC0415 - help is shown without what counts

    measured = table.ask("correctness_curve", words="curve", nulls=how["nulls"])
    path = _path(measured[-1]["n"], max(populations))
    with once():  # one model for the figures and for what is drawn of its fit
        answer = table.ask("population_risk", [*populations, *path], words=PEOPLE, **how)
        checks = checks_of(table, how["nulls"])
    before = table.ask("pyc_forecast", path, words="forecast", **how)
    drawn = forecast_page(measured, answer[len(populations) :], before, checks)
    save(drawn, f"By {', '.join(table.columns)}", plot)
    return answer[: len(populations)]


def checks_of(table: Asked, nulls: str) -> "list[Check]":
    """What the model of people expects of the table's own class sizes, and what they are."""
    from reid_sql.models.people.diagnostics import predictive_checks  # noqa: PLC0415 - help is shown without what counts
    from reid_sql.models.people.people_model import PeopleModel  # noqa: PLC0415 - the same

    model = table.fitted(DRAWN, nulls=nulls)
    return predictive_checks(model) if isinstance(model, PeopleModel) else []


def _path(first: float, last: float) -> list[float]:
    """Sizes of the population from one to another, evenly on a logarithmic axis."""
    return [first * (last / first) ** (step / POINTS) for step in range(POINTS)] + [last]
