"""What the pictures show, held against the numbers that they are drawn from."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

import reid_sql
from reid_sql import plot
from reid_sql.charts import column_charts
from reid_sql.charts.estimate_charts import RISKS, model_check
from reid_sql.charts.figure import check_plot_file, save
from reid_sql.charts.risk_charts import Range, class_sizes_chart, forecast
from reid_sql.charts.spec import MAX_NAME_LENGTH, Band, Bars, Line
from reid_sql.commands.measure import checks_of
from reid_sql.commands.tables import FileTable
from reid_sql.errors import NoRecordsError, OutOfDomainError, UnknownNameError, WrongTypeError
from reid_sql.models.people.diagnostics import Check

PEOPLE = "reid_sql/demo/people.csv"
SOME = ["age", "sex", "postcode", "marital_status", "education", "occupation", "diagnosis"]
NO_CHECKS: Any = "x"
HOW = "p := 3, alpha := 0.1, tail := 0.5"


@pytest.fixture(scope="module")
def con() -> duckdb.DuckDBPyConnection:
    check_plot_file("picture.svg")
    made = duckdb.connect()
    reid_sql.register(made)
    made.execute(f"CREATE TABLE people AS FROM '{PEOPLE}'")
    return made


@pytest.fixture
def axes() -> Iterator[Any]:
    figure, made = plt.subplots()
    yield made
    plt.close(figure)


def first(figure: Figure) -> Any:
    """The only panel, or the first."""
    return figure.axes[0]


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
    con: duckdb.DuckDBPyConnection, axes: Any
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
    plot.choices(found, [risk], ax=axes)
    assert [list(line.get_xdata()) for line in axes.lines] == [extreme.across, threshold.across]


def test_what_records_add_is_drawn_as_a_falling_curve_of_every_record(
    con: duckdb.DuckDBPyConnection, axes: Any
) -> None:
    found = records(con, f"FROM qar_contributions(people, {SOME}, {HOW})")
    plot.contributions(found, ax=axes)
    line = axes.lines[1]
    assert line.get_xdata().tolist() == list(range(1, 3001))
    shown = line.get_ydata().tolist()
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
    con: duckdb.DuckDBPyConnection, axes: Any
) -> None:
    checks = checks_of(FileTable(con, "people", SOME[:3]), nulls="value")
    plot.model_check(checks, ax=axes)
    expected, observed = axes.lines
    assert [label.get_text() for label in axes.get_xticklabels()] == ["2", "3", "5", "10", "20"]
    sizes = Counter(con.execute(f"SELECT {', '.join(SOME[:3])} FROM people").fetchall())
    members = [
        sum(size for size in sizes.values() if size < below) / 3000 for below in (2, 3, 5, 10, 20)
    ]
    assert list(observed.get_ydata()) == pytest.approx(members)
    band = axes.collections[0].get_paths()[0].vertices
    for place, middle in enumerate(expected.get_ydata()):
        low, high = (end(y for x, y in band if x == place) for end in (min, max))
        assert 0 <= low <= middle <= high <= 1
        assert high > low or middle == 1
    fit = records(con, f"FROM fit_people('again', 'people', {SOME[:3]})")[0]["predictive_check"]
    ends = [
        (check.high - check.low) / 2 / 1.959964 for check in checks[:3]
    ]  # none is cut at 0 or 1
    away = [(members[j] - checks[j].expected) / ends[j] for j in range(3)]
    assert max(map(abs, away)) <= abs(fit) + 1e-6


def test_a_release_is_drawn_beside_its_original(con: duckdb.DuckDBPyConnection, axes: Any) -> None:
    con.execute("CREATE TABLE original AS SELECT row_number() OVER () AS id, * FROM people")
    con.execute("CREATE TABLE release AS SELECT id, age // 10 AS age, sex FROM original")
    asked = "(original, release, ['age', 'sex'], key := 'id')"
    figures = {row["measure"]: row for row in records(con, f"FROM compare{asked}")}
    plot.comparison(list(figures.values()), ax=axes)
    widths = [bar.get_width() for bar in axes.patches]
    sides = ("original", "released")
    assert widths == [figures[name][side] for side in sides for name in RISKS]
    assert all(bar.get_hatch() for bar in axes.patches[len(RISKS) :])
    alone = {name: row | {"released": None} for name, row in figures.items()}
    axes.clear()
    plot.comparison(list(alone.values()), ax=axes)
    assert len(axes.patches) == len(RISKS)
    axes.clear()
    plot.losses(records(con, f"FROM compare{asked[:-1]}, output := 'columns')"), ax=axes)
    assert axes.patches[0].get_width() > axes.patches[1].get_width() == 0.0
    unknown = records(con, "FROM compare(original, release, ['age', 'sex'], output := 'columns')")
    plot.losses(unknown, ax=axes)
    assert [text.get_text() for text in axes.texts[-2:]] == ["not known", "not known"]


def test_a_forecast_is_drawn_with_its_fit(tmp_path: Path) -> None:
    curve = [{"n": n, "correctness": 1 / n} for n in (1, 10)]
    ahead = [
        {"population": n, "correctness": 1 / n, "correctness_low": 0, "correctness_high": 0.1}
        for n in (10, 99)
    ]
    check = Check(below=2, observed=0.4, expected=0.3, deviation=0.1)
    file = tmp_path / "forecast.png"
    charts = forecast(ahead, measured=curve, beside={"older": ahead}, share="correctness")
    save([*charts, model_check([check])], "By age", str(file))
    assert file.read_bytes().startswith(b"\x89PNG")


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


def test_lines_of_removals_are_distinguished_without_colour(axes: Any) -> None:
    steps = [
        {"step": step, "risk": 0.5 - 0.1 * step, "bound": 0.5 - 0.2 * step} for step in range(3)
    ]
    steps[2] |= {"bound": 0.3}
    plot.elimination({str(order): steps for order in range(6)}, ax=axes)
    drawn = [line for line in axes.lines if not line.get_label().startswith("_")]
    looks = [
        (str(line._unscaled_dash_pattern), line.get_marker(), line.get_fillstyle())  # noqa: SLF001 - no other access
        for line in drawn
    ]
    assert len(set(looks)) == 7
    assert drawn[0].get_ydata() == pytest.approx([0, 0.2, 0.4])
    assert drawn[-1].get_ydata() == pytest.approx([0, 0.4, 0.4])


def test_class_sizes_are_drawn_as_shares_of_the_people(
    con: duckdb.DuckDBPyConnection, axes: Any
) -> None:
    plot.class_sizes(reid_sql.class_size_histogram(con, "people", ["age", "sex"]), below=7, ax=axes)
    people = Counter(con.execute("SELECT age, sex FROM people").fetchall())
    members = [
        sum(size for size in people.values() if low <= size <= high) / 3000
        for low, high in ((1, 1), (2, 2), (3, 4), (5, 6), (7, 9), (10, 19), (20, 49))
    ]
    assert [bar.get_width() for bar in axes.patches] == pytest.approx(members)
    assert [bool(bar.get_hatch()) for bar in axes.patches] == [True] * 4 + [False] * 3
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["alone", "2", "3 to 4", "5 to 6", "7 to 9", "10 to 19", "20 to 49"]


def test_a_forecast_has_its_band_on_a_logarithmic_axis(con: duckdb.DuckDBPyConnection) -> None:
    answer = reid_sql.pyc_forecast(con, "people", SOME[:3], [1e6, 1e4, 1e5])
    curve = reid_sql.correctness_curve(con, "people", SOME[:3])
    panels: list[Any] = plot.forecast(answer, measured=curve).axes
    rows = sorted(dict(zip(answer.columns, row, strict=True)).items() for row in answer.fetchall())
    reported = sorted((dict(row) for row in rows), key=lambda row: row["population"])
    for panel, share in zip(panels, ("correctness", "uniqueness", "k_violation"), strict=True):
        assert panel.get_xscale() == "log"
        line = next(line for line in panel.lines if line.get_label() == "forecast")
        assert line.get_xdata().tolist() == [1e4, 1e5, 1e6]
        assert line.get_ydata().tolist() == [row[share] for row in reported]
        corners = {
            tuple(corner) for corner in panel.collections[0].get_paths()[0].vertices.tolist()
        }
        ends = {
            (row["population"], row[f"{share}_{end}"])
            for row in reported
            for end in ("low", "high")
        }
        assert ends <= corners
    assert panels[0].lines[0].get_label() == "measured"
    assert "10,000" in [label.get_text() for label in panels[2].get_xticklabels()]


def test_every_line_of_a_forecast_is_within_its_picture() -> None:
    rows = [{"population": n, "correctness": 0.3, "status": "ok"} for n in (1e3, 1e4)]
    further = [{"population": n, "correctness": 0.6} for n in (1e2, 1e6)]
    axes = first(
        plot.forecast(rows, measured=[{"n": 500, "correctness": 0.9}], beside={"other": further})
    )
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    points = [
        point for line in axes.lines for point in line.get_xydata() if line.get_label() != "_child1"
    ]
    assert len(points) >= 5
    assert all(left < x < right and bottom <= y <= top for x, y in points)


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
    axes = first(plot.methods(rows))
    assert [line.get_xdata().tolist() for line in axes.lines] == [[0.2]]
    assert axes.collections[0].get_segments()[0][:, 0].tolist() == [0.1, 0.4]
    assert [text.get_text() for text in axes.texts] == ["no fit"]


def test_an_interval_that_missed_the_truth_is_distinguished_without_colour() -> None:
    one = {"method": "m", "fraction": 0.1, "figure": "uniqueness", "value": 0.2, "truth": 0.3}
    rows = [
        one | {"sample": 1, "low": 0.1, "high": 0.4},
        one | {"sample": 2, "low": 0.1, "high": 0.25},
    ]
    axes = first(plot.validation(rows))
    assert [bool(each.get_linestyle()[0][1]) for each in axes.collections] == [
        False,
        True,
    ]  # dashed
    assert [line.get_marker() for line in axes.lines[:2]] == ["o", "x"]


def test_the_forms_of_a_release_are_drawn_by_risk_and_loss() -> None:
    forms = [
        {"records_below_k": 0.2, "generalisation_loss": 0.1, "meets_class_sizes": False},
        {"records_below_k": 0.0, "generalisation_loss": 0.6, "meets_class_sizes": True},
    ]
    table = {"name": "people", "k": 5, "frontier": forms, "losses": {"entropy": 0.6}}
    axes = first(plot.frontier({"tables": [table]}))
    met, unmet, release = axes.lines
    assert axes.get_ylabel() == "people in classes smaller than 5"
    assert (met.get_xydata().tolist(), met.get_marker()) == ([[0.6, 0.0]], "o")
    assert (unmet.get_xydata().tolist(), unmet.get_marker()) == ([[0.1, 0.2]], "x")
    assert release.get_xdata() == [0.6, 0.6]


def test_every_frame_of_an_answer_draws_the_same(con: duckdb.DuckDBPyConnection) -> None:
    found = reid_sql.attribute_risk(con, "people", SOME[:3])
    frames = [found, found.pl(), found.pl().lazy(), found.df(), found.to_arrow_table()]
    drawn = [first(plot.attribute_risk(frame, most=4)) for frame in frames]
    shown = [[line.get_xdata().tolist() for line in axes.lines] for axes in drawn]
    assert shown == shown[:1] * len(frames)
    assert len(shown[0][0]) == 4
    assert (
        shown[0][0]
        == sorted((row["distinction"] for row in found.pl().to_dicts()), reverse=True)[:4]
    )


def test_a_picture_on_axes_of_the_reader_tells_of_itself_alone(
    con: duckdb.DuckDBPyConnection,
) -> None:
    page = Figure(layout="constrained")
    left, right = page.subplots(1, 2)
    plot.class_sizes(reid_sql.class_size_histogram(con, "people", SOME[:3]), ax=left)
    plot.attribute_risk(reid_sql.attribute_risk(con, "people", SOME[:3]), ax=right)
    reported = [text.get_text() for text in right.get_legend().get_texts()]
    assert reported == [
        "different combinations, as a share of the people",
        "pairs of people who differ",
    ]
    assert page.legends == []


def test_a_null_in_pandas_is_none(con: duckdb.DuckDBPyConnection) -> None:
    rows = con.sql(
        "SELECT 1 AS step, NULL::DOUBLE AS risk, 0.1 AS bound UNION ALL SELECT 0, 0.5, 0.5"
    ).df()
    assert first(plot.elimination(rows)).lines[1].get_xdata().tolist() == [0]


@pytest.mark.parametrize(
    ("draw", "kind", "message"),
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
            "the answer of qar_contributions(output := 'elimination'), got dict; pass",
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


def test_a_picture_is_drawn_on_axes_of_ones_own_and_opens_no_window(axes: Any) -> None:
    rows = [{"class_size": 1, "classes": 3, "records": 3}]
    assert plot.class_sizes(rows, ax=axes) is axes.get_figure()
    before = plt.get_fignums()
    figure = plot.class_sizes(rows)
    assert isinstance(figure, Figure)
    assert plt.get_fignums() == before


@pytest.mark.parametrize("fractions", [[0.1], [0.1, 0.05]])
def test_the_legend_of_a_validation_is_not_cut(fractions: list[float]) -> None:
    people = Path(reid_sql.demo.people())
    with duckdb.connect() as con:
        answer = reid_sql.validate_risk(
            con,
            str(people),
            ["age", "sex"],
            fractions=fractions,
            methods=["pitman", "pyc", "bound"],
            samples=2,
        )
        figure = plot.validation(answer)
    figure.canvas.draw()
    [legend] = figure.legends
    inside = figure.bbox.get_points()
    ends = legend.get_window_extent().get_points()
    assert (ends[0] >= inside[0]).all()
    assert (ends[1] <= inside[1]).all()
