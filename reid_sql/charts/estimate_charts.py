"""Charts of estimates by several methods, from samples or known rows, of releases and of published tables."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from reid_sql.charts.spec import (
    LOOKS,
    Band,
    Bars,
    Cells,
    Chart,
    Line,
    Mark,
    Marker,
    Rule,
    Strokes,
    Style,
    intervals,
    name_axis,
    rows_of,
    share_axis,
    shorten_name,
)
from reid_sql.errors import NoRecordsError, OutOfDomainError, WrongTypeError
from reid_sql.parameters import Row, Rows

if TYPE_CHECKING:
    from reid_sql.models.people.diagnostics import Check


METHOD_COLUMNS: Final = ("method", "uniqueness", "uniqueness_low", "uniqueness_high")
UNICITY_COLUMNS: Final = ("points", "uniqueness", "uniqueness_low", "uniqueness_high")
VALIDATION_COLUMNS: Final = (
    "method",
    "fraction",
    "sample",
    "figure",
    "value",
    "low",
    "high",
    "truth",
)
ONE_RESOLUTION: Final = "people whom their known rows single out"
SPREAD: Final = 0.6  # of the row of a method, over which its samples are spread


def methods(answer: object) -> Chart:
    """Draw each method's estimate of the share of a population that is unique.

    Of the answer of `population_uniqueness`: a mark with its 95 % interval, if the method has one. The lowest
    estimate is at the top, and methods without an estimate are at the bottom.

    >>> rows = [{"method": "pitman", "uniqueness": 0.2, "uniqueness_low": 0.1, "uniqueness_high": 0.4}]
    >>> methods(rows).marks[1].across
    [0.2]
    """
    rows = rows_of("methods", answer, "population_uniqueness", METHOD_COLUMNS, "method")
    rows = sorted(
        rows, key=lambda row: float("inf") if row["uniqueness"] is None else row["uniqueness"]
    )
    estimated = [row for row in rows if row["uniqueness"] is not None]
    missing = rows[len(estimated) :]
    places = range(len(estimated))
    strokes = intervals(estimated, places, *METHOD_COLUMNS[2:])
    estimates = [row["uniqueness"] for row in estimated]
    values = [*estimates, *(value for ends in strokes for value, _ in ends)]
    return Chart(
        "Unique in the population, by method",
        share_axis(
            "share of the population that is unique, with 95 % intervals",
            max(values, default=0.0) or 1.0,
            min([0.0, *values]),
        ),
        name_axis([row["method"] for row in rows]),
        [
            Strokes(strokes, ""),
            Line(estimates, list(places), "", marker=Marker.POINT),
            Bars(
                list(range(len(estimated), len(rows))),
                [0.0] * len(missing),
                [str(row["status"]) for row in missing],
                Style.PLAIN,
            ),
        ],
    )


def unicity(answers: object) -> Chart:
    """Draw how many people some of their rows single out, over how many rows an attacker knows.

    Of the answer of `unicity`, or of several by the name of their resolution, such as
    `{"place and day": …, "district and week": …}`: a line each. A stroke is the 95 % interval of a draw.

    >>> rows = [{"points": 2, "uniqueness": 0.5, "uniqueness_low": 0.5, "uniqueness_high": 0.5}]
    >>> unicity({"place and day": rows}).marks[1].up
    [0.5]
    """
    named = answers if isinstance(answers, Mapping) else {ONE_RESOLUTION: answers}
    lines = {
        str(name): rows_of("unicity", each, "unicity", UNICITY_COLUMNS)
        for name, each in named.items()
    }
    points = {row["points"] for rows in lines.values() for row in rows}
    order = sorted(points, key=lambda each: float("inf") if each is None else float(each))
    marks: list[Mark] = []
    for (name, rows), look in zip(lines.items(), LOOKS * len(lines), strict=False):
        across = [order.index(row["points"]) for row in rows]
        shares, low, high = ([row[column] for row in rows] for column in UNICITY_COLUMNS[1:])
        ends = [((at, a), (at, b)) for at, a, b in zip(across, low, high, strict=True)]
        marks.append(Strokes(ends, ""))
        marks.append(Line(across, shares, shorten_name(name) or " ", *look))
    names = ["all" if each is None else str(each) for each in order]
    return Chart(
        "People whom a few of their rows single out",
        name_axis(names, "rows of a person that the attacker knows"),
        share_axis("share of the people"),
        marks,
    )


def validation(answer: object) -> list[Chart]:
    """Draw each method's estimates from samples of a table, with intervals, and the counted truth.

    Of the answer of `validate_risk`, the share of unique people; one panel for each sample size. The method
    with the least error is at the top. An interval that missed the truth is dashed, and its estimate a cross.
    """
    rows = rows_of("validation", answer, "validate_risk", VALIDATION_COLUMNS)
    estimates = [row for row in rows if row["sample"] and row["figure"] == "uniqueness"]
    names = dict.fromkeys(row["method"] for row in rows)
    errors = {name: _mean_error(estimates, name) for name in names}
    methods = sorted(errors, key=errors.__getitem__)
    truth = next(row["truth"] for row in rows if row["truth"] is not None)
    shown = [row for row in estimates if row["value"] is not None]
    whole = Line([truth, truth], [-0.5, len(methods) - 0.5], "the truth", Style.SOLID)
    charts = []
    for fraction in sorted({row["fraction"] for row in rows}, reverse=True):
        of_fraction = [row for row in shown if row["fraction"] == fraction]
        charts.append(
            Chart(
                f"Samples of {100 * fraction:g} % of the table",
                share_axis("share of unique people"),
                name_axis(methods),
                [*_estimate_marks(of_fraction, methods), whole],
            )
        )
    return charts


def _mean_error(estimates: Rows, method: str) -> float:
    """Compute the mean absolute error of a method's estimates; infinite without an estimate."""
    errors = [
        abs(row["value"] - row["truth"])
        for row in estimates
        if row["method"] == method and row["value"] is not None
    ]
    return sum(errors) / len(errors) if errors else float("inf")


