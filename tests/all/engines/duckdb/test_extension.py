"""The loadable extension, built for this platform, and loaded unsigned in both DuckDBs."""

import json
import math
import os
import shutil
import subprocess
import sys
from itertools import chain
from pathlib import Path
from typing import Any, Final

import duckdb
import pytest

import reid_sql
from tools import extension

CALLS: Final = [
    "FROM reid.risk_summary(people, ['age', 'sex', 'race'])",
    "FROM reid.class_size_histogram(people, ['age', 'sex'])",
    "FROM reid.l_diversity(people, ['age', 'sex', 'race'], 'marital_status', variant := 'entropy')",
    "FROM reid.attribute_disclosure(people, ['age', 'sex'], 'race', measure := 'beta_likeness')",
    "FROM reid.suda_scores(people, ['age', 'sex', 'race'], max_size := 2) ORDER BY ALL",
    "FROM reid.individual_risk(people, ['age', 'sex']) WHERE record < 99 ORDER BY record",
    "SELECT * EXCLUDE (nulls) FROM reid.unicity(people, 'fnlwgt', ['age', 'sex'], 1)",
    "SELECT n, count(*) FROM (SELECT reid.equivalence_class_size(age, sex) AS n FROM people) GROUP BY ALL ORDER BY ALL",
    "FROM reid.join_risk(people, people, 'fnlwgt', ['age', 'sex'], ['race', 'marital_status'])",
    "FROM reid.compare_releases(people, people, ['age', 'sex'], sensitive := 'race')",
    "SELECT reid.cell_risk(0.001, 1000)",
]
# What each call answers in another process, as a DuckDB of another version is there.
ASK: Final = """
import json, sys, duckdb
file, way, adult, table, calls = json.loads(sys.argv[1])
config = {"allow_unsigned_extensions": "true"}
con = duckdb.connect(table if "file" in way else ":memory:", read_only="read-only" in way, config=config)
if "schema" in way:
    con.execute("CREATE SCHEMA reid")
con.execute(f"LOAD '{file}'")
if "connection" in way:
    con = con.cursor()
con.execute(f"CREATE TEMP TABLE people AS FROM '{adult}'")
place = "reid.main." if "schema" in way else "reid."
answers = [con.execute(call.replace("reid.", place)).fetchall() for call in calls]
own = con.execute("SELECT count(*) FROM duckdb_functions() WHERE NOT internal AND database_name = current_database()")
print(json.dumps([answers, own.fetchall()[0][0]], default=str))
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The extension for this platform."""
    if shutil.which("cc") is None:
        pytest.skip("no compiler of C")
    try:
        return extension.build(tmp_path_factory.mktemp("extension"))
    except OSError as error:
        pytest.skip(f"no package index, which has the headers of DuckDB: {error}")


@pytest.fixture(scope="module")
def expected(adult: str) -> Any:
    """What the package answers."""
    with duckdb.connect() as con:
        reid_sql.register(con)
        con.execute(f"CREATE TABLE people AS FROM '{adult}'")
        answers = [con.execute(call).fetchall() for call in CALLS]
    return json.loads(json.dumps(answers, default=str))


def are_equal(one: Any, other: Any) -> bool:
    is_number = isinstance(one, float) and isinstance(other, float)
    return math.isclose(one, other, rel_tol=1e-9) if is_number else one == other


@pytest.mark.parametrize(
    "way", ["memory", "another connection", "file", "read-only file", "schema named reid"]
)
@pytest.mark.parametrize(
    "python", [sys.executable, os.environ.get("REID_SQL_SERVE_PYTHON")], ids=["newest", "oldest"]
)
def test_its_figures_are_those_of_the_package(
    python: str | None, way: str, built: Path, expected: Any, request: pytest.FixtureRequest
) -> None:
    adult: str = request.getfixturevalue("adult")
    tmp_path: Path = request.getfixturevalue("tmp_path")
    if python is None:
        pytest.skip(
            "no environment with the oldest DuckDB (REID_SQL_SERVE_PYTHON of make test-all)"
        )
    table = tmp_path / "own.duckdb"
    with duckdb.connect() as con:
        con.execute(f"ATTACH '{table}' AS own (STORAGE_VERSION 'v1.5.0')")
        con.execute("CREATE TABLE own.t AS SELECT 1 AS a")
    asked = json.dumps([str(built), way, adult, str(table), CALLS])
    done = subprocess.run([python, "-c", ASK, asked], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answers, own = json.loads(done.stdout)
    for call, rows, due in zip(CALLS, answers, expected, strict=True):
        pairs = zip(chain(*rows), chain(*due), strict=True)
        assert all(are_equal(*pair) for pair in pairs), call
    assert own == 0  # nothing of ours is in the database of the user


def test_its_sources_are_built_without_python(built: Path, tmp_path: Path) -> None:
    """With a shell, a compiler and its parts alone on the path, and no other variable."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("sh", "cat", "dirname", "cc", "as", "ld"):
        (programs / name).symlink_to(shutil.which(name) or pytest.skip(f"no {name}"))
    sources = tmp_path / "sources"
    shutil.copytree(built.parent, sources, ignore=shutil.ignore_patterns("reid.so", built.name))
    [(platform,)] = duckdb.execute("PRAGMA platform").fetchall()
    call = [programs / "sh", sources / "build.sh", platform]
    subprocess.run(call, env={"PATH": str(programs)}, check=True)
    assert (sources / built.name).read_bytes() == built.read_bytes()
