"""Text files as tables: header, delimiter, encoding, and the number of records."""

import codecs
import csv
import gzip
import io
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
import pyarrow as pa

from reid_sql.engines.file_headers import (
    DELIMITERS,
    MAX_LINES_COMPARED,
    MAX_ROWS_COMPARED,
    REMEDY,
    lines_above_header,
    read_rows,
    refuse_blank_records,
    refuse_footer,
    refuse_footnotes,
    refuse_quotes,
    refuse_record,
    refuse_repeated_names,
    refuse_second_header,
    refuse_title,
)
from reid_sql.errors import OutOfDomainError
from reid_sql.parameters import Number
from reid_sql.parameters.document import shown

CHUNK: Final = 2**22
HEAD: Final = 2**20  # bytes in which the header must end
MAX_LAST_BYTES: Final = 2**12  # in which the last line is looked for
ENCODINGS: Final = ("utf-8", "latin-1", "utf-16")  # that DuckDB reads itself
NAMES_OF_ENCODINGS: Final = {"iso8859-1": "latin-1", "utf-8-sig": "utf-8"}
# as Excel writes a euro sign and quotes in Windows-1252: in Latin-1, which DuckDB reads, they are no letters
FIRST_CONTROL, LAST_CONTROL = 0x80, 0x9F
REASON_CONTROLS: Final = "control characters"
BREAK, RETURN = 10, 13
MAX_LINES_SHOWN: Final = 3  # numbers of lines in a refusal
MAX_LINES_SKIPPED: Final = 1000
SKIP: Final = Number(
    f"a whole number from 0 to {MAX_LINES_SKIPPED}, or two of them",
    "pass the number of lines above the names of the columns, and of those below the last record: 2, or 2 and 1",
    0.0,
    float(MAX_LINES_SKIPPED),
    whole=True,
)
UTF_16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
BINARY: Final = {
    "Parquet": (b"PAR1",),
    "a workbook or archive": (b"PK\x03\x04", b"\xd0\xcf\x11\xe0"),
    "gzip": (b"\x1f\x8b",),
    "zstd": (b"\x28\xb5\x2f\xfd",),
}


@dataclass(frozen=True)
class TextFormat:
    """How a text file is written; a delimiter that is not given is the one that the header has most of.

    Unless it is given whether the first line is a header, it is taken for one if it does not look otherwise.
    `skip`: the lines above the first line, and those that are not blank below the last record.
    """

    delimiter: str | None = None
    encoding: str = "utf-8"
    header: bool | None = None
    quote: str = '"'
    skip: tuple[int, int] = (0, 0)

    @property
    def has_header(self) -> bool:
        """Whether the first line names the columns."""
        return self.header is not False


@dataclass(frozen=True)
class TextFile:
    """What a text file holds: its columns, its delimiter, the records that a reader must find."""

    names: tuple[str, ...]
    delimiter: str
    records: int


def check_encoding(name: str, value: str) -> str:
    """Return the encoding under the one name that is used here; refuse what is none of text.

    >>> check_encoding("--encoding", "windows-1252"), check_encoding("--encoding", "ISO-8859-1")
    ('cp1252', 'latin-1')
    """
    try:
        b"a".decode(value, "ignore")  # refuses what is a codec but none of text
        codec = codecs.lookup(value).name
        codecs.getincrementaldecoder(codec)
    except (LookupError, ValueError):
        raise OutOfDomainError(
            f"{name} must be an encoding of text, got {shown(value)}; write it like utf-8, cp1252 or latin-1"
        ) from None
    return NAMES_OF_ENCODINGS.get(codec, codec)


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
    _refuse_binary(words, path)
    try:
        head = _read_head(path, form)
        if not head and any(form.skip):
            rule = (
                f"{words} must have more lines than are to be skipped, got {sum(form.skip)} to skip"
            )
            raise OutOfDomainError(f"{rule}; skip fewer")
        first = head.decode(_encoding_read(form), errors="ignore")
        delimiter = form.delimiter or _delimiter(path, first, form.quote)
        row = next(_rows(io.StringIO(first, newline=""), delimiter, form.quote), [])
        lines = first.splitlines()[:MAX_LINES_COMPARED]
        names = _header_names(words, row, lines, form)
        if form.has_header:
            refuse_title(words, row, lines, _remedy_of_title(words, lines, form))
            refuse_quotes(words, row, f"write {write_option(words, 'quote', row[0][:1])}")
            if form.header is None:
                no, yes = (write_option(words, "header", value) for value in ("false", "true"))
                refuse_record(
                    words,
                    read_rows(lines, delimiter, form.quote),
                    f"write one or {no}; if it is one, {yes}",
                )
            # the last of the lines that were read may be a part of one
            below = first.splitlines()[: MAX_ROWS_COMPARED + 1]
            below = below if len(head) < HEAD or len(below) > MAX_ROWS_COMPARED else below[:-1]
            rows = read_rows(below, delimiter, form.quote, MAX_ROWS_COMPARED)
            refuse_second_header(words, rows, form.skip[0] + 1, partial(_skip_more, words, form))
        refuse_repeated_names(words, names)  # of a header: a record, refused above, has values
        counted = _count_lines(path, form, delimiter)
        last = _last_rows(counted.end, delimiter, form)
        leave_out = partial(_remedy_of_end, words, form)
        refuse_footer(words, last, leave_out)
        refuse_footnotes(words, last, counted.last_line, leave_out)
        if len(names) > 1:
            refuse_blank_records(
                words, counted.separators_alone, counted.separated, counted.last_line, leave_out
            )
    except UnicodeError:
        rule = f"{words} must be written in {form.encoding} throughout, got '{path.name}' with a byte that is not"
        where = _locate_bad_byte(path, form.encoding)
        named = _propose_encoding(path, form.encoding)
        remedy = (
            f"write {write_option(words, 'encoding', named)}, or convert it"
            if named
            else "convert it"
        )
        raise OutOfDomainError(f"{rule}{where}; {remedy}") from None
    except (OSError, EOFError, csv.Error) as error:
        raise OutOfDomainError(
            f"{words} must be a text file that can be read, got '{path.name}': {error}; mend it"
        ) from None
    # Of a single column a blank line is a record without a value
    kept = counted.lines if len(names) == 1 else counted.lines - counted.blank
    return TextFile(names, delimiter, kept - form.has_header)