def _estimate_marks(rows: Rows, methods: Sequence[str]) -> list[Mark]:
    """Mark each estimate on the row of its method, the samples one below the other."""
    most = max((row["sample"] for row in rows), default=1)
    marks: list[Mark] = []
    for is_missed, interval, estimate, style, marker in (
        (False, "95 % interval that contains it", "estimate", Style.STROKE, Marker.POINT),
        (True, "95 % interval that missed it", "its estimate", Style.MISSED, Marker.CROSS),
    ):
        drawn = [row for row in rows if _is_missed(row) is is_missed]
        places = [
            methods.index(row["method"]) + SPREAD * (row["sample"] - (most + 1) / 2) / most
            for row in drawn
        ]
        if ends := intervals(drawn, places, "low", "high"):
            marks.append(Strokes(ends, interval, style))
        if drawn:
            values = [row["value"] for row in drawn]
            marks.append(Line(values, places, estimate, marker=marker))
    return marks


def _is_missed(row: Row) -> bool:
    has_interval = row["low"] is not None and row["high"] is not None
    return has_interval and not row["low"] <= row["truth"] <= row["high"]


def model_check(checks: "Sequence[Check]") -> Chart:
    """Draw the table's share of people in small classes on what the model expects of such a table.

    A posterior predictive check, by `reid_sql.models.people.diagnostics`. Source: Rocher, Hendrickx & de
    Montjoye 2025, figure 1.
    """
    if not isinstance(checks, Sequence) or not all(hasattr(each, "expected") for each in checks):
        raise WrongTypeError(
            f"model_check must be given the checks of a model, got {type(checks).__name__}; pass the result of reid_sql.models.people.diagnostics.predictive_checks"
        )
    places = range(len(checks))
    low, high = [check.low for check in checks], [check.high for check in checks]
    expected, observed = [check.expected for check in checks], [check.observed for check in checks]
    return Chart(
        "Does the model predict this table?",
        name_axis(
            [f"{check.below:,}" for check in checks], "in classes smaller than this many people"
        ),
        share_axis("share of the table's people"),
        [
            Band(places, low, high, "95 % of tables that the model makes"),
            Line(places, expected, "expected", Style.DASHED),
            Line(places, observed, "this table", marker=Marker.POINT),
        ],
    )


RISKS: Final = {
    "uniqueness": "alone in their class",
    "records_at_risk": "at risk above the threshold",
    "average_risk": "matched rightly by their values",
    "correct_links": "matched rightly by an attack",
    "certain_links": "and the attacker can be sure",
}
COMPARISON_COLUMNS: Final = ("measure", "original", "released")
SIDES: Final = (("original", 0.1, Style.PLAIN), ("released", 0.9, Style.STRIPED))  # in two rows
ATTACK_COLUMNS: Final = ("attack", "column_name", "figure", "excess", "low", "high")
# of each score of membership; its area is drawn, and the strongest of all
LEFT_OUT: Final = "true_positives"
AUDITED: Final = ("cell", "categories", "kind", "low", "high", "width", "finding")
WIDEST: Final = 10  # people; a wider interval has the same shade
PALEST: Final = 1.3 * WIDEST  # people; an interval as wide as this would be white
MAX_CELLS: Final = 40 * 60  # that can still be read


def comparison(answer: object) -> Chart:
    """Draw the risk of an original next to that of its release.

    Of the answer of `compare`, shares of the people; an unknown share has no bar.
    """
    rows = {
        row["measure"]: row
        for row in rows_of("comparison", answer, "compare", COMPARISON_COLUMNS, "measure")
    }
    names = [name for name in RISKS if name in rows]
    marks = []
    for side, shift, style in SIDES:
        shares = {
            2 * place + shift: share
            for place, name in enumerate(names)
            if (share := rows[name][side]) is not None
        }
        labels = [f"{100 * share:.3g} %" for share in shares.values()]
        marks.append(Bars([*shares], [*shares.values()], labels, style, side))
    return Chart(
        "Risk, and right links of an attack",
        share_axis("share of the people"),
        name_axis([words for name in names for words in (RISKS[name], "")]),
        marks,
    )


