"""The functions that need no Python as SQL, for any client of DuckDB."""

import re
from collections.abc import Mapping
from typing import Final

from reid_sql.engines.duckdb.comments import comments
from reid_sql.engines.duckdb.macros import CATALOGUE, PUBLIC, forwards, macros, written
from reid_sql.engines.duckdb.qualify import BUILTIN
from reid_sql.function import Function, sql_literal
from reid_sql.parameters import quoted

LITERAL: Final = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*\"""")
TAKEN: Final = (
    f"{PUBLIC} must be a catalogue in memory, got a database file of that name, attach it as another"
)
GUARD: Final = f"""SET VARIABLE reid_sql_script = (
    SELECT CASE WHEN count(path) > 0 THEN error({sql_literal(TAKEN)})::BOOLEAN ELSE true END
    FROM {BUILTIN}duckdb_databases() WHERE database_name = '{PUBLIC}')"""


def script(functions: Mapping[str, Function], *, permanent: bool = False, database: str = "") -> str:
    """Write the functions that need no Python as SQL that any DuckDB client can load.

    They live in a catalogue of our own in memory, known to every connection as reid.name, and to the one that
    loads them by bare names. The permanent ones call each other by bare names, found where their database is
    the current one; by full names where the database is named, found wherever it is attached under that name.
    No semicolon stands but where a statement ends, for tools that split at each.
    """
    definitions = macros(functions, python=False)
    if permanent:
        place = f"{quoted(database)}.main." if database else ""
        made = written(definitions, f"CREATE OR REPLACE MACRO {place}", place, place)
        return split_at_ends(made) + comments(functions, place)
    home = f"{CATALOGUE}_script.main."
    made = written(definitions, f"CREATE OR REPLACE MACRO {home}", home, home)
    called = forwards(functions)
    return "\n".join(
        [
            f"ATTACH IF NOT EXISTS ':memory:' AS {CATALOGUE}_script;\n",
            split_at_ends(made),
            written(called, "CREATE OR REPLACE TEMP MACRO ", home, home),
            f"ATTACH IF NOT EXISTS ':memory:' AS {PUBLIC};\n",
            "BEGIN;\n",  # what follows a refusal is left undone
            f"{GUARD};\n",
            written(called, f"CREATE MACRO IF NOT EXISTS {PUBLIC}.main.", home, home),
            comments(functions, f"{PUBLIC}.main."),
            "COMMIT;\n",
        ]
    )


def split_at_ends(sql: str) -> str:
    """The SQL with each text that holds semicolons put together from its parts.

    >>> split_at_ends("SELECT 'drop it; or not';")
    "SELECT ('drop it' || system.main.chr(59) || ' or not');"
    """

    def parts(found: re.Match[str]) -> str:
        text = found[0]
        if text[0] == '"' or ";" not in text:
            return text
        joined = f" || {BUILTIN}chr(59) || ".join(f"'{part}'" for part in text[1:-1].split(";"))
        return f"({joined})"

    return LITERAL.sub(parts, sql)
