"""No two values merge on Spark: made keys that collide, numbers that a cast would round, names that meet.

Records meet, too.
"""

from typing import TYPE_CHECKING, Any

import pytest

from reid_sql.errors import ReidError
from tests.copulas import independent

pytest.importorskip("pyspark", reason="no Java 17 or no pyspark for the Spark tests")

from pyspark.sql import functions as F  # noqa: N812

import reid_sql.spark as rs
from tests.cells import each_cell
from tests.sparks import rows_of

pytestmark = pytest.mark.spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

WORD = (1 << 64) - 1
PRIMES = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)
SEED = 42  # Spark's


def rotated(word: int, by: int) -> int:
    return (word << by | word >> (64 - by)) & WORD


def mixed(seed: int, number: int) -> int:
    """XXH64 of one number of 64 bits, by its published description."""
    word = (seed + PRIMES[4] + 8) & WORD
    word ^= rotated(number * PRIMES[1] & WORD, 31) * PRIMES[0] & WORD
    word = (rotated(word, 27) * PRIMES[0] + PRIMES[3]) & WORD
    word = (word ^ word >> 33) * PRIMES[1] & WORD
    word = (word ^ word >> 29) * PRIMES[2] & WORD
    return word ^ word >> 32


def partner(first: int, second: int, other: int) -> int:
    """The second number, whose hash beside the other is the pair's: XXH64 of one more column is solved.

    It can be solved for that number.
    """
    seeds = [(mixed(SEED, number) + PRIMES[4] + 8) & WORD for number in (first, other)]
    lane = rotated(second * PRIMES[1] & WORD, 31) * PRIMES[0] & WORD
    wanted = (lane ^ seeds[0] ^ seeds[1]) * pow(PRIMES[0], -1, 1 << 64) & WORD
    found = rotated(wanted, 33) * pow(PRIMES[1], -1, 1 << 64) & WORD
    return found - (1 << 64) if found >> 63 else found


@pytest.mark.spark_defaults
def test_pairs_made_to_have_one_hash_stay_two_classes(spark: "SparkSession") -> None:
    twin = partner(1, 7, 2)
    people = spark.createDataFrame([(1, 7), (2, twin), (2, twin)], "a bigint, b bigint")
    hashes = [row["h"] for row in rows_of(people.select(F.xxhash64("a", "b").alias("h")))]
    assert len(set(hashes)) == 1
    sized = rows_of(rs.equivalence_class_size(people, "a", "b", name="k"))
    assert sorted((row["a"], row["k"]) for row in sized) == [(1, 1), (2, 2), (2, 2)]
    met = rows_of(rs.journalist_risk(people.filter("a = 1"), people.filter("a = 2"), ["a", "b"]))[0]
    assert (met["k"], met["uncovered_records"]) == (1, 1)
    keyed = people.withColumn("id", F.monotonically_increasing_id())
    risks = rows_of(rs.loglinear_risk(keyed, ["a", "b"], 0.5, key="id"))
    assert len(risks) == 3
    assert len({row["uniqueness"] for row in risks}) == 2


# What a sample and a population hold of one column, and how many of the population are the same value.
MEETING: dict[str, tuple[str, str, int]] = {
    "a neighbour as a double": ("9007199254740993L", "DOUBLE('9007199254740992')", 0),
    "the same whole number as a double": ("9007199254740992L", "DOUBLE('9007199254740992')", 3),
    "the largest whole number": ("9223372036854775807L", "DOUBLE('9223372036854775808')", 0),
    "not a number": ("0L", "DOUBLE('NaN')", 0),
    "infinity": ("9223372036854775807L", "DOUBLE('Infinity')", 0),
    "a negative zero": ("0L", "DOUBLE('-0.0')", 3),
    "half": ("0L", "0.5D", 0),
    "a float's tenth": ("FLOAT('0.1')", "0.1D", 0),
    "a float's quarter": ("FLOAT('0.25')", "0.25D", 3),
    "a decimal": ("9007199254740993L", "9007199254740993.00BD", 3),
    "a decimal's neighbour": ("9007199254740993L", "9007199254740993.01BD", 0),
    "a small number": ("TINYINT('7')", "7L", 3),
    "a date at midnight": ("DATE'2020-03-29'", "TIMESTAMP_NTZ'2020-03-29 00:00:00'", 3),
    "nothing": ("CAST(NULL AS BIGINT)", "CAST(NULL AS DOUBLE)", 3),
}


REFUSED_BY_DUCKDB = {
    *("a neighbour as a double", "the same whole number as a double", "the largest whole number"),
    *("not a number", "infinity", "a negative zero", "half", "a date at midnight"),
}


@each_cell("case", MEETING)
def test_values_of_two_types_meet_exactly(spark: "SparkSession", case: str) -> None:
    mine, theirs, same = MEETING[case]
    own, population = (spark.sql(f"SELECT {value} AS x FROM range(3)") for value in (mine, theirs))

    def asked(nulls: Any) -> dict[str, Any]:
        return rows_of(rs.journalist_risk(own.limit(1), population, ["x"], nulls=nulls))[0]

    figures = (max(same, 1), int(same == 0))
    found = asked("value")
    assert (found["k"], found["uncovered_records"]) == figures
    if case in REFUSED_BY_DUCKDB:  # which matches where NULL may be any value
        with pytest.raises(ReidError, match="must have the same types in both tables, got 'x' as"):
            asked("wildcard")
    elif case != "nothing":
        found = asked("wildcard")
        assert (found["k"], found["uncovered_records"]) == figures


