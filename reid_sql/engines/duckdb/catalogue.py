"""The functions for clients without Python: a script of plain macros, and a database file that has them.

The macros are those of the folder pack, each name with the place where it is; in the file, those that plans
become stand in their place. A function that is lacking is there to be refused with the reason.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Final

import duckdb

from reid_sql.engines.duckdb.dialects import LOWER_NAME
from reid_sql.engines.duckdb.names import BUILTIN, SYNTAX
from reid_sql.engines.duckdb.plain_sql import QUERY_COMMAND
from reid_sql.errors import OutOfDomainError
from reid_sql.function import Answer, Function
from reid_sql.parameters import MAX_COLUMNS, quoted, sql_text
from reid_sql.parameters.outputs import REQUIRED

CATALOGUE: Final = "reid"
CREATE: Final = "CREATE OR REPLACE MACRO "
DEFINED: Final = re.compile(rf"^{CREATE}(\w+)", re.MULTILINE)
PUBLIC: Final = re.compile(rf"^{CREATE}((?!reid_)\w+)\s*\(([^)]*)\) AS( TABLE)?", re.MULTILINE)
# the macros with a definition for each number of columns, and what stands before these
WINDOWS: Final = {"equivalence_class_size": "", "equivalence_class_people": "entity, "}
WINDOW_COLUMNS: Final = 8
CALL_OR_QUOTED: Final = re.compile(
    r"""--[^\n]*|'(?:[^']|'')*'|"(?:[^"]|"")*"|(?<![\w.])([A-Za-z_]\w*)(?=\s*\()"""
)
# of c1, c2, …: alias(c) is the alias of each, c all of them
REPEATED: Final = re.compile(r"\{(\([^}]*)\}")
DEFINITION: Final = re.compile(r"(?s)\A(\w+)(.*)")
DEFAULT: Final = re.compile(r"\s*:=(?:\[[^]]*\]|[^,])*")
STORAGE_VERSION: Final = (
    "v1.5.0"  # of the oldest DuckDB that can call the macros: later ones read it
)

