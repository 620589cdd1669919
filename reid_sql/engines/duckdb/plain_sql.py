"""The query of a call as plain SQL for any client, laid out for reading."""

import re
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Final

import duckdb
from duckdb.func import FunctionNullHandling

from reid_sql.engines.duckdb.answers import check_arguments
from reid_sql.engines.duckdb.dialects import (
    DUCKDB,
    LOWER_NAME,
    refuse_dialect,
    reserved_words,
    translate,
    translate_expression,
)
from reid_sql.engines.duckdb.macros import SHARED, names_of, signature, window_of
from reid_sql.engines.duckdb.planner import write_answer
from reid_sql.errors import OutOfDomainError, UnavailableError, UnknownNameError, suggestion
from reid_sql.function import Answer, Function, resolve_name
from reid_sql.parameters import MAX_COLUMNS
from reid_sql.sql.text import name

EXAMPLE: Final = "risk_summary(people, ['age', 'sex'])"
CALL: Final = re.compile(r"(?is)\s*(?:FROM\s+)?(?:reid\.)?(?:main\.)?(\w+)\s*(\(.*\))\s*;?\s*")
BRACKET: Final = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|[(\[{)\]},]""")
CHOSEN: Final = re.compile(r"\A\w+\s*:=\s*")  # the name before an argument
OPTION: Final = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|(\w+)\s*:=""")
OF_PYTHON: Final = re.compile(
    r"\breid_(?:refusal|begin|wildcard_class_sizes|subset_counts|body_\w+)\("
)
HELPER: Final = re.compile(r"\breid_(log1p|expm1)\(")
TABLE: Final = re.compile(r"query_table\('((?:[^']|'')*)'\)")
CAPTURE: Final = "reid_capture"
QUERY_COMMAND: Final = "reid-sql query file.sql"
REFUSAL_NEEDS_PYTHON: Final = (
    "the call must be one that SQL alone can answer, got {}, which needs Python; "
    f"`{QUERY_COMMAND}` runs it"
)
LOCK: Final = threading.Lock()
CAPTURED: Final[list[tuple[Any, ...]]] = []


def plain_sql(call: str, functions: Mapping[str, Function], dialect: str = DUCKDB) -> str:
    """Write the query that a call of a function runs, laid out; the tables need not exist.

    Refuses what is no call, and a call that only Python can answer. A table's columns are compared as the
    database compares them: the checks for collations are Python's.
    """
    refuse_dialect(dialect)
    match = CALL.fullmatch(call)
    if not match or _end_of(match[2]) != len(match[2]):
        raise OutOfDomainError(
            f"the call must be one call of a function, got '{call}'; write it like \"{EXAMPLE}\""
        )
    called = resolve_name(match[1].lower(), functions)
    if called not in functions:
        raise UnknownNameError(
            f"the call must be one of a function, got '{called}'; "
            f"{suggestion(called, list(functions), 'functions')}"
        )
    declared = functions[called]
    if declared.needs_python:
        raise _refusal_of(called)
    arguments = match[2][1:-1]
    if not declared.answer.of_rows:
        query, is_divided = _write_query(declared, arguments)
        if dialect == DUCKDB:
            return lay_out(query)
        return translate(query, dialect, declared.name, is_divided=is_divided)
    expression = (
        _window(declared, arguments)
        if declared.answer is Answer.WINDOW
        else _closed_form(declared, arguments)
    )
    return expression if dialect == DUCKDB else translate_expression(expression, dialect)


def _refusal_of(called: str) -> UnavailableError:
    return UnavailableError(REFUSAL_NEEDS_PYTHON.format(called))


def _end_of(text: str) -> int:
    """The place behind the bracket that closes the first one; 0 where none does."""
    depth = 0
    for bracket in BRACKET.finditer(text):
        depth += (bracket[0] in "([{") - (bracket[0] in ")]}")
        if depth == 0:
            return bracket.end()
    return 0


def _split(text: str) -> list[str]:
    """Split the text of arguments at its outer commas.

    >>> _split("a, coalesce(b, 'x, y')")
    ['a', "coalesce(b, 'x, y')"]
    """
    depth, begin, parts = 0, 0, []
    for bracket in BRACKET.finditer(text):
        depth += (bracket[0] in "([{") - (bracket[0] in ")]}")
        if bracket[0] == "," and not depth:
            parts.append(text[begin : bracket.start()])
            begin = bracket.end()
    return [part.strip() for part in [*parts, text[begin:]] if part.strip()]


