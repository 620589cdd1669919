"""con.interrupt() and Ctrl-C end every long statement within two seconds, and leave nothing at work."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import reid_sql
from reid_sql.engines.duckdb import jobs

pytestmark = [pytest.mark.real_data, pytest.mark.threads]
SOON = 2.0  # seconds by the clock or of the processor: the machine may be busy with other tests
# seconds by the clock within which another process ends, whose statement would take minutes
LATE = 15.0
GROUPS = ", ".join(
    f"{{'columns': ['{column}'], 'probability': 0.5}}"
    for column in (
        "age",
        "workclass",
        "education",
        "marital_status",
        "occupation",
        "race",
        "sex",
        "income",
    )
)
SCENARIO = f"{{'population': 1000000, 'groups': [{GROUPS}]}}"
LONG = {
    "qar_risk": "qar_risk(census, $wide)",
    "qar_quasi_identifiers": "qar_risk(census, $wide, output := 'quasi_identifiers')",
    "qar_contributions": "qar_risk(census, $columns, output := 'contributions')",
    "qar_elimination": "qar_risk(census, $columns, remove := 3000, output := 'elimination')",
    "qar_proxies": "qar_risk(census, $columns, output := 'proxies')",
    "attribute_risk": "attribute_risk(census, $columns, max_size := 16)",
    "quasi_identifiers": "quasi_identifiers(census, $wide, at_least := 0.4)",
    "quasi_identifiers that are keys": "quasi_identifiers(flags, at_least := 1, max_sets := 1000000000)",
    "unsafe_combinations": "unsafe_combinations(census, $columns, max_size := 5)",
    "suda_subsets": "suda_scores(census, $columns, max_size := 4, output := 'subsets')",
    "fit_copula": "fit_copula('copula', census, $columns)",
    "fit_people": "fit_people('people', census, $columns)",
    "score_records under a copula": "score_records(adult, 'model', 1000000)",
    "score_records": "score_records(many, 'town', 300000000)",
    "population_uniqueness": "population_uniqueness(census, $columns, 300000000)",
    "population_risk": "population_risk(census, $columns, [1000000, 300000000])",
    "population_risk by groups": "population_risk(census, $columns, [300000000], by := ['age'])",
    "loglinear_risk": "loglinear_risk(census, $columns, 0.001, interactions := 2)",
    "individual_risk": "individual_risk(many, ['a', 'b', 'c'], weight := 'w')",
    "adversary_risk": f"adversary_risk(adult, {SCENARIO}, trials := 100000)",
    "adversary_sensitivity": f"adversary_summary(adult, {SCENARIO}, trials := 100000, output := 'sensitivity')",
    "class_size_histogram": "class_size_histogram(holes, ['a', 'b', 'c', 'd', 'e'], nulls := 'wildcard')",
    "pyc_forecast": "pyc_forecast(census, $columns, list_transform(range(2000), lambda n: 1000000 + n))",
    "correctness_curve": "correctness_curve(census, $columns, list_transform(range(999), lambda n: 999 + n))",
}


@pytest.fixture(scope="module")
def tables(adult: str) -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    reid_sql.register(con)
    census = Path(adult).with_name("census_income_kdd.parquet")
    con.execute(f"CREATE TABLE adult AS FROM '{adult}'; CREATE TABLE census AS FROM '{census}'")
    con.execute("""CREATE TABLE many AS SELECT hash(i) % 10000 AS a, hash(i + 1) % 100 AS b, i % 7 AS c,
                   (1 + hash(i) % 900)::DOUBLE AS w FROM range(3000000) AS t(i)""")
    blanked = ", ".join(
        f"CASE WHEN hash(i, {place}) % 4 > 0 THEN hash(i, {place} + 5) % 60 END AS {name}"
        for place, name in enumerate("abcde")
    )
    flags = ", ".join(f"(i = {place // 2 + 1})::INTEGER AS f{place}" for place in range(64))
    con.execute(f"CREATE TABLE flags AS SELECT {flags} FROM range(33) AS t(i)")
    con.execute(f"CREATE TABLE holes AS SELECT {blanked} FROM range(1000000) AS t(i)")
    five = "['age', 'fnlwgt', 'education', 'occupation', 'hours_per_week']"
    con.execute(f"FROM fit_copula('model', adult, {five})").fetchall()
    con.execute("FROM fit_people('town', many, ['a', 'b', 'c'])").fetchall()
    return con


def columns(count: int) -> str:
    """The first columns of the census, as SQL lists them."""
    names = [
        "age",
        "class_of_worker",
        "industry_code",
        "occupation_code",
        "education",
        "wage_per_hour",
    ]
    names += [
        "enrolled_in_edu",
        "marital_status",
        "major_industry",
        "major_occupation",
        "race",
        "sex",
    ]
    names += [
        "hispanic_origin",
        "labor_union",
        "tax_filer_status",
        "household_detail",
        "household_summary",
    ]
    names += [
        "capital_gains",
        "capital_losses",
        "dividends",
        "prev_region",
        "prev_state",
        "weeks_worked",
    ]
    return str(names[:count])


def clocks() -> tuple[float, float]:
    return time.monotonic(), time.process_time()


def at_work() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == jobs.THREAD]


def interrupt_in_the_midst(
    con: duckdb.DuckDBPyConnection, called: list[tuple[float, float]], after: threading.Event
) -> None:
    """Interrupt a moment after the body began; one called for some rows at a time, after two seconds."""
    start = time.monotonic()
    while not at_work() and time.monotonic() < start + 2 and not after.is_set():
        time.sleep(0.01)
    time.sleep(0.1)
    called.append(clocks())
    con.interrupt()


@pytest.mark.parametrize("call", LONG.values(), ids=LONG)
def test_an_interrupt_ends_the_statement(
    tables: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    monkeypatch.setattr(jobs, "MAX_IDLE", 0.5)
    con, called, after = tables.cursor(), list[tuple[float, float]](), threading.Event()
    reid_sql.register(con)
    sql = call.replace("$columns", columns(16)).replace("$wide", columns(23))
    waiting = threading.Thread(target=interrupt_in_the_midst, args=(con, called, after))
    waiting.start()
    try:
        with pytest.raises(duckdb.InterruptException):
            con.execute(f"CREATE OR REPLACE TEMP TABLE answered AS FROM {sql}")
        ended = clocks()
    finally:
        after.set()
        waiting.join()
    assert min(end - begin for begin, end in zip(called[0], ended, strict=True)) < SOON
    # what nobody waits for ends at its next check
    while at_work() and time.monotonic() < ended[0] + 60:
        time.sleep(0.01)
    assert at_work() == []
    assert con.execute("SELECT count(*) FROM risk_summary(adult, ['age', 'sex'])").fetchall() == [
        (1,)
    ]


def test_a_body_whose_engine_is_slow_to_ask_goes_on(tables: duckdb.DuckDBPyConnection) -> None:
    """It pauses where nobody waits, and its answer is the same."""
    number = jobs.begin(lambda: pa.array(["answered"]))
    time.sleep(0.3)
    assert jobs.answer(number) == pa.array(["answered"])
    question = "FROM qar_risk(adult, ['age', 'sex', 'race', 'education'])"
    asked = tables.execute(question).fetchall()
    assert tables.execute(f"SET threads = 1; {question}").fetchall() == asked
    tables.execute("RESET threads")


SCRIPT = """
import duckdb, reid_sql
con = duckdb.connect(config={{"threads": 1}})  # with more, DuckDB hears Ctrl-C by chance
con.execute("SET enable_progress_bar = false")  # DuckDB draws one on standard output
reid_sql.register(con)
print("begun", flush=True)
try:
    con.execute("FROM qar_risk('{census}', {columns}, remove := 3000, output := 'elimination')").fetchall()
