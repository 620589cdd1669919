"""What is logged of a question: names of the owner's tables and columns, and no word of the client's own."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from reid_sql.errors import ReidError
from reid_sql.serve.record import Reveal
from reid_sql.terminal.runner import sentence

WORD: Final = re.compile(r"\w+")
UNKNOWN: Final = "_"  # in place of a word that the server does not know


@dataclass(frozen=True)
class LogLine:
    """What was asked and what became of it, without a value."""

    time: str
    client: str
    session: str  # a digest
    verdict: str
    functions: tuple[str, ...]
    tables: tuple[str, ...]
    columns: tuple[str, ...]
    statement: str
    reason: str
    recorded: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class Words:
    """The words that a log may contain: names of columns of the tables, and other words of SQL."""

    columns: frozenset[str]
    others: frozenset[str]

    def columns_in(self, sql: str) -> tuple[str, ...]:
        """List the columns of the tables that a text names."""
        return tuple(
            name
            for name in sorted(self.columns)
            if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", sql, re.IGNORECASE)
        )

    def hide_unknown(self, shape: str) -> str:
        """Replace the words of a statement without constants that the server does not know."""
        names = self.columns | self.others
        return WORD.sub(lambda word: word[0] if word[0].casefold() in names else UNKNOWN, shape)

    def reason_of(self, error: BaseException, sql: str) -> str:
        """Return the rule that a refusal names, without what was got and without words of the statement."""
        rule, got, _ = sentence(error).partition(", got ")
        if not got:
            return (
                type(error).__name__ if not isinstance(error, ReidError) else "there is no answer"
            )
        foreign = {word.casefold() for word in WORD.findall(sql)} - self.columns - self.others
        return WORD.sub(lambda word: UNKNOWN if word[0].casefold() in foreign else word[0], rule)


def describe_reveals(reveals: Sequence[Reveal]) -> tuple[str, ...]:
    """Write what was recorded of a question."""
    return tuple(
        f"{each.table}: {each.shape} of {', '.join(sorted(each.columns))}" for each in reveals
    )