# Table functions


def _write_query(declared: Function, arguments: str) -> tuple[str, bool]:
    """Write the query, and whether it answers for each group of the table."""
    names = [parameter.name for parameter in declared.parameters]
    for option in filter(None, OPTION.findall(arguments)):
        if option.lower() not in names:
            raise UnknownNameError(
                f"{declared.name} must be given options that it has, got '{option}'; "
                f"{suggestion(option, names, 'options')}"
            )
    checked = check_arguments(
        declared, _read_arguments(declared, arguments), may_read_files=False, is_plain=True
    )
    declared, checked = declared.choose(checked)
    if declared.needs_python:
        raise _refusal_of(declared.call)
    query = write_answer(declared, checked, "")
    if OF_PYTHON.search(query):
        raise _refusal_of(f"{declared.name}({arguments})")
    return TABLE.sub(_plain_table, query), bool(declared.grouped and checked["by"])


def _read_arguments(declared: Function, arguments: str) -> Sequence[Any]:
    """Let DuckDB read the arguments, as it does for the planner: names without quotes are texts to a macro.

    The call is bound in a database of its own, which reads no file, and is not run.
    """
    public = signature(declared, quote='"')
    passed = ", ".join(f'"{name}"' for name in names_of(declared))
    with LOCK, duckdb.connect(config={"enable_external_access": False, "threads": 1}) as con:
        CAPTURED.clear()
        con.create_function(
            CAPTURE, _capture, None, "VARCHAR", null_handling=FunctionNullHandling.SPECIAL
        )
        con.execute(
            f"CREATE MACRO {declared.name}({public}) AS TABLE FROM query({CAPTURE}({passed}))"
        )
        try:
            con.execute(f"EXPLAIN FROM {declared.name}({arguments})")
        except duckdb.Error as error:
            rule = f"the call must be like {declared.signature}, got '{declared.name}({arguments})'"
            reason = str(error).splitlines()[0]
            raise OutOfDomainError(f"{rule}; write it so, as DuckDB refuses it: {reason}") from None
        return CAPTURED[0]


def _capture(*arguments: Any) -> str:  # noqa: ANN401 - whatever SQL passes
    CAPTURED.append(arguments)
    return "SELECT 1"


def _plain_table(match: re.Match[str]) -> str:
    """Write the table by its name: as it is where it is quoted, else each of its parts."""
    table = match[1].replace("''", "'")
    if '"' in table:
        return table
    return ".".join(
        part if LOWER_NAME.fullmatch(part) and part not in reserved_words() else name(part)
        for part in table.split(".")
    )


# Functions of records


def _window(declared: Function, arguments: str) -> str:
    """Write the window that counts by the columns."""
    named, before = _split(arguments), len(declared.parameters) - 1
    columns = named[before:]
    if not 1 <= len(columns) <= MAX_COLUMNS:
        raise OutOfDomainError(
            f"{declared.name} must be given 1 to {MAX_COLUMNS} columns, got {len(columns)}; "
            "pass the columns by which people can be distinguished, such as age, sex"
        )
    return window_of(named[:before], columns, is_plain=True)


def _closed_form(declared: Function, arguments: str) -> str:
    """Write the closed form over the arguments; NULL where one is NULL or outside its domain."""
    declared, values = _choose_closed_form(declared, _split(arguments))
    if len(values) != len(declared.parameters) or OPTION.search(", ".join(values)):
        raise OutOfDomainError(
            f"the call must be like {declared.signature}, got '{declared.name}({arguments})'; "
            "pass each argument by its place"
        )
    form, tests = str(declared.duckdb), []
    named = {
        p.name: f"({value})::DOUBLE" for p, value in zip(declared.parameters, values, strict=True)
    }
    for parameter in declared.parameters:
        tests += parameter.domain.conditions(named[parameter.name])
    while helpers := list(HELPER.finditer(form)):  # ln(1 + x) and exp(x) - 1 are written out
        last = helpers[-1]  # no other is within it
        end = last.end() - 1 + _end_of(form[last.end() - 1 :])
        argument = form[last.end() : end - 1]
        body = SHARED[f"reid_{last[1]}"].removeprefix("(x) AS ")
        written = re.sub(r"\bx\b", lambda _: f"({argument})", body)  # noqa: B023 - called at once
        form = f"{form[: last.start()]}({written}){form[end:]}"
    form = re.sub(rf"\b({'|'.join(named)})\b", lambda match: named[match[1]], form)
    return f"CASE WHEN {' AND '.join(tests)} THEN {' '.join(form.split())} END"


