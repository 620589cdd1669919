"""Charts of sets of columns: which single people out, and the extreme risk over all choices of them."""

from collections import defaultdict
from collections.abc import Mapping
from statistics import fmean, median
from typing import Final

import numpy as np

from reid_sql.charts.spec import (
    LOOKS,
    Axis,
    Band,
    Bars,
    Chart,
    Line,
    Mark,
    Marker,
    Rule,
    Scale,
    Strokes,
    Style,
    count_axis,
    name_axis,
    points,
    read_frame,
    rows_of,
    share_axis,
    shorten_name,
)
from reid_sql.errors import NoRecordsError
from reid_sql.models.numerics.quantiles import percent
from reid_sql.parameters import Rows

DISTINCTION: Final = ("columns", "distinction", "separation")
ATTRIBUTE_RISK: Final = ("columns", "records", "unique_records")
PROFILE: Final = ("kind", "attributes", "uniqueness_xi")
MINIMAL_SETS: Final = ("columns", "size", "share_unique", "unique_records", "classes")
RISK_COLUMNS: Final = ("risk", "risk_low", "risk_high", "threshold")
BINS: Final = 40  # of the risk over choices
MIN_BINNED_RANGE: Final = 0.01
MIN_VISIBLE_FALL: Final = 1e-4  # a share that is there to be seen where nothing falls
MAX_LINEAR_RATIO: Final = 10  # of the least contribution to the greatest, on a linear axis
MARKERS_PER_LINE: Final = 6


def attribute_risk(answer: object, *, most: int = 20) -> Chart:
    """Draw how well each subset of the columns distinguishes people, the best first.

    Of the answer of `attribute_risk`, the `most` subsets with the highest distinction: a full mark at the
    share of distinct combinations, an open one at the share of pairs of people who differ.

    >>> rows = [{"columns": ["age"], "distinction": 0.1, "separation": 0.9, "status": "ok"}]
    >>> [points.across for points in attribute_risk(rows).marks[1:]]
    [[0.1], [0.9]]
    """
    rows = rows_of("attribute_risk", answer, "attribute_risk", DISTINCTION, "columns")
    measured = [row for row in rows if row["distinction"] is not None]
    shown = sorted(measured, key=lambda row: -row["distinction"])[:most]
    places = list(range(len(shown)))
    distinction, separation = ([row[name] or 0.0 for row in shown] for name in DISTINCTION[1:])
    ends = [((a, at), (b, at)) for a, b, at in zip(distinction, separation, places, strict=True)]
    combinations = "different combinations, as a share of the people"
    return Chart(
        "Which columns distinguish people",
        share_axis("share"),
        name_axis([", ".join(row["columns"]) for row in shown]),
        [
            Strokes(ends, "", Style.HERE),
            Line(distinction, places, combinations, marker=Marker.DOT),
            Line(separation, places, "pairs of people who differ", marker=Marker.OPEN),
        ],
    )


def uniqueness_by_size(answer: object) -> Chart:
    """Draw the share of unique people against the number of columns that an attacker knows.

    Of the answer of `attribute_risk`: for each number of columns the set that singles out most, the median
    set, and the set that singles out fewest. Of the answer of `uniqueness_profile`, or of those for several
    people one after the other, the same of the mean ξ: the chance to be unique in the population (figure 3b
    of Rocher, Hendrickx & de Montjoye 2019).

    >>> rows = [{"columns": [name], "records": 4, "unique_records": n} for name, n in (("a", 1), ("b", 3))]
    >>> [line.up for line in uniqueness_by_size(rows).marks[1:]]
    [[0.75], [0.5], [0.25]]
    """
    shares, words = _share_by_set(answer)
    by_size: dict[int, list[float]] = defaultdict(list)
    for columns, share in shares.items():
        by_size[len(columns)].append(share)
    sizes = sorted(by_size)
    highest, middle, lowest = (
        [pick(by_size[size]) for size in sizes] for pick in (max, median, min)
    )
    return Chart(
        "How many columns single people out",
        count_axis("known columns", sizes[0], sizes[-1]),
        share_axis(words),
        [
            Band(sizes, lowest, highest, ""),
            Line(sizes, highest, "most identifying set", Style.SOLID, Marker.DOT),
            Line(sizes, middle, "median set", Style.DASHED, Marker.CROSS),
            Line(sizes, lowest, "least identifying set", Style.DOTTED, Marker.OPEN),
        ],
    )