# A database file of our name would be written to: its refusal undoes the transaction with all macros.
# register() replaces the macros of a catalogue that has a macro reid_functions.
BEGIN: Final = f"""ATTACH IF NOT EXISTS ':memory:' AS {CATALOGUE} (READ_WRITE);
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
    """Read the macros as they are written, by bare names; what is in braces for each number of columns."""
    chapters = sorted((files("reid_sql") / "pack").iterdir(), key=lambda file: file.name)
    return REPEATED.sub(_repeat, "\n".join(file.read_text(encoding="utf-8") for file in chapters))


def _repeat(match: re.Match[str]) -> str:
    """Write what is in braces for 1 to 8 columns, a definition for each number."""
    definitions = []
    for number in range(1, WINDOW_COLUMNS + 1):
        columns = [f"c{place}" for place in range(1, number + 1)]
        texts = ", ".join(f"alias({column})" for column in columns)
        body = match[1].replace("alias(c)", texts)
        definitions.append(re.sub(r"\bc\b", ", ".join(columns), body))
    return ",\n  ".join(definitions)


def script(
    functions: Mapping[str, Function] = MappingProxyType({}),
    *,
    permanent: bool = False,
    database: str = "",
) -> str:
    """Write the statements that make the macros, for any client of DuckDB.

    For a session they are in a database in memory, where every connection finds them as reid.name, and have
    temporary names for the connection that runs the script; what Python registered stays. Permanent ones are
    in the current database and call each other by bare names, or in the one that is named and by its name.
    Those of the `functions` that answer for tables and need Python refuse.
    """
    tables = {name: each for name, each in functions.items() if not each.answer.of_rows}
    text = _with_refusals(tables)
    if permanent:
        return qualify(text, f"{quoted(database)}.main." if database else "")
    place = f"{CATALOGUE}.main."
    body = qualify(text, place, "CREATE MACRO IF NOT EXISTS ")
    return f"{BEGIN}{body}{END}{_bare_names(text, place)}"


def _with_refusals(functions: Mapping[str, Function]) -> str:
    """Write the macros, and one that refuses for each function that they lack; chr(59) ends no statement."""
    here = {name for name, *_ in PUBLIC.findall(pack())}
    lacked = [declared for name, declared in functions.items() if name not in here]
    refusals = "".join(f"{CREATE}{each.name}{_refusal_of(each)};\n" for each in lacked)
    return f"{pack()}\n{refusals}"


def _refusal_of(declared: Function) -> str:
    """Refuse a call with any arguments of the function, whatever is selected of it.

    The rule is also the name of its one column, which DuckDB prints where a query names another.
    """
    rule = f"{declared.name} must be called where Python is, got a script of plain SQL"
    remedy = f" register it by reid_sql.register(con), or run {QUERY_COMMAND}"
    refused = f"error({sql_text(rule)} || chr(59) || {sql_text(remedy)})"
    options = [p for p in declared.parameters if not p.domain.is_record_value]
    listed = [f'"{p.name}"{"" if p.default is REQUIRED else " := NULL"}' for p in options]
    if not declared.answer.of_rows:
        column = quoted(rule)
        body = f"FROM (SELECT {refused}::VARCHAR AS {column}) AS reid_answer WHERE {column} <> ''"
        return f"({', '.join(listed)}) AS TABLE {body}"
    if declared.answer is not Answer.SCALAR:
        listed += ["c1", *(f"c{place} := NULL" for place in range(2, MAX_COLUMNS + 1))]
    return f"({', '.join(listed)}) AS {refused}::DOUBLE"


def write_file(path: Path, functions: Mapping[str, Function]) -> str:
    """Write the macros into a new database file, and return the name by which they are called.

    It is the file's own, by which DuckDB attaches it: they call each other by it. Tried as a client would.
    """
    database = path.stem if LOWER_NAME.fullmatch(path.stem) else quoted(path.stem)
    if path.exists():
        raise OutOfDomainError(
            f"--file must be a new file, got '{path}', which exists; delete it, or pass another name"
        )
    try:
        with duckdb.connect() as con:
            attach = f"ATTACH {sql_text(str(path))} AS {quoted(path.stem)}"
            con.execute(f"{attach} (STORAGE_VERSION '{STORAGE_VERSION}')")
            con.execute(qualify(_with_refusals(functions), f"{quoted(path.stem)}.main."))
        with duckdb.connect() as con:
            con.execute(f"ATTACH {sql_text(str(path))} (READ_ONLY)")
            con.execute(f"SELECT {database}.cell_risk(0.5, 2)")
    except duckdb.Error as error:
        path.unlink(missing_ok=True)
        raise OutOfDomainError(
            f"--file must be a path where DuckDB can write and attach a database by the name of the file, got "
            f"'{path}'; pass a name such as reid.duckdb ({str(error).splitlines()[0]})"
        ) from None
    return database


def qualify(text: str, place: str, create: str = CREATE) -> str:
    """Create and call each macro of ours at its place, and call each function of DuckDB by its full name.

    So no macro of the user's with the name of one answers in its place. Functions of DuckDB within a text are
    already written so.
    """
    ours = frozenset(DEFINED.findall(text))
    within = re.compile(rf"(?<![\w.])(?=(?:{'|'.join(ours)})\()")

    def put(match: re.Match[str]) -> str:
        word = match[1]
        if word is None:
            return (
                within.sub(place.replace("'", "''"), match[0])
                if match[0].startswith("'")
                else match[0]
            )
        if word in ours:
            return f"{place}{word}"
        return word if word.lower() in SYNTAX else f"{BUILTIN}{word}"

    head, *definitions = text.split(CREATE)
    macros = (
        DEFINITION.sub(lambda match: match[1] + CALL_OR_QUOTED.sub(put, match[2]), each)
        for each in definitions
    )
    return f"{create}{place}".join([head, *macros])


def _bare_names(text: str, place: str) -> str:
    """Write a temporary macro of each name, which calls the one in its place."""
    macros = []
    for called, parameters, of_table in PUBLIC.findall(text):
        listed = " ".join(parameters.split())
        if called in WINDOWS:
            calls = (
                f"{WINDOWS[called]}c1" + "".join(f", c{i}" for i in range(2, n + 1))
                for n in range(1, WINDOW_COLUMNS + 1)
            )
            body = ",\n  ".join(f"({each}) AS {place}{called}({each})" for each in calls)
            macros.append(f"CREATE OR REPLACE TEMP MACRO {called}\n  {body};\n")
            continue
        call = f"{place}{called}({DEFAULT.sub('', listed)})"
        body = f"AS TABLE FROM {call}" if of_table else f"AS {call}"
        macros.append(f"CREATE OR REPLACE TEMP MACRO {called}({listed}) {body};\n")
    return "".join(macros)
