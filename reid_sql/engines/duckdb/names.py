"""Names that the parts of the engine share, and the place of each function."""

import re
from functools import lru_cache
from typing import Final

import duckdb

BUILTIN: Final = "system.main."  # the place of DuckDB's functions, and of our Python functions
HOME: Final = "reid_home.main."  # placeholder of the catalogue of our macros
# a Python function: the text by which this database's models are found
DATABASE: Final = "reid_database"
PLAN: Final = "reid_plan"  # a Python function: the query of a call, as text
# a Python function: a refusal of what only the query can see, or NULL
REFUSE: Final = "reid_refusal"
BODY: Final = "reid_body_"  # before a function's name, its Python body
BEGIN: Final = "reid_begin"  # a Python function: begins a body, and returns the number to ask it by
WINDOWS_WITH_OWN_MACRO: Final = 16  # numbers of columns for which a window has a macro of its own
# numbers up to which one macro takes each of the others
WINDOWS_WITH_DEFAULTS: Final = (24, 32, 48, 64)
BETWEEN_COLUMNS: Final = "|"  # a text in a row, by which the texts of its columns are separated
VERSION: Final = tuple(map(int, duckdb.__version__.split(".")[:2]))
# else query_table leaves them out of a name, and reads another table
READS_QUOTES: Final = VERSION >= (2, 0)
# else 1 as INTEGER and 1 as BIGINT are two values of a VARIANT
EQUATES_VARIANTS: Final = VERSION >= (2, 0)


# Each function is written with the place where it is, so that no macro of a user's, or of a database file,
# answers for it: DuckDB looks for an unqualified name in the user's schemas first, and there a macro named
# min or hash would change an answer. What DuckDB reads as a call by a bare name is written as the function:
# a list in brackets here, a subscript, a field, a struct and a row where they are needed. A macro of
# DuckDB's own, such as list_sum, calls others by bare names: none is used.

MACROS: Final = re.compile(
    r"reid_(?:log1p|expm1|texts_of_row|are_exact|are_columns|closed_form_\w+)"
)
PART: Final = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|(?P<list>(?<![\w)\]"'])\[)|(?P<bracket>[\[\]])|"""
    r"(?P<before>\bAS\s+(?=reid_)|[*)]\s*(?=REPLACE\b|EXCLUDE\b))?(?<![\w.])(?P<word>[A-Za-z_]\w*)(?=\s*\()",
    re.IGNORECASE,
)
# Words of the language that are written before a parenthesis, and functions that the parser itself knows.
SYNTAX: Final = frozenset(
    re.findall(
        r"\w+",
        """all and any as asof between by case cast coalesce columns decimal distinct else exclude exists
        filter from grouping having in interval is join lateral map materialized not on or over qualify select
        sets struct table then
        try_cast union unpivot using values when where""",
    )
)


@lru_cache(maxsize=128)  # of a short query, this takes half of the time to plan it
def qualified(sql: str) -> str:
    """Call every function by its full name; what is in quotes stays as it is.

    >>> qualified("SELECT min(a) FILTER (b > 1) FROM range(3) AS reid_t(a)")
    'SELECT system.main.min(a) FILTER (b > 1) FROM system.main.range(3) AS reid_t(a)'
    >>> qualified("SELECT [a, []::INT[]]::INT[][]")
    'SELECT system.main.list_value(a, system.main.list_value()::INT[])::INT[][]'
    >>> qualified("SELECT coalesce(reid_begin(a), 'max(a)') AS s, * REPLACE (1 AS b)")
    "SELECT coalesce(system.main.reid_begin(a), 'max(a)') AS s, * REPLACE (1 AS b)"
    """
    closing: list[str] = []  # of each open bracket

    def replaced(match: re.Match[str]) -> str:
        if match["bracket"] == "]":
            return closing.pop()
        if match["bracket"] or match["list"]:
            closing.append(")" if match["list"] else "]")
            return f"{BUILTIN}list_value(" if match["list"] else "["
        return _place(match)

    return PART.sub(replaced, sql)


def _place(match: re.Match[str]) -> str:
    word = match["word"]
    if not word or match["before"] or word.lower() in SYNTAX:
        return match[0]
    return f"{HOME if MACROS.fullmatch(word) else BUILTIN}{match[0]}"