def _share_by_set(answer: object) -> tuple[dict[tuple[str, ...], float], str]:
    """The share of each set of columns, and what it is the share of."""
    names, read = read_frame("uniqueness_by_size", answer, "attribute_risk or uniqueness_profile")
    frame = read or answer  # a stream is read once
    if "uniqueness_xi" in names:
        rows = rows_of("uniqueness_by_size", frame, "uniqueness_profile", PROFILE)
        scores: dict[tuple[str, ...], list[float]] = defaultdict(list)
        for row in rows:
            if row["kind"] == "known" and row["uniqueness_xi"] is not None:
                scores[tuple(row["attributes"])].append(row["uniqueness_xi"])
        return {columns: fmean(values) for columns, values in scores.items()}, "mean ξ"
    rows = rows_of("uniqueness_by_size", frame, "attribute_risk", ATTRIBUTE_RISK, "columns")
    shares = {
        tuple(row["columns"]): row["unique_records"] / row["records"]
        for row in rows
        if row["records"]
    }
    return shares, "share of unique people"


def minimal_sets(answer: object, *, most: int = 20) -> Chart:
    """Draw the minimal sets of columns that single out a share of the people, the smallest first.

    Of the answer of `quasi_identifiers`: the `most` first sets, each with a bar of the people whom it
    singles out, their number, and the number of classes.

    >>> row = {"columns": ["age", "sex"], "size": 2, "share_unique": 0.25, "unique_records": 1, "classes": 3}
    >>> minimal_sets([row]).marks[0].behind
    ['1 (25.0 %), 3 classes']
    """
    answered = rows_of("minimal_sets", answer, "quasi_identifiers", MINIMAL_SETS)
    rows = [row for row in answered if row["columns"]]
    if not rows:
        raise NoRecordsError(
            "minimal_sets must be given an answer with a set of columns, got none that reaches the share; pass a smaller at_least to quasi_identifiers"
        )
    shown = rows[:most]
    shares = [row["share_unique"] for row in shown]
    labels = [
        f"{row['unique_records']:,} ({percent(row['share_unique'])}), {row['classes']:,} classes"
        for row in shown
    ]
    more = f" (the first {len(shown):,} of {len(rows):,})" if len(rows) > len(shown) else ""
    return Chart(
        f"Minimal sets of columns that single people out{more}",
        share_axis("share of unique people (behind the bar their number)", max(shares) or 1.0),
        name_axis([", ".join(row["columns"]) for row in shown], "columns"),
        [Bars(range(len(shown)), shares, labels, Style.HATCHED)],
    )


def choices(answer: object, risk: object) -> Chart:
    """Draw how many choices of columns have which risk, and the extreme risk with its interval.

    Of the answers of `qar_risk`, its `output := 'quasi_identifiers'` first.
    """
    risks = [
        row["risk"]
        for row in rows_of("choices", answer, "qar_risk(output := 'quasi_identifiers')", ("risk",))
    ]
    extreme = rows_of("choices", risk, "qar_risk", RISK_COLUMNS)[0]
    low = min(risks)
    counts, edges = np.histogram(risks, BINS, (low, max(*risks, low + MIN_BINNED_RANGE)))
    top = float(counts.max())
    steps = [float(edge) for edge in np.repeat(edges, 2)][1:-1]
    heights = [float(count) for count in np.repeat(counts, 2)]
    marks: list[Mark] = [Band(steps, [0.0] * len(steps), heights, "", Style.PLAIN)]
    if extreme["risk_low"] is not None:
        ends = [extreme["risk_low"], extreme["risk_high"]]
        marks.append(Band(ends, [0.0, 0.0], [top, top], "its 95 % interval"))
    for name, words, style in (
        ("risk", f"extreme risk: {100 * (extreme['risk'] or 0):.1f} %", Style.SOLID),
        ("threshold", "threshold of the fit", Style.DOTTED),
    ):
        if extreme[name] is not None:
            marks.append(Line([extreme[name]] * 2, [0.0, top], words, style))
    ends = [extreme[name] for name in RISK_COLUMNS if extreme[name] is not None]
    return Chart(
        "Risk of each choice of columns",
        share_axis("different combinations, as a share of the people", max(steps[-1], *ends, 0.0)),
        Axis("choices of columns", Scale.COUNT, 0.0, top),
        marks,
    )


