"""Values that stand for nobody in a column of a Spark DataFrame, which Spark counts."""

import unicodedata
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.spark.frames import fetch, known_value
from reid_sql.models.columns.nobodies import (
    COUNTS_OF_NOBODIES,
    FINAL_ZEROS,
    INVISIBLE,
    NOBODY_NUMBERS,
    NOBODY_WORDS,
    SIZES_COUNTED,
    SPACES,
    IdentifierCounts,
    counts_of_nobodies,
)


def _list_letters_with_marks() -> tuple[str, str]:
    """The letters of the basic plane that Unicode writes as one with marks, or wide, each with the one."""
    every = {chr(code): unicodedata.normalize("NFKD", chr(code)) for code in range(0xA1, 0x10000)}
    bare = {
        letter: form[0]
        for letter, form in every.items()
        if all(map(unicodedata.combining, form[1:]))
    }
    changed = {letter: one for letter, one in bare.items() if letter != one}
    return "".join(changed), "".join(changed.values())


LETTERS_WITH_MARKS: Final = _list_letters_with_marks()  # Spark has no function of Unicode's forms
LABEL = "the values that may stand for nobody"


def count_nobodies(frame: DataFrame, name: str) -> IdentifierCounts:
    """Count the most frequent values, and how the values are written, in two jobs."""
    value = known_value(frame, name).cast("string")
    sizes = (
        frame.select(value.alias("value"))
        .dropna()
        .groupBy("value")
        .agg(F.count(F.lit(1)).alias("size"))
    )
    most = fetch(sizes.select("size").orderBy(F.col("size").desc()).limit(SIZES_COUNTED), LABEL)
    seen = F.regexp_replace(F.regexp_replace("value", SPACES, " "), INVISIBLE + r"|\p{M}+", "")
    word = F.lower(F.trim(F.translate(seen, *LETTERS_WITH_MARKS)))
    number = F.col("value").try_cast("double")
    code = F.when(word.isin(*NOBODY_WORDS), word).when(
        number.isin(*map(float, NOBODY_NUMBERS)), number.cast("bigint").cast("string")
    )
    bare = F.regexp_replace(word, f"{FINAL_ZEROS}|^0+", "")
    values = sizes.select("size", code.alias("code"), number.alias("number"), bare.alias("bare"))
    is_code = F.col("code").isNotNull()
    is_number = ~is_code & F.col("number").isNotNull() & (F.abs("number") < float("inf"))
    other = F.when(is_number, F.col("number"))
    counts = (
        F.collect_list(F.when(is_code, F.col("code"))),
        F.collect_list(F.when(is_code, F.col("size"))),
        F.count(F.when(~is_code, F.lit(1))),
        F.count(other),
        F.min(other),
        F.max(other),
        F.count(F.when(~is_code, F.lit(1))) - F.count_distinct(F.when(~is_code, F.col("bare"))),
    )
    named = (each.alias(alias) for alias, each in zip(COUNTS_OF_NOBODIES[1:], counts, strict=True))
    row = fetch(values.agg(*named), LABEL).to_pylist()[0]
    return counts_of_nobodies([most.column("size").to_pylist(), *row.values()])
