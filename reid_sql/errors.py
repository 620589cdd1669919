"""What goes wrong, in one sentence that states the rule, the value and the remedy."""

import re
from typing import Final

LONG: Final = re.compile(r"\S{301,}")


class ReidError(ValueError):
    """Any refusal of reid-sql; its text is one sentence: rule, value, remedy.

    A long value is shortened to its beginning.
    """

    def __init__(self, sentence: str) -> None:
        """Keep the sentence short enough to be read."""
        super().__init__(LONG.sub(lambda found: f"{found[0][:80]}…", sentence))


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
