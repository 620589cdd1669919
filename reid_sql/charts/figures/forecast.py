"""What becomes of the risk in larger populations: shares over people, in their 95 % intervals."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, NoReturn

from reid_sql.charts.figures.answers import Row, rows_of
from reid_sql.charts.figures.drawn import drawn
from reid_sql.charts.figures.style import TICKS, sheet
from reid_sql.charts.forecast import SHARES
from reid_sql.charts.forecast import forecast as described
from reid_sql.errors import OutOfDomainError, UnknownNameError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HERE: Final = "forecast"
FUNCTIONS: Final = "population_risk, pyc_forecast, pyc_extrapolate or copula_forecast"
CROWDED: Final = 4  # numbers of people below each of several panels


def forecast(
    answer: object,
    *,
    measured: object = None,
    beside: Mapping[str, object] | None = None,
    share: str | None = None,
    limit: float | None = None,
    ax: "Axes | None" = None,
) -> "Figure":
    """Draw what is foretold of larger populations, in its 95 % interval.

    Of the answer of `population_risk`, `pyc_forecast`, `pyc_extrapolate` or `copula_forecast`: a panel for
    each share over the size of the population, on a logarithmic axis; with `share`, such as `'correctness'`,
    that one alone. `measured` is the answer of `correctness_curve`, a line up to the table; `beside` holds
    other forecasts by the names of their methods; `limit` is a share that must not be exceeded, a rule.

    >>> rows = [{"population": n, "uniqueness": 9 / n, "status": "ok"} for n in (10, 1000)]
    >>> forecast(rows).axes[0].lines[0].get_ydata().tolist()
    [0.9, 0.009]
    """
    rows = _foretold(answer)
    held = [name for name in SHARES if name in rows[0]]
    if share is not None and share not in held:
        _refuse(share, held)
    shown = [share] if share is not None else held[:1] if ax is not None else held
    if limit is not None:
        _check(limit, shown)
    curve = _measured(measured)
    others = {name: _foretold(other) for name, other in (beside or {}).items()}
    figure, panels = sheet(ax, (1.5 + 4.2 * len(shown), 4.2), len(shown))
    ticks = TICKS if len(shown) == 1 else CROWDED
    for axes, name in zip(panels, shown, strict=True):
        drawn(axes, described(name, rows, measured=curve, beside=others, limit=limit), ticks)
    return figure


def _foretold(answer: object) -> list[Row]:
    rows = rows_of(HERE, answer, FUNCTIONS, ("population",), "population")
    return sorted(rows, key=lambda row: float(row["population"]))


def _measured(curve: object) -> list[Row]:
    rows = [] if curve is None else rows_of(HERE, curve, "correctness_curve", ("n", "correctness"), "n")
    return sorted(rows, key=lambda row: float(row["n"]))


def _check(limit: float, shown: Sequence[str]) -> None:
    if not 0 <= limit <= 1:
        rule = f"limit must be a share from 0 to 1, got {limit!r}"
        raise OutOfDomainError(f"{rule}; pass 0.05 for 5 %")
    if len(shown) > 1:
        rule = f"limit must be of one share, got {', '.join(shown)}"
        raise OutOfDomainError(f"{rule}; pass share, such as '{shown[0]}'")


def _refuse(share: str, held: Sequence[str]) -> NoReturn:
    from reid_sql.suggestion import suggestion  # noqa: PLC0415 - loads DuckDB

    rule = f"share must be a share of the answer, got '{share}'"
    raise UnknownNameError(f"{rule}; {suggestion(share, held, 'shares')}")
