"""What the pictures show, held against the numbers that they are drawn from."""

import re
from base64 import b64decode
from collections import Counter
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import duckdb
import numpy as np
import pytest

import reid_sql
from reid_sql import plot
from reid_sql.charts import column_charts
from reid_sql.charts.estimate_charts import RISKS, model_check
from reid_sql.charts.risk_charts import Range, class_sizes_chart, forecast
from reid_sql.charts.spec import (
    MAX_NAME_LENGTH,
    Band,
    Bars,
    Line,
    Marker,
    Rule,
    Scale,
    Style,
    list_ticks,
)
from reid_sql.charts.svg import check_plot_file, draw, save
from reid_sql.commands.measure import checks_of
from reid_sql.commands.tables import FileTable
from reid_sql.errors import NoRecordsError, OutOfDomainError, UnknownNameError, WrongTypeError
from reid_sql.models.people.diagnostics import Check
from tests.cells import each_cell
from tests.charts.marks import bars_of, lines_of, strokes_of

PEOPLE = "reid_sql/demo/people.csv"
SOME = ["age", "sex", "postcode", "marital_status", "education", "occupation", "diagnosis"]
NO_CHECKS: Any = "x"
SVG = "{http://www.w3.org/2000/svg}"
CHART = class_sizes_chart([Range(1, 1, 40), Range(5, 9, 400)], 500, 5)
HOW = "p := 3, alpha := 0.1, tail := 0.5"


@pytest.fixture(scope="module")
def con() -> duckdb.DuckDBPyConnection:
    check_plot_file("picture.svg")
    made = duckdb.connect()
    reid_sql.register(made)
    made.execute(f"CREATE TABLE people AS FROM '{PEOPLE}'")
    return made


def records(con: duckdb.DuckDBPyConnection, sql: str) -> list[dict[str, Any]]:
    found = con.execute(sql)
    names = [column[0] for column in found.description or []]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def counted(con: duckdb.DuckDBPyConnection) -> list[float]:
    """The risk of each choice of three columns by counting, one choice after the other."""
    rows = con.execute(f"SELECT {', '.join(SOME)} FROM people").fetchall()
    choices = combinations(range(len(SOME)), 3)
    return [len({tuple(row[j] for j in choice) for row in rows}) / len(rows) for choice in choices]


def test_the_risk_over_choices_is_drawn_with_the_extreme_marked(
    con: duckdb.DuckDBPyConnection,
) -> None:
    found = records(con, f"FROM qar_risk(people, {SOME}, p := 3, output := 'quasi_identifiers')")
    risk = records(con, f"FROM qar_risk(people, {SOME}, {HOW})")[0]
    histogram, interval, extreme, threshold = column_charts.choices(found, [risk]).marks
    assert isinstance(histogram, Band)
    assert isinstance(interval, Band)
    assert isinstance(extreme, Line)
    assert isinstance(threshold, Line)
    edges = [*histogram.across[::2], histogram.across[-1]]
    heights = histogram.high[::2]
    assert histogram.high[1::2] == heights
    place = np.clip(np.digitize(counted(con), np.array(edges) - 1e-12) - 1, 0, len(heights) - 1)
    counts = Counter(place.tolist())
    assert heights == [counts[j] for j in range(len(heights))]
    assert all(high > low for low, high in pairwise(edges))
    assert extreme.across == [risk["risk"]] * 2
    assert threshold.across == [risk["threshold"]] * 2
    assert interval.across == [risk["risk_low"], risk["risk_high"]]
    assert extreme.words == "extreme risk: 56.1 %"


def test_what_records_add_is_drawn_as_a_falling_curve_of_every_record(
    con: duckdb.DuckDBPyConnection,
) -> None:
    found = records(con, f"FROM qar_risk(people, {SOME}, {HOW}, output := 'contributions')")
    [line] = lines_of(plot.contributions(found))
    assert list(line.across) == list(range(1, 3001))
    shown = list(line.up)
    assert all(more >= less for more, less in pairwise(shown))
    first = max(found, key=lambda row: row["contribution"])["record"]
    con.execute(
        "CREATE TEMP TABLE numbered AS SELECT row_number() OVER () - 1 AS place, * FROM people"
    )
    con.execute(f"CREATE TEMP TABLE others AS FROM numbered WHERE place <> {first}")
    tables = ("people", "others")
    whole, without = (
        records(con, f"FROM qar_risk({table}, {SOME}, {HOW})")[0]["risk"] for table in tables
    )
    assert shown[0] == pytest.approx(whole - without, abs=1e-12)


