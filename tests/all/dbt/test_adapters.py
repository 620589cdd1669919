"""The tests of the dbt package in plain SQL: on PostgreSQL, and on DuckDB without the plugin.

What each of them keeps is what reid-sql's own functions find in the same tables.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import duckdb
import polars as pl
import pytest

import reid_sql
from tests.all.dbt.cases import CASES, FIGURES, NAMED, REFUSED, TWO, Case, write_project
from tests.all.dbt.odd import (
    RECORDS,
    clear_postgres,
    connected,
    put_in_duckdb,
    put_in_postgres,
    tables,
)
from tests.all.dbt.running import Results, dbt

pytestmark = pytest.mark.dbt
MASK: Final = 10  # the default of mask_below
Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Tried:
    """What dbt said of each test on an adapter, and where what the tests keep is."""

    adapter: str
    folder: Path
    socket: str
    results: Results

    def kept(self, name: str) -> Rows:
        """What a test has kept, as `store_failures` asks."""
        if self.adapter == "postgres":
            with connected(self.socket) as con:
                cursor = con.execute(f'SELECT * FROM public_dbt_test__audit."{name}"')
                return as_rows(cursor.description, cursor.fetchall())
        with duckdb.connect(str(self.folder / "town.duckdb"), read_only=True) as con:
            return found(con, f'FROM main_dbt_test__audit."{name}"')

    def failures(self, name: str) -> tuple[str, int]:
        """Its status, and how many failures it tells."""
        return self.results[name]["status"], self.results[name]["failures"]


@pytest.fixture(scope="module")
def frames(root: Path) -> dict[str, pl.DataFrame]:
    return tables(str(root / "reid_sql" / "demo" / "people.csv"))


@pytest.fixture(
    scope="module", params=["duckdb", pytest.param("postgres", marks=pytest.mark.postgres)]
)
def tried(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    root: Path,
    frames: dict[str, pl.DataFrame],
) -> Iterator[Tried]:
    adapter, folder = str(request.param), tmp_path_factory.mktemp("anywhere")
    socket = str(request.getfixturevalue("postgres")) if adapter == "postgres" else "none"
    if adapter == "postgres":
        put_in_postgres(socket, frames)
    else:
        put_in_duckdb(str(folder / "town.duckdb"), frames)
    write_project(folder)
    dbt(folder, root, "deps", REID_SQL_SOCKET=socket)
    dbt(folder, root, "run", "--target", adapter, REID_SQL_SOCKET=socket)
    results = dbt(folder, root, "test", "--target", adapter, REID_SQL_SOCKET=socket)
    yield Tried(adapter, folder, socket, results)
    if adapter == "postgres":
        clear_postgres(socket)


@pytest.fixture(scope="module")
def oracle(frames: dict[str, pl.DataFrame]) -> Iterator[duckdb.DuckDBPyConnection]:
    """The same tables where reid-sql's own functions are, texts compared as they are."""
    with duckdb.connect() as con:
        reid_sql.register(con)
        for name, frame in frames.items():
            con.register("given", frame)
            con.execute(f"CREATE TABLE {name} AS FROM given")
        con.execute("CREATE VIEW low AS FROM odd WHERE height < 1")
        yield con


def found(con: duckdb.DuckDBPyConnection, query: str) -> Rows:
    answer = con.execute(query)
    return as_rows(answer.description, answer.fetchall())


def as_rows(columns: Any, rows: Sequence[Sequence[Any]]) -> Rows:
    return [dict(zip([column[0] for column in columns], row, strict=True)) for row in rows]


def counted(rows: Rows, columns: Sequence[str]) -> Counter[tuple[Any, ...]]:
    """The rows as values that equal themselves: NaN is one, 0.0 is -0.0, measures are rounded."""
    return Counter(tuple(_plain(row[column]) for column in columns) for row in rows)


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return "NaN" if value != value else round(value, 9) + 0.0  # noqa: PLR0124 - NaN alone does
    return value


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_test_keeps_the_classes_that_offend(
    tried: Tried, oracle: duckdb.DuckDBPyConnection, case: Case
) -> None:
    expected = found(oracle, case.expected)
    records = sum(row["class_size"] for row in expected)
    status = "fail" if records else "pass"
    assert tried.failures(case.name) == (status, max(records, MASK) if records else 0)
    assert case.name.endswith("_met") != bool(records)
    rows = tried.kept(case.name)
    columns = list(expected[0]) if expected else []
    assert counted(rows, columns) == counted(expected, columns)
    assert all(row["failures"] == row["class_size"] for row in rows)
    assert not rows or set(rows[0]) == {"failures", *columns}


