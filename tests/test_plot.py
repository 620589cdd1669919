"""What the pictures show, held against the numbers that they are drawn from."""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from matplotlib import pyplot as plt

import reid_sql
from reid_sql import plot
from reid_sql.commands.forecast import checks_of
from reid_sql.models.people.diagnostics import Check

PEOPLE = "reid_sql/demo/people.csv"
SOME = ["age", "sex", "postcode", "marital_status", "education", "occupation", "diagnosis"]
HOW = "p := 3, alpha := 0.1, tail := 0.5"


@pytest.fixture(scope="module")
def con() -> duckdb.DuckDBPyConnection:
    plot.check_plot_file("picture.svg")
    made = duckdb.connect()
    reid_sql.register(made)
    made.execute(f"CREATE TABLE people AS FROM '{PEOPLE}'")
    return made


@pytest.fixture
def axes() -> Iterator[Any]:
    figure, made = plt.subplots()
    yield made
    plt.close(figure)


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
    risks = [row["risk"] for row in records(con, f"FROM qar_quasi_identifiers(people, {SOME}, p := 3)")]
    risk = records(con, f"FROM qar_risk(people, {SOME}, {HOW})")[0]
    plot.choices_panel(axes, risks, risk)
    bars = [bar for bar in axes.patches if bar.get_label().startswith("_")]
    edges = [bar.get_x() for bar in bars] + [bars[-1].get_x() + bars[-1].get_width()]
    place = np.clip(np.digitize(counted(con), np.array(edges) - 1e-12) - 1, 0, len(bars) - 1)
    held = Counter(place.tolist())
    assert [bar.get_height() for bar in bars] == [held[j] for j in range(len(bars))]
    assert all(high > low for low, high in pairwise(edges))
    extreme, threshold = axes.lines
    assert extreme.get_xdata() == [risk["risk"]] * 2
    assert threshold.get_xdata() == [risk["threshold"]] * 2
    band = next(bar for bar in axes.patches if "interval" in bar.get_label())
    assert band.get_x() == risk["risk_low"]
    assert band.get_x() + band.get_width() == pytest.approx(risk["risk_high"])
    assert extreme.get_label() == "extreme risk: 56.1 %"


def test_what_records_add_is_drawn_as_a_falling_curve_of_every_record(
    con: duckdb.DuckDBPyConnection, axes: Any
) -> None:
    found = records(con, f"FROM qar_contributions(people, {SOME}, {HOW})")
    plot.contributions_panel(axes, [row["contribution"] for row in found])
    line = axes.lines[0]
    assert line.get_xdata().tolist() == list(range(1, 3001))
    shown = line.get_ydata().tolist()
    assert all(more >= less for more, less in pairwise(shown))
    first = max(found, key=lambda row: row["contribution"])["record"]
    con.execute("CREATE TEMP TABLE numbered AS SELECT row_number() OVER () - 1 AS place, * FROM people")
    con.execute(f"CREATE TEMP TABLE others AS FROM numbered WHERE place <> {first}")
    tables = ("people", "others")
    whole, without = (records(con, f"FROM qar_risk({table}, {SOME}, {HOW})")[0]["risk"] for table in tables)
    assert shown[0] == pytest.approx(whole - without, abs=1e-12)


def test_the_models_expectation_is_drawn_beside_the_tables_class_sizes(
    con: duckdb.DuckDBPyConnection, axes: Any
) -> None:
    checks = checks_of(con, ["people", SOME[:3]], "nulls := 'value'")
    plot.checks_panel(axes, checks)
    expected, observed = axes.lines
    assert [label.get_text() for label in axes.get_xticklabels()] == ["2", "3", "5", "10", "20"]
    sizes = Counter(con.execute(f"SELECT {', '.join(SOME[:3])} FROM people").fetchall())
    held = [sum(size for size in sizes.values() if size < below) / 3000 for below in (2, 3, 5, 10, 20)]
    assert list(observed.get_ydata()) == pytest.approx(held)
    band = axes.collections[0].get_paths()[0].vertices
    for place, middle in enumerate(expected.get_ydata()):
        low, high = (end(y for x, y in band if x == place) for end in (min, max))
        assert 0 <= low <= middle <= high <= 1
        assert high > low or middle == 1
    fit = records(con, f"FROM fit_people('again', 'people', {SOME[:3]})")[0]["predictive_check"]
    ends = [(check.high - check.low) / 2 / 1.959964 for check in checks[:3]]  # none is cut at 0 or 1
    away = [(held[j] - checks[j].expected) / ends[j] for j in range(3)]
    assert max(map(abs, away)) <= abs(fit) + 1e-6