def test_the_models_expectation_is_drawn_beside_the_tables_class_sizes(
    con: duckdb.DuckDBPyConnection,
) -> None:
    checks = checks_of(FileTable(con, "people", SOME[:3]), nulls="value")
    picture = plot.model_check(checks)
    expected, observed = lines_of(picture)
    assert picture.charts[0].across.names == ["2", "3", "5", "10", "20"]
    sizes = Counter(con.execute(f"SELECT {', '.join(SOME[:3])} FROM people").fetchall())
    members = [
        sum(size for size in sizes.values() if size < below) / 3000 for below in (2, 3, 5, 10, 20)
    ]
    assert list(observed.up) == pytest.approx(members)
    [band] = [mark for mark in picture.charts[0].marks if isinstance(mark, Band)]
    for low, middle, high in zip(band.low, expected.up, band.high, strict=True):
        assert 0 <= low <= middle <= high <= 1
        assert high > low or middle == 1
    fit = records(con, f"FROM fit_people('again', 'people', {SOME[:3]})")[0]["predictive_check"]
    ends = [
        (check.high - check.low) / 2 / 1.959964 for check in checks[:3]
    ]  # none is cut at 0 or 1
    away = [(members[j] - checks[j].expected) / ends[j] for j in range(3)]
    assert max(map(abs, away)) <= abs(fit) + 1e-6


