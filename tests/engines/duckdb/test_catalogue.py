"""The functions as a database file that any client attaches: who finds them, and what they refuse."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import reid_sql
from reid_sql.engines.duckdb.catalogue import PUBLIC, pack, script, write_file
from reid_sql.errors import ReidError
from reid_sql.function import Answer
from reid_sql.parameters.outputs import REQUIRED
from reid_sql_udfs import declared
from tests.processes import command

PEOPLE = "CREATE TABLE people AS SELECT i % 7 AS age, i % 2 AS sex FROM range(50) t(i)"
SUMMARY = "SELECT records, k, classes FROM {}risk_summary(people, ['age', 'sex'])"
SIZES = "SELECT DISTINCT {}equivalence_class_size(age) AS k FROM people ORDER BY k"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file as the command writes it."""
    made = Path(tmp_path_factory.mktemp("file") / "reid.duckdb")
    assert f"ATTACH '{made}' (READ_ONLY)" in command("sql", "--file", str(made)).stdout
    return made


@pytest.fixture
def con(file: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as made:
        made.execute(PEOPLE)
        made.execute(f"ATTACH '{file}' (READ_ONLY)")
        yield made


def check(con: duckdb.DuckDBPyConnection, form: str = "reid.") -> None:
    """Counted by hand: seven ages and two sexes among fifty people."""
    assert con.execute(SUMMARY.format(form)).fetchall() == [(50, 3, 14)]
    assert con.execute(SIZES.format(form)).fetchall() == [(7,), (8,)]


def test_every_connection_calls_them_by_the_name_of_the_file(
    con: duckdb.DuckDBPyConnection,
) -> None:
    check(con)
    check(con.cursor())
    cursor = con.cursor()
    cursor.execute("SET search_path = 'memory.main,reid.main'")
    check(cursor, "")
    con.execute("CREATE SCHEMA inner_one; USE inner_one")
    con.execute(f"CREATE OR REPLACE TEMP {PEOPLE.removeprefix('CREATE ')}")
    check(con)


def test_a_schema_of_the_users_named_reid_leaves_the_whole_name(
    con: duckdb.DuckDBPyConnection,
) -> None:
    con.execute("CREATE SCHEMA reid; CREATE MACRO memory.reid.reid_names(a, b) AS ['sex']")
    with pytest.raises(duckdb.BinderException, match="Ambiguous reference"):
        check(con)
    check(con, "reid.main.")


@pytest.mark.parametrize("way", ["file", "script"])
def test_a_read_only_database_is_asked_and_stays_as_it_is(
    tmp_path: Path, file: Path, way: str
) -> None:
    path = tmp_path / "people.db"
    with duckdb.connect(path) as con:
        con.execute(PEOPLE)
    before = path.read_bytes()
    with duckdb.connect(path, read_only=True) as con:
        con.execute(script(declared()) if way == "script" else f"ATTACH '{file}' (READ_ONLY)")
        check(con)
        check(con.cursor())
    assert path.read_bytes() == before


def test_it_serves_a_process_that_registers_too(con: duckdb.DuckDBPyConnection) -> None:
    reid_sql.register(con)
    check(con)
    check(con, "")
    answered = con.execute("SELECT count(*) FROM population_uniqueness(people, ['age'], 100)")
    assert answered.fetchall() != [(0,)]


@pytest.mark.newest
@pytest.mark.parametrize("name", ["risk", "my functions", 'the "functions"', "Select"])
def test_a_file_of_another_name_is_called_by_it(tmp_path: Path, name: str) -> None:
    called = write_file(tmp_path / f"{name}.duckdb", declared())
    with duckdb.connect() as con:
        con.execute(f"{PEOPLE}; ATTACH '{tmp_path}/{name}.duckdb' (READ_ONLY)")
        check(con, f"{called}.")


# What it refuses

ARGUMENTS = {"qi": "['age']", "columns": "['age']", "tbl": "people", "model": "'m'"}
PLAIN = {name for name, *_ in PUBLIC.findall(pack())}
LACKED = {
    name: each for name, each in declared().items() if each.needs_python and name not in PLAIN
}


@pytest.mark.parametrize("place", ["file", "script"])
def test_every_function_is_there_or_says_where_it_is(
    con: duckdb.DuckDBPyConnection, place: str
) -> None:
    answered_by = [*declared()]
    if place == "script":
        con.execute("DETACH reid")
        con.execute(script(declared()))
        answered_by = [name for name, each in declared().items() if not each.answer.of_rows]
    listed = con.execute(
        "SELECT DISTINCT function_name FROM duckdb_functions() WHERE database_name = 'reid'"
    ).fetchall()
    assert {*answered_by} <= {name for (name,) in listed}
    for name in LACKED.keys() & {*answered_by}:
        function = LACKED[name]
        required = [p.name for p in function.parameters if p.default is REQUIRED]
        given = ", ".join(ARGUMENTS.get(each, "sex") for each in required)
        asked = f"SELECT count(*) FROM reid.{name}({given})"
        if function.answer.of_rows:
            columns = "" if function.answer is Answer.SCALAR else ", age, sex"
            asked = f"SELECT reid.{name}({given}{columns}) FROM people"
        with pytest.raises(
            duckdb.Error, match=f"{name} must be called where Python is, got a script"
        ):
            con.execute(asked).fetchall()


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        (["sql", "--file", "{file}"], "--file must be a new file, got "),
        (["sql", "--file", "{folder}/main.duckdb"], "--file must be a path where DuckDB can write"),
        (["sql", "--file", "{folder}/no/x.duckdb"], "--file must be a path where DuckDB can write"),
        (["sql", "--file", "x.duckdb", "--permanent"], "--permanent must be given alone, got --file"),
        (["sql", "cell_risk(p, n)", "--file", "x.duckdb"], "a call must be given alone, got --file"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_written_is_refused(
    tmp_path: Path, file: Path, words: list[str], rule: str
) -> None:
    done = command(*(word.format(file=file, folder=tmp_path) for word in words))
    assert done.returncode == 2
    assert rule in done.stderr
    assert not list(tmp_path.iterdir())


def test_what_was_written_stays(file: Path) -> None:
    with pytest.raises(ReidError, match="which exists; delete it"):
        write_file(file, declared())
    assert file.stat().st_size > 100_000