def _choose_closed_form(declared: Function, values: list[str]) -> tuple[Function, list[str]]:
    """The output that the arguments ask for, and the other arguments; without a word the first."""
    if not declared.outputs:
        return declared, values
    place = names_of(declared).index(declared.selector)
    chooser = declared.parameters[place]
    written = [value for value in values if CHOSEN.match(value)] or values[place : place + 1]
    word = CHOSEN.sub("", written[0]).strip("'") if written else chooser.default
    chosen = declared.outputs[chooser.domain.from_python(chooser.name, word)]
    return chosen, [value for value in values if value not in written]


# A planned query, laid out for reading: a line for each clause, an indent for each query inside another.

TOKEN: Final = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|\s+|\w+|\|\||::|:=|<=|>=|<>|//|.""", re.DOTALL
)
CLAUSES: Final = {
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP",
    "ORDER",
    "UNION",
    "LIMIT",
    "WINDOW",
    "WITH",
    "JOIN",
    "LEFT",
}
CLAUSES_OF_TWO: Final = {
    ("DISTINCT", "FROM"),
    ("LEFT", "JOIN"),
    ("ASOF", "LEFT"),
    ("DESCRIBE", "FROM"),
}
QUERY: Final = {"SELECT", "FROM", "WITH"}
CONNECTIVES: Final = {"WHEN", "ELSE", "AND", "OR"}
LONG: Final = 72  # a line is broken at the next comma
LONGER: Final = 90  # or at the next connective


def lay_out(sql: str) -> str:
    """The query with its white space made anew; what is in quotes stays as it is.

    >>> print(lay_out("SELECT a FROM (SELECT b AS a FROM t WHERE b > 1)"))
    SELECT a
    FROM (
      SELECT b AS a
      FROM t
      WHERE b > 1
    )
    """
    parts = TOKEN.findall(sql.strip())
    places = [place for place, part in enumerate(parts) if not part.isspace()]
    words = ["", *(parts[place] for place in places), "", ""]
    layout = _Layout()
    for at, place in enumerate(places, 1):
        spaced = place > 0 and parts[place - 1].isspace()
        layout.put(words[at], words[at - 1], (words[at + 1], words[at + 2]), spaced=spaced)
    return "\n".join(line.rstrip() for line in layout.lines)


class _Layout:
    def __init__(self) -> None:
        self.lines = [""]
        self.inside: list[bool] = []  # of each open parenthesis, whether it holds a query

    def put(self, word: str, before: str, after: tuple[str, str], *, spaced: bool) -> None:
        """Add one word to the last line, or to a new one."""
        if (word == ")" and self.inside and self.inside.pop()) or (
            before and before != "(" and self._starts_clause(word, before, after)
        ):
            self._line()
        elif self._is_long(word, before):
            self._line(more="  ")
        elif spaced and self.lines[-1].strip() and before != "(" and word not in {")", ","}:
            self.lines[-1] += " "
        self.lines[-1] += word
        if word == "(":
            self.inside.append(after[0] in QUERY)
            if after[0] in QUERY:
                self._line()

    def _starts_clause(self, word: str, before: str, after: tuple[str, str]) -> bool:
        if self.inside and not self.inside[-1]:
            return False
        # WITH a, b AS (…)
        named = before == "," and after[0] == "AS" and after[1] in {"(", "MATERIALIZED"}
        return named or (word in CLAUSES and (before, word) not in CLAUSES_OF_TWO)

    def _is_long(self, word: str, before: str) -> bool:
        at_query = not self.inside or self.inside[-1]
        length = len(self.lines[-1])
        return (before == "," and at_query and length > LONG) or (
            word in CONNECTIVES and length > LONGER
        )

    def _line(self, more: str = "") -> None:
        self.lines[-1] = self.lines[-1].rstrip()
        self.lines.append("  " * sum(self.inside) + more)
