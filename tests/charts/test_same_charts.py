"""Each picture of a report, and the chart that reid_sql.plot makes of the same: the same words and values.

What the report draws is read back from its lines, by the numbers that stand beside its axes.
"""

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import duckdb
import numpy as np
import pytest

import reid_sql
from reid_sql import plot
from reid_sql.charts.risk_charts import Range, class_sizes_chart
from reid_sql.charts.spec import Band, Bars, Chart, Line, Rule, Scale
from reid_sql.charts.svg import Picture, svg
from tests.check.towns import PEOPLE, town
from tests.processes import command

COLUMNS = ["age", "sex", "postcode"]
CHECKS = """
checks = [{ measure = "k", at_least = 5 }, { measure = "forecast_correctness", at_most = 0.05 }]
"""
NEAR = 1e-3  # of an axis: the tenth of a dot to which the report's lines are drawn
LARGE = {"million": 1e6, "billion": 1e9}


@dataclass(frozen=True)
class Shown:
    """What a picture tells: its words, the ends of bars from the top, points by line, and rules.

    Shares are themselves, people their logarithms.
    """

    words: list[str]
    bars: list[float]
    points: list[list[tuple[float, float]]]
    rules: list[float]


class Report:
    """A picture of the report."""

    def __init__(self, svg: str) -> None:
        self.drawn = ET.fromstring(svg)  # noqa: S314 - our own
        self.head, self.across, self.up = (self.group(kind) for kind in ("head", "across", "up"))
        self.x, self.y = scale(self.across, "x"), scale(self.up, "y")
        self.named = not any(words.endswith(" %") for words in texts(self.up))

    def group(self, kind: str) -> ET.Element:
        found = self.drawn.find(f"g[@class='{kind}']")
        assert found is not None
        return found

    def shown(self) -> Shown:
        names = texts(self.up) if self.named else []
        return Shown(
            sorted([*texts(self.head), texts(self.across)[0], *names, *texts(self.drawn, "text")]),
            [self.x(place(bar, "x") + place(bar, "width")) for bar in self.bars()],
            [[(self.x(a), self.y(b)) for a, b in line] for line in self.lines()],
            [self.rule(line) for line in self.drawn.findall("line")],
        )

    def bars(self) -> list[ET.Element]:
        return sorted(self.drawn.findall("rect"), key=lambda bar: place(bar, "y"))

    def lines(self) -> list[list[tuple[float, float]]]:
        dots = [(place(each, "cx"), place(each, "cy")) for each in self.drawn.findall("circle")]
        starts = (re.findall(r"[-\d.]+", each.get("d", "")) for each in self.drawn.findall("path"))
        crosses = (
            [] if self.named else [(float(start[0]) + 4, float(start[1]) + 4) for start in starts]
        )
        joined = [*self.drawn.findall("polyline"), *self.drawn.findall("polygon")]
        numbers = (re.findall(r"[-\d.]+", each.get("points", "")) for each in joined)
        lines = [
            list(zip(map(float, each[::2]), map(float, each[1::2]), strict=True))
            for each in numbers
        ]
        return [line for line in (*lines, dots, crosses) if line]

    def rule(self, line: ET.Element) -> float:
        return (
            self.x(place(line, "x1"))
            if line.get("x1") == line.get("x2")
            else self.y(place(line, "y1"))
        )


def texts(group: ET.Element, path: str = ".//text") -> list[str]:
    return [each.text or "" for each in group.findall(path)]


def place(element: ET.Element, name: str) -> float:
    return float(element.get(name, ""))


def scale(axis: ET.Element, way: str) -> Callable[[float], float]:
    """From places on the sheet to values, by the numbers beside the axis and where they stand."""
    found = [(place(each, way), number(each.text or "")) for each in axis.findall("text")]
    reported = [(at - (4 if way == "y" else 0), value) for at, value in found if value is not None]
    if len(reported) < 2:
        return lambda at: at
    slope, start = np.polyfit([at for at, _ in reported], [value for _, value in reported], 1)
    return lambda at: float(slope * at + start)


def number(words: str) -> float | None:
    """A share as it is, a number of people as its logarithm."""
    if words.endswith(" %"):
        return float(words[:-2]) / 100
    found = re.fullmatch(r"([\d,.]+)(?: (million|billion))?", words)
    return math.log10(float(found[1].replace(",", "")) * LARGE.get(found[2], 1)) if found else None


