"""A picture of risk against loss: of the forms that were counted, those that no other one betters in both."""

from collections.abc import Mapping
from typing import Any

from reid_sql.plot import BLUE, DARK


def draw_frontier(file: str, page: Mapping[str, Any]) -> None:
    """Draw, for each table, the share of records in too small classes against the loss of its forms."""
    from matplotlib import pyplot as plt  # noqa: PLC0415 - an optional extra

    tables = page["tables"]
    figure, panels = plt.subplots(
        1, len(tables), squeeze=False, figsize=(2 + 5 * len(tables), 4.5), layout="constrained"
    )
    for axes, table in zip(panels[0], tables, strict=True):
        _panel(axes, table)
    figure.suptitle(f"{page['policy']}: {page['verdict']}")
    figure.savefig(file, dpi=150)
    plt.close(figure)


def _panel(axes: Any, table: Mapping[str, Any]) -> None:  # noqa: ANN401 - matplotlib's
    for met, mark, colour in ((True, "o", BLUE), (False, "x", DARK)):
        rows = [row for row in table["frontier"] if row["meets_class_sizes"] is met]
        risk, loss = ([row[name] for row in rows] for name in ("records_below_k", "generalisation_loss"))
        words = "class sizes meet the policy" if met else "they do not"
        axes.plot(loss, risk, mark, color=colour, label=words, markersize=5)
    if table["losses"] is not None:
        axes.axvline(table["losses"]["entropy"], color=BLUE, linestyle="--", label="the release")
    axes.set(xlim=(0, 1), xlabel="loss by coarser values (non-uniform entropy)")
    axes.set(ylabel="share of records in classes below k", title=table["name"])
    axes.margins(y=0.1)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