except BaseException as error:
    print(type(error).__name__, con.execute("SELECT 42").fetchall(), flush=True)
"""


def test_control_c_ends_a_statement_in_the_main_thread(adult: str) -> None:
    census = Path(adult).with_name("census_income_kdd.parquet")
    script = SCRIPT.format(census=census, columns=columns(12))
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as ran:
        assert ran.stdout is not None
        assert ran.stdout.readline() == "begun\n"
        time.sleep(2)
        os.kill(ran.pid, signal.SIGINT)
        sent = time.monotonic()
        reported = ran.stdout.readline()
        assert time.monotonic() - sent < LATE
        assert "[(42,)]" in reported
        ran.wait(60)


IN_POLARS = """
import polars as pl, reid_sql.polars as rp
census = pl.read_parquet("{census}")
print("begun", flush=True)
try:
    rp.qar_risk(census, {columns}, remove=3000, output="elimination").collect()
except BaseException as error:
    print(type(error).__name__, flush=True)
"""


def test_control_c_ends_what_duckdb_answers_for_polars(adult: str) -> None:
    """Polars passes on what the signal is; DuckDB alone would raise an error of its own, seconds later."""
    script = IN_POLARS.format(
        census=Path(adult).with_name("census_income_kdd.parquet"), columns=columns(12)
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as ran:
        assert ran.stdout is not None
        assert ran.stdout.readline() == "begun\n"
        time.sleep(2)
        os.kill(ran.pid, signal.SIGINT)
        sent = time.monotonic()
        assert ran.stdout.readline() == "KeyboardInterrupt\n"
        assert time.monotonic() - sent < LATE
        ran.wait(60)


def test_control_c_ends_the_command(adult: str) -> None:
    census = str(Path(adult).with_name("census_income_kdd.parquet"))
    removals = f"FROM qar_risk('{census}', {columns(12)}, remove := 3000, output := 'elimination')"
    called = ["query", removals, "--progress"]
    command = [sys.executable, "-m", "reid_sql", *called]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as ran:
        assert ran.stderr is not None
        while not ran.stderr.readline().startswith("query"):
            assert ran.poll() is None
        ran.send_signal(signal.SIGINT)
        sent = time.monotonic()
        ran.communicate(timeout=60)
        assert time.monotonic() - sent < LATE
        assert ran.returncode == 130
