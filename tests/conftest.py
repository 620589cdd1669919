import os
import pickle
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

import reid_sql
from reid_sql.check import evaluation, report
from reid_sql.models.pyc.pitman_yor_forecast import forecast_pitman_yor
from tests.engines.asking import empty
from tests.mariadb import installed, mariadb_server
from tests.postgres import binaries, postgres_server
from tests.tiers import BESIDE, CELL, TIER, is_asked, second_tier, tiers_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("REID_SQL_DATA", ROOT.parent / "shared" / "data"))

# the same examples of a property in each run
settings.register_profile("tests", deadline=None, derandomize=True, max_examples=10)
settings.load_profile("tests")
# as a shell starts what runs in its background
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # so that processes of tests answer Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)
# readline tells processes that it begets the width of a page that is none
os.environ.pop("COLUMNS", None)


JAVA = (
    shutil.which("java")
    or (Path(os.environ.get("JAVA_HOME", "/nowhere")) / "bin" / "java").exists()
)
SPARK = bool(JAVA) and find_spec("pyspark") is not None
NO_SPARK = (
    "no Java 17 or no pyspark for the Spark tests (pip install 'reid-sql[spark]', "
    "apt-get install openjdk-17-jre-headless)"
)

NO_POSTGRES = "no PostgreSQL for the tests of Ibis (apt-get install postgresql)"
HELD = """
SELECT format('%I.%I', nspname, relname) FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE nspname !~ '^(pg_|information_schema)' AND relkind IN ('r', 'v', 'm', 'p', 'f', 'S')
UNION ALL SELECT pg_proc.oid::regprocedure::text FROM pg_proc
JOIN pg_namespace ON pg_namespace.oid = pronamespace WHERE nspname !~ '^(pg_|information_schema)'
AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')
UNION ALL SELECT format('schema %I, open to all: %s', nspname, has_schema_privilege('public', oid, 'USAGE'))
FROM pg_namespace WHERE nspname !~ '^pg_(temp|toast)'
UNION ALL SELECT format('role %I %s', rolname, rolconfig) FROM pg_roles WHERE rolname !~ '^pg_'
UNION ALL SELECT format('settings %s', setconfig) FROM pg_db_role_setting
"""
NO_MARIADB = "no MariaDB for the tests of Ibis (apt-get install mariadb-server)"
ON_POSTGRES: set[Path] = set()


class FileScheduling(LoadScopeScheduling):  # type: ignore[misc] # it has no types
    """Give one worker all of Spark's tests, which share a JVM, and others whole files, which share fixtures.

    The process that gives knows the tests by name alone, and groups have no effect in pytest-xdist 3.8 with
    pytest 9.2.
    """

    def _split_scope(self, nodeid: str) -> str:
        return "spark" if is_named_after_spark(nodeid) else nodeid.partition("::")[0]


def is_named_after_spark(test: str) -> bool:
    return "spark" in test.lower()


@pytest.hookimpl(optionalhook=True)
def pytest_configure(config: pytest.Config) -> None:
    """Warnings are errors, but for the one of rows that are not people: tests/test_visits.py expects it."""
    config.addinivalue_line("filterwarnings", "ignore::reid_sql.errors.RowsNotPeopleWarning")


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FileScheduling | None:
    return FileScheduling(config, log) if config.getvalue("dist") == "loadfile" else None


CONNECT = duckdb.connect


def connect_on_one_thread(
    database: str | Path = ":memory:",
    read_only: bool = False,  # noqa: FBT001, FBT002 - as DuckDB declares it
    config: Mapping[str, Any] | None = None,
) -> duckdb.DuckDBPyConnection:
    """Connect to a DuckDB of one thread, which counts small tables in less processor time."""
    return CONNECT(database, read_only=read_only, config={"threads": 1, **(config or {})})


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    duckdb.connect = CONNECT if item.get_closest_marker("threads") else connect_on_one_thread


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(CELL, default="", help="ask only cells with this value, as a function's name")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if hasattr(metafunc.function, "cells"):
        metafunc.parametrize(TIER, tiers_of(metafunc.definition))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    config.hook.pytest_deselected(items=[item for item in items if not is_asked(item)])
    items[:] = filter(is_asked, items)
    for item in second_tier(items):
        item.add_marker("all")
    for item in items:
        if item.get_closest_marker("all") is None and any(wants(item, name) for name in BESIDE):
            raise pytest.UsageError(
                f"a test of a server or real data must be of the second tier: {item.nodeid}"
            )
    ON_POSTGRES.update(each.path for each in items if wants(each, "postgres"))
    for item in filter(lambda each: wants(each, "spark"), items):
        if not is_named_after_spark(item.nodeid):
            raise pytest.UsageError(
                f"a test of Spark must have 'spark' in its name, got {item.nodeid}"
            )
        item.add_marker(
            pytest.mark.filterwarnings("ignore::FutureWarning:pyspark", "ignore::ResourceWarning")
        )
    for name, reason in missing().items():
        for item in items:
            if wants(item, name):
                item.add_marker(pytest.mark.skip(reason=reason))


