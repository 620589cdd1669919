"""Figures of sets of columns, against counting by the definition."""

import csv
from collections import Counter
from itertools import combinations
from pathlib import Path
from statistics import fmean, median
from xml.etree import ElementTree as ET

import duckdb
import polars as pl
import pytest

import reid_sql
import reid_sql.polars as rp
from reid_sql import plot
from reid_sql.charts import column_charts
from reid_sql.charts.spec import Bars
from reid_sql.errors import NoRecordsError, OutOfDomainError
from tests.charts.marks import lines_of

PEOPLE = Path(__file__).parents[2] / "reid_sql" / "demo" / "people.csv"
COLUMNS = ["age", "sex", "postcode", "education"]
ROWS = list(csv.DictReader(PEOPLE.read_text(encoding="utf-8").splitlines()))


def share_unique(names: tuple[str, ...]) -> float:
    held = Counter(tuple(row[name] for name in names) for row in ROWS)
    return sum(size == 1 for size in held.values()) / len(ROWS)


def test_the_best_median_and_worst_set_of_each_size_are_drawn() -> None:
    answer = rp.attribute_risk(pl.scan_csv(PEOPLE), COLUMNS, max_size=4)
    picture = plot.uniqueness_by_size(answer)
    shares = [
        [share_unique(names) for names in combinations(COLUMNS, size)] for size in range(1, 5)
    ]
    expected = [[max(each), median(each), min(each)] for each in shares]
    for line, heights in zip(lines_of(picture), zip(*expected, strict=True), strict=True):
        assert line.across == [1, 2, 3, 4]
        assert line.up == pytest.approx(heights)
    assert picture.charts[0].up.words == "share of unique people"
    assert lines_of(picture)[0].up == sorted(lines_of(picture)[0].up)


def test_the_mean_of_several_people_is_drawn_by_their_chance_to_be_unique() -> None:
    con = duckdb.connect()
    reid_sql.register(con)
    con.execute(f"CREATE TABLE people AS FROM read_csv('{PEOPLE}', all_varchar = true)")
    con.execute("FROM fit_copula('town', people, ['age', 'sex', 'postcode'])").fetchall()
    people = [[row[name] for name in COLUMNS[:3]] for row in ROWS[:4]]
    calls = [
        f"FROM uniqueness_profile('town', {values}, 100000, max_size := 3)" for values in people
    ]
    rows = [row for call in calls for row in con.sql(call).pl().to_dicts()]
    picture = plot.uniqueness_by_size(rows)
    known = [row for row in rows if row["kind"] == "known"]
    for size in (1, 2, 3):
        means = [
            fmean(row["uniqueness_xi"] for row in known if row["attributes"] == list(names))
            for names in combinations(COLUMNS[:3], size)
        ]
        drawn = [line.up[size - 1] for line in lines_of(picture)]
        assert drawn == pytest.approx([max(means), median(means), min(means)])
    assert picture.charts[0].up.words == "mean ξ"


def test_minimal_sets_are_bars_in_their_order() -> None:
    answer = rp.quasi_identifiers(pl.scan_csv(PEOPLE), COLUMNS, at_least=0.02)
    rows = answer.collect().to_dicts()
    chart = column_charts.minimal_sets(answer, most=1)
    [bars] = [mark for mark in chart.marks if isinstance(mark, Bars)]
    assert list(chart.up.names) == [", ".join(row["columns"]) for row in rows[:1]]
    assert chart.title.endswith(f"(the first 1 of {len(rows)})")
    for row, length, words in zip(rows, bars.lengths, bars.behind, strict=False):
        share = share_unique(tuple(row["columns"]))
        classes = len({tuple(each[name] for name in row["columns"]) for each in ROWS})
        assert length == pytest.approx(share)
        assert words == f"{round(share * len(ROWS)):,} ({100 * share:.1f} %), {classes:,} classes"


def test_what_has_no_set_is_refused() -> None:
    none = rp.quasi_identifiers(pl.scan_csv(PEOPLE), ["sex"], at_least=0.5)
    with pytest.raises(
        NoRecordsError, match="got none that reaches the share; pass a smaller at_least"
    ):
        plot.minimal_sets(none)
    with pytest.raises(OutOfDomainError, match="got a table without 'unique_records'"):
        plot.uniqueness_by_size([{"columns": ["a"], "records": 1}])
    with pytest.raises(OutOfDomainError, match=r"of one group, got columns .* more than once"):
        plot.uniqueness_by_size([{"columns": ["a"], "records": 1, "unique_records": 1}] * 2)


@pytest.mark.parametrize("name", ["a$b$", "\\frac", "\x1b[2J", "_hidden", "a" * 300])
def test_names_of_the_data_are_short_and_harmless(name: str) -> None:
    row = {"columns": [name], "size": 1, "share_unique": 0.5, "unique_records": 1, "classes": 2}
    page = ET.fromstring(plot.minimal_sets([row]).svg())  # noqa: S314 - our own
    [up] = [each for each in page.iter() if each.get("class") == "up"]
    [shown] = [each.text or "" for each in up]
    assert "\x1b" not in shown
    assert len(shown) <= 50
    assert shown[:2] in {name[:2], "\\x"}
