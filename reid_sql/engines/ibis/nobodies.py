"""Values that stand for nobody in a column of a warehouse's table, which the database counts."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from numbers import Number
from typing import Any, Final

import ibis
from ibis.common.exceptions import OperationNotDefinedError, UnsupportedOperationError
from ibis.expr.types import Table, Value

from reid_sql.engines.ibis.alike import comparable, restored
from reid_sql.engines.ibis.frames import known_value, with_aliases
from reid_sql.models.columns.nobodies import (
    FINAL_ZEROS,
    NOBODY_NUMBERS,
    NOBODY_WORDS,
    SIZES_COUNTED,
    IdentifierCounts,
)

# Spaces that do not break or have no width, the soft hyphen and the mark of an order of bytes.
INVISIBLE_IN_DATABASES: Final = "\xa0\xad\u200b\u200c\u200d\u202f\u2060\u3000\ufeff"
NUMBER_PATTERN: Final = "^[+-]?[0-9]+([.][0-9]*)?$"
Others = tuple[int, int, float | None, float | None]  # of IdentifierCounts


def count_nobodies(
    frame: Table, column: str, ask: Callable[[Callable[[], Table]], Sequence[Any]]
) -> IdentifierCounts:
    """Count the most frequent values, and those that are written like codes; `ask` returns rows.

    Where there is a code that is a number, the other values are counted, too. They are grouped as identifiers
    are: a collation by which P7 equals p7 would hide that people are written in two ways.
    """
    rows = with_aliases(frame.filter(known_value(frame, column).notnull()), [column])
    grouped = rows.group_by("q1").agg(size=rows.count())
    sizes = grouped.select("size", value=restored(grouped["q1"]))
    is_code = _is_code(sizes["value"])
    found = ask(lambda: _list_frequent(sizes, is_code))
    codes = [
        (_write_code(row["code"]), int(row["size"])) for row in found if row["code"] is not None
    ]
    others: Others = (0, 0, None, None)
    if is_code is not None and any(code not in NOBODY_WORDS for code, _ in codes):
        with suppress(OperationNotDefinedError, UnsupportedOperationError):
            others = _count_others(sizes.filter(~is_code), ask)
    alike = _count_alike(sizes if is_code is None else sizes.filter(~is_code), ask)
    most = [int(row["size"]) for row in found if row["code"] is None]
    return IdentifierCounts(most, codes, *others, alike)


def _list_frequent(sizes: Table, is_code: Value | None) -> Table:
    """The sizes of the most frequent values, and the coded values: others stay in the database."""
    value = sizes["value"]
    kind = value.type().copy(nullable=True)
    most = (
        sizes.order_by(sizes["size"].desc())
        .limit(SIZES_COUNTED)
        .select("size", code=ibis.null(kind))
    )
    if is_code is None:
        return most
    code = value if value.type().nullable else value.cast(kind)  # both parts must have one type
    return most.union(sizes.filter(is_code).select("size", code=code))


def _count_alike(others: Table, ask: Callable[[Callable[[], Table]], Sequence[Any]]) -> int:
    """Count the texts that equal another but for capitals, spaces around them, and leading zeros.

    What is invisible is left out; accents and the forms of Unicode are compared nowhere in databases alike.
    """
    value = others["value"]
    if not value.type().is_string():
        return 0
    for letter in INVISIBLE_IN_DATABASES:
        value = value.replace(letter, " " if letter.isspace() else "")
    word = value.strip().lower()
    with suppress(OperationNotDefinedError, UnsupportedOperationError):
        found = ask(lambda: _compare(others, word.re_replace(f"^0+|{FINAL_ZEROS}", "")))
        return int(found[0]["values"]) - int(found[0]["words"])
    found = ask(lambda: _compare(others, word))
    return int(found[0]["values"]) - int(found[0]["words"])


def _compare(others: Table, word: Value) -> Table:
    """Count the values, and what they are when they are written alike."""
    rows = others.select(word=word)
    return rows.aggregate(values=rows.count(), words=comparable(rows["word"]).nunique())


def _is_code(value: Value) -> Value | None:
    """Whether a value is written like a code; None where none of its type can be."""
    kind = value.type()
    if kind.is_numeric():
        return value.isin(NOBODY_NUMBERS)
    if not (kind.is_string() or kind.is_uuid()):
        return None
    return value.cast("string").strip().lower().isin([*NOBODY_WORDS, *map(str, NOBODY_NUMBERS)])


def _write_code(value: Any) -> str:  # noqa: ANN401 - as the database has it
    return f"{value:.0f}" if isinstance(value, Number) else str(value).strip().lower()


def _count_others(others: Table, ask: Callable[[Callable[[], Table]], Sequence[Any]]) -> Others:
    """Count the other values and the numbers among them, with the least and the greatest."""
    value = others["value"]
    if value.type().is_string():
        text = value.strip()
        value = text.re_search(NUMBER_PATTERN).ifelse(text, None)
    numbers = others.select(number=value.cast("float64"))
    number = numbers["number"]
    counts = {
        "others": numbers.count(),
        "numbers": number.count(),
        "least": number.min(),
        "greatest": number.max(),
    }
    row = ask(lambda: numbers.aggregate(**counts))[0]
    return int(row["others"]), int(row["numbers"]), row["least"], row["greatest"]
