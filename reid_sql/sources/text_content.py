"""The content of a text file: unpacked, decoded, without the lines to skip; and how many lines it has."""

import codecs
import gzip
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from itertools import islice, pairwise
from pathlib import Path
from typing import IO, Final

import numpy as np
import pyarrow as pa

from reid_sql.errors import OutOfDomainError
from reid_sql.parameters.document import shown

TABBED: Final = (".tsv", ".tab")  # whose fields a tab is between
TEXTS: Final = (".csv", *TABBED, ".psv", ".txt")
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
UTF_16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
BYTES_OF_LETTERS: Final = 16  # of a header, by which UTF-16 without its mark is told
# that are proposed, the more frequent first, each with what its words are read by: nearly all are of GB 2312
PROPOSED_ENCODINGS: Final = {
    each: {"gb18030": "gb2312"}.get(each, each)
    for each in (
        *("utf-8", "latin-1", "cp1252", "cp1250", "cp1254", "cp1251", "cp1253", "cp1257", "koi8-r"),
        *(
            "cp1255",
            "cp1256",
            "cp932",
            "cp949",
            "gb18030",
            "big5",
            "cp850",
            "mac-roman",
            "cp852",
            "cp866",
        ),
    )
}
BYTES_OF_WORDS: Final = 2**14
MAX_PROPOSED: Final = 4
LINE_BEYOND_ASCII: Final = re.compile(rb"[^\n]*[\x80-\xff][^\n]*")
LAST_OF_ASCII, REPLACED = "\x7f", "\ufffd"
MIN_MARKED_IN_A_ROW: Final = 4  # one more than in zolty, written in Polish
SIGNS: Final = frozenset({"Cc", "Cn", "Co", "No", "Sc", "Sk", "Sm", "So"})
SCRIPTS: Final = {
    **{each: each for each in ("CYRILLIC", "GREEK", "HANGUL", "HALFWIDTH", "ARABIC", "HEBREW")},
    **dict.fromkeys(("CJK", "HIRAGANA", "KATAKANA"), "CJK"),
}


@dataclass(frozen=True)
class TextFormat:
    """How a text file is written; a delimiter that is not given is the one that the header has most of.

    Unless it is given whether the first line is a header, it is taken for one if it does not look otherwise.
    `skip`: the lines above the first line, and those that are not blank below the last record. Lines
    `of_people` are no totals, as published tables have.
    """

    delimiter: str | None = None
    encoding: str = "utf-8"
    header: bool | None = None
    quote: str = '"'
    skip: tuple[int, int] = (0, 0)
    of_people: bool = True

    @property
    def has_header(self) -> bool:
        """Whether the first line names the columns."""
        return self.header is not False


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


def locate_bad_byte(path: Path, encoding: str) -> str:
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


def propose_encodings(path: Path, tried: str) -> list[str]:
    """List encodings by which the whole file can be read: UTF-16 by its mark, else by their words.

    Of those that are as likely as the first, each has other letters.
    """
    if begins_with(path, UTF_16):
        return [] if tried.startswith("utf-16") else ["utf-16"]
    sample = _read_beyond_ascii(path)
    texts = {
        encoding: sample.decode(subset, "replace")
        for encoding, subset in PROPOSED_ENCODINGS.items()
        if encoding != tried
    }
    unlikely = {encoding: count_unlikely_letters(text) for encoding, text in texts.items()}
    proposed: list[str] = []
    for encoding in sorted(unlikely, key=unlikely.__getitem__):
        if proposed and unlikely[encoding] > unlikely[proposed[0]]:
            break
        if texts[encoding] not in map(texts.get, proposed) and _can_read(path, encoding):
            proposed.append(encoding)
    return proposed[:MAX_PROPOSED]


def _can_read(path: Path, encoding: str) -> bool:
    try:
        for _ in _chunks(path, encoding):
            pass
    except UnicodeError:
        return False
    return True


def _read_beyond_ascii(path: Path) -> bytes:
    """Read the first lines with bytes that are not ASCII."""
    lines = b""
    with closing(_open_unpacked(path)) as content:
        while len(lines) < BYTES_OF_WORDS and (chunk := content.read(CHUNK)):
            found = (each[0] for each in LINE_BEYOND_ASCII.finditer(chunk))
            lines += b"\n".join(islice(found, BYTES_OF_WORDS))[:BYTES_OF_WORDS] + b"\n"
    return lines


