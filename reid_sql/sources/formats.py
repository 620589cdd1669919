"""Text files as tables: names of columns, delimiter, number of records; what is no table is refused."""

import csv
import io
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from reid_sql.engines.file_headers import (
    DELIMITERS,
    MAX_LINES_COMPARED,
    MAX_ROWS_COMPARED,
    REMEDY,
    is_total,
    lines_above_header,
    read_rows,
    refuse_blank_records,
    refuse_footer,
    refuse_footnotes,
    refuse_levels,
    refuse_quotes,
    refuse_record,
    refuse_repeated_names,
    refuse_second_header,
    refuse_title,
)
from reid_sql.errors import OutOfDomainError
from reid_sql.parameters import Number
from reid_sql.parameters.document import shown
from reid_sql.sources.notes import Note
from reid_sql.sources.text_content import (
    HEAD,
    TextFormat,
    begins_with,
    count_lines,
    encoding_read,
    find_unmarked_utf_16,
    locate_bad_byte,
    propose_encodings,
    read_head,
    text_lines,
)

MAX_LINES_SKIPPED: Final = 1000
SKIPPED_RECORDS: Final = "skipped_records"
NOTE_SKIPPED: Final = "of the lines that are skipped below the last record, {} {}"
SKIP: Final = Number(
    f"a whole number from 0 to {MAX_LINES_SKIPPED}, or two of them",
    "pass the number of lines above the names of the columns, and of those below the last record: 2, or 2 and 1",
    0.0,
    float(MAX_LINES_SKIPPED),
    whole=True,
)
BINARY: Final = {
    "Parquet": (b"PAR1",),
    "a workbook or archive": (b"PK\x03\x04", b"\xd0\xcf\x11\xe0"),
    "gzip": (b"\x1f\x8b",),
    "zstd": (b"\x28\xb5\x2f\xfd",),
}


