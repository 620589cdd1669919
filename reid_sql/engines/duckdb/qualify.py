"""Names of functions with the place where they are, so that no macro of a user's answers for one.

No macro of a database file does so, either. DuckDB looks for an unqualified name in the user's schemas first:
there a macro named min or hash would change an answer.
"""

import re
from typing import Final

from reid_sql.engines.duckdb.names import BUILTIN, HOME

MACROS: Final = re.compile(
    r"reid_(?:log1p|expm1|is_usual|texts_of_row|has_collation|are_exact|are_columns|closed_form_\w+)"
)
PART: Final = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|"""
    r"(?P<before>\bAS\s+(?=reid_)|[*)]\s*(?=REPLACE\b|EXCLUDE\b))?(?<![\w.])(?P<word>[A-Za-z_]\w*)(?=\s*\()",
    re.IGNORECASE,
)
# Words of the language that are written before a parenthesis, and functions that the parser itself knows.
SYNTAX: Final = frozenset(
    re.findall(
        r"\w+",
        """all and any as asof between by case cast coalesce columns decimal distinct else exclude exists
        filter from having in interval is join lateral materialized not on or over qualify select struct
        table then
        try_cast union unpivot using values when where""",
    )
)


def qualified(sql: str) -> str:
    """Call every function by its full name; what is in quotes stays as it is.

    >>> qualified("SELECT min(a) FILTER (b > 1) FROM range(3) AS reid_t(a)")
    'SELECT system.main.min(a) FILTER (b > 1) FROM system.main.range(3) AS reid_t(a)'
    >>> qualified("SELECT coalesce(reid_begin(a), 'max(a)') AS s, * REPLACE (1 AS b)")
    "SELECT coalesce(system.main.reid_begin(a), 'max(a)') AS s, * REPLACE (1 AS b)"
    """
    return PART.sub(_place, sql)


def _place(match: re.Match[str]) -> str:
    word = match["word"]
    if not word or match["before"] or word.lower() in SYNTAX:
        return match[0]
    return f"{HOME if MACROS.fullmatch(word) else BUILTIN}{match[0]}"
