"""What registering makes is stored; `python -m tools.prepared` writes it anew."""

import subprocess
import sys
from pathlib import Path

import duckdb
import polars as pl
import pytest

import reid_sql
from reid_sql.engines.duckdb import make_functions
from reid_sql.engines.duckdb.registering import PARSED, prepare
from reid_sql.function import Function
from reid_sql.sources.files import connect_quietly, open_source
from reid_sql_udfs import declared
from tests.cells import each_cell
from tests.matrices.engines import Answers, Given, Sql, engine_named, frames_in
from tests.matrices.test_functions import agree, fit, question
from tests.processes import environment
from tests.tiers import representatives
from tools.prepared import STORED, list_macros, made_macros, stored_macros

pytestmark = pytest.mark.first(name=representatives())

REGISTER = """
import sys
before = {*sys.modules}
import duckdb, reid_sql
con = duckdb.connect()
reid_sql.register(con)
if len(sys.argv) > 2:
    con.execute(sys.argv[2]).fetchall()
late = tuple(sys.argv[1].split())
needed = {"_duckdb", "duckdb", "numpy", "reid_sql", "reid_sql_udfs", *sys.stdlib_module_names}
loaded = sys.modules.keys() - before
print(sorted(name for name in loaded if name.startswith(late) or name.partition(".")[0] not in needed))
"""
FIRST = "WITH t AS (SELECT 1 AS a) FROM risk_summary(t, ['a'])"


def test_the_stored_form_is_what_the_declarations_make() -> None:
    assert prepare(declared()).text() == STORED.read_text(encoding="utf-8")


@pytest.mark.newest  # older versions cannot read the stored catalogue, and make the macros
def test_the_stored_catalogue_is_what_registering_makes() -> None:
    assert stored_macros() == made_macros() != []
    PARSED.clear()  # the statements that made them
    with duckdb.connect() as con:
        reid_sql.register(con)
        assert not any(text.startswith("CREATE OR REPLACE MACRO reid.") for text in PARSED)
        assert list_macros(con, "reid") == made_macros()
        attached = con.execute("SELECT database_name, path FROM duckdb_databases()").fetchall()
        assert sorted(attached) == [(name, None) for name in ("memory", "reid", "system", "temp")]


EARLIER = """ATTACH ':memory:' AS reid; CREATE MACRO reid.main.reid_functions() AS ['0'];
    CREATE MACRO reid.main.risk_summary(a) AS TABLE SELECT a"""


@pytest.mark.parametrize("taken", ["ATTACH ':memory:' AS reid_sql_copied", EARLIER])
def test_what_cannot_be_copied_is_made(taken: str) -> None:
    """Something of the user's has the name of the copy, or an earlier version has registered."""
    databases = "SELECT database_name FROM duckdb_databases() WHERE database_name <> 'reid'"
    with duckdb.connect() as con:
        con.execute(taken)
        before = con.execute(databases).fetchall()
        reid_sql.register(con)
        assert list_macros(con, "reid") == made_macros()
        assert con.execute(databases).fetchall() == before


def test_a_private_connection_has_the_same_functions() -> None:
    """Comments are left out, which nobody reads there, and bare names are found by the search path."""
    asked = """SELECT schema_name, function_name, function_type, parameters, macro_definition
        FROM duckdb_functions()
        WHERE NOT internal AND function_name NOT IN ('reid_database', 'reid_functions')
        AND database_name {} 'temp' ORDER BY ALL"""
    with duckdb.connect() as public, connect_quietly() as private:
        reid_sql.register(public)
        also = [name for each in declared().values() for name in each.also]
        make_functions(private, [*declared(), *also])
        found, expected = (con.execute(asked.format("<>")).fetchall() for con in (private, public))
        bare = public.execute(asked.format("=")).fetchall()
        assert private.execute(asked.format("=")).fetchall() == []
        assert private.execute("SELECT current_setting('search_path')").fetchall() == [
            ("memory.main,reid.main",)
        ]
    assert found == expected != []
    assert {row[1] for row in bare} <= {row[1] for row in found}


class Private(Sql):
    """A private connection that makes what it is asked, and nothing else."""

    name = "duckdb"

    def __init__(self) -> None:
        self.con = connect_quietly()

    def ask(self, declared: Function, given: Given) -> Answers | str:
        make_functions(self.con, [declared.name])
        for name, value in given.items():
            frames = {f"{name}_{place}": each for place, each in enumerate(frames_in(value))}
            if isinstance(value, pl.DataFrame):
                frames[name] = value
            for each, frame in frames.items():
                self.con.register(each, frame.to_arrow())
        answer = self.con.execute(self.sql(declared, given))
        names = [column[0] for column in answer.description or []]
        return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]


@each_cell("name", declared())
@pytest.mark.first(cells=8)
def test_a_private_connection_answers_by_one_function_alone(name: str) -> None:
    """Nothing is left out that its plan calls; a model that it names is fitted by another function."""
    function, engine, public = declared()[name], Private(), engine_named("duckdb")
    if function.models:
        fit(engine)
        fit(public)
    given = question(engine, function)
    agree(function, engine.ask(function, given), public.ask(function, given))


def test_views_and_generated_columns_of_a_database_file_may_call_functions(tmp_path: Path) -> None:
    file = tmp_path / "town.duckdb"
    with duckdb.connect(file) as con:
        reid_sql.register(con)
        made = "double AS (cell_risk(a, 101))"
        con.execute(
            f"CREATE TABLE generated (a DOUBLE, u {made}); INSERT INTO generated VALUES (0.01)"
        )
        con.execute("CREATE VIEW scored AS SELECT a, cell_risk(a, 101) AS u FROM generated")
        con.execute("CREATE VIEW counted AS FROM reid.risk_summary('generated', ['a'])")
        expected = con.execute("FROM scored").fetchall()
    assert expected == [(0.01, pytest.approx(0.99**100))]
    for table in ("scored", "generated"):
        private, view = open_source(str(file), table)
        assert private.execute(f"FROM {view}").fetchall() == expected
    private, view = open_source(str(file), "counted")
    assert private.execute(f"SELECT records FROM {view}").fetchall() == [(1,)]


@pytest.mark.newest  # DuckDB 1.5 imports pyarrow
@pytest.mark.parametrize(
    ("modules", "calls"),
    [
        ("reid_sql.models reid_sql.function reid_sql.parameters", []),
        # the lists of words take as long as all else of the first call
        ("reid_sql.models.columns.missing numpy.random", [FIRST]),
    ],
)
def test_registering_and_a_first_summary_import_no_more_than_they_need(
    modules: str, calls: list[str]
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", REGISTER, modules, *calls],
        capture_output=True,
        text=True,
        env=environment(),
        check=True,
    )
    assert done.stdout.strip() == "[]"
