"""SVG has every mark and every word of every chart, within the sheet."""

import re
from collections import Counter
from xml.etree import ElementTree as ET

import pytest

from reid_sql import plot
from reid_sql.charts import column_charts, estimate_charts, risk_charts
from reid_sql.charts.spec import (
    Axis,
    Band,
    Bars,
    Cells,
    Chart,
    Line,
    Marker,
    Rule,
    Scale,
    Strokes,
    Style,
)
from reid_sql.charts.svg import read_styles, svg
from reid_sql.models.people.diagnostics import Check
from tests.cells import each_cell

SET = {"columns": ["age", "sex"], "size": 2, "share_unique": 0.3, "unique_records": 3, "classes": 7}
STEPS = [{"step": step, "risk": 0.5 - 0.1 * step, "bound": 0.5 - 0.12 * step} for step in range(4)]
SHARES = [
    {"population": 10.0**n, "correctness": 1 / n, "correctness_low": 0.1, "correctness_high": 0.9}
    for n in (2, 4)
]
ESTIMATE = {
    "method": "m",
    "fraction": 0.1,
    "figure": "uniqueness",
    "value": 0.2,
    "truth": 0.3,
    "low": 0.1,
}
REPORT = {"name": "town", "records": 9, "records_dropped": 0, "classes": 3}
LEFT_OUT = [{"column": name, "without": {"average_risk": 0.2, "k": 2}} for name in ("age", "sex")]
FORMS = [
    {"records_below_k": 0.3 * met, "generalisation_loss": 0.5, "meets_class_sizes": not met}
    for met in (0, 1)
]
ATTACK = {
    "attack": "linkability",
    "column_name": None,
    "figure": "share",
    "excess": 0.1,
    "high": 0.4,
}
CELL = {"cell": "", "kind": "suppressed", "low": 2, "finding": "recovered"}
CHARTS: dict[str, Chart | list[Chart]] = {
    "class_sizes": risk_charts.class_sizes(
        [{"class_size": size, "classes": 2, "records": 2 * size} for size in (1, 3, 30)]
    ),
    "quasi_identifiers": risk_charts.quasi_identifiers(REPORT | {"columns": LEFT_OUT}),
    "frontier": risk_charts.frontier(
        {"name": "town", "k": 5, "losses": {"entropy": 0.5}, "frontier": FORMS}
    ),
    "forecast": risk_charts.forecast(
        SHARES, measured=[{"n": 5, "correctness": 0.9}, {"n": 50, "correctness": 0.8}], limit=0.05
    ),
    "attribute_risk": column_charts.attribute_risk(
        [{"columns": ["age"], "distinction": 0.1, "separation": 0.9}]
    ),
    "uniqueness_by_size": column_charts.uniqueness_by_size(
        [
            {"columns": list(names), "records": 10, "unique_records": len(names)}
            for names in ("a", "b", "ab")
        ]
    ),
    "minimal_sets": column_charts.minimal_sets([SET]),
    "choices": column_charts.choices(
        [{"risk": risk} for risk in (0.1, 0.2, 0.2)],
        [{"risk": 0.3, "risk_low": 0.2, "risk_high": 0.5, "threshold": 0.1}],
    ),
    "contributions": column_charts.contributions(
        [{"contribution": each} for each in (0.001, 0.0, -0.2)]
    ),
    "elimination": column_charts.elimination({"exact": STEPS, "greedy": STEPS}),
    "methods": estimate_charts.methods(
        [
            {"method": "a", "uniqueness": 0.2, "uniqueness_low": 0.1, "uniqueness_high": 0.4},
            {"method": "b", "uniqueness": None, "uniqueness_low": None, "status": "no fit"},
        ]
    ),
    "validation": estimate_charts.validation(
        [ESTIMATE | {"sample": n, "high": high} for n, high in ((1, 0.4), (2, 0.25))]
    ),
    "unicity": estimate_charts.unicity(
        {
            "day": [
                {"points": None, "uniqueness": 0.5, "uniqueness_low": 0.4, "uniqueness_high": 0.6}
            ],
            "week": [
                {"points": 2, "uniqueness": 0.3, "uniqueness_low": 0.3, "uniqueness_high": 0.3}
            ],
        }
    ),
    "model_check": estimate_charts.model_check(
        [Check(below=below, observed=0.4, expected=0.3, deviation=0.1) for below in (2, 3)]
    ),
    "comparison": estimate_charts.comparison(
        [{"measure": "uniqueness", "original": 0.4, "released": 0.1}]
    ),
    "losses": estimate_charts.losses(
        [
            {"column_name": "age", "information_loss": 0.5},
            {"column_name": "sex", "information_loss": None},
        ]
    ),
    "attacks": estimate_charts.attacks([ATTACK | {"low": 0.05}, ATTACK | {"low": -0.1}]),
    "audited_cells": estimate_charts.audited_cells(
        [
            CELL | {"categories": ["north", "F"], "high": 2, "width": 0},
            CELL
            | {
                "categories": ["south", "divorced"],
                "high": None,
                "width": None,
                "finding": "protected",
            },
        ]
    ),
}
ALL = [
    chart
    for charts in CHARTS.values()
    for chart in (charts if isinstance(charts, list) else [charts])
]