def test_a_release_is_drawn_beside_its_original(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("CREATE TABLE original AS SELECT row_number() OVER () AS id, * FROM people")
    con.execute("CREATE TABLE release AS SELECT id, age // 10 AS age, sex FROM original")
    asked = "(original, release, ['age', 'sex'], key := 'id')"
    figures = {row["measure"]: row for row in records(con, f"FROM compare{asked}")}
    original, released = bars_of(plot.comparison(list(figures.values())))
    assert original.lengths == [figures[name]["original"] for name in RISKS]
    assert released.lengths == [figures[name]["released"] for name in RISKS]
    assert (original.style, released.style) == (Style.PLAIN, Style.STRIPED)
    alone = [row | {"released": None} for row in figures.values()]
    assert sum(len(bars.lengths) for bars in bars_of(plot.comparison(alone))) == len(RISKS)
    [losses] = bars_of(plot.losses(records(con, f"FROM compare{asked[:-1]}, output := 'columns')")))
    age, sex = losses.lengths
    assert age is not None
    assert age > 0
    assert sex == 0
    unknown = records(con, "FROM compare(original, release, ['age', 'sex'], output := 'columns')")
    behind = [words for bars in bars_of(plot.losses(unknown)) for words in bars.behind]
    assert behind == ["not known", "not known"]


def test_a_forecast_is_drawn_with_its_fit(tmp_path: Path) -> None:
    curve = [{"n": n, "correctness": 1 / n} for n in (1, 10)]
    ahead = [
        {"population": n, "correctness": 1 / n, "correctness_low": 0, "correctness_high": 0.1}
        for n in (10, 99)
    ]
    check = Check(below=2, observed=0.4, expected=0.3, deviation=0.1)
    file = tmp_path / "forecast.svg"
    charts = forecast(ahead, measured=curve, beside={"older": ahead}, share="correctness")
    save([*charts, model_check([check])], "By age", str(file))
    words = [each.text for each in ET.parse(file).iter(SVG + "text")]  # noqa: S314 - our own
    assert words[0] == "By age"
    assert {"measured", "forecast", "older"} <= set(words)


def test_a_risk_without_an_interval_or_contributions_is_drawn(tmp_path: Path) -> None:
    risk = {"risk": 0.5, "risk_low": None, "risk_high": None, "threshold": 0.2}
    steps = [
        {"step": step, "risk": 0.5 - 0.1 * step, "bound": 0.5 - 0.2 * step} for step in range(3)
    ]
    file = tmp_path / "qar.svg"
    found = [{"risk": each} for each in (0.1, 0.2, 0.6)]
    charts = [column_charts.choices(found, [risk]), column_charts.elimination({"exact": steps})]
    save(charts, "risk", str(file))
    assert "<svg" in file.read_text(encoding="utf-8")


def test_lines_of_removals_are_distinguished_without_colour() -> None:
    steps = [
        {"step": step, "risk": 0.5 - 0.1 * step, "bound": 0.5 - 0.2 * step} for step in range(3)
    ]
    steps[2] |= {"bound": 0.3}
    drawn = lines_of(plot.elimination({str(order): steps for order in range(6)}))
    assert len({(line.style, line.marker) for line in drawn}) == len(drawn) == 7
    assert drawn[0].up == pytest.approx([0, 0.2, 0.4])
    assert drawn[-1].up == pytest.approx([0, 0.4, 0.4])


def test_class_sizes_are_drawn_as_shares_of_the_people(
    con: duckdb.DuckDBPyConnection,
) -> None:
    answer = reid_sql.class_size_histogram(con, "people", ["age", "sex"])
    picture = plot.class_sizes(answer, below=7)
    people = Counter(con.execute("SELECT age, sex FROM people").fetchall())
    members = [
        sum(size for size in people.values() if low <= size <= high) / 3000
        for low, high in ((1, 1), (2, 2), (3, 4), (5, 6), (7, 9), (10, 19), (20, 49))
    ]
    small, large = bars_of(picture)
    assert [*small.lengths, *large.lengths] == pytest.approx(members)
    assert (len(small.lengths), small.style) == (4, Style.HATCHED)
    assert (len(large.lengths), large.style) == (3, Style.PLAIN)
    names = ["alone", "2", "3 to 4", "5 to 6", "7 to 9", "10 to 19", "20 to 49"]
    assert picture.charts[0].up.names == names


def test_a_forecast_has_its_band_on_a_logarithmic_axis(con: duckdb.DuckDBPyConnection) -> None:
    answer = reid_sql.pyc_forecast(con, "people", SOME[:3], [1e6, 1e4, 1e5])
    curve = reid_sql.correctness_curve(con, "people", SOME[:3])
    picture = plot.forecast(answer, measured=curve)
    rows = sorted(dict(zip(answer.columns, row, strict=True)).items() for row in answer.fetchall())
    reported = sorted((dict(row) for row in rows), key=lambda row: row["population"])
    for chart, share in zip(
        picture.charts, ("correctness", "uniqueness", "k_violation"), strict=True
    ):
        assert chart.across.scale is Scale.PEOPLE
        [line] = [mark for mark in chart.marks if mark.words == "forecast"]
        assert isinstance(line, Line)
        assert line.across == [1e4, 1e5, 1e6]
        assert line.up == [row[share] for row in reported]
        [band] = [mark for mark in chart.marks if isinstance(mark, Band)]
        assert band.across == [1e4, 1e5, 1e6]
        assert band.low == [row[f"{share}_low"] for row in reported]
        assert band.high == [row[f"{share}_high"] for row in reported]
    assert "measured" in [line.words for line in lines_of(picture)]
    assert "10,000" in [words for _, words in list_ticks(picture.charts[2].across)]


def test_every_line_of_a_forecast_is_within_its_picture() -> None:
    rows = [{"population": n, "correctness": 0.3, "status": "ok"} for n in (1e3, 1e4)]
    further = [{"population": n, "correctness": 0.6} for n in (1e2, 1e6)]
    picture = plot.forecast(
        rows, measured=[{"n": 500, "correctness": 0.9}], beside={"other": further}
    )
    across, up = picture.charts[0].across, picture.charts[0].up
    points = [
        point for line in lines_of(picture) for point in zip(line.across, line.up, strict=True)
    ]
    assert len(points) >= 5
    assert all(across.low <= x <= across.high and up.low <= y <= up.high for x, y in points)


def test_a_range_that_begins_below_the_limit_and_ends_beyond_says_so() -> None:
    drawn = class_sizes_chart([Range(5, 9, 400), Range(10, 19, 600)], 1000, 7)
    assert [mark.words for mark in drawn.marks if isinstance(mark, Bars)] == [
        "in ranges that begin below 7",
        "in classes of 7 or more",
    ]
    assert all(len(mark.words) < MAX_NAME_LENGTH for mark in drawn.marks if isinstance(mark, Bars))


def test_estimates_by_method_are_drawn_and_what_is_not_available_says_why() -> None:
    rows = [
        {
            "method": "a",
            "uniqueness": 0.2,
            "uniqueness_low": 0.1,
            "uniqueness_high": 0.4,
            "status": "ok",
        },
        {
            "method": "b",
            "uniqueness": None,
            "uniqueness_low": None,
            "uniqueness_high": None,
            "status": "no fit",
        },
    ]
    picture = plot.methods(rows)
    assert [line.across for line in lines_of(picture)] == [[0.2]]
    assert [strokes.ends for strokes in strokes_of(picture)] == [[((0.1, 0), (0.4, 0))]]
    assert [bars.behind for bars in bars_of(picture)] == [["no fit"]]


def test_an_interval_that_missed_the_truth_is_distinguished_without_colour() -> None:
    one = {"method": "m", "fraction": 0.1, "figure": "uniqueness", "value": 0.2, "truth": 0.3}
    rows = [
        one | {"sample": 1, "low": 0.1, "high": 0.4},
        one | {"sample": 2, "low": 0.1, "high": 0.25},
    ]
    picture = plot.validation(rows)
    strokes = [each for each in strokes_of(picture) if each.ends]
    assert [each.style for each in strokes] == [Style.STROKE, Style.MISSED]
    assert [line.marker for line in lines_of(picture)[:2]] == [Marker.POINT, Marker.CROSS]


def test_the_forms_of_a_release_are_drawn_by_risk_and_loss() -> None:
    forms = [
        {"records_below_k": 0.2, "generalisation_loss": 0.1, "meets_class_sizes": False},
        {"records_below_k": 0.0, "generalisation_loss": 0.6, "meets_class_sizes": True},
    ]
    table = {"name": "people", "k": 5, "frontier": forms, "losses": {"entropy": 0.6}}
    [chart] = plot.frontier({"tables": [table]}).charts
    met, unmet = [mark for mark in chart.marks if isinstance(mark, Line)]
    [release] = [mark for mark in chart.marks if isinstance(mark, Rule)]
    assert chart.up.words == "people in classes smaller than 5"
    assert (met.across, met.up, met.marker) == ([0.6], [0.0], Marker.DOT)
    assert (unmet.across, unmet.up, unmet.marker) == ([0.1], [0.2], Marker.CROSS)
    assert (release.at, release.upright) == (0.6, True)


def test_every_frame_of_an_answer_draws_the_same(con: duckdb.DuckDBPyConnection) -> None:
    found = reid_sql.attribute_risk(con, "people", SOME[:3])
    frames = [found, found.pl(), found.pl().lazy(), found.df(), found.to_arrow_table()]
    drawn = [plot.attribute_risk(frame, most=4) for frame in frames]
    shown = [[list(line.across) for line in lines_of(picture)] for picture in drawn]
    assert shown == shown[:1] * len(frames)
    assert len(shown[0][0]) == 4
    assert (
        shown[0][0]
        == sorted((row["distinction"] for row in found.pl().to_dicts()), reverse=True)[:4]
    )


def test_a_null_in_pandas_is_none(con: duckdb.DuckDBPyConnection) -> None:
    rows = con.sql(
        "SELECT 1 AS step, NULL::DOUBLE AS risk, 0.1 AS bound UNION ALL SELECT 0, 0.5, 0.5"
    ).df()
    assert lines_of(plot.elimination(rows))[0].across == [0]


@each_cell(
    "draw, kind, message",
    [
        (
            lambda: plot.class_sizes([{"k": 1}]),
            OutOfDomainError,
            "the answer of class_size_histogram, got a table without 'class_size'; pass the answer of class_",
        ),
        (
            lambda: plot.attribute_risk(7),
            WrongTypeError,
            "must be given the answer of attribute_risk, got int; pass a relation of DuckDB or",
        ),
        (lambda: plot.methods([]), OutOfDomainError, "got a table without 'method'"),
        (
            lambda: plot.class_sizes(
                duckdb.sql("SELECT 1 AS class_size, 2 AS classes, 2 AS records WHERE false")
            ),
            NoRecordsError,
            "got no rows; ask class_size_histogram about a table with records",
        ),
        (
            lambda: plot.forecast([{"population": 9, "uniqueness": 0.1}] * 2),
            OutOfDomainError,
            "of one group, got population '9' more than once; keep the rows of one group first",
        ),
        (
            lambda: plot.forecast([{"population": 9, "uniqueness": 0.1}], share="uniquenes"),
            UnknownNameError,
            "share must be a share of the answer, got 'uniquenes'; did you mean 'uniqueness'?",
        ),
        (
            lambda: plot.forecast([{"population": 9, "uniqueness": 0.1}], limit=5),
            OutOfDomainError,
            "limit must be a share from 0 to 1, got 5; pass 0.05 for 5 %",
        ),
        (
            lambda: plot.forecast(
                [{"population": 9, "uniqueness": 0.1, "k_violation": 0.2}], limit=0.05
            ),
            OutOfDomainError,
            "limit must be of one share, got uniqueness, k_violation; pass share, such as 'uniqueness'",
        ),
        (
            lambda: plot.quasi_identifiers({"tables": []}),
            WrongTypeError,
            "what reid-sql check --json prints",
        ),
        (
            lambda: plot.quasi_identifiers(
                {"name": "a", "records": 9, "records_dropped": 0, "classes": 3, "columns": []}
            ),
            NoRecordsError,
            "must be given a table whose columns were left out one by one, got none; check two quasi-",
        ),
        (
            lambda: plot.elimination({}),
            WrongTypeError,
            "the answer of qar_risk(output := 'elimination'), got dict; pass",
        ),
        (
            lambda: plot.model_check(NO_CHECKS),
            WrongTypeError,
            "the checks of a model, got str; pass the result of reid_sql.models.people.diagnostics.predict",
        ),
        (
            lambda: plot.frontier({"tables": []}),
            WrongTypeError,
            "what reid-sql prepare --json prints",
        ),
    ],
)
def test_what_is_no_answer_is_refused_in_a_sentence(
    draw: Any, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind) as refused:
        draw()
    assert message in str(refused.value)


def test_the_page_of_pictures_names_each() -> None:
    page = Path("docs/pictures.md").read_text(encoding="utf-8")
    named = [
        name
        for line in re.findall(r"^\| (`\w.*?) \|", page, re.MULTILINE)
        for name in line.split(", ")
    ]
    assert sorted(name.strip("`") for name in named) == plot.__all__


def test_a_picture_is_written_and_shown_with_every_word_and_no_name_of_a_colour(
    tmp_path: Path,
) -> None:
    long = (
        "A title of two lines, since it has more words than one line of a picture has room for. "
        * 2
    )
    picture = draw([CHART, CHART], f"{long}\nnot one row per person")
    picture.save(tmp_path / "picture.svg")
    text = (tmp_path / "picture.svg").read_text(encoding="utf-8")
    page = ET.fromstring(text)  # noqa: S314 - our own
    assert "var(" not in text
    titles = [each.text or "" for each in page.iter(SVG + "text") if each.get("class") == "title"]
    assert " ".join(titles) == f"{long}not one row per person {CHART.title} {CHART.title}"
    assert len(titles) > 4
    [data] = re.findall(r'src="data:image/svg\+xml;base64,([^"]*)"', picture._repr_html_())
    assert b64decode(data).decode("utf-8") == text
    assert repr(picture).startswith("Picture(title=")


def test_charts_of_a_picture_do_not_overlap() -> None:
    """By the places of its texts: each chart ends above where the next begins."""
    page = ET.fromstring(draw([CHART, CHART]).svg())  # noqa: S314 - our own
    tops = [
        float(re.findall(r"translate\(0 (.*)\)", each.get("transform", ""))[0])
        for each in page.findall(SVG + "g")
    ]
    ends = [
        top + max(float(each.get("y", "")) for each in group.iter(SVG + "text"))
        for top, group in zip(tops, page.findall(SVG + "g"), strict=True)
    ]
    titles = [float(each.get("y", "")) for each in page.findall(SVG + "text")]
    assert titles[0] < tops[0] < ends[0] < titles[1] - 12 < tops[1] < ends[1]
    assert ends[1] < float(page.get("height", ""))