def contributions(answer: object) -> Chart:
    """Draw by how much the extreme risk would fall without each record, those that add most first.

    Of the answer of `qar_risk(output := 'contributions')`.
    """
    rows = rows_of(
        "contributions", answer, "qar_risk(output := 'contributions')", ("contribution",)
    )
    ranked = sorted(
        (row["contribution"] for row in rows if row["contribution"] is not None), reverse=True
    )
    low, high = min([0.0, *ranked]), max([0.0, *ranked]) or MIN_VISIBLE_FALL
    is_steep = 0 < MAX_LINEAR_RATIO * high < -low and ranked[0] > 0
    # On a linear axis, the contributions above 0 would vanish.
    scale, linear = (Scale.SYMLOG, high) if is_steep else (Scale.SHARE, 1.0)
    line = Line(range(1, len(ranked) + 1), ranked, "", Style.SOLID)
    return Chart(
        "What each person adds to the extreme risk",
        count_axis("people, those who add most first", 1, max(1, len(ranked))),
        Axis("fall of the extreme risk without them", scale, low, high, linear=linear),
        [Rule(0.0, upright=False, style=Style.HERE), *([line] if ranked else [])],
        "" if ranked else str(rows[0].get("status")),
    )


def elimination(answer: object) -> Chart:
    """Draw the fall of the extreme risk by removals, under the largest fall that is possible.

    Of the answer of `qar_risk(output := 'elimination')`, or of several of them by the names of the
    orders that chose the records, a line each.
    """
    orders = answer if isinstance(answer, Mapping) and answer else {"removals": answer}
    paths: dict[str, Rows] = {}
    for by, each in orders.items():
        call, columns = "qar_risk(output := 'elimination')", ("step", "risk", "bound")
        rows = rows_of("elimination", each, call, columns, "step")
        paths[by] = sorted(rows, key=lambda row: int(row["step"]))
    marks: list[Mark] = [Rule(0.0, upright=False, style=Style.HERE)]
    shown: list[float] = []
    for (by, rows), (style, marker) in zip(paths.items(), LOOKS * len(paths), strict=False):
        removed, falls = _falls(rows, "risk")
        step = max(1, len(removed) // MARKERS_PER_LINE)
        marks.append(Line(removed, falls, shorten_name(by) or " ", style, marker, step))
        shown += falls
    low, most_of_all = min(shown, default=0.0), max(shown, default=0.0)
    high = min(1.0, most_of_all + 0.1 * (most_of_all - low) + MIN_VISIBLE_FALL)
    removed, bounds = _falls(max(paths.values(), key=len), "bound")
    bound = [each for each in zip(removed, bounds, strict=True) if each[1] <= high]
    if len(bound) > 1:
        steps, falls = map(list, zip(*bound, strict=True))
        marks.append(Line(steps, falls, "no removal does more", Style.HERE))
    words = "fall of the extreme risk, as a share of it"
    return Chart(
        "Effect of removing people, by the order that chooses them",
        count_axis("people removed", 0, max(int(rows[-1]["step"]) for rows in paths.values())),
        share_axis(words, high, low - 0.1 * (high - low)),
        marks,
    )


def _falls(rows: Rows, column: str) -> tuple[list[int], list[float]]:
    """Steps with a figure, and the fall from the risk of the whole table to it."""
    steps, risks = points(rows, "step", column)
    return [int(step) for step in steps], [1 - risk / rows[0]["risk"] for risk in risks]
