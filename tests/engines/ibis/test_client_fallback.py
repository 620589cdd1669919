"""What DuckDB answers at the client: of all records that were counted, each value as it is, or nothing."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import ibis
import polars as pl
import pytest

import reid_sql
import reid_sql.ibis as ri
from reid_sql.check import gate, ibis_table
from reid_sql.check.exact_figures import WHOLE
from reid_sql.check.ibis_table import IbisTable
from reid_sql.check.policy import read_policy
from reid_sql.check.table_counts import MEASURING_ERRORS
from reid_sql.client.calls import PIECE, create_view, open_client
from reid_sql.engines import registry
from reid_sql.engines.ibis.adapter import DistinctRecords, fetch_distinct
from reid_sql.errors import ReidError
from reid_sql.reduction import Needs


def stood(frame: Any, columns: list[str]) -> list[tuple[Any, ...]]:
    with open_client() as con:
        fetched = fetch_distinct(frame, columns)
        create_view(con, "people", fetched.columns, fetched.rows)
        return con.execute("FROM people").fetchall()


def test_each_record_stands_as_often_as_it_was_counted() -> None:
    counts = {"a": 1, "b": PIECE, "c": PIECE + 1, "d": 3 * PIECE - 1, None: 2}
    frame = pl.DataFrame(
        {"letter": [letter for letter, many in counts.items() for _ in range(many)]}
    )
    rows = [value for (value,) in stood(ibis.memtable(frame.to_arrow()), ["letter"])]
    assert {letter: rows.count(letter) for letter in set(rows)} == counts


def test_columns_that_differ_by_capitals_alone_are_refused() -> None:
    table = ibis.memtable({"Age": [1, 2], "age": [3, 4]})
    with pytest.raises(
        ReidError, match="columns must differ by more than capitals where the client answers"
    ):
        ri.population_risk(table, ["Age", "age"], [10])
    with pytest.raises(
        ReidError, match="columns must be columns of the table, got 'AGE'; did you mean 'Age'"
    ):
        ri.population_risk(table, ["AGE"], [10])


def test_more_than_is_to_come_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    table = ibis.memtable({"place": list(range(60)), "sex": [0, 1] * 30})
    monkeypatch.setenv("REID_SQL_MAX_COLLECTED_VALUES", "100")
    reported = "the distinct records that the client answers from must be at most 33 rows"
    with pytest.raises(ReidError) as refused:
        ri.qar_risk(table, ["place", "sex"], p=1)
    assert str(refused.value).startswith(f"{reported}, as they come to the client, got more; ")
    profiled = ri.profile(table, ["sex"]).to_pyarrow().to_pylist()  # of which two values come
    assert [row["distinct_values"] for row in profiled] == [2]


def test_a_model_that_is_fitted_there_is_known_here_and_the_other_way_round() -> None:
    table = ibis.memtable({"age": [20, 20, 21, 30] * 9, "sex": ["F", "M"] * 18})
    ri.fit_copula("of_warehouse", table, ["age", "sex"])
    model = registry.known("of_warehouse")
    assert list(model.columns) == ["age", "sex"]
    scenario = {"population": 1000, "groups": [{"columns": ["age", "sex"], "probability": 0.5}]}
    by_name, by_itself = (
        ri.adversary_summary(table, scenario, model=given).to_pyarrow().to_pylist()
        for given in ("of_warehouse", model)
    )
    assert by_name == by_itself
    assert "reid: the model that was handed over" not in registry.models()


CHECKS = """
[[tables]]
name = "people"
population = 1e4
checks = [
  { measure = "xi_share", at_most = 1, quasi_identifiers = ["age", "sex"] },
  { measure = "xi_share", at_most = 1, quasi_identifiers = ["age"] },
]
"""


def test_records_that_are_not_all_there_are_not_judged(tmp_path: Path) -> None:
    """A table that loses records between two reads gives no figure of those that are left."""
    members = duckdb.connect()
    members.execute(
        "CREATE TABLE people AS SELECT range % 9 AS age, range % 2 AS sex FROM range(90)"
    )
    (tmp_path / "p.toml").write_text(CHECKS, encoding="utf-8")
    policy = read_policy(tmp_path / "p.toml", ["people"])
    table = ibis.duckdb.from_connection(members).table("people")
    with gate.open_with_engine(None, policy, tables={"people": table}) as (release,):
        first, second = release.table.checks
        assert release.answer(first)[0]["share"] == 0
        members.execute("DELETE FROM people WHERE age = 3")
        assert release.answer(second)[0]["share"] == 0  # its records came with those of the first
        assert isinstance(release.engine, IbisTable)
        with pytest.raises(
            MEASURING_ERRORS, match="must not change while it is read, got 80 of 90 records"
        ):
            release.engine.fetch(["sex"], (), {})


@pytest.mark.parametrize(("most", "reads"), [("24", 2), ("20", 5)])
def test_no_more_is_held_than_may_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: str, reads: int
) -> None:
    """Records of an older question go where those of the next come, and come again for one more.

    All are fetched before the first is computed, so that the transaction ends, up to the first that is one
    too many: that one alone was fetched in vain.
    """
    (tmp_path / "p.toml").write_text(CHECKS, encoding="utf-8")
    [policy] = read_policy(tmp_path / "p.toml", ["people"]).tables
    table = ibis.memtable({"age": [0, 1, 2] * 30, "sex": [0, 1] * 45})  # of 18 and of 6 values
    monkeypatch.setenv("REID_SQL_MAX_COLLECTED_VALUES", most)
    came = []

    def fetch(
        frame: ibis.Table, columns: Sequence[str], coded: Mapping[str, Needs]
    ) -> DistinctRecords:
        came.append(fetch_distinct(frame, columns, coded))
        return came[-1]

    monkeypatch.setattr(ibis_table, "fetch_distinct", fetch)
    with ExitStack() as stack:
        engine = IbisTable(
            policy, 1, {}, {"people": table}, cache(lambda: stack.enter_context(open_client()))
        )
        given = dict.fromkeys(("tbl", "model", "population", "sample"))
        asked = [
            engine.call_measure(check, given | dict(check.parameters), WHOLE)
            for check in (*policy.checks, *policy.checks)
        ]
    assert asked[:2] == asked[2:]
    assert len(came) == reads


def test_what_is_more_than_is_to_come_is_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "p.toml").write_text(CHECKS, encoding="utf-8")
    table = ibis.memtable({"age": list(range(90)), "sex": [0, 1] * 45})
    monkeypatch.setenv("REID_SQL_MAX_COLLECTED_VALUES", "200")
    page = reid_sql.check.run(tmp_path / "p.toml", tables={"people": table}).page
    assert [each["verdict"] for each in page["checks"]] == ["not judged", "pass"]
    assert "must be at most 66 rows" in page["checks"][0]["groups"][0]["why"]
