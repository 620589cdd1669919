"""What goes wrong, in one sentence that states the rule, the value and the remedy."""

import re
from typing import Final

LONG: Final = re.compile(r"\S{301,}")
MEANINGS: Final = {  # of errors that a reader can mend
    "InsufficientPrivilege": "the right to read all rows is lacking, as where row-level security hides some",
    "QueryCanceled": "the statement was stopped, as by a time limit",
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


class NoRecordsError(ReidError):
    """There is no record to measure."""


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
    known = isinstance(number, int) and 0 < number <= MAX_ERROR_NUMBER
    meaning = f" ({MEANINGS[kind]})" if kind in MEANINGS else ""
    return f"{kind} {number}" if known else f"{kind}{meaning}"