def missing() -> dict[str, str]:
    """What tests need and is not here, with the reason of their skips; .ci/run fails for most of them."""
    needed = {
        "spark": (SPARK, NO_SPARK),
        "mariadb": (installed(), NO_MARIADB),
        "postgres": (binaries() is not None, NO_POSTGRES),
        "real_data": (
            DATA.is_dir(),
            "no folder of real microdata (REID_SQL_DATA, else ../shared/data)",
        ),
    }
    for name in ("dbt", "serve", "workbenches"):
        python = f"REID_SQL_{name.upper()}_PYTHON"
        needed[name] = (
            python in os.environ,
            f"no environment with {name} ({python} of make test-all)",
        )
    return {name: reason for name, (there, reason) in needed.items() if not there}


def wants(item: pytest.Item, server: str) -> bool:
    """Whether the test needs it, by a fixture or a marker."""
    return (
        server in getattr(item, "fixturenames", ()) or item.get_closest_marker(server) is not None
    )


@pytest.fixture(autouse=True, scope="session")
def forecasts_and_versions_are_computed_once() -> Iterator[None]:
    """Reports on the same small tables show the same curve: a process computes each histogram's once.

    All reports show the same versions of libraries, which lie in files that are slow to parse.
    """
    curves: dict[bytes, Any] = {}

    def remember(*given: Any, **named: Any) -> Any:
        key = pickle.dumps((given, named))
        if key not in curves:
            curves[key] = forecast_pitman_yor(*given, **named)
        return list(curves[key])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation, "forecast_pitman_yor", remember)
        patch.setattr(report, "version", cache(version))
        yield


@pytest.fixture(scope="module")
def registered() -> Iterator[duckdb.DuckDBPyConnection]:
    """One registered connection for a module: registering anew would take most of a test's time."""
    with duckdb.connect() as connection:
        reid_sql.register(connection)
        yield connection


@pytest.fixture
def con(registered: duckdb.DuckDBPyConnection) -> Iterator[duckdb.DuckDBPyConnection]:
    """The module's connection, emptied after the test."""
    yield registered
    empty(registered)


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def adult() -> str:
    return str(DATA / "adult.parquet")


@pytest.fixture(scope="session")
def data() -> str:
    return str(DATA)


@pytest.fixture(scope="session")
def spark() -> "Iterator[SparkSession]":
    """The one Spark session of the tests: local, small, quiet."""
    from tests.spark_session import local  # noqa: PLC0415 - only where there is Spark

    session = local()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The folder of the socket of the tests' own PostgreSQL."""
    with postgres_server() as folder:
        yield folder


@pytest.fixture(scope="session")
def postgres_holds(postgres: str) -> Iterator[Callable[[], set[str]]]:
    """What all see in PostgreSQL: relations, functions of no extension, schemas, roles, settings."""
    import psycopg  # noqa: PLC0415 - only where there is PostgreSQL

    with psycopg.connect(f"host={postgres} user=reid dbname=postgres", autocommit=True) as server:
        yield lambda: {name for (name,) in server.execute(HELD).fetchall()}


@pytest.fixture(autouse=True, scope="module")
def leaves_nothing_in_postgres(request: pytest.FixtureRequest) -> Iterator[None]:
    """One server serves all files of tests in a process: what one leaves there, another finds by its name."""
    if request.node.path not in ON_POSTGRES:
        yield
        return
    holds = request.getfixturevalue("postgres_holds")
    before = holds()
    yield
    assert holds() <= before, "this file of tests left something in PostgreSQL"


@pytest.fixture(scope="session")
def mariadb() -> Iterator[str]:
    """The socket of the tests' own MariaDB."""
    with mariadb_server() as socket:
        yield socket