def test_counts_are_kept_alone_where_they_are_asked_for(tried: Tried) -> None:
    assert tried.kept("counts") == [{"failures": tried.results["k_odd"]["failures"]}]
    assert tried.results["counts"]["failures"] == tried.results["k_odd"]["failures"]


@pytest.mark.parametrize(("name", "qi"), [("records", NAMED), ("l_records", TWO)])
def test_records_are_kept_where_they_are_asked_for(
    tried: Tried,
    frames: dict[str, pl.DataFrame],
    name: str,
    qi: list[str],
) -> None:
    odd = frames["odd"].to_dicts()
    sizes = counted(odd, qi)
    values = {key: {row["disease"] for row in odd if counted([row], qi)[key]} for key in sizes}
    short = {
        key for key in sizes if (sizes[key] < 4 if name == "records" else len(values[key]) < 5)
    }
    expected = [row for row in odd if set(counted([row], qi)) <= short]
    rows = tried.kept(name)
    assert counted(rows, list(odd[0])) == counted(expected, list(odd[0]))
    assert tried.results[name]["failures"] == len(expected) > MASK


@pytest.mark.parametrize(
    ("name", "tables"), [("journalist", "small, odd"), ("uncovered", "odd, small")]
)
def test_a_population_is_that_of_another_model(
    tried: Tried,
    frames: dict[str, pl.DataFrame],
    oracle: duckdb.DuckDBPyConnection,
    name: str,
    tables: str,
) -> None:
    own, there = (counted(frames[each].to_dicts(), NAMED) for each in tables.split(", "))
    sizes = {key: max(there[key], own[key]) for key in own if max(there[key], own[key]) < 4}
    asked = f"FROM journalist_risk({tables}, ['name', 'height', 'nick'], threshold := 0.25)"
    (answer,) = found(oracle, asked)
    at_risk = sum(own[key] for key in sizes)
    assert answer["records_at_risk"] * answer["records"] == pytest.approx(at_risk)
    assert (answer["uncovered_records"] > 0) == (name == "uncovered")
    assert tried.failures(name) == ("fail", at_risk)
    assert at_risk > MASK
    rows = tried.kept(name)
    assert counted(rows, [*NAMED, "class_size", "failures"]) == Counter(
        {(*key, size, own[key]): 1 for key, size in sizes.items()}
    )


def test_records_of_a_population_s_classes_are_kept(tried: Tried) -> None:
    (status, at_risk) = tried.failures("journalist")
    assert tried.failures("journalist_records") == (status, at_risk)
    assert len(tried.kept("journalist_records")) == at_risk


def test_the_average_risk_fails_by_the_records_to_be_got_right(
    tried: Tried, frames: dict[str, pl.DataFrame]
) -> None:
    classes = len(counted(frames["odd"].to_dicts(), NAMED))
    assert classes / len(frames["odd"]) > 0.1
    assert (tried.results["average"]["status"], tried.results["average"]["failures"]) == (
        "fail",
        classes,
    )
    assert tried.results["average_met"]["status"] == "pass"


def test_a_release_is_held_to_the_one_before(
    tried: Tried, oracle: duckdb.DuckDBPyConnection
) -> None:
    measures = ["k", "uniqueness", "average_risk", "records_at_risk"]
    figures = [
        found(oracle, f"FROM risk_summary({name}, ['name', 'height', 'nick'])")[0]
        for name in ("small", "odd")
    ]
    worse = {
        name: tuple(each[name] for each in figures)
        for name in measures
        if (
            figures[0][name] < figures[1][name]
            if name == "k"
            else figures[0][name] > figures[1][name]
        )
    }
    assert tried.results["worse"]["failures"] == len(worse) >= 2
    rows = tried.kept("worse")
    assert {row["measure"]: (row["figure"], row["figure_before"]) for row in rows} == {
        name: pytest.approx(pair) for name, pair in worse.items()
    }
    ((masked,),) = counted(tried.kept("worse_masked"), ["figure_before"])
    assert worse["uniqueness"][1] < masked == MASK / RECORDS
    assert tried.failures("no_worse") == ("pass", 0)


@pytest.mark.parametrize("place", range(len(REFUSED)))
def test_what_cannot_be_judged_is_one_sentence_and_never_a_pass(tried: Tried, place: int) -> None:
    result = tried.results[f"refused_{place}"]
    assert result["status"] == "error"
    assert REFUSED[place][-1] in result["message"]


def test_each_test_was_asked(tried: Tried) -> None:
    assert len(tried.results) == len(CASES) + len(FIGURES) + len(REFUSED)
