"""Charts of releases: next to their originals, synthetic tables under attack, and published tables."""

from typing import Final

from reid_sql.charts import spec
from reid_sql.charts.answers import Row, rows_of
from reid_sql.charts.spec import Marker, Style
from reid_sql.errors import NoRecordsError, OutOfDomainError

RISKS: Final = {
    "uniqueness": "alone in their class",
    "records_at_risk": "at risk above the threshold",
    "average_risk": "matched rightly by their values",
    "correct_links": "matched rightly by an attack",
    "certain_links": "and the attacker can be sure",
}
COMPARISON_COLUMNS: Final = ("measure", "original", "released")
SIDES: Final = (
    ("original", 0.1, Style.PLAIN),
    ("released", 0.9, Style.STRIPED),
)  # in two rows
ATTACK_COLUMNS: Final = ("attack", "column_name", "figure", "excess", "low", "high")
LEFT_OUT: Final = "true_positives"  # of each score of membership; its area is drawn, and the strongest of all
AUDITED: Final = ("cell", "categories", "kind", "low", "high", "width", "finding")
WIDEST: Final = 10  # people; a wider interval has the same shade
PALEST: Final = 1.3 * WIDEST  # people; an interval as wide as this would be white
MAX_CELLS: Final = 40 * 60  # that can still be read


def comparison(answer: object) -> spec.Chart:
    """Make two bars for each risk: of the original, and of the release below it."""
    rows = {
        row["measure"]: row for row in rows_of("comparison", answer, "compare", COMPARISON_COLUMNS, "measure")
    }
    names = [name for name in RISKS if name in rows]
    marks = []
    for side, shift, style in SIDES:
        known = {2 * place + shift: rows[name][side] for place, name in enumerate(names)}
        shares = {place: share for place, share in known.items() if share is not None}
        labels = [f"{100 * share:.3g} %" for share in shares.values()]
        marks.append(spec.Bars(list(shares), list(shares.values()), labels, style, side))
    return spec.Chart(
        "Risk, and right links of an attack",
        spec.share_axis("share of the people"),
        spec.name_axis([words for name in names for words in (RISKS[name], "")]),
        marks,
    )


def losses(answer: object) -> spec.Chart:
    """Make a bar of each column's lost information."""
    rows = rows_of("losses", answer, "compare_columns", ("column_name", "information_loss"), "column_name")
    shares = [row["information_loss"] for row in rows]
    labels = ["not known" if share is None else f"{100 * share:.3g} %" for share in shares]
    return spec.Chart(
        "Information lost by column",
        spec.share_axis("share of the column's information that is lost"),
        spec.name_axis([row["column_name"] for row in rows]),
        [spec.Bars(range(len(rows)), [share or 0.0 for share in shares], labels, Style.PLAIN)],
    )


def attacks(answer: object) -> spec.Chart:
    """Mark the excess of each attack in its interval: a full mark where the interval is above 0."""
    rows = rows_of("attacks", answer, "audit_synthetic", ATTACK_COLUMNS)
    shown = [row for row in rows if row["excess"] is not None and not row["figure"].startswith(LEFT_OUT)]
    if not shown:
        raise OutOfDomainError(
            "attacks must be given the answer of audit_synthetic with a holdout, got one without any excess; "
            "pass holdout := people who were not used"
        )
    intervals = [((row["low"], place), (row["high"], place)) for place, row in enumerate(shown)]
    marks = []
    for is_above, marker, words in (
        (True, Marker.DOT, "gives away its people: the interval is above 0"),
        (False, Marker.OPEN, "the interval contains 0 or is below 0"),
    ):
        some = [place for place, row in enumerate(shown) if (row["low"] > 0) is is_above]
        marks.append(spec.Line([shown[place]["excess"] for place in some], some, words, marker=marker))
    low, high = min(row["low"] for row in shown), max(row["high"] for row in shown)
    return spec.Chart(
        "What attacks learn of the people behind a synthetic table",
        spec.share_axis(
            "excess over people who were not used, with its 95 % interval",
            max(high, 0.0) or 1.0,
            min(low, 0.0),
        ),
        spec.name_axis([_attack_name(row) for row in shown]),
        [
            spec.Strokes(intervals, "", Style.SOLID),
            *marks,
            spec.Rule(0.0, upright=True, style=Style.HERE),
        ],
    )


def _attack_name(row: Row) -> str:
    words = str(row["attack"]).replace("_", " ")
    if row["column_name"] is not None:
        return f"{words}: {row['column_name']}"
    return words if row["figure"].startswith("share") else f"{words} ({row['figure']})".replace("_", " ")


def audited_cells(answer: object) -> spec.Chart:
    """Shade the hidden cells, darker the narrower their interval; a cross marks one that is revealed."""
    answered = rows_of("audited_cells", answer, "audit_tables", AUDITED)
    rows = [row for row in answered if row["kind"] != "published"]
    if not rows:
        rule = "audited_cells must be given an answer with a hidden cell, got none"
        raise NoRecordsError(f"{rule}; there is nothing to draw")
    places = [(str(row["categories"][0]), ", ".join(map(str, row["categories"][1:]))) for row in rows]
    lines, columns = (sorted({each[axis] for each in places}) for axis in (0, 1))
    if len(lines) * len(columns) > MAX_CELLS:
        rule = f"audited_cells must be given at most {MAX_CELLS} cells, got {len(lines) * len(columns)}"
        raise OutOfDomainError(f"{rule}; draw a part of the answer")
    widths = [WIDEST if row["width"] is None else min(row["width"], WIDEST) for row in rows]
    cells = spec.Cells(
        [columns.index(column) for _, column in places],
        [lines.index(line) for line, _ in places],
        [1 - width / PALEST for width in widths],
        [_interval_label(row) for row in rows],
    )
    return spec.Chart(
        "What an attacker computes of hidden cells", spec.name_axis(columns), spec.name_axis(lines), [cells]
    )


def _interval_label(row: Row) -> str:
    """The interval of a cell, with a cross where it is revealed."""
    low, high = row["low"], row["high"]
    shown = f"≥ {low}" if high is None else str(low) if low == high else f"{low}–{high}"
    return shown if row["finding"] == "protected" else f"{shown} ×"
