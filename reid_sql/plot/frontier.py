"""Risk against loss: of the forms of a table that were counted, those that no other one betters in both."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from reid_sql.errors import WrongTypeError
from reid_sql.plot.answers import Row
from reid_sql.plot.style import BLUE, DARK, in_shares, opened, plain, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NEEDED: Final = {"name", "frontier", "losses"}


def frontier(page: object, *, ax: "Axes | None" = None) -> "Figure":
    """Draw risk against loss of the forms of a table that were counted to prepare its release.

    Of what `reid-sql prepare --json` prints: the page, a panel for each of its tables, or one of its tables.
    Each mark is a form that no other one betters in both.
    """
    tables = _tables(page)
    figure, panels = sheet(ax, (2 + 5 * len(tables), 4.5), len(tables))
    for axes, table in zip(panels, tables, strict=True):
        _forms(axes, table)
    return figure


def _tables(page: object) -> Sequence[Row]:
    found = page.get("tables", [page]) if isinstance(page, Mapping) else []
    if not found or not all(set(table) >= NEEDED for table in found):
        rule = f"frontier must be given what reid-sql prepare --json prints, got {type(page).__name__}"
        raise WrongTypeError(f"{rule} without tables that have forms; pass json.loads of it")
    return list(found)


def _forms(axes: "Axes", table: Row) -> None:
    for met, mark, colour in ((True, "o", BLUE), (False, "x", DARK)):
        rows = [row for row in table["frontier"] if row["meets_class_sizes"] is met]
        risk, loss = ([row[name] for row in rows] for name in ("records_below_k", "generalisation_loss"))
        words = "class sizes meet the policy" if met else "they do not"
        axes.plot(loss, risk, mark, color=colour, label=words, markersize=5)
    if table["losses"] is not None:
        axes.axvline(table["losses"]["entropy"], color=BLUE, linestyle="--", label="the release")
    axes.set(xlim=(0, 1), xlabel="information lost by coarser values")
    axes.set(ylabel="people in classes smaller than k")
    axes.margins(y=0.1)
    in_shares(axes, "x")
    in_shares(axes, "y")
    opened(axes, plain(table["name"]))
    axes.legend(frameon=False)