def _remedy_of_title(words: str, lines: Sequence[str], form: TextFormat) -> str:
    """Say how many lines to skip, where one looks like the header."""
    above = lines_above_header(lines)
    if not above:
        return REMEDY
    option = _skip_more(words, form, above)
    return f"write {option} if the names are in line {form.skip[0] + above + 1}, or {REMEDY}"


def _remedy_of_end(words: str, form: TextFormat, lines: int) -> str:
    """Say how to leave out so many lines below the last record."""
    them = "it" if lines == 1 else "them"
    if form.skip[1] + lines > MAX_LINES_SKIPPED:
        return f"remove {them}"
    return f"write {_skip_more(words, form, 0, lines)} to leave {them} out, or remove {them}"


def _skip_more(words: str, form: TextFormat, more_above: int, more_below: int = 0) -> str:
    """Write the option, or the key, of the lines to skip: so many more than now."""
    above, below = form.skip[0] + more_above, form.skip[1] + more_below
    if not below:
        return write_option(words, "skip", str(above))
    is_key = words.startswith("policy")
    return f"skip = [{above}, {below}]" if is_key else f"--skip {above},{below}"


def _locate_bad_byte(path: Path, encoding: str) -> str:
    """Say where the first byte is that is not of the encoding; nothing where no byte is by itself."""
    if encoding.startswith(("utf-16", "utf-32")):
        return ""
    line, before = 1, b""  # of the line, what stands before the byte
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    with closing(_open_unpacked(path)) as content:
        while chunk := content.read(CHUNK):
            pending = decoder.getstate()[0]
            try:
                decoder.decode(chunk)
                _refuse_controls(chunk, encoding)
                bad = None
            except UnicodeDecodeError as error:
                bad = max(error.start - len(pending), 0)
            decoded = chunk if bad is None else chunk[:bad]
            line += decoded.count(b"\n")
            before = before + decoded if b"\n" not in decoded else decoded.rpartition(b"\n")[2]
            if bad is not None:
                column = len(before.decode(encoding, errors="replace")) + 1
                return f" (line {line:,}, column {column:,})"
    return ""


def _propose_encoding(path: Path, tried: str) -> str | None:
    """Name an encoding by which the whole file can be read: UTF-16 by its mark, else a Western one."""
    if _begins_with(path, UTF_16):
        return None if tried.startswith("utf-16") else "utf-16"
    for name in ("utf-8", "latin-1", "cp1252"):
        if name == tried:
            continue
        try:
            for _ in _chunks(path, name):
                pass
        except UnicodeError:
            continue
        return name
    return None


def _refuse_controls(chunk: bytes, encoding: str) -> None:
    """Refuse bytes that are letters and signs of Windows-1252: DuckDB reads none of them as Latin-1."""
    bytes_ = np.frombuffer(chunk, dtype=np.uint8)
    controls = np.flatnonzero((bytes_ >= FIRST_CONTROL) & (bytes_ <= LAST_CONTROL))
    if encoding == "latin-1" and len(controls):
        place = int(controls[0])
        raise UnicodeDecodeError(encoding, chunk, place, place + 1, REASON_CONTROLS)


