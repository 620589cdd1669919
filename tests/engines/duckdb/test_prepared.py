"""What registering makes is stored; `python -m tools.prepared` writes it anew."""

import subprocess
import sys

import duckdb
import pytest

import reid_sql
from reid_sql.engines.duckdb import make_functions
from reid_sql.engines.duckdb.registering import prepare
from reid_sql.sources.files import connect_quietly
from reid_sql_udfs import declared
from tests.processes import environment
from tools.prepared import STORED

REGISTER = """
import sys, duckdb, reid_sql
con = duckdb.connect()
reid_sql.register(con)
loaded = ("reid_sql.models", "reid_sql.function", "reid_sql.parameters", "scipy", "pyarrow", "polars")
print(sorted(name for name in sys.modules if name.startswith(loaded)))
"""


def test_the_stored_form_is_what_the_declarations_make() -> None:
    assert prepare(declared()).text() == STORED.read_text(encoding="utf-8")


def test_a_private_connection_has_the_same_functions() -> None:
    """Comments are left out, which nobody reads there, and bare names are found by the search path."""
    asked = """SELECT schema_name, function_name, function_type, parameters, macro_definition
        FROM duckdb_functions()
        WHERE NOT internal AND function_name NOT IN ('reid_database', 'reid_functions')
        AND database_name {} 'temp' ORDER BY ALL"""
    with duckdb.connect() as public, connect_quietly() as private:
        reid_sql.register(public)
        make_functions(private, declared())
        found, expected = (con.execute(asked.format("<>")).fetchall() for con in (private, public))
        bare = public.execute(asked.format("=")).fetchall()
        assert private.execute(asked.format("=")).fetchall() == []
        assert private.execute("SELECT current_setting('search_path')").fetchall() == [
            ("memory.main,reid.main",)
        ]
    assert found == expected != []
    assert {row[1] for row in bare} <= {row[1] for row in found}


@pytest.mark.newest  # DuckDB 1.4 imports pyarrow
def test_registering_imports_no_declaration_no_model_and_no_dataframe_library() -> None:
    done = subprocess.run(
        [sys.executable, "-c", REGISTER], capture_output=True, text=True, env=environment(), check=True
    )
    assert done.stdout.strip() == "[]"
