"""Names of functions with the place where they live, so that no user's macro stands in for one.

No macro of a database file does so, either. An unqualified name is looked for in the user's schemas first:
there a macro named min or hash would change an answer.
"""

import re
from typing import Final

HOME: Final = "reid_home.main."  # stands for the catalogue of our macros until they are written out
PYTHON: Final = "reid_python.main."  # stands for where the functions that need Python are
BUILTIN: Final = "system.main."
OF_PYTHON: Final = re.compile(
    r"reid_(?:begin|body_\w+|read_\w+|wildcard_class_sizes|subset_counts|model_columns|database)"
)
ALIAS: Final = re.compile(r"reid_(?!body_|spelled_|plan_|reduce_|answered_)")  # AS reid_rows(q1, q2)
PART: Final = re.compile(
    r"""(?P<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*")"""
    r"|(?P<before>[.]?)(?P<word>[A-Za-z_]\w*)(?P<call>\s*\()?|(?P<sign>[^\sA-Za-z_])"
)
# What no name of a place can stand before: a macro of such a name would change what our SQL means.
OPERATORS: Final = (
    *("+", "-", "*", "/", "//", "%", "||", "~~", "!~~"),
    *("list_value", "struct_pack", "array_extract", "struct_extract", "array_slice"),
)
NOT_USUAL: Final = (
    "the operators and literals of SQL must be DuckDB's own, got a macro named like one of "
    f"{' '.join(OPERATORS)}; drop it, or give it another name"
)
# Words of the language that stand before a parenthesis, and functions that the parser itself knows.
SYNTAX: Final = frozenset(
    [
        "and",
        "as",
        "asof",
        "by",
        "case",
        "cast",
        "coalesce",
        "columns",
        "distinct",
        "else",
        "exclude",
        "exists",
        "filter",
        "from",
        "in",
        "join",
        "lateral",
        "materialized",
        "not",
        "on",
        "or",
        "over",
        "select",
        "table",
        "then",
        "try_cast",
        "unpivot",
        "using",
        "values",
        "when",
        "where",
        "struct",
        "decimal",
        "interval",
    ]
)


def qualified(sql: str) -> str:
    """The SQL with every function called by its full name; what stands in quotes stays as it is.

    >>> qualified("SELECT min(a) FILTER (b > 1) FROM range(3) AS reid_t(a)")
    'SELECT system.main.min(a) FILTER (b > 1) FROM system.main.range(3) AS reid_t(a)'
    >>> qualified("SELECT coalesce(reid_known(a), 'max(a)') AS s")
    "SELECT coalesce(reid_home.main.reid_known(a), 'max(a)') AS s"
    """
    last = ""

    def place(found: re.Match[str]) -> str:
        nonlocal last
        previous, last = last, (found["word"] or found["sign"] or "'").lower()
        word = found["word"]
        if not word or not found["call"] or found["before"] or last in SYNTAX:
            return found[0]
        if previous == "as" and ALIAS.match(last):
            return found[0]
        if last == "replace" and previous in {"*", ")"}:  # SELECT * REPLACE (…)
            return found[0]
        return f"{_home(last)}{found[0]}"

    return PART.sub(place, sql)


def _home(name: str) -> str:
    if OF_PYTHON.fullmatch(name):
        return PYTHON
    return HOME if name.startswith("reid_") else BUILTIN