def count_unlikely_letters(text: str) -> int:
    """Count letters and signs beside one that no word has beside it, as in a text of another encoding.

    These are signs within words, capitals behind small letters, letters of two scripts, and more letters with
    marks in a row than Latin words have.

    >>> [count_unlikely_letters("Łódź, żółty".encode("cp1250").decode(name)) for name in ("cp1250", "cp1251")]
    [0, 3]
    """
    unlikely = marked = 0
    for letter, following in pairwise(f"{text} "):
        unlikely += letter == REPLACED
        marked = marked + 1 if letter > LAST_OF_ASCII and _script(letter) == "LATIN" else 0
        unlikely += marked >= MIN_MARKED_IN_A_ROW
        if max(letter, following) > LAST_OF_ASCII and letter.isalpha() | following.isalpha():
            pair = _script(letter), _script(following)
            is_mixed = "" not in pair and pair[0] != pair[1]
            has_sign = any(
                each > LAST_OF_ASCII and unicodedata.category(each) in SIGNS
                for each in (letter, following)
            )
            unlikely += is_mixed or has_sign or (letter.islower() and following.isupper())
    return unlikely


@cache
def _script(letter: str) -> str:
    """The script of a letter by its name; nothing of what is none."""
    script = unicodedata.name(letter, "").partition(" ")[0].partition("-")[0]
    if not letter.isalpha():
        return ""
    return SCRIPTS.get(script, "LATIN")


def find_unmarked_utf_16(path: Path) -> str | None:
    """Name the UTF-16 in which a file without its mark begins with letters of ASCII; None if it does not."""
    with closing(_open_unpacked(path)) as content:
        head = content.read(BYTES_OF_LETTERS)
    orders = {"utf-16-be": (head[::2], head[1::2]), "utf-16-le": (head[1::2], head[::2])}
    return next(
        (
            name
            for name, (high, low) in orders.items()
            if len(low) == len(high) > 0 and all(low) and not any(high)
        ),
        None,
    )


def _refuse_controls(chunk: bytes, encoding: str) -> None:
    """Refuse bytes that are letters and signs of Windows-1252: DuckDB reads none of them as Latin-1."""
    bytes_ = np.frombuffer(chunk, dtype=np.uint8)
    controls = np.flatnonzero((bytes_ >= FIRST_CONTROL) & (bytes_ <= LAST_CONTROL))
    if encoding == "latin-1" and len(controls):
        place = int(controls[0])
        raise UnicodeDecodeError(encoding, chunk, place, place + 1, REASON_CONTROLS)


def begins_with(path: Path, marks: Iterable[bytes]) -> bool:
    """Return whether the content, unpacked, begins with one of the marks."""
    with closing(_open_unpacked(path)) as content:
        return content.read(8).startswith(tuple(marks))


def text_lines(path: Path, form: TextFormat) -> Iterator[str]:
    """Yield the lines with what ends them."""
    rest = mark = ""
    for chunk in _content(path, form):
        text = rest + chunk.decode(encoding_read(form))
        mark = mark or ("\n" if "\n" in text else "\r")
        *lines, rest = text.split(mark)
        yield from (line + mark for line in lines)
    if rest:
        yield rest


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


@dataclass(frozen=True)
class LineCount:
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


def count_lines(path: Path, form: TextFormat, delimiter: str | None = None) -> LineCount:
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
    return LineCount(lines + (length > 0), blank, end, separated, tuple(alone), last_line)


def nonblank_lines(path: Path) -> int:
    """Count the lines of a file in UTF-8 that hold something."""
    counted = count_lines(path, TextFormat(quote=""))
    return counted.lines - counted.blank


def read_head(path: Path, form: TextFormat) -> bytes:
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
        # where the last lines that are not blank begin; 0 where there are no more than these
        mark = b"\n" if b"\n" in held else b"\r"
        end, lines = len(held), number
        while end and lines:
            end_of_line, end = end, held.rfind(mark, 0, end - 1) + 1
            lines -= bool(held[end:end_of_line].strip())
        if end:
            yield held[:end]
        held = held[end:]


def _chunks(path: Path, encoding: str) -> Iterator[bytes]:
    """Yield the content in UTF-8, or raise where a byte is not of the encoding.

    latin-1 has the same breaks and quotes.
    """
    decoder = codecs.getincrementaldecoder("utf-8-sig" if encoding == "utf-8" else encoding)(
        "strict"
    )
    with closing(_open_unpacked(path)) as content:
        while chunk := content.read(CHUNK):
            if encoding == "latin-1":
                _refuse_controls(chunk, encoding)
                yield chunk
            elif text := decoder.decode(chunk):
                yield text.encode()
        decoder.decode(b"", final=True)


def encoding_read(form: TextFormat) -> str:
    """The encoding of the content: UTF-8, but for Latin-1, which DuckDB reads."""
    return "latin-1" if form.encoding == "latin-1" else "utf-8"


def decode_to_file(path: Path, form: TextFormat, target: Path) -> None:
    """Write the content without the lines to skip to a file that its owner alone may read.

    It is in the encoding that is read.
    """
    with target.open("xb") as written:
        target.chmod(0o600)
        written.writelines(_content(path, form))