UNLIKE = {
    "a text and a number": ("'0123'", "123L", "string and bigint"),
    "a decimal and a double": ("0.1BD", "0.1D", r"decimal\(1,1\) and double"),
    "a decimal too wide": ("CAST(1 AS DECIMAL(38,30))", "1L", r"decimal\(38,30\) and bigint"),
    "a day and an instant": (
        "DATE'2020-01-01'",
        "TIMESTAMP'2020-01-01 00:00:00'",
        "date and timestamp",
    ),
    "a local time and an instant": (
        "TIMESTAMP_NTZ'2020-01-01 00:00:00'",
        "TIMESTAMP'2020-01-01 00:00:00'",
        "timestamp_ntz and timestamp",
    ),
    "a truth value and a number": ("true", "1", "boolean and int"),
}


@pytest.mark.parametrize("case", UNLIKE)
def test_types_that_only_a_cast_brings_together_are_refused(
    spark: "SparkSession", case: str
) -> None:
    mine, theirs, words = UNLIKE[case]
    own, population = (spark.sql(f"SELECT {value} AS x") for value in (mine, theirs))
    with pytest.raises(
        ReidError, match=f"must contain 'x' as the same type, got {words}; cast one of them"
    ):
        rs.journalist_risk(own, population, ["x"])


@pytest.fixture(scope="module")
def hostile(spark: "SparkSession") -> "DataFrame":
    """A table whose columns are named as the adapter names its own."""
    names = ["reid_key", "REID_HASH", "records", "q1", "place", "reid_records", "sex", "id"]
    rows = [(1, 2, 3, 4, 5, 6, "F", 1), (1, 2, 3, 4, 5, 6, "M", 2), (9, 2, 3, 4, 5, 6, "F", 3)]
    return spark.createDataFrame(rows, names)


def test_no_column_of_the_table_is_lost_or_taken_for_the_answer(hostile: "DataFrame") -> None:
    found = rs.equivalence_class_size(hostile, "reid_key", "q1", name="k")
    assert found.columns == [*hostile.columns, "k"]
    rows = sorted(rows_of(found), key=lambda row: row["id"])
    assert [row["k"] for row in rows] == [2, 2, 1]
    assert [row.asDict() for row in found.drop("k").sort("id").collect()] == [
        row.asDict() for row in hostile.sort("id").collect()
    ]
    scored = rs.score_records(hostile.withColumnRenamed("id", "size"), independent(), 10)
    assert {"reid_key", "REID_HASH", "reid_records"} <= set(scored.columns)


CLASHES: dict[str, Any] = {
    "name must not be a column of the table, got 'K'": lambda t: rs.equivalence_class_size(
        t.withColumnRenamed("q1", "k"), "sex", name="K"
    ),
    "must not be named class_size, records, records_dropped or nulls where classes are listed, got "
    "'records'": (lambda t: rs.equivalence_classes(t, ["records"])),
    "must not be named class_size, value, records_dropped or nulls where classes are listed, got 'VALUE'": (
        lambda t: rs.disclosing_classes(t.withColumnRenamed("q1", "VALUE"), ["VALUE"], "sex")
    ),
    "the table must have no column that is named as a score": lambda t: rs.score_records(
        t.withColumnsRenamed({"q1": "Uniqueness_XI", "id": "size"}), independent(), 10
    ),
}


@pytest.mark.parametrize("sentence", CLASHES)
def test_columns_named_as_an_answer_are_refused(hostile: "DataFrame", sentence: str) -> None:
    with pytest.raises(ReidError) as refused:
        CLASHES[sentence](hostile)
    assert sentence in str(refused.value)


SCENARIO = {"population": 9, "groups": [{"columns": ["sex"], "probability": 0.5}]}
BY_RECORD: dict[str, Any] = {
    "adversary_risk": lambda t, key: rs.adversary_risk(t, SCENARIO, key=key),
    "individual_risk": lambda t, key: rs.individual_risk(t, ["sex"], key=key),
    "loglinear_risk": lambda t, key: rs.loglinear_risk(t, ["sex"], 0.5, key=key),
}


@pytest.mark.parametrize("name", BY_RECORD)
def test_a_key_that_several_records_share_is_refused(spark: "SparkSession", name: str) -> None:
    people = spark.sql(
        "FROM VALUES ('F', 1, NULL, 1), ('M', 1, NULL, 2), ('M', 2, 3, 3) AS t(sex, a, b, id)"
    )
    with pytest.raises(ReidError, match="key must differ between records, got a value that"):
        BY_RECORD[name](people, "a")
    with pytest.raises(ReidError, match="key must have a value in every row, got none"):
        BY_RECORD[name](people, "b")
    assert {row["record"] for row in rows_of(BY_RECORD[name](people, "id"))} == {1, 2, 3}