def losses(answer: object) -> Chart:
    """Draw the share of each column's information that a release loses, where it is known.

    Of the answer of `compare(output := 'columns')`.
    """
    rows = rows_of(
        "losses",
        answer,
        "compare(output := 'columns')",
        ("column_name", "information_loss"),
        "column_name",
    )
    shares = [row["information_loss"] for row in rows]
    labels = ["not known" if share is None else f"{100 * share:.3g} %" for share in shares]
    return Chart(
        "Information lost by column",
        share_axis("share of the column's information that is lost"),
        name_axis([row["column_name"] for row in rows]),
        [Bars(range(len(rows)), [share or 0.0 for share in shares], labels, Style.PLAIN)],
    )


def attacks(answer: object) -> Chart:
    """Draw the excess of each attack over people who were not used, in its 95 % interval.

    Of the answer of `audit_synthetic`. A full mark has an interval above 0: the synthetic table gives away
    its people. Of each membership score the area is drawn, less a half.

    >>> row = {"attack": "linkability", "column_name": None, "figure": "share"}
    >>> chart = attacks([row | {"excess": 0.1, "low": 0.05, "high": 0.15}])
    >>> chart.marks[0].ends
    [((0.05, 0), (0.15, 0))]
    """
    rows = rows_of("attacks", answer, "audit_synthetic", ATTACK_COLUMNS)
    shown = [
        row for row in rows if row["excess"] is not None and not row["figure"].startswith(LEFT_OUT)
    ]
    if not shown:
        raise OutOfDomainError(
            "attacks must be given the answer of audit_synthetic with a holdout, got one without any excess; "
            "pass holdout := people who were not used"
        )
    strokes = intervals(shown, range(len(shown)), "low", "high")
    marks = []
    for is_above, marker, words in (
        (True, Marker.DOT, "gives away its people: the interval is above 0"),
        (False, Marker.OPEN, "the interval contains 0 or is below 0"),
    ):
        places = [place for place, row in enumerate(shown) if (row["low"] > 0) is is_above]
        excess = [shown[place]["excess"] for place in places]
        marks.append(Line(excess, places, words, marker=marker))
    high, low = max(row["high"] for row in shown), min(row["low"] for row in shown)
    words = "excess over people who were not used, with its 95 % interval"
    return Chart(
        "What attacks learn of the people behind a synthetic table",
        share_axis(words, max(high, 0.0) or 1.0, min(low, 0.0)),
        name_axis(list(map(_attack_name, shown))),
        [
            Strokes(strokes, "", Style.SOLID),
            *marks,
            Rule(0.0, upright=True, style=Style.HERE),
        ],
    )


def _attack_name(row: Row) -> str:
    words = str(row["attack"]).replace("_", " ")
    if row["column_name"] is not None:
        words = f"{words}: {row['column_name']}"
    figure = str(row["figure"]).replace("_", " ")
    return words if figure.startswith("share") else f"{words} ({figure})"


def audited_cells(answer: object) -> Chart:
    """Draw the hidden cells of published tables, darker the narrower the interval that an attacker computes.

    Of the answer of `audit_tables` on tables of two columns, or of the first column by all others. A cell
    shows its interval; a cross marks one that is known exactly or known below k. Cells that are not hidden
    stay white.

    >>> row = {"cell": "a = x, b = y", "categories": ["x", "y"], "kind": "suppressed", "low": 2, "high": 2}
    >>> chart = audited_cells([row | {"width": 0, "finding": "recovered"}])
    >>> chart.marks[0].words
    ['2 ×']
    """
    answered = rows_of("audited_cells", answer, "audit_tables", AUDITED)
    rows = [row for row in answered if row["kind"] not in {"published", "sum", "column"}]
    if not rows:
        raise NoRecordsError(
            "audited_cells must be given an answer with a hidden cell, got none; there is nothing to draw"
        )
    places = list(map(_place_of, rows))
    lines, columns = (sorted({each[axis] for each in places}) for axis in (0, 1))
    if len(lines) * len(columns) > MAX_CELLS:
        raise OutOfDomainError(
            f"audited_cells must be given at most {MAX_CELLS} cells, got {len(lines) * len(columns)}; draw a part of the answer"
        )
    cells = Cells(
        [columns.index(column) for _, column in places],
        [lines.index(line) for line, _ in places],
        [_shade(row["width"]) for row in rows],
        list(map(_interval_label, rows)),
    )
    return Chart(
        "What an attacker computes of hidden cells",
        name_axis(columns),
        name_axis(lines),
        [cells],
    )


def _place_of(row: Row) -> tuple[str, str]:
    """The line and the column of a cell: its first category, and the others."""
    first, *rest = map(str, row["categories"])
    return first, ", ".join(rest)


def _shade(width: float | None) -> float:
    return 1 - (WIDEST if width is None else min(width, WIDEST)) / PALEST


def _interval_label(row: Row) -> str:
    """The interval of a cell, with a cross where it is revealed."""
    low, high = row["low"], row["high"]
    shown = f"≥ {low}" if high is None else str(low) if low == high else f"{low}–{high}"
    return shown if row["finding"] == "protected" else f"{shown} ×"
