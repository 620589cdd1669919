"""The script of plain macros for clients without Python: pack.sql, each name with the place where it is."""

import re
from functools import cache
from importlib.resources import files
from typing import Final

from reid_sql.engines.duckdb.names import BUILTIN, SYNTAX
from reid_sql.parameters import quoted

CATALOGUE: Final = "reid"
CREATE: Final = "CREATE OR REPLACE MACRO "
DEFINED: Final = re.compile(rf"^{CREATE}(\w+)", re.MULTILINE)
PUBLIC: Final = re.compile(rf"^{CREATE}((?!reid_)\w+)\s*\(([^)]*)\) AS( TABLE)?", re.MULTILINE)
WINDOW: Final = "equivalence_class_size"  # the one macro with a definition for each number of columns
WINDOW_COLUMNS: Final = 8
TOKEN: Final = re.compile(r"""--[^\n]*|'(?:[^']|'')*'|"(?:[^"]|"")*"|(?<![\w.])([A-Za-z_]\w*)(?=\s*\()""")
DEFINITION: Final = re.compile(r"(?s)\A(\w+)(.*)")
DEFAULT: Final = re.compile(r"\s*:=[^,]*")

# A database file of our name would be written to: its refusal undoes the transaction with all macros.
# register() replaces the macros of a catalogue that has a macro reid_functions.
BEGIN: Final = f"""ATTACH IF NOT EXISTS ':memory:' AS {CATALOGUE};
BEGIN;
SET VARIABLE reid_is_in_memory = (SELECT CASE WHEN {BUILTIN}count(path) > 0 THEN {BUILTIN}error(
  '{CATALOGUE} must be a database in memory, got a database file of that name' || {BUILTIN}chr(59)
  || ' attach the file under another name') END
  FROM {BUILTIN}duckdb_databases() WHERE database_name = '{CATALOGUE}');
CREATE MACRO IF NOT EXISTS {CATALOGUE}.main.reid_functions() AS [];

"""
END: Final = """
COMMIT;

-- Bare names, for this connection. Every other connection of the process calls reid.name(...).
"""


@cache
def pack() -> str:
    """Read the macros as they are written, by bare names."""
    return (files("reid_sql") / "pack.sql").read_text(encoding="utf-8")


def script(*, permanent: bool = False, database: str = "") -> str:
    """Write the statements that make the macros, for any client of DuckDB.

    For a session they are in a database in memory, where every connection finds them as reid.name, and have
    temporary names for the connection that runs the script; what Python registered stays. Permanent ones are
    in the current database and call each other by bare names, or in the one that is named and by its name.
    """
    if permanent:
        place = f"{quoted(database)}.main." if database else ""
        return qualify(pack(), place, f"{CREATE}{place}")
    place = f"{CATALOGUE}.main."
    body = qualify(pack(), place, f"CREATE MACRO IF NOT EXISTS {place}")
    return f"{BEGIN}{body}{END}{_bare_names(place)}"


def qualify(text: str, place: str, create: str) -> str:
    """Call each macro of ours by its place, and each function of DuckDB by its full name.

    So no macro of the user's with the name of one answers in its place. Functions of DuckDB within a text are
    already written so.
    """
    ours = frozenset(DEFINED.findall(text))
    within = re.compile(rf"(?<![\w.])(?=(?:{'|'.join(ours)})\()")

    def put(match: re.Match[str]) -> str:
        word = match[1]
        if word is None:
            return within.sub(place.replace("'", "''"), match[0]) if match[0].startswith("'") else match[0]
        if word in ours:
            return f"{place}{word}"
        return word if word.lower() in SYNTAX else f"{BUILTIN}{word}"

    head, *definitions = text.split(CREATE)
    made = (DEFINITION.sub(lambda match: match[1] + TOKEN.sub(put, match[2]), each) for each in definitions)
    return create.join([head, *made])


def _bare_names(place: str) -> str:
    """Write a temporary macro of each name, which calls the one in its place."""
    made = []
    for name, parameters, of_table in PUBLIC.findall(pack()):
        listed = " ".join(parameters.split())
        if name == WINDOW:
            calls = ("c1" + "".join(f", c{i}" for i in range(2, n + 1)) for n in range(1, WINDOW_COLUMNS + 1))
            body = ",\n  ".join(f"({each}) AS {place}{name}({each})" for each in calls)
            made.append(f"CREATE OR REPLACE TEMP MACRO {name}\n  {body};\n")
            continue
        call = f"{place}{name}({DEFAULT.sub('', listed)})"
        body = f"AS TABLE FROM {call}" if of_table else f"AS {call}"
        made.append(f"CREATE OR REPLACE TEMP MACRO {name}({listed}) {body};\n")
    return "".join(made)
