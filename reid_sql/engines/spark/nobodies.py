"""Values that stand for nobody in a column of a Spark DataFrame, which Spark counts."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.spark.frames import fetch, known_value
from reid_sql.models.columns.nobodies import (
    COUNTS_OF_NOBODIES,
    MAX_NOBODIES,
    NOBODY_NUMBERS,
    NOBODY_WORDS,
    IdentifierCounts,
    counts_of_nobodies,
)

LABEL = "the values that may stand for nobody"


def count_nobodies(frame: DataFrame, name: str) -> IdentifierCounts:
    """Count the most frequent values, and how the values are written, in two jobs."""
    value = known_value(frame, name).cast("string")
    sizes = frame.select(value.alias("value")).dropna().groupBy("value").agg(F.count(F.lit(1)).alias("size"))
    most = fetch(sizes.select("size").orderBy(F.col("size").desc()).limit(MAX_NOBODIES + 1), LABEL)
    word, number = F.lower(F.trim("value")), F.col("value").try_cast("double")
    code = F.when(word.isin(*NOBODY_WORDS), word).when(
        number.isin(*map(float, NOBODY_NUMBERS)), number.cast("bigint").cast("string")
    )
    bare = F.regexp_replace(word, "^0+", "")
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
