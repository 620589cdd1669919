"""What goes wrong, in one sentence that states the rule, the value and the remedy; the nearest known name."""

import re
from collections.abc import Sequence
from typing import Final

LONG: Final = re.compile(r"\S{301,}")
MEANINGS: Final = {  # of errors that a reader can mend, by PostgreSQL's function where it raised them
    ("InsufficientPrivilege", "aclcheck_error"): "this user lacks a right, such as GRANT SELECT",
    (
        "InsufficientPrivilege",
        "check_enable_rls",
    ): "row-level security would hide rows from this user",
    ("InsufficientPrivilege", None): "this user may not read all rows",
    ("QueryCanceled", None): "the statement was stopped, as by a time limit",
}
OTHER_VALUE: Final = "another value"  # in place of a column's, which no refusal repeats
MAX_ERROR_NUMBER: Final = 9999  # of a database's errors


class ReidError(ValueError):
    """Any refusal of reid-sql; its text is one sentence: rule, value, remedy.

    A long value is shortened to its beginning.
    """

    def __init__(self, sentence: str) -> None:
        """Keep the sentence short enough to be read."""
        super().__init__(LONG.sub(lambda got: f"{got[0][:80]}…", sentence))


class RowsNotPeopleWarning(UserWarning):
    """A column looks like an identifier and repeats, so that a row is perhaps not a person."""


class MissingCodesWarning(UserWarning):
    """Values of a column look like codes for missing values, and count as values."""


class OutOfDomainError(ReidError):
    """A value lies outside what its parameter may be."""


class UnknownNameError(ReidError):
    """A name (column, table, file, choice) names nothing; the sentence offers the nearest valid name."""


class WrongTypeError(OutOfDomainError, TypeError):
    """A value is not of the kind that its parameter takes."""


class WrongCallError(OutOfDomainError, TypeError):
    """A call has an argument too few or too many."""


class UnknownParameterError(UnknownNameError, TypeError):
    """A call names a parameter that the function lacks; the sentence offers the nearest that it has."""


NO_RECORDS: Final = (
    "the table must contain at least one record, got 0 (those that nulls := 'drop' leaves out do not count); "
    "pass a table with records"
)


class NoRecordsError(ReidError):
    """There is no record to measure."""

    def __init__(self, sentence: str = NO_RECORDS) -> None:
        """Say which table has none."""
        super().__init__(sentence)

    @classmethod
    def of_table(cls, name: str) -> "NoRecordsError":
        """Say which table has none."""
        return cls(f"{name} must contain at least one record, got 0; pass a table with records")


class TooFewRecordsError(OutOfDomainError):
    """There are too few records for an answer; of a group among others, its status says so."""


class UnavailableError(ReidError):
    """An engine does not have a function; the sentence says why, and where it is to be had."""


def name_error(error: BaseException) -> str:
    """Name the type of an engine's error, with a database's number of it: its words may quote a value.

    >>> name_error(KeyError("Alice"))
    'KeyError'
    """
    kind = type(error).__name__
    of_database = any(base.__name__ == "DatabaseError" for base in type(error).__mro__)
    number = error.args[0] if of_database and error.args else None
    is_numbered = isinstance(number, int) and 0 < number <= MAX_ERROR_NUMBER
    where = getattr(getattr(error, "diag", None), "source_function", None)
    words = MEANINGS.get((kind, where), MEANINGS.get((kind, None)))
    meaning = f" ({words})" if words else ""
    return f"{kind} {number}" if is_numbered else f"{kind}{meaning}"


# Suggest the known name that a misspelt one most likely means.


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