def _begins_with(path: Path, marks: Iterable[bytes]) -> bool:
    with closing(_open_unpacked(path)) as content:
        return content.read(8).startswith(tuple(marks))


def _refuse_binary(words: str, path: Path) -> None:
    """Refuse a file that is none of text: read in another encoding, it would be records of nonsense."""
    try:
        kind = next((kind for kind, marks in BINARY.items() if _begins_with(path, marks)), None)
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
    """
    if words.startswith("policy"):
        bare = value in {"true", "false"} or key == "skip"
        return f"{key} = {value if bare else json.dumps(value)}"
    return f"--{key} {value if value.replace('-', '').isalnum() else repr(value)}"


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
    rows = _rows(_lines(path, form), delimiter, form.quote)
    width = len(next(rows, []))
    return sum(1 for row in rows if row or width == 1) + (0 if form.has_header else 1)


def _lines(path: Path, form: TextFormat) -> Iterator[str]:
    """Yield the lines with what ends them."""
    rest = mark = ""
    for chunk in _content(path, form):
        text = rest + chunk.decode(_encoding_read(form))
        mark = mark or ("\n" if "\n" in text else "\r")
        *lines, rest = text.split(mark)
        yield from (line + mark for line in lines)
    if rest:
        yield rest


def nonblank_lines(path: Path) -> int:
    """Count the lines of a file in UTF-8 that hold something."""
    counted = _count_lines(path, TextFormat(quote=""))
    return counted.lines - counted.blank


def _rows(text: Iterable[str], delimiter: str, quote: str) -> Iterator[list[str]]:
    if quote:
        return csv.reader(text, delimiter=delimiter, quotechar=quote)
    return csv.reader(text, delimiter=delimiter, quoting=csv.QUOTE_NONE, quotechar=None)


def _open_unpacked(path: Path) -> IO[bytes]:
    """Open the file for its content, unpacked."""
    if path.suffix.lower() == ".gz":
        return io.BufferedReader(gzip.GzipFile(path))
    if path.suffix.lower() == ".zst":
        stream: IO[bytes] = io.BufferedReader(
            pa.CompressedInputStream(pa.OSFile(str(path)), "zstd")
        )
        return stream
    return path.open("rb")


def _codec(encoding: str) -> str:
    return "utf-8-sig" if encoding == "utf-8" else encoding


def _delimiter(path: Path, text: str, quote: str) -> str:
    """Return the delimiter that the header has most of, outside of quotes; a tab for .tsv."""
    if re.search(r"[.]tsv([.](gz|zst))?$", path.name, re.IGNORECASE):
        return "\t"
    line = text.splitlines()[0] if text.strip() else ""
    bare = "".join(line.split(quote)[::2]) if quote else line
    return max(DELIMITERS, key=bare.count)


def _header_names(
    words: str, row: list[str], lines: Sequence[str], form: TextFormat
) -> tuple[str, ...]:
    """Return the names of the columns, as DuckDB numbers those that have none."""
    if not row:
        rule = f"{words} must begin with the names of its columns, got an empty line"
        remedy = f"write them, or {write_option(words, 'header', 'false')}"
        if lines_above_header(lines):
            remedy = _remedy_of_title(words, lines, form)
        raise OutOfDomainError(f"{rule}; {remedy}")
    return tuple(
        (name if form.has_header else "") or f"column{place}" for place, name in enumerate(row)
    )


def _last_rows(end: bytes, delimiter: str, form: TextFormat) -> list[list[str]]:
    """Divide the last lines that are not blank into fields, but for the first, which may be a part of one."""
    whole = end.decode(_encoding_read(form), errors="ignore")
    lines = [line for line in whole.splitlines()[1:] if line.strip()]
    return read_rows(lines[-MAX_LINES_COMPARED:], delimiter, form.quote)


@dataclass(frozen=True)
class _Lines:
    """The lines of a file that end outside of quotes, how many of them are blank, and its last bytes.

    Of those that have separators alone, `separated`, the numbers of the first are listed. `last_line` is the
    number of the last line that is not blank; lines within quotes count there.
    """

    lines: int
    blank: int
    end: bytes
    separated: int
    separators_alone: tuple[int, ...]
    last_line: int


def _count_lines(path: Path, form: TextFormat, delimiter: str | None = None) -> _Lines:
    """Count the lines, in one pass over the bytes."""
    lines = blank = parity = separated = last_line = 0
    marks = form.skip[0]
    end = b""
    alone: list[int] = []
    length, last, filled = (
        0,
        0,
        0,
    )  # of the line that is open: its bytes, the last of them, and those of values
    mark = BREAK
    is_value = np.ones(256, dtype=np.int64)
    is_value[[ord(each) for each in f" \t\r\n{form.quote}{delimiter or ''}"]] = 0
    for place, chunk in enumerate(_content(path, form)):
        bytes_ = np.frombuffer(chunk, dtype=np.uint8)
        end = (end + chunk[-MAX_LAST_BYTES:])[-MAX_LAST_BYTES:]
        if place == 0 and BREAK not in bytes_ and RETURN in bytes_:
            mark = RETURN  # as old computers wrote
        line_ends = breaks = np.flatnonzero(bytes_ == mark)
        if form.quote:
            quotes = np.flatnonzero(bytes_ == ord(form.quote))
            breaks = breaks[(parity + np.searchsorted(quotes, breaks)) % 2 == 0]
            parity = (parity + len(quotes)) % 2
        values = np.cumsum(is_value[bytes_]) if delimiter else np.zeros(len(bytes_), np.int64)
        if len(breaks):
            lengths = np.diff(breaks, prepend=-1) - 1
            lengths[0] += length
            before = bytes_[np.maximum(breaks - 1, 0)]
            before[0] = last if breaks[0] == 0 else before[0]
            is_blank = (lengths == 0) | ((lengths == 1) & (before == RETURN))
            blank += int(is_blank.sum())
            numbers = marks + np.searchsorted(line_ends, breaks) + 1
            if not is_blank.all():
                last_line = int(numbers[~is_blank][-1])
            if delimiter:
                of_values = np.diff(values[breaks], prepend=0)
                of_values[0] += filled
                bare = numbers[(of_values == 0) & ~is_blank]
                separated += len(bare)
                alone += bare[: MAX_LINES_SHOWN - len(alone)].tolist()
                filled = int(values[-1] - values[breaks[-1]])
            lines += len(breaks)
            length = len(bytes_) - int(breaks[-1]) - 1
        else:
            length += len(bytes_)
            filled += int(values[-1])
        marks += len(line_ends)
        last = int(bytes_[-1])
    if length > 0:
        last_line = marks + 1
        if delimiter and not filled and not end.endswith(bytes([mark])):
            separated, alone = separated + 1, [*alone, marks + 1][:MAX_LINES_SHOWN]
    return _Lines(lines + (length > 0), blank, end, separated, tuple(alone), last_line)


def _read_head(path: Path, form: TextFormat) -> bytes:
    """Read the beginning of the content, of HEAD bytes where there are as many."""
    head = b""
    for chunk in _content(path, form):
        head += chunk
        if len(head) >= HEAD:
            break
    return head[:HEAD]


def _content(path: Path, form: TextFormat) -> Iterator[bytes]:
    """Yield the lines of the header and the records, in the encoding that is read."""
    above, below = form.skip
    return _drop_last(_drop_first(_chunks(path, form.encoding), above), below)


def _drop_first(chunks: Iterable[bytes], number: int) -> Iterator[bytes]:
    """Yield what is below the first lines."""
    mark = b""
    for chunk in chunks:
        mark = mark or (b"\n" if b"\n" in chunk else b"\r")
        *above, below = chunk.split(mark, number) if number else [chunk]
        number -= len(above)
        if not number and below:
            yield below


def _drop_last(chunks: Iterable[bytes], number: int) -> Iterator[bytes]:
    """Yield what is above the last lines that are not blank."""
    held = b""
    for chunk in chunks:
        held += chunk
        end = _start_of_last(held, number)
        if end:
            yield held[:end]
        held = held[end:]


def _start_of_last(text: bytes, number: int) -> int:
    """Find where the last lines that are not blank begin; 0 where there are no more than these."""
    mark = b"\n" if b"\n" in text else b"\r"
    start = len(text)
    while start and number:
        end, start = start, text.rfind(mark, 0, start - 1) + 1
        number -= bool(text[start:end].strip())
    return start


def _chunks(path: Path, encoding: str) -> Iterator[bytes]:
    """Yield the content in UTF-8, or raise where a byte is not of the encoding.

    latin-1 has the same breaks and quotes.
    """
    decoder = codecs.getincrementaldecoder(_codec(encoding))("strict")
    with closing(_open_unpacked(path)) as content:
        while chunk := content.read(CHUNK):
            if encoding == "latin-1":
                _refuse_controls(chunk, encoding)
                yield chunk
            elif text := decoder.decode(chunk):
                yield text.encode()
        decoder.decode(b"", final=True)


def _encoding_read(form: TextFormat) -> str:
    """The encoding of the content: UTF-8, but for Latin-1, which DuckDB reads."""
    return "latin-1" if form.encoding == "latin-1" else "utf-8"


def decode_to_file(path: Path, form: TextFormat, target: Path) -> None:
    """Write the content without the lines to skip to a file that its owner alone may read.

    It is in the encoding that is read.
    """
    with target.open("xb") as written:
        target.chmod(0o600)
        written.writelines(_content(path, form))
