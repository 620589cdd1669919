"""The log: for each question a line of names and shapes, without a value or a word of the client's own.

Each line has the digest of itself and of the line before, so that whoever changes or removes one breaks the
chain. Who can write the file can still write all of it anew: keep the last digest elsewhere.
"""

import json
import os
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from reid_sql.errors import OutOfDomainError, ReidError, UnavailableError
from reid_sql.serve.record import Reveal
from reid_sql.terminal.runner import sentence

WORD: Final = re.compile(r"\w+")
UNKNOWN: Final = "_"  # in place of a word that the server does not know
DIGEST: Final = "digest"
FIRST: Final = ""  # what the first line follows
TAIL: Final = 1_000_000  # bytes at the end of a file that have its last line


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
    hides: bool  # whether the answer's cells have hidden ones
    near: bool  # whether it was refused because a hidden group would follow
    seconds: float


class Log:
    """A file to which each question is added as a line of JSON; without a name, nothing is."""

    def __init__(self, file: str | None) -> None:
        """Open the file, and go on after its last line."""
        self._file, self._lock, self._last = file, threading.Lock(), FIRST
        try:
            with Path(file or os.devnull).open("ab+") as lines:
                self._end = lines.tell()
                lines.seek(-min(self._end, TAIL), os.SEEK_END)
                before = lines.read().splitlines()
        except OSError:
            raise OutOfDomainError(
                f"--log must be a file that can be written, got '{file}'; "
                "name one in a folder that exists"
            ) from None
        if before:
            self._last = _digest_in(before[-1], file)

    def write(self, line: LogLine) -> None:
        """Add a line, with its digest; a file that another program changed would be no chain."""
        if self._file is None:
            return
        with self._lock, Path(self._file).open("ab") as lines:
            if lines.tell() != self._end:
                raise UnavailableError(
                    "a log must be written by one server, got one that another program changed; "
                    "ask the owner to start the server again with another file"
                )
            written = asdict(line)
            digest = digest_of(written, self._last)
            text = json.dumps(written | {DIGEST: digest}, ensure_ascii=False) + "\n"
            lines.write(text.encode())
            lines.flush()
            self._last, self._end = digest, lines.tell()


def _digest_in(line: bytes, file: str | None) -> str:
    try:
        return str(json.loads(line)[DIGEST])
    except (ValueError, KeyError, TypeError):
        raise OutOfDomainError(
            f"--log must be a file of reid-sql serve, or a new one, got '{file}', whose last line has no digest; "
            "name another file"
        ) from None


def digest_of(line: Mapping[str, Any], before: str) -> str:
    """Digest a line without its own digest, and the digest before it."""
    written = json.dumps({key: each for key, each in line.items() if key != DIGEST}, sort_keys=True)
    return sha256(f"{before}\n{written}".encode()).hexdigest()


def is_log(file: str) -> bool:
    """Whether a file begins with a line of a log."""
    try:
        with Path(file).open(encoding="utf-8") as lines:
            first = json.loads(lines.readline())
    except (OSError, ValueError):
        return False
    return isinstance(first, dict) and {DIGEST, "client", "verdict"} <= first.keys()


def read_log(lines: Iterable[str]) -> list[dict[str, Any]]:
    """Read a log, each line of which must follow the one before."""
    read: list[dict[str, Any]] = []
    last = FIRST
    for number, text in enumerate(lines, 1):
        try:
            line = json.loads(text)
            last = digest_of(line, last)
            is_next = line[DIGEST] == last
        except (ValueError, KeyError, TypeError, AttributeError):
            is_next = False
        if not is_next:
            raise OutOfDomainError(
                f"each line of a log must follow the one before, got line {number}, which does not; "
                "it was changed, or lines before it are missing"
            )
        read.append(line)
    return read


def summarize_clients(lines: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Count the questions of each client, and how often one came near a hidden group."""
    clients: dict[str, dict[str, Any]] = {}
    for line in lines:
        row = clients.setdefault(
            line["client"],
            dict.fromkeys(
                ("questions", "answered", "refused", "with_hidden_cells", "near_hidden"), 0
            ),
        )
        row["questions"] += 1
        row[line["verdict"]] += 1
        row["with_hidden_cells"] += line["hides"]
        row["near_hidden"] += line["near"]
    rows = [{"client": client, **row} for client, row in clients.items()]
    return sorted(
        rows, key=lambda row: (-row["near_hidden"], -row["with_hidden_cells"], row["client"])
    )


@dataclass(frozen=True)
class Words:
    """The words that a log may contain: names of columns of the tables, and other words of SQL."""

    columns: frozenset[str]
    words_of_sql: frozenset[str]

    def columns_in(self, sql: str) -> tuple[str, ...]:
        """List the columns of the tables that a text names."""
        return tuple(
            name
            for name in sorted(self.columns)
            if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", sql, re.IGNORECASE)
        )

    def hide_unknown(self, shape: str) -> str:
        """Replace the words of a statement without constants that the server does not know."""
        names = self.columns | self.words_of_sql
        return WORD.sub(lambda word: word[0] if word[0].casefold() in names else UNKNOWN, shape)

    def reason_of(self, error: BaseException, sql: str) -> str:
        """Return the rule that a refusal names, without what was got and without words of the statement."""
        rule, got, _ = sentence(error).partition(", got ")
        if not got:
            return (
                type(error).__name__ if not isinstance(error, ReidError) else "there is no answer"
            )
        foreign = {word.casefold() for word in WORD.findall(sql)} - self.columns - self.words_of_sql
        return WORD.sub(lambda word: UNKNOWN if word[0].casefold() in foreign else word[0], rule)


def describe_reveals(reveals: Sequence[Reveal]) -> tuple[str, ...]:
    """Write what was recorded of a question."""
    return tuple(
        f"{each.table}: {each.shape} of {', '.join(sorted(each.columns))}" for each in reveals
    )
