"""What registering makes is stored; `python -m tools.prepared` writes it anew."""

import subprocess
import sys

import pytest

from reid_sql.engines.duckdb.registering import prepare
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


@pytest.mark.newest  # DuckDB 1.4 imports pyarrow
def test_registering_imports_no_declaration_no_model_and_no_dataframe_library() -> None:
    done = subprocess.run(
        [sys.executable, "-c", REGISTER], capture_output=True, text=True, env=environment(), check=True
    )
    assert done.stdout.strip() == "[]"
