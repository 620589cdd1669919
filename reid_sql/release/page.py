"""The outcome of preparing as a dictionary: no record, no small count."""

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from reid_sql.check.figures import round_figures
from reid_sql.models.release.cells import Rescue, blanked, rescue
from reid_sql.models.release.loss import WORDS, Entropy, loss_of
from reid_sql.models.release.search import Found, gone
from reid_sql.release.targeted import told_of

if TYPE_CHECKING:
    from reid_sql.release.sought import Sought, TableForm

Page = dict[str, Any]
FORMAT: Final = "reid-sql release 1"
ENTROPY: Final = "entropy"
SUPPRESSION: Final = (
    *("suppressed_share", "suppressed_below", "suppressed_for"),
    *("blank_share", "blank_columns"),
)
DIGITS: Final = 4  # of a loss: an exact one would tell how few records were left out


def page(made: "Sought") -> Page:
    """Tell of the release of each table, and the gate's report on it."""
    told: Page = round_figures(
        {
            "format": FORMAT,
            "policy": made.policy.name,
            "policy_sha256": made.policy.sha256,
            "verdict": made.verdict,
            "exit_code": made.exit_code,
            "tables": [_table(made, table) for table in made.tables],
            "report": made.report,
        }
    )
    return told


def _table(made: "Sought", table: "TableForm") -> Page:
    best, below = table.result.best, made.policy.mask_below
    shipped = table.shipped(made.policy.preparing.keep)
    return {
        "name": table.table.name,
        "loss": table.loss,
        "optimal": table.proved and best is not None,
        "none_meets": table.proved and best is None,
        "least_possible_loss": _few(table.result.bound) if best else None,
        "forms": table.result.nodes,
        "forms_counted": len(table.result.counted),
        "seconds": round(table.seconds, 1),
        "measured_on_the_release": sorted(set(table.left_to_gate)),
        **(_suppression(table, best, below) if best else dict.fromkeys(SUPPRESSION)),
        "losses": _losses(table, best) if best else None,
        "target": told_of(table.target, table.lattice, best.node, _rescue(table, best)) if best else None,
        "columns": _columns(table),
        "columns_released": shipped if best else [],
        "columns_left_out": [name for name in table.kinds if name not in shipped],
        "frontier": frontier(table, below),
    }


def _few(loss: float) -> float:
    return float(f"{loss:.{DIGITS}g}")


def _share(records: int, table: "TableForm", below: int) -> float | None:
    """Give the share of records that are left out, or blank; None where they are few, but not none."""
    return None if 0 < records < below else records / table.records


def _rescue(table: "TableForm", best: Found) -> Rescue:
    """What is blank and what goes in the form; nothing is blank where the form has no stages."""
    found = table.lattice.folded(best.node)
    if table.form is not None and table.form.stages:
        return rescue(found, best.outcome.cut or 1)
    away = gone(table.rules, best.node, found, best.outcome)
    return Rescue((), np.zeros(found.codes.shape, dtype=np.bool_), away)


def _suppression(table: "TableForm", best: Found, below: int) -> Page:
    """Tell of the records that are left out, of those with blank values, and of which columns are blank."""
    found, made = table.lattice.folded(best.node), _rescue(table, best)
    form = table.form
    return {
        "suppressed_share": _share(int(found.counts[made.gone].sum()), table, below),
        "suppressed_below": None if form is None or form.cut <= 1 else form.cut,
        "blank_share": _share(int(found.counts[made.blank.any(axis=0)].sum()), table, below),
        "suppressed_for": [f"{rule.words} of {column}" for column, rule in form.rules] if form else [],
        "blank_columns": [list(stage) for stage in form.stages] if form else [],
    }


def _losses(table: "TableForm", best: Found) -> Page:
    found, made = table.lattice.folded(best.node), _rescue(table, best)
    after = blanked(found, made)
    none = np.zeros(len(after.counts), dtype=np.bool_)
    told = {
        word: loss_of(word, table.lattice).of(best.node, after, none) for word in WORDS if word != ENTROPY
    }
    entropy = Entropy(table.lattice)
    lost = entropy.of_cells(best.node, found, made.blank | made.gone)
    return {
        word: _few(each) for word, each in {ENTROPY: float(entropy.base[best.node]) + lost, **told}.items()
    }


def _columns(table: "TableForm") -> list[Page]:
    """Each column with its hierarchy, its level and what the level loses of the column's own bits."""
    bits = Entropy(table.lattice).columns
    node = table.form.node if table.form else (0,) * len(table.hierarchies)
    return [
        {
            "column": hierarchy.column,
            "level": level if table.form else None,
            "form": hierarchy.words(level) if table.form else None,
            "loss": _few(lost[level] / lost[-1]) if table.form and lost[-1] else None,
            "hierarchy": (names := [hierarchy.words(at) for at in range(hierarchy.levels)]),
            "ladder": names,  # the older name of the key
        }
        for hierarchy, level, lost in zip(table.hierarchies, node, bits, strict=True)
    ]


def frontier(table: "TableForm", below: int) -> list[Page]:
    """Of the forms that were counted, those of which no other has both a lower risk and a lower loss.

    The risk is the share of records in classes below k, before any is left out; a share of few records is
    told as that of as many as the mask hides.
    """
    entropy = Entropy(table.lattice)
    lost = [(found.below_k, float(entropy.base[found.node]), found) for found in table.result.counted]
    shown: list[Page] = []
    for risk, loss, found in sorted(lost, key=lambda each: each[:2]):
        told = max(risk, below / table.records) if risk else 0.0
        if not shown or (loss < shown[-1]["generalisation_loss"] and told > shown[-1]["records_below_k"]):
            shown.append(
                {
                    "levels": list(found.node),
                    "records_below_k": told,
                    "generalisation_loss": loss,
                    "meets_class_sizes": found.outcome.cut is not None,
                }
            )
    return [each | {"generalisation_loss": _few(each["generalisation_loss"])} for each in shown]
