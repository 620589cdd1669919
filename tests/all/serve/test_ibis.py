"""Ibis writes the statements, as for its DuckDB backend, and the server answers or refuses them."""

from collections.abc import Callable
from typing import Any

import duckdb
import pytest

from reid_sql.errors import ReidError
from tests.serve.conftest import *
from tests.serve.door import Door

pytestmark = pytest.mark.filterwarnings("ignore:Arrow output")
ibis = pytest.importorskip("ibis")


@pytest.fixture(scope="module")
def people() -> Any:
    types = {"sex": "string", "region": "string", "age": "int64", "pay": "int64", "seen": "date"}
    return ibis.table(types, name="people")


ANSWERED: list[Callable[[Any], Any]] = [
    lambda t: t.count(),
    lambda t: t.group_by("sex").aggregate(n=t.count()).order_by("sex"),
    lambda t: t.group_by(["region", "sex"]).size(),
    lambda t: t.region.value_counts(),
    lambda t: t.filter(t.sex == "F").group_by("region").aggregate(n=ibis._.count()).order_by(ibis.desc("n")).limit(5),
    lambda t: t.filter(t.age.isin([20, 21])).count(),
    lambda t: t.filter(t.age.between(20, 22), t.sex == "M").count(),
    lambda t: t.group_by("sex").aggregate(total=t.pay.sum(), mean=t.pay.mean()),
    lambda t: t.group_by(month=t.seen.truncate("M")).aggregate(n=t.count()),
    lambda t: t.group_by("age").having(t.count() > 50).aggregate(n=t.count()),
]  # fmt: skip
REFUSED: list[tuple[Callable[[Any], Any], str]] = [
    (lambda t: t, "must count the records of a table"),
    (lambda t: t.head(5), "must count the records of a table"),
    (lambda t: t.select("sex", "age").distinct(), "DISTINCT"),
    (lambda t: t.age.max(), "got max"),
    (lambda t: t.age.quantile(0.9), "must"),
    (lambda t: t.mutate(r=ibis.row_number()), "must"),
    (lambda t: t.group_by("sex").aggregate(oldest=t.age.max()), "got max"),
    (lambda t: t.join(t.view(), "age").count(), "must"),
    (lambda t: t.filter(t.age == t.age.max()).count(), "must"),
]


@pytest.fixture
def door(con: duckdb.DuckDBPyConnection) -> Door:
    return Door(con)


def written_by_ibis(expression: Any) -> str:
    return str(ibis.to_sql(expression, dialect="duckdb"))


@pytest.mark.parametrize("write", ANSWERED, ids=range(len(ANSWERED)))
def test_counts_and_sums_that_ibis_writes_are_answered(
    con: duckdb.DuckDBPyConnection, door: Door, people: Any, write: Callable[[Any], Any]
) -> None:
    """As DuckDB answers them, but for what is hidden."""
    sql = written_by_ibis(write(people))
    due = con.execute(sql).fetchall()
    shown = [row for row in door.ask(sql) if None not in row]
    assert shown
    for row in shown:
        assert row in due or any(row == pytest.approx(each) for each in due if row[0] == each[0])


@pytest.mark.parametrize(("write", "rule"), REFUSED, ids=range(len(REFUSED)))
def test_rows_and_values_that_ibis_asks_for_are_refused(
    door: Door, people: Any, write: Callable[[Any], Any], rule: str
) -> None:
    with pytest.raises(ReidError, match=rule):
        door.ask(written_by_ibis(write(people)))
