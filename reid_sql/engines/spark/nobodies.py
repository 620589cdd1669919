"""Values that stand for nobody in a column of a Spark DataFrame, which Spark counts."""

import unicodedata
from functools import reduce
from operator import or_, sub
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.spark.frames import count_rows, fetch, known_value
from reid_sql.models.columns.missing_value_codes import NOBODY_WORDS
from reid_sql.models.columns.nobodies import (
    NOBODY_NUMBERS,
    SIZES_COUNTED,
    IdentifierCounts,
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
    PLAIN_LETTERS,
    QUOTES,
    SPACES,
    UMLAUTS,
)
from reid_sql.models.columns.units import COUNTS_OF_NOBODIES


def _list_letters_with_marks() -> tuple[str, str]:
    """The letters of the basic plane that Unicode writes as one with marks, or wide, each with the one."""
    forms = {chr(code): unicodedata.normalize("NFKD", chr(code)) for code in range(0xA1, 0x10000)}
    bare = {
        letter: form[0]
        for letter, form in forms.items()
        if unicodedata.name(letter, "").startswith("FULLWIDTH")
        or (
            len(form) > 1
            and unicodedata.decomposition(letter)[:1] != "<"
            and all(unicodedata.category(mark)[0] == "M" for mark in form[1:])
        )
    }
    letters = {**bare, **PLAIN_LETTERS, **dict.fromkeys(DASHES, "-")}
    return "".join(letters), "".join(letters.values())


LETTERS_WITH_MARKS: Final = _list_letters_with_marks()  # Spark has no function of Unicode's forms
LABEL = "the values that may stand for nobody"


def normal_form(value: Column, *, second_letters: bool = False) -> Column:
    """Write a text as all of its spellings are; `models.columns.spelling` is the reference."""
    seen = F.regexp_replace(F.regexp_replace(value, SPACES, " "), INVISIBLE, "")
    letters = {**LIGATURES, **(UMLAUTS if second_letters else {})}
    plain = reduce(
        lambda each, pair: F.replace(each, F.lit(pair[0]), F.lit(pair[1])),
        letters.items(),
        F.lower(seen),
    )
    bare = F.regexp_replace(F.translate(plain, *LETTERS_WITH_MARKS), r"\p{M}+", "")
    word = F.translate(F.btrim(F.lower(bare), F.lit(ENDS_OF_WORDS)), APOSTROPHES + QUOTES, "")
    spaced, written = (F.regexp_replace(word, each, " ") for each in ("[-_ ]+", " +"))
    return F.btrim(F.when(word >= "a", spaced).otherwise(written), F.lit(ENDS_OF_WORDS))


def _without_zeros(word: Column) -> Column:
    """Write a normal form without leading zeros, and those of a whole number that was once a float."""
    return F.regexp_replace(word, f"{FINAL_ZEROS}|^0+", "")


def count_nobodies(frame: DataFrame, name: str) -> IdentifierCounts:
    """Count the most frequent values, and how the values are written, in two jobs."""
    value = known_value(frame, name).cast("string")
    sizes = frame.select(value.alias("value")).dropna().groupBy("value").agg(count_rows("size"))
    most = fetch(sizes.select("size").orderBy(F.col("size").desc()).limit(SIZES_COUNTED), LABEL)
    word = normal_form(F.col("value"))
    bare_word = F.btrim(word, F.lit(MARKS_AROUND_WORDS))
    number = F.col("value").try_cast("double")
    words = F.split(F.lit("|".join(NOBODY_WORDS)), "[|]")  # a list would be a call of Java for each
    code = F.when(F.array_contains(words, bare_word), bare_word).when(
        number.isin(*map(float, NOBODY_NUMBERS)), number.cast("bigint").cast("string")
    )
    bare = _without_zeros(word)
    has_pair = reduce(or_, (F.contains("value", F.lit(pair)) for pair in DOUBLE_LETTERS))
    is_otherwise = has_pair | (F.octet_length("value") != F.length("value"))
    second = _without_zeros(normal_form(F.col("value"), second_letters=True))
    forms = {
        "code": code,
        "number": number,
        "bare": bare,
        "second": F.when(is_otherwise, second),
    }
    values = sizes.select("size", *(each.alias(alias) for alias, each in forms.items()))
    is_code = F.col("code").isNotNull()
    is_second = ~is_code & F.col("second").isNotNull()
    seconds = (F.count_distinct(F.when(is_second, F.col(each))) for each in ("bare", "second"))
    is_number = ~is_code & F.col("number").isNotNull() & (F.abs("number") < float("inf"))
    other = F.when(is_number, F.col("number"))
    has_code = F.count(F.when(is_code, F.lit(1))) > 0
    counts = (
        F.collect_list(F.when(is_code, F.col("code"))),
        F.collect_list(F.when(is_code, F.col("size"))),
        F.count(F.when(~is_code, F.lit(1))),
        F.count(other),
        *(F.when(has_code, each(other)) for each in (F.min, F.max)),  # else they are not needed
        F.count(F.when(~is_code, F.lit(1)))
        - F.count_distinct(F.when(~is_code, F.col("bare")))
        + F.greatest(reduce(sub, seconds), F.lit(0)),
    )
    named = (each.alias(alias) for alias, each in zip(COUNTS_OF_NOBODIES[1:], counts, strict=True))
    row = fetch(values.agg(*named), LABEL).to_pylist()[0]
    return counts_of_nobodies([most.column("size").to_pylist(), *row.values()])
