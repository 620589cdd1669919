"""Ibis: groups, people in place of rows, and values of nobody, each counted by the warehouse."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from numbers import Number
from typing import Any, Final

import ibis
import ibis.expr.datatypes as dt
from ibis.common.exceptions import OperationNotDefinedError, UnsupportedOperationError
from ibis.expr.types import BooleanValue, Table, Value

from reid_sql.engines.ibis.alike import comparable, restored
from reid_sql.engines.ibis.frames import (
    KEEPS_VALUES,
    WHOLE,
    aliases,
    backend,
    bigint,
    check_columns,
    count_by,
    drop_nulls,
    has_null,
    known_value,
    null_count,
    sum_bigint,
    window_keys,
    with_aliases,
    zero,
)
from reid_sql.engines.ibis.lineage import LISTED
from reid_sql.models.columns.missing_value_codes import NOBODY_WORDS, spellings_of_words
from reid_sql.models.columns.nobodies import (
    NOBODY_NUMBERS,
    SIZES_COUNTED,
    IdentifierCounts,
)
from reid_sql.models.columns.spelling import FINAL_ZEROS, word_form
from reid_sql.parameters import QUASI_IDENTIFIERS, ColumnNames, Columns
from reid_sql.reduction import DIVIDING, group_names, refuse_entity, refuse_groups

QI_AND_ENTITY: Final = Columns("quasi-identifiers and entity")


def people_of(frame: Table, qi: ColumnNames, entity: str, nulls: str) -> tuple[Table, Table]:
    """The rows as q1, q2, …, and the people of each class, with the records of each there."""
    refuse_entity(qi, entity, nulls)
    names = aliases([*qi, entity])
    rows = with_aliases(frame, check_columns(QI_AND_ENTITY, [*qi, entity], frame)).rename(
        entity=names[-1]
    )
    return rows, count_by(drop_nulls(rows, names[:-1], nulls), [*names[:-1], "entity"], "records")


def sizes_of(people: Table, names: ColumnNames) -> Table:
    """How many people each class has, and how many records."""
    grouped = people.group_by(list(names))
    return grouped.agg(class_size=bigint(people.count()), records=sum_bigint(people["records"]))


def smallest_class_sizes(people: Table, short: BooleanValue) -> Table:
    """How many people have each size of their smallest class, and how many of them are uncovered."""
    marked = people.select("entity", "class_size", short=short.ifelse(1, 0))
    each = marked.group_by("entity").agg(
        class_size=marked["class_size"].min(), short=marked["short"].max()
    )
    grouped = each.group_by("class_size")
    return grouped.agg(records=bigint(each.count()), uncovered=sum_bigint(each["short"]))


# Groups, by the values of columns


@dataclass(frozen=True)
class GroupCounts:
    """The distinct rows with their counts, columns as q1, q2, …, people as `entity`."""

    rows: Table
    names: ColumnNames  # of the columns
    groups: ColumnNames
    by: ColumnNames  # the groups' original names
    nulls: str

    @property
    def taken(self) -> Table:
        """The rows that are counted."""
        return (
            self.rows.filter(~has_null(self.rows, self.names))
            if self.nulls == "drop"
            else self.rows
        )

    def report(self, sized: Table) -> Table:
        """Report the counts of each group, all groups included, with the records dropped of each.

        The groups' values are as they are compared, so that two that are written alike are two.
        """
        if self.nulls != "drop":
            counts = sized.mutate(records_dropped=zero())
        else:
            # Groups of which nothing is counted are added. What was dropped of each is a window over the
            # union of both, since a join would have to be NULL-safe.
            lacks = has_null(self.rows, self.names)
            left_out = self.rows.group_by(list(self.groups)).agg(
                left_out=sum_bigint(lacks.ifelse(self.rows["records"], zero()))
            )
            empty = left_out.select(
                *self.groups,
                "left_out",
                class_size=ibis.null(WHOLE),
                classes=zero(),
                records=zero(),
            )
            counted = sized.select(
                *self.groups, "class_size", "classes", "records", left_out=zero()
            )
            both = ibis.union(empty.select(counted.columns), counted)
            groups = window_keys(both, self.groups)
            marked = both.mutate(
                records_dropped=bigint(both["left_out"].sum().over(group_by=groups)),
                sizes=both["class_size"].count().over(group_by=groups),
            )
            counts = marked.filter(marked["class_size"].notnull() | (marked["sizes"] == 0))
        originals = group_names(self.by)
        named = {name: counts[group] for group, name in zip(self.groups, originals, strict=True)}
        return counts.select(
            **named,
            class_size=counts["class_size"],
            classes=counts["classes"],
            records=counts["records"],
            blank_records=null_count(),
            records_dropped=counts["records_dropped"],
            nulls=ibis.literal(self.nulls, dt.string),
        )


def count_by_group(
    tbl: Table, qi: ColumnNames, by: ColumnNames, entity: str | None, nulls: str
) -> GroupCounts:
    """Count the rows by the columns and the groups, and by people where a column identifies them."""
    refuse_groups(nulls)
    refuse_entity(qi, entity, nulls)
    named = [*qi, entity] if entity is not None else list(qi)
    check_columns(QUASI_IDENTIFIERS if entity is None else QI_AND_ENTITY, named, tbl)
    columns_read = [*qi, *check_columns(DIVIDING, by, tbl), *named[len(qi) :]]
    names, rows = aliases(columns_read), with_aliases(tbl, columns_read)
    if entity is not None:
        rows, names[-1] = rows.rename(entity=names[-1]), "entity"
    groups = names[len(qi) : len(qi) + len(by)]
    return GroupCounts(count_by(rows, names, "records"), names[: len(qi)], groups, by, nulls)


# Values that stand for nobody in a column

# Spaces that do not break or have no width, the soft hyphen and the mark of an order of bytes.
INVISIBLE_IN_DATABASES: Final = "\xa0\xad\u200b\u200c\u200d\u202f\u2060\u3000\ufeff"
NUMBER_PATTERN: Final = "^[+-]?[0-9]+([.][0-9]*)?$"
LETTERS: Final = {
    **dict.fromkeys("-_\u2010\u2013\u2014", " "),
    **dict.fromkeys("'\u2019", ""),
    "ä": "a",
    "ö": "o",
    "ü": "u",
    "é": "e",
}
DATAFUSION: Final = "datafusion"
POLARS: Final = "polars"
GONE: Final = "\x01"  # for which a letter is written that then goes
UMLAUTS_IN_DATABASES: Final = {"ä": "ae", "ö": "oe", "ü": "ue"}
# A database has no function of the normal form: the words as they are written, and without their marks.
NOBODY_SPELLINGS: Final = sorted([*spellings_of_words(), *map(str, NOBODY_NUMBERS)], key=len)
# Those of each length in one text, as Ibis compiles each item of a list anew wherever it stands.
SPELLINGS_BY_LENGTH: Final = {
    length: f"|{'|'.join(spellings)}|" for length, spellings in groupby(NOBODY_SPELLINGS, key=len)
}
Translate = Callable[[Any, Mapping[str, str]], Any]
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
    is_code = _is_code(sizes["value"], backend(frame))
    rows_of_sizes = ask(lambda: _list_frequent(sizes, is_code))
    codes = [
        (_write_code(row[LISTED]), int(row["size"]))
        for row in rows_of_sizes
        if row[LISTED] is not None
    ]
    rest: Others = (0, 0, None, None)
    has_number = any(code not in NOBODY_WORDS for code, _ in codes)
    if (
        is_code is not None and has_number and not KEEPS_VALUES.get()
    ):  # the ends of the others are values
        with suppress(OperationNotDefinedError, UnsupportedOperationError):
            rest = _count_others(sizes.filter(~is_code), ask)
    alike = _count_alike(sizes if is_code is None else sizes.filter(~is_code), ask)
    most = [int(row["size"]) for row in rows_of_sizes if row[LISTED] is None]
    return IdentifierCounts(most, codes, *rest, alike)


def _list_frequent(sizes: Table, is_code: Value | None) -> Table:
    """The sizes of the most frequent values, and the coded values: others stay in the database."""
    value = sizes["value"]
    kind = value.type().copy(nullable=True)
    most = (
        sizes.order_by(sizes["size"].desc())
        .limit(SIZES_COUNTED)
        .select("size", **{LISTED: ibis.null(kind)})
    )
    if is_code is None:
        return most
    code = value if value.type().nullable else value.cast(kind)  # both parts must have one type
    return most.union(sizes.filter(is_code).select("size", **{LISTED: code}))


def _count_alike(sizes: Table, ask: Callable[[Callable[[], Table]], Sequence[Any]]) -> int:
    """Count the texts that equal another but for capitals, spaces, marks, hyphens and leading zeros.

    What is invisible is left out; the forms of Unicode are compared nowhere in databases alike.
    """
    value = sizes["value"]
    if not value.type().is_string():
        return 0
    # what a call within a call costs is doubled there by each
    translate = translate_letters if backend(sizes) == DATAFUSION else replace_letters
    word, second = (normal_form(value, translate, second_letters=each) for each in (False, True))
    with suppress(OperationNotDefinedError, UnsupportedOperationError):
        forms = ask(lambda: _compare(sizes, *map(_without_zeros, (word, second))))
        return _most_alike(forms[0])
    return _most_alike(ask(lambda: _compare(sizes, word, second))[0])


def _most_alike(counts: Any) -> int:  # noqa: ANN401 - a row of the database
    """Count the texts that one of the two forms makes equal, at least."""
    return int(counts["values"]) - min(int(counts["words"]), int(counts["seconds"]))


def normal_form(value: Any, translate: Translate, *, second_letters: bool = False) -> Any:  # noqa: ANN401 - of Ibis
    """Write a text as its spellings are, as far as all databases can."""
    invisible = {letter: " " if letter.isspace() else "" for letter in INVISIBLE_IN_DATABASES}
    word = value.lower()
    if second_letters:
        for letter, written in UMLAUTS_IN_DATABASES.items():
            word = word.replace(letter, written)
    word = translate(word.replace("ß", "ss"), invisible | LETTERS)
    return word.replace("  ", " ").strip()


def translate_letters(word: Any, letters: Mapping[str, str]) -> Any:  # noqa: ANN401 - of Ibis
    """Write letters otherwise in one call."""
    written = "".join(written or GONE for written in letters.values())
    return word.translate("".join(letters), written).replace(GONE, "")


def replace_letters(word: Any, letters: Mapping[str, str]) -> Any:  # noqa: ANN401 - of Ibis
    """Write letters otherwise by a call for each, as not every database has one call for all."""
    for letter, written in letters.items():
        word = word.replace(letter, written)
    return word


def _without_zeros(word: Any) -> Any:  # noqa: ANN401 - of Ibis
    """Write a normal form without leading zeros, and those of a whole number that was once a float."""
    return word.re_replace(f"^0+|{FINAL_ZEROS}", "")


def _compare(sizes: Table, word: Value, second: Value) -> Table:
    """Count the values, and what they are when they are written alike."""
    rows = sizes.select(word=word, second=second)
    return rows.aggregate(
        values=rows.count(),
        words=comparable(rows["word"]).nunique(),
        seconds=comparable(rows["second"]).nunique(),
    )


def _is_code(value: Value, database: str) -> Value | None:
    """Whether a value is written like a code; None where none of its type can be."""
    kind = value.type()
    if kind.is_numeric():
        return value.isin(NOBODY_NUMBERS)
    if not (kind.is_string() or kind.is_uuid()):
        return None
    word = value.cast("string").strip().lower()
    if database == POLARS:  # which looks in texts for constants alone
        return word.isin(NOBODY_SPELLINGS)
    # of one length, a word between two marks is one of the list, whatever is in it
    spellings = word.length().cases(*SPELLINGS_BY_LENGTH.items(), else_="")
    return spellings.contains(ibis.literal("|") + word + "|")


def _write_code(value: Any) -> str:  # noqa: ANN401 - as the database has it
    if isinstance(value, Number):
        return f"{value:.0f}"
    code = str(value).strip().lower()
    return code if code in map(str, NOBODY_NUMBERS) else word_form(code)


def _count_others(sizes: Table, ask: Callable[[Callable[[], Table]], Sequence[Any]]) -> Others:
    """Count the other values and the numbers among them, with the least and the greatest."""
    value = sizes["value"]
    if value.type().is_string():
        text = value.strip()
        value = text.re_search(NUMBER_PATTERN).ifelse(text, None)
    numbers = sizes.select(number=value.cast("float64"))
    number = numbers["number"]
    counts = {
        "others": numbers.count(),
        "numbers": number.count(),
        "least": number.min(),
        "greatest": number.max(),
    }
    row = ask(lambda: numbers.aggregate(**counts))[0]
    return int(row["others"]), int(row["numbers"]), row["least"], row["greatest"]