def words_of(chart: Chart) -> set[str]:
    """The words that a reader must find."""
    reported = {chart.across.words, chart.up.words, *chart.across.names, *chart.up.names}
    for mark in chart.marks:
        words = [mark.words] if isinstance(mark.words, str) else mark.words
        reported |= {*words, *(mark.behind if isinstance(mark, Bars) else ())}
    return reported - {""}


def count(chart: Chart, kind: type) -> int:
    return sum(isinstance(mark, kind) for mark in chart.marks)


def markers(chart: Chart) -> list[tuple[float, float]]:
    lines = [mark for mark in chart.marks if isinstance(mark, Line) and mark.marker]
    return [
        point
        for line in lines
        for point in list(zip(line.across, line.up, strict=True))[:: line.every]
    ]


def test_every_public_chart_is_drawn_here() -> None:
    assert sorted(CHARTS) == plot.__all__


@each_cell("chart", ALL)
def test_svg_draws_every_mark_and_word(chart: Chart) -> None:
    drawn = ET.fromstring(svg(chart))  # noqa: S314 - our own
    assert {each.text or "" for each in drawn.iter("text")} >= words_of(chart)
    tags = Counter(each.tag for each in drawn)
    signs = [each for each in drawn if each.get("class") in {marker.value for marker in Marker}]
    assert len(signs) == len(markers(chart))
    bars = [each for mark in chart.marks if isinstance(mark, Bars) for each in mark.places]
    cells = [each for mark in chart.marks if isinstance(mark, Cells) for each in mark.up]
    assert tags["rect"] == len(bars) + len(cells)
    assert tags["polygon"] == count(chart, Band)
    strokes = [each for mark in chart.marks if isinstance(mark, Strokes) for each in mark.ends]
    assert tags["line"] == len(strokes) + count(chart, Rule)
    assert tags["polyline"] == sum(
        isinstance(mark, Line) and mark.style is not None for mark in chart.marks
    )


@each_cell("chart", ALL)
def test_every_mark_lies_within_the_sheet(chart: Chart) -> None:
    drawn = ET.fromstring(svg(chart))  # noqa: S314 - our own
    width, height = map(float, drawn.get("viewBox", "").split()[2:])
    places = [(each.get("cx"), each.get("cy")) for each in drawn.iter("circle")]
    places += [(each.get("x"), each.get("y")) for each in drawn.iter("text")]
    for each in (*drawn.iter("polyline"), *drawn.iter("polygon")):
        places += [tuple(point.split(",")) for point in each.get("points", "").split()]  # type: ignore[misc]
    assert all(0 <= float(x or -1) <= width and 0 <= float(y or -1) <= height for x, y in places)


def test_a_symlog_axis_shows_small_and_large_values_in_order() -> None:
    """Positions by the definition: linear up to 0.1 %, then equal steps for equal ratios."""
    axis = Axis("fall", Scale.SYMLOG, -1.0, 0.001, linear=0.001)
    line = Line([1, 2, 3, 4, 5], [0.001, 0.0, -0.001, -0.01, -1.0], "", marker=Marker.DOT)
    chart = Chart("", Axis("people", Scale.COUNT, 0.5, 5.5), axis, [line])
    heights = [float(each.get("cy", "")) for each in ET.fromstring(svg(chart)).iter("circle")]  # noqa: S314
    unit = (heights[-1] - heights[0]) / 5  # 1 above 0, 1 below it, and three decades to 1
    assert [(each - heights[0]) / unit for each in heights] == pytest.approx(
        [0, 1, 2, 3, 5], abs=0.01
    )


def test_there_is_a_rule_for_each_style() -> None:
    styled = set(re.findall(r"\.([a-z]+)[^{};]*\{", read_styles()))
    assert {each.value for each in (*Style, *Marker)} <= styled


def test_an_axis_of_shares_ends_at_all_people() -> None:
    rows = [{"population": 10.0**n, "uniqueness": share} for n, share in ((2, 1.0), (4, 0.5))]
    (chart,) = risk_charts.forecast(rows)
    assert (chart.up.low, chart.up.high) == (0.0, 1.0)
