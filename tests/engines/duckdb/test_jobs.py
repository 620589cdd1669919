"""Bodies in threads of their own: no pause of the engine turns into an answer, or into none."""

import threading
import time
from collections.abc import Iterator

import duckdb
import pyarrow as pa
import pytest

import reid_sql
from reid_sql.engines.duckdb import jobs
from reid_sql.models.interruption import checkpoint

pytestmark = pytest.mark.threads

SLOW = "qar_risk(people, ['age', 'zip', 'visits'], p := 2, alpha := 0.1, tail := 0.5, remove := 300, output := 'elimination')"
QUICK = "pyc_fit(people, ['age', 'sex'])"
TOGETHER = (
    f"SELECT (SELECT round(sum(risk), 9) FROM {SLOW}), (SELECT round(entropy, 9) FROM {QUICK})",
    f"SELECT round(sum(risk), 9), any_value(round(entropy, 9)) FROM {SLOW}, {QUICK}",
    f"SELECT round(sum(risk), 9), any_value(round(entropy, 9)) FROM {QUICK}, {SLOW}",
)


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute("""CREATE TABLE people AS SELECT hash(i) % 90 AS age, i % 2 AS sex,
            hash(i, 1) % 500 AS zip, hash(i, 2) % 20 AS visits FROM range(4000) AS t(i)""")
        reid_sql.register(connection)
        yield connection


def counted(steps: int) -> pa.Array:
    """Count to a number, as a body with checkpoints does."""
    for step in range(steps):
        time.sleep(0.001)
        checkpoint(step / steps)
    return pa.array([steps])


def asked(number: int) -> list[int]:
    """Ask until there is an answer, as the engine does."""
    while (found := jobs.answer(number)) is None:
        pass
    answered: list[int] = found.to_pylist()
    return answered


@pytest.mark.parametrize("question", TOGETHER)
def test_a_body_that_waits_for_another_of_the_statement_answers(
    con: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    alone = [con.execute(f"SELECT round(sum(risk), 9) FROM {SLOW}").fetchall()[0][0]]
    alone += con.execute(f"SELECT round(entropy, 9) FROM {QUICK}").fetchall()[0]
    monkeypatch.setattr(jobs, "MAX_IDLE", 0.02)
    assert list(con.execute(question).fetchall()[0]) == alone


def test_a_body_that_ended_for_want_of_an_asker_begins_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jobs, "MAX_IDLE", 0.01)
    # with those of other files of tests, which may not have ended
    before = set(threading.enumerate())
    number = jobs.begin(lambda: counted(200))
    begun = set(threading.enumerate()) - before
    for thread in begun:
        thread.join(60)
    assert not any(thread.is_alive() for thread in begun)
    assert asked(number) == [200]


def test_an_answer_is_kept_until_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "MAX_IDLE", 0.01)
    number = jobs.begin(lambda: pa.array([42]))
    time.sleep(0.3)  # far longer than its patience
    assert asked(number) == [42]


def test_what_nobody_asks_for_is_let_go_of_when_another_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forgotten = jobs.begin(lambda: pa.array([1]))
    monkeypatch.setattr(jobs, "MAX_PAUSE", -1.0)
    number = jobs.begin(lambda: pa.array([2]))
    assert asked(number) == [2]
    with pytest.raises(
        TimeoutError, match=r"must be asked for its answer within .* minutes, got a longer"
    ):
        jobs.answer(forgotten)
