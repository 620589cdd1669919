"""Polars: values that stand for nobody, and missing-value codes, counted with an answer that they qualify."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial, reduce
from operator import sub
from typing import Final

import polars as pl

from reid_sql.engines.counted_rows import warn_of_nobodies
from reid_sql.engines.polars.frames import ROW_COUNT, exact_column, known_value
from reid_sql.errors import MissingCodesWarning
from reid_sql.models.columns.column_profile import ColumnForm, missing_values_of
from reid_sql.models.columns.missing_value_codes import (
    CODE_WORDS,
    ENDS_COUNTED,
    MISSING_DATES,
    MISSING_DAYS,
    MISSING_NUMBERS,
    NOBODY_WORDS,
    NUMBER_PATTERN,
    count_missing_values,
    may_end_with_code,
    values_beside,
)
from reid_sql.models.columns.nobodies import (
    NOBODY_NUMBERS,
    SIZES_COUNTED,
    counts_of_nobodies,
)
from reid_sql.models.columns.spelling import (
    APOSTROPHES,
    DASHES,
    DOUBLE_LETTERS,
    ENDS_OF_WORDS,
    FINAL_ZEROS,
    INVISIBLE,
    LIGATURES,
    MARKS_AROUND_WORDS,
    NARROW_LETTERS,
    PLAIN_LETTERS,
    QUOTES,
    SPACES,
    UMLAUTS,
    WIDE_LETTERS,
)
from reid_sql.models.columns.units import COUNTS_OF_NOBODIES
from reid_sql.parameters import ColumnNames

Look = tuple[
    pl.LazyFrame, Callable[[pl.DataFrame], None]
]  # counts of a table, and what warns of them


def look_for_nobodies(frame: pl.LazyFrame, column: str, unit: str) -> Iterator[Look]:
    """Count the values of a column of people or households, and how they are written."""
    kind = frame.collect_schema().get(column)
    # else the answer refuses the name, or the values are no codes
    if kind is not None and not kind.is_nested() and kind != pl.Object:
        yield count_nobodies_of(frame, column), partial(_warn_of_nobodies, column=column, unit=unit)


def _warn_of_nobodies(counts: pl.DataFrame, column: str, unit: str) -> None:
    warn_of_nobodies(column, counts_of_nobodies(counts.row(0)), unit)


def count_nobodies_of(frame: pl.LazyFrame, column: str) -> pl.LazyFrame:
    """Count the values of a column of people, in one row of COUNTS_OF_NOBODIES."""
    value = exact_column(column).alias("value")
    sizes = frame.group_by(value).agg(ROW_COUNT.alias("size"))
    return count_nobodies(sizes, frame.collect_schema()[column])


def count_nobodies(sizes: pl.LazyFrame, kind: pl.DataType) -> pl.LazyFrame:
    """Count the values of an identifier from their sizes, in one row of COUNTS_OF_NOBODIES."""
    is_coded = kind.is_numeric() or kind in (pl.String, pl.Categorical, pl.Enum)
    value = pl.col("value").cast(pl.String) if is_coded else pl.lit(None, pl.String)
    number = value.cast(pl.Float64, strict=False)
    word, second = (normal_form(value, second_letters=each) for each in (False, True))
    is_code = number.is_in([*map(float, NOBODY_NUMBERS)])
    coded = pl.when(is_code).then(number).cast(pl.Int64, strict=False).cast(pl.String)
    bare = word_form(word)
    code = pl.when(bare.is_in(NOBODY_WORDS)).then(bare).otherwise(coded)
    values = sizes.filter(known_value(pl.col("value"), kind).is_not_null()).select(
        "size",
        code=code,
        word=_without_zeros(word),
        second=pl.when(is_written_otherwise(value)).then(_without_zeros(second)),
        number=pl.when(number.is_finite()).then(number),
    )
    is_one, numbers = (
        pl.col("code").is_not_null(),
        pl.col("number").filter(pl.col("code").is_null()),
    )
    is_otherwise = ~is_one & pl.col("second").is_not_null()
    seconds = (
        pl.col(each).filter(is_otherwise).n_unique().cast(pl.Int64) for each in ("word", "second")
    )
    counts = (
        pl.col("size").top_k(SIZES_COUNTED).implode(),
        pl.col("code").filter(is_one).implode(),
        pl.col("size").filter(is_one).implode(),
        (~is_one).sum().cast(pl.Int64),
        numbers.count().cast(pl.Int64),
        numbers.min(),
        numbers.max(),
        (~is_one).sum().cast(pl.Int64)
        - pl.col("word").filter(~is_one).n_unique().cast(pl.Int64)
        + pl.max_horizontal(reduce(sub, seconds), pl.lit(0, pl.Int64))
        if is_coded
        else pl.lit(0, pl.Int64),
    )
    return values.select(
        each.alias(name) for name, each in zip(COUNTS_OF_NOBODIES, counts, strict=True)
    )


def _without_zeros(word: pl.Expr) -> pl.Expr:
    """Write a normal form without leading zeros, and those of a whole number that was once a float."""
    return word.str.replace(FINAL_ZEROS, "").str.strip_chars_start("0")


# The form of texts that are written alike; `models.columns.spelling` is the reference.

NARROW: Final = {
    **dict(zip(WIDE_LETTERS, NARROW_LETTERS, strict=True)),
    **dict.fromkeys(DASHES, "-"),
}
LETTERS: Final = {**LIGATURES, **PLAIN_LETTERS}


def normal_form(value: pl.Expr, *, second_letters: bool = False) -> pl.Expr:
    """Write a text as all of its spellings are; most are plain ASCII."""
    seen = value.str.replace_all(SPACES, " ").str.replace_all(INVISIBLE, "")
    small = seen.str.replace_many(NARROW).str.normalize("NFC").str.to_lowercase()
    plain = small.str.replace_many({**LETTERS, **UMLAUTS} if second_letters else LETTERS)
    bare = plain.str.normalize("NFD").str.replace_all(r"\p{M}+", "").str.normalize("NFC")
    is_plain = value.str.len_bytes() == value.str.len_chars()
    letters = pl.when(is_plain).then(value.str.to_lowercase()).otherwise(bare)
    word = letters.str.strip_chars(ENDS_OF_WORDS).str.replace_all(f"[{APOSTROPHES}{QUOTES}]", "")
    spaced, written = (word.str.replace_all(each, " ") for each in (r"[-_\s]+", r"\s+"))
    return pl.when(word >= "a").then(spaced).otherwise(written).str.strip_chars(ENDS_OF_WORDS)


def word_form(word: pl.Expr) -> pl.Expr:
    """Write a normal form without the marks around it."""
    return word.str.strip_chars(MARKS_AROUND_WORDS)


def is_written_otherwise(value: pl.Expr) -> pl.Expr:
    """Test whether a text has a letter with a mark, or two letters that may stand for one."""
    is_plain = value.str.len_bytes() == value.str.len_chars()
    return ~is_plain | value.str.contains_any(list(DOUBLE_LETTERS))


# Missing-value codes

NUMBERS: Final = [*map(float, MISSING_NUMBERS)]


def look_for_codes(frame: pl.LazyFrame, columns: ColumnNames) -> Iterator[Look]:
    """Count the values of columns that may be missing-value codes, and how the others are written."""
    types = frame.collect_schema()
    kinds = {name: kind for name in columns if (kind := _kind_of(types.get(name))) is not None}
    counts = [
        _count_candidates(frame, name, kind).select(pl.struct(pl.all()).alias(name))
        for name, kind in kinds.items()
    ]
    if counts:
        yield pl.concat(counts, how="horizontal"), partial(_warn_of_codes, kinds=kinds)


def _kind_of(kind: pl.DataType | None) -> str | None:
    """The kind of values as a profile names it; None of those that are no codes."""
    if kind is None or kind == pl.Boolean:
        return None
    if kind in (pl.String, pl.Categorical, pl.Enum):
        return "text"
    if kind in (pl.Date, pl.Datetime):
        return "date"
    return "float" if kind.is_float() else "integer" if kind.is_numeric() else None


def _count_candidates(frame: pl.LazyFrame, column: str, kind: str) -> pl.LazyFrame:
    """List the candidates for codes with their rows, and count the other values, if there may be codes.

    Whether there may be is known from the least and the greatest of numbers, or from the distinct texts.
    """
    value, text = pl.col("value"), pl.col("text")
    values = frame.select(exact_column(column).alias("value"))
    if kind == "date":
        values = values.select(value.dt.date()).filter(value.is_in(MISSING_DAYS).any())
    elif kind != "text":
        number = value.cast(pl.Float64)
        ends = pl.struct(number.min().alias("least"), number.max().alias("greatest"))
        has_code = ends.map_batches(_may_have_codes, return_dtype=pl.Boolean, returns_scalar=True)
        values = values.filter(has_code | (number.is_nan() | number.is_infinite()).any())
    counts = values.group_by("value").agg(rows=ROW_COUNT)
    counts = counts.select("rows", text=value.cast(pl.String)).drop_nulls("text")
    number = text.cast(pl.Float64, strict=False)
    if kind == "text":
        number = pl.when(text.str.contains(f"^(?:{NUMBER_PATTERN})$")).then(number)
    is_candidate = (
        word_form(normal_form(text)).is_in(CODE_WORDS)
        | number.is_in(NUMBERS).fill_null(value=False)
        | text.str.slice(0, 10).is_in(MISSING_DATES)
    )
    marked = counts.select("text", "rows", is_candidate=is_candidate, number=number)
    other, rows = marked.filter(~pl.col("is_candidate")), pl.col("rows")
    number = pl.when(pl.col("number").is_finite()).then(pl.col("number"))
    is_word = pl.col("number").is_null() & ~text.str.contains("[0-9]")
    end = pl.format("{}:{}", rows, number)
    beside = other.select(
        values=ROW_COUNT,
        numbers=number.count().cast(pl.Int64),
        least=number.min().fill_null(0.0),
        greatest=number.max().fill_null(0.0),
        shortest=text.str.len_chars().min().fill_null(0).cast(pl.Int64),
        longest=text.str.len_chars().max().fill_null(0).cast(pl.Int64),
        number_rows=rows.filter(number.is_not_null()).sum(),
        words=is_word.sum().cast(pl.Int64),
        word_rows=rows.filter(is_word).sum(),
        other_records=rows.sum(),
        high=end.filter(number.is_not_null()).top_k_by(number.drop_nulls(), ENDS_COUNTED).implode(),
        low=end.filter(number.is_not_null())
        .bottom_k_by(number.drop_nulls(), ENDS_COUNTED)
        .implode(),
    )
    candidates = marked.filter("is_candidate").select(
        texts=text.implode(), rows=pl.col("rows").implode()
    )
    return pl.concat([beside, candidates], how="horizontal")


def _may_have_codes(ends: pl.Series) -> bool:
    """Whether numbers between these ends may have codes."""
    return may_end_with_code(ends.struct["least"][0], ends.struct["greatest"][0])


def _warn_of_codes(counts: pl.DataFrame, kinds: Mapping[str, str]) -> None:
    """Warn of values that look like missing-value codes."""
    cautions = []
    for name, kind in kinds.items():
        row = counts[name][0]
        form = ColumnForm(
            name, kind, row["values"], row["numbers"], 0, row["least"], row["greatest"]
        )
        candidates = zip(row["texts"], row["rows"], strict=True)
        codes = missing_values_of(form, candidates, values_beside(row, form.values))
        texts, records = [each.text for each in codes], [each.records for each in codes]
        cautions.append(count_missing_values(texts, records, name))
    if caution := " ".join(f"{each}." for each in cautions if each):
        warnings.warn(caution, MissingCodesWarning, stacklevel=2)
