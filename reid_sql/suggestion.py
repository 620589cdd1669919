"""Suggest the known name that a misspelt one most likely means."""

from collections.abc import Sequence
from typing import Final

SHOWN: Final = 12  # names that fit a sentence

# DuckDB measures the distance here too, so that SQL and Python give the same sentence.
NEAREST: Final = """
SELECT name FROM (SELECT unnest($known) AS name, generate_subscripts($known, 1) AS place)
WHERE damerau_levenshtein(lower($name), lower(name))
  <= least(CASE WHEN length($name) < 4 THEN 1 ELSE 1 + length($name) // 3 END,
    greatest(length($name), length(name)) - 1)
ORDER BY damerau_levenshtein(lower($name), lower(name)), place LIMIT 1
"""


def suggestion(name: str, known: Sequence[str], kind: str = "columns") -> str:
    """Suggest the nearest known name for a misspelt one, or list the known names.

    >>> suggestion("sxe", ["age", "sex"])
    "did you mean 'sex'?"
    >>> suggestion("postcode", ["age", "sex"]), suggestion("x", ["a", "b"])
    ('the columns are age, sex', 'the columns are a, b')
    """
    if not known:
        return f"there are no {kind}"
    import duckdb  # noqa: PLC0415 - models name no engine, and only a misspelt name needs this one

    with duckdb.connect() as con:
        nearest = con.execute(NEAREST, {"name": name, "known": list(known)}).fetchall()
    if nearest:
        return f"did you mean '{nearest[0][0]}'?"
    return f"the {kind} are " + ", ".join(known[:SHOWN]) + (", …" if len(known) > SHOWN else "")


def count_values(values: Sequence[str | None]) -> str:
    """Tell how many values there are, without one of them; NULL is none of the data.

    >>> count_values([None]), count_values(["a", None]), count_values(["a"])
    ('NULL', '2 values', '1 value')
    """
    if list(values) == [None]:
        return "NULL"
    return f"{len(values)} value{'s' * (len(values) > 1)}"