@dataclass(frozen=True)
class TextFile:
    """What a text file holds: its columns, its delimiter, the records that a reader must find.

    `filled` are the places of the columns that most of the last records fill, the first column aside.
    """

    names: tuple[str, ...]
    delimiter: str
    records: int
    filled: tuple[int, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def breaks_in_header(self) -> int:
        """The line breaks within the names of the columns."""
        return sum(name.count("\n") for name in self.names)


def check_skip(name: str, numbers: Sequence[Any]) -> tuple[int, int]:
    """Return the lines above the header and those below the last record; without a second number, none.

    >>> check_skip("--skip", [2]), check_skip("--skip", [0, 1])
    ((2, 0), (0, 1))
    """
    if not 1 <= len(numbers) <= 2:  # noqa: PLR2004 - above and below
        raise OutOfDomainError(SKIP.sentence(name, f"{len(numbers)} of them"))
    above, below = (int(SKIP.from_python(name, each) or 0) for each in (*numbers, 0)[:2])
    return above, below


def inspect_text(words: str, path: Path, form: TextFormat) -> TextFile:
    """Read the header and count the records; `words` is what a refusal calls the file."""
    return _Inspection(words, path, form).inspect()


@dataclass
class _Inspection:
    """A file that is looked at in one format, and the format that its refusal proposes."""

    words: str
    path: Path
    form: TextFormat
    proposed: TextFormat | None = None
    tried: frozenset[str] = frozenset()  # encodings whose refusal proposed this one

    def inspect(self) -> TextFile:
        words, path, form = self.words, self.path, self.form
        _refuse_binary(words, path)
        self._refuse_unmarked()
        try:
            names, delimiter = self._read_header()
            counted = count_lines(path, form, delimiter)
            last = _last_rows(counted.end, delimiter, form)
        except UnicodeError:
            rule = f"{words} must be written in {form.encoding} throughout, got '{path.name}' with a byte that is not"
            where = locate_bad_byte(path, form.encoding)
            encodings = propose_encodings(path, form.encoding)
            option = f"{self._write(encoding=encodings[0])}, or " if encodings else ""
            if encodings[1:]:
                option += f"{' or '.join(encodings[1:])} if its letters are wrong, or "
            raise OutOfDomainError(f"{rule}{where}; {option}convert it") from None
        except (OSError, EOFError, csv.Error) as error:
            raise OutOfDomainError(
                f"{words} must be a text file that can be read, got '{path.name}': {error}; mend it"
            ) from None
        refuse_footer(words, last, self._leave_out)
        refuse_footnotes(words, last, counted.last_line, self._leave_out)
        # Of a single column a blank line is a record without a value
        kept = counted.lines
        if len(names) > 1:
            refuse_blank_records(
                words,
                counted.separators_alone,
                counted.separated,
                counted.last_line,
                self._leave_out,
            )
            kept -= counted.blank
        filled = tuple(
            place
            for place in range(1, len(names))
            if 2 * sum(len(row) > place and bool(row[place].strip()) for row in last) > len(last)
        )
        notes = tuple(self._note_skipped(last, delimiter))
        return TextFile(names, delimiter, kept - form.has_header, filled, notes)

    def _note_skipped(self, last: Sequence[Sequence[str]], delimiter: str) -> Iterator[Note]:
        """Note lines skipped below the last record that are as full as records, and no totals."""
        above, below = self.form.skip
        if not below or not last:
            return
        end = count_lines(self.path, replace(self.form, skip=(above, 0))).end
        fewest = min(_count_filled(row) for row in last)
        records = sum(
            len(row) == len(last[-1])
            and _count_filled(row) >= fewest
            and not any(map(is_total, row))
            for row in _last_rows(end, delimiter, self.form)[-below:]
        )
        if records:
            lines = "line looks like a record" if records == 1 else "lines look like records"
            yield Note(SKIPPED_RECORDS, NOTE_SKIPPED.format(records, lines))

    def _write(self, **changes: Any) -> str:  # noqa: ANN401 - fields of a format
        """Write the options by which the file is read further: these, and what is refused then."""
        form = replace(self.form, **changes)
        tried = self.tried | ({self.form.encoding} - {form.encoding})
        further = _Inspection(self.words, self.path, form, tried=tried)
        # else each of two encodings would propose the other without end
        if form.encoding not in tried:
            with suppress(OutOfDomainError):
                further.inspect()
        self.proposed = further.proposed or form
        if self.proposed.encoding in tried:
            self.proposed = form
        options = []
        if self.proposed.encoding != self.form.encoding:
            options.append(write_option(self.words, "encoding", self.proposed.encoding))
        if self.proposed.skip != self.form.skip:
            above, below = self.proposed.skip
            options.append(
                write_option(self.words, "skip", f"{above},{below}" if below else str(above))
            )
        return f"write {(' and ' if self.words.startswith('policy') else ' ').join(options)}"

    def _skip_more(self, above: int, below: int = 0) -> str:
        """Write the options where so many lines more are skipped."""
        skip = (self.form.skip[0] + above, self.form.skip[1] + below)
        return self._write(skip=skip)

    def _read_header(self) -> tuple[tuple[str, ...], str]:
        """Return the names of the columns and the delimiter; refuse a first line that is no header."""
        words, form = self.words, self.form
        head = read_head(self.path, form)
        first = head.decode(encoding_read(form), errors="ignore")
        self._refuse_no_text(head, first)
        delimiter = form.delimiter or _delimiter(self.path, first, form.quote)
        row = next(_rows(io.StringIO(first, newline=""), delimiter, form.quote), [])
        lines = first.splitlines()[:MAX_LINES_COMPARED]
        names = self._header_names(row, lines)
        if form.has_header:
            refuse_title(words, row, lines, partial(self._remedy_of_title, lines))
            refuse_quotes(words, row, f"write {write_option(words, 'quote', row[0][:1])}")
            if form.header is None:
                no, yes = (write_option(words, "header", value) for value in ("false", "true"))
                rows = read_rows(lines, delimiter, form.quote)
                refuse_record(words, rows, f"write a header or {no}; if the line is one, {yes}")
            # the last of the lines that were read may be a part of one
            below = first.splitlines()[: MAX_ROWS_COMPARED + 1]
            below = below if len(head) < HEAD or len(below) > MAX_ROWS_COMPARED else below[:-1]
            rows = read_rows(below, delimiter, form.quote, MAX_ROWS_COMPARED)
            refuse_second_header(words, rows, form.skip[0] + 1, self._skip_more)
            refuse_levels(words, rows)
        refuse_repeated_names(words, names)  # of a header: a record, refused above, has values
        return names, delimiter

    def _refuse_no_text(self, head: bytes, text: str) -> None:
        words, form = self.words, self.form
        if not head and any(form.skip):
            raise OutOfDomainError(
                f"{words} must have more lines than are to be skipped, got {sum(form.skip)} to skip; skip fewer"
            )
        if not text.strip() and len(head) < HEAD:
            raise OutOfDomainError(
                f"{words} must contain a table, got a file without text; pass one with a header and records"
            )

    def _header_names(self, row: list[str], lines: Sequence[str]) -> tuple[str, ...]:
        """Return the names of the columns, as DuckDB numbers those that have none."""
        if not row:
            first = "the names of its columns" if self.form.has_header else "a record"
            rule = f"{self.words} must begin with {first}, got an empty line"
            remedy = f"remove the line, or {self._skip_more(1)}"
            if self.form.has_header and lines_above_header(lines, self.form.quote):
                remedy = self._remedy_of_title(lines)
            raise OutOfDomainError(f"{rule}; {remedy}")
        return tuple(
            (name if self.form.has_header else "") or f"column{place}"
            for place, name in enumerate(row)
        )

    def _remedy_of_title(self, lines: Sequence[str]) -> str:
        """Say how many lines to skip, where one looks like the header."""
        above = lines_above_header(lines, self.form.quote)
        if not above:
            return REMEDY
        options = self._skip_more(above)
        return f"{options} if the names are in line {self.form.skip[0] + above + 1}, or {REMEDY}"

    def _leave_out(self, lines: int) -> str:
        """Say how to leave out so many lines below the last record."""
        them = "it" if lines == 1 else "them"
        if self.form.skip[1] + lines > MAX_LINES_SKIPPED:
            return f"remove {them}"
        return f"{self._skip_more(0, lines)} to leave {them} out, or remove {them}"

    def _refuse_unmarked(self) -> None:
        """Refuse UTF-16 without a mark that is read as UTF-8, of which zero bytes are characters, too."""
        try:
            encoding = (
                None if self.form.encoding.startswith("utf-16") else find_unmarked_utf_16(self.path)
            )
        except (OSError, EOFError):
            return  # whoever reads it on names the reason
        if encoding:
            raise OutOfDomainError(
                f"{self.words} must be written in {self.form.encoding} throughout, got '{self.path.name}' in {encoding}; "
                f"{self._write(encoding=encoding)}, or convert it"
            )


def _refuse_binary(words: str, path: Path) -> None:
    """Refuse a file that is none of text: read in another encoding, it would be records of nonsense."""
    try:
        kind = next((kind for kind, marks in BINARY.items() if begins_with(path, marks)), None)
    except (OSError, EOFError):
        return  # whoever reads it on names the reason
    if kind:
        raise OutOfDomainError(
            f"{words} must be a text file, got '{path.name}' with the content of {kind}; give it the ending of what it is, or export it as CSV"
        )


def write_option(words: str, key: str, value: str) -> str:
    """Write a key of a policy, or the option of a command, by which a reader is told how a file is written.

    >>> write_option("policy.tables[1].file", "encoding", "latin-1"), write_option("FILE", "header", "false")
    ('encoding = "latin-1"', '--header false')
    >>> write_option("policy.tables[1].file", "skip", "2,1"), write_option("FILE", "skip", "2,1")
    ('skip = [2, 1]', '--skip 2,1')
    """
    if not words.startswith("policy"):
        return f"--{key} {value if re.fullmatch('[-,0-9a-zA-Z]+', value) else repr(value)}"
    if key == "skip":
        value = f"[{value.replace(',', ', ')}]" if "," in value else value
    elif value not in {"true", "false"}:
        value = json.dumps(value)
    return f"{key} = {value}"


def check_marks(
    delimiter: str | None, quote: str, name: Callable[[str], str], write: Callable[[str, str], str]
) -> None:
    """Refuse marks between and around fields that are no single characters, or the same."""
    for key, mark, lengths in (("delimiter", delimiter or ",", (1,)), ("quote", quote, (0, 1))):
        if len(mark) not in lengths or not mark.isascii() or set(mark) & set("\r\n\0"):
            rule = f"{name(key)} must be a single ASCII character, got {shown(mark)}"
            remedy = " or ".join((write("delimiter", ";"), write("quote", "'")))
            raise OutOfDomainError(f"{rule}; write it like {remedy}")
    if quote and delimiter == quote:
        raise OutOfDomainError(
            f"{name('quote')} must differ from the delimiter, got {shown(quote)} for both; name another"
        )


def count_slowly(path: Path, delimiter: str, form: TextFormat) -> int:
    """Count the records field by field, where quotes stand inside of fields; the header is not one."""
    csv.field_size_limit(sys.maxsize)
    rows = _rows(text_lines(path, form), delimiter, form.quote)
    width = len(next(rows, []))
    return sum(1 for row in rows if row or width == 1) + (0 if form.has_header else 1)


def _rows(text: Iterable[str], delimiter: str, quote: str) -> Iterator[list[str]]:
    if quote:
        return csv.reader(text, delimiter=delimiter, quotechar=quote)
    return csv.reader(text, delimiter=delimiter, quoting=csv.QUOTE_NONE, quotechar=None)


def _delimiter(path: Path, text: str, quote: str) -> str:
    """Return the delimiter that the header has most of, outside of quotes; a tab for .tsv and .tab."""
    if re.search(r"[.](tsv|tab)([.](gz|zst))?$", path.name, re.IGNORECASE):
        return "\t"
    line = text.splitlines()[0] if text.strip() else ""
    bare = "".join(line.split(quote)[::2]) if quote else line
    return max(DELIMITERS, key=bare.count)


def _count_filled(row: Sequence[str]) -> int:
    return sum(bool(field.strip()) for field in row)


def _last_rows(end: bytes, delimiter: str, form: TextFormat) -> list[list[str]]:
    """Divide the last lines that are not blank into fields, but for the first, which may be a part of one."""
    whole = end.decode(encoding_read(form), errors="ignore")
    lines = [line for line in whole.splitlines()[1:] if line.strip()]
    return read_rows(lines[-MAX_LINES_COMPARED:], delimiter, form.quote)