def of_chart(chart: Chart) -> Shown:
    """The same of the values that a chart is drawn from."""
    x: Callable[[float], float] = math.log10 if chart.across.scale is Scale.PEOPLE else float
    bars = [each for each in chart.marks if isinstance(each, Bars)]
    rules = [each for each in chart.marks if isinstance(each, Rule)]
    lines = [each for each in chart.marks if isinstance(each, Line) and each.across]
    bands = [each for each in chart.marks if isinstance(each, Band)]
    named = [each.words for each in chart.marks if isinstance(each.words, str)]
    behind = [words for each in bars for words in each.behind]
    ends = sorted(pair for each in bars for pair in zip(each.places, each.lengths, strict=True))
    marks = [list(zip(each.across, each.up, strict=True)) for each in lines]
    marks += [
        [*zip(each.across, each.low, strict=True), *zip(each.across, each.high, strict=True)]
        for each in bands
    ]
    titles = [chart.across.words, chart.up.words]
    return Shown(
        sorted([*titles, *filter(None, named), *chart.up.names, *behind]),
        [length or 0.0 for _, length in ends],
        [[(x(a), float(b)) for a, b in each] for each in marks],
        [x(each.at) if each.upright else each.at for each in rules],
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reports of a run that fails, and what prepare found for it."""
    made = tmp_path_factory.mktemp("same")
    policy = str(town(made, CHECKS))
    files = ("--html", str(made / "r.html"), "--json-report", str(made / "r.json"))
    assert command("check", policy, "--prepare", *files).returncode == 1
    (made / "p.json").write_text(command("prepare", policy, "--json").stdout, encoding="utf-8")
    return made


def frontier(folder: Path, _: duckdb.DuckDBPyConnection) -> Picture:
    return plot.frontier(json.loads((folder / "p.json").read_text(encoding="utf-8")))


def class_sizes(_: Path, con: duckdb.DuckDBPyConnection) -> Picture:
    return plot.class_sizes(reid_sql.class_size_histogram(con, str(PEOPLE), COLUMNS))


def quasi_identifiers(folder: Path, _: duckdb.DuckDBPyConnection) -> Picture:
    return plot.quasi_identifiers(json.loads((folder / "r.json").read_text(encoding="utf-8")))


def forecast(folder: Path, con: duckdb.DuckDBPyConnection) -> Picture:
    (table,) = json.loads((folder / "r.json").read_text(encoding="utf-8"))["tables"]
    sizes = [point["people"] for point in table["forecast"]["points"]]
    foretold = reid_sql.pyc_forecast(con, str(PEOPLE), COLUMNS, sizes)
    curve = reid_sql.correctness_curve(con, str(PEOPLE), COLUMNS)
    return plot.forecast(foretold, measured=curve, share="correctness", limit=0.05)


# As the report shows them, from its top.
PICTURES = [frontier, class_sizes, quasi_identifiers, forecast]
TITLE = re.compile(r'aria-label="(.*?), people"')


def pictures(folder: Path) -> list[str]:
    page = (folder / "r.html").read_text(encoding="utf-8")
    return re.findall(r"<svg.*?</svg>", page, re.DOTALL)


@pytest.mark.parametrize("draw", PICTURES)
@pytest.mark.first(cells=1)
def test_the_report_and_the_picture_tell_the_same(draw: Any, folder: Path) -> None:
    svg = pictures(folder)[PICTURES.index(draw)]
    [chart] = draw(folder, duckdb.connect()).charts
    reported, drawn = Report(svg).shown(), of_chart(chart)
    assert reported.words == drawn.words
    assert reported.bars == pytest.approx(drawn.bars, abs=NEAR)
    assert reported.rules == pytest.approx(drawn.rules, abs=NEAR)
    assert len(reported.points) == len(drawn.points)
    for ours, theirs in zip(reported.points, drawn.points, strict=True):
        assert_alike(ours, theirs)
        assert_alike(theirs, ours)
    assert reported.bars or reported.points
    title = TITLE.search(svg)
    assert title is not None
    assert title[1] == chart.title


def assert_alike(some: list[tuple[float, float]], others: list[tuple[float, float]]) -> None:
    """Each of the points is one of the others."""
    members = np.array(others)
    away = [float(np.abs(members - point).max(axis=1).min()) for point in some]
    assert max(away) < 2 * NEAR


def test_a_number_that_is_masked_has_a_bar_without_a_length() -> None:
    drawn = svg(class_sizes_chart([Range(1, 1, None), Range(2, 2, 40), Range(5, 9, 400)], 500, 5))
    reported = Report(drawn)
    assert [bar.get("class") for bar in reported.drawn.findall("rect")] == [
        "masked",
        "risky",
        "bar",
    ]
    assert reported.shown().bars[1:] == pytest.approx([0.08, 0.8], abs=NEAR)
    assert reported.shown().bars[0] < 0.03
    assert {"masked", "40 (8.0 %)", "400 (80.0 %)"} <= set(reported.shown().words)