def test_a_release_is_drawn_beside_its_original(con: duckdb.DuckDBPyConnection, axes: Any) -> None:
    con.execute("CREATE TABLE original AS SELECT row_number() OVER () AS id, * FROM people")
    con.execute("CREATE TABLE release AS SELECT id, age // 10 AS age, sex FROM original")
    asked = "(original, release, ['age', 'sex'], key := 'id')"
    figures = {row["measure"]: row for row in records(con, f"FROM compare{asked}")}
    plot.risks_panel(axes, figures)
    widths = [bar.get_width() for bar in axes.patches]
    sides = ("original", "released")
    assert widths == [figures[name][side] for side in sides for name in plot.RISKS]
    assert all(bar.get_hatch() for bar in axes.patches[len(plot.RISKS) :])
    alone = {name: row | {"released": None} for name, row in figures.items()}
    axes.clear()
    plot.risks_panel(axes, alone)
    assert len(axes.patches) == len(plot.RISKS)
    axes.clear()
    plot.losses_panel(axes, records(con, f"FROM compare_columns{asked}"))
    assert axes.patches[0].get_width() > axes.patches[1].get_width() == 0.0
    unknown = records(con, "FROM compare_columns(original, release, ['age', 'sex'])")
    plot.losses_panel(axes, unknown)
    assert [text.get_text() for text in axes.texts[-2:]] == ["not known", "not known"]


def test_a_forecast_is_drawn_with_its_fit(tmp_path: Path) -> None:
    curve = [{"n": n, "correctness": 1 / n} for n in (1, 10)]
    ahead = [
        {"population": n, "correctness": 1 / n, "correctness_low": 0, "correctness_high": 0.1}
        for n in (10, 99)
    ]
    check = Check(below=2, observed=0.4, expected=0.3, deviation=0.1)
    file = tmp_path / "forecast.png"
    plot.draw_forecast(str(file), curve, ahead, ahead, [check], title="By age")
    assert file.read_bytes().startswith(b"\x89PNG")


def test_a_risk_without_an_interval_or_contributions_is_drawn(tmp_path: Path) -> None:
    risk = {"risk": 0.5, "risk_low": None, "risk_high": None, "threshold": 0.2}
    steps = [{"step": step, "risk": 0.5 - 0.1 * step, "bound": 0.5 - 0.2 * step} for step in range(3)]
    file = tmp_path / "qar.svg"
    plot.draw_extreme_risk(str(file), [0.1, 0.2, 0.6], risk, [], {"exact": steps}, title="risk")
    assert "<svg" in file.read_text(encoding="utf-8")


def test_lines_of_removals_are_told_apart_without_colour(axes: Any) -> None:
    steps = [{"step": step, "risk": 0.5 - 0.1 * step, "bound": 0.5 - 0.2 * step} for step in range(3)]
    plot.removals_panel(axes, {str(order): steps for order in range(6)})
    drawn = [line for line in axes.lines if not line.get_label().startswith("_")]
    assert len({str(line._unscaled_dash_pattern) for line in drawn}) == 7  # noqa: SLF001 - told nowhere else
    assert drawn[0].get_ydata() == pytest.approx([0, 0.2, 0.4])
    assert drawn[-1].get_ydata() == pytest.approx([0, 0.4, 0.8])
