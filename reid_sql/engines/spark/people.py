"""Spark: people in place of rows, where a column names them, and groups of a table.

Each group is counted by itself, all of them in one pass. Values that stand for nobody are counted too.
"""

import unicodedata
from dataclasses import dataclass
from functools import reduce
from operator import or_, sub
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from reid_sql.engines.spark.frames import (
    Rows,
    any_null,
    column,
    count_rows,
    drop_nulls,
    fetch,
    known_value,
    read_rows,
    resolve_columns,
    same_key,
    same_values,
    with_key,
)
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
from reid_sql.parameters import QUASI_IDENTIFIERS, Arguments, ColumnNames, Columns
from reid_sql.reduction import (
    DIVIDING,
    PERSON,
    group_names,
    refuse_entity,
    refuse_groups,
    refuse_several,
)

QI_AND_ENTITY: Final = Columns("quasi-identifiers and entity")
QI_SENSITIVE_AND_ENTITY: Final = Columns("quasi-identifiers, sensitive and entity")
# 0 of a group of which every record was dropped
COUNTS: Final = ("classes", "records", "uncovered")


def read_people(tbl: DataFrame, qi: ColumnNames, entity: str, nulls: str) -> Rows:
    """Read the quasi-identifiers under aliases, with `entity`."""
    refuse_entity(qi, entity, nulls)
    rows = read_rows(tbl, [*qi, entity], QI_AND_ENTITY)
    return Rows(rows.frame.withColumnRenamed(rows.names[-1], "entity"), qi, rows.table_names[:-1])


def count_people(rows: Rows, nulls: str) -> DataFrame:
    """The people of each class, with how many of its records each has."""
    each = drop_nulls(rows, nulls).groupBy(*rows.names, "entity")
    return each.agg(count_rows("records"))


def one_row_per_value(
    arguments: Arguments, by: ColumnNames | None, *, of_shares: bool
) -> DataFrame:
    """A row for each person and their value in a class; refuses those of several there.

    Columns that divide the table are part of a class. Refuses people of several in the table, or in a group
    of it, where its shares are asked for.
    """
    tbl, entity, nulls = (arguments[name] for name in ("tbl", "entity", "nulls"))
    columns = [*arguments["qi"], arguments["sensitive"]]
    by = () if by is None else resolve_groups(tbl, by, nulls)
    groups = {place: column(name) for place, name in zip(_group_aliases(by), by, strict=True)}
    refuse_entity(columns, entity, nulls)
    rows = read_rows(tbl, [*columns, entity], QI_SENSITIVE_AND_ENTITY, **groups)
    distinct = rows.frame.distinct()
    counted = distinct.filter(~any_null(rows.names[:-1])) if nulls == "drop" else distinct
    within = [*groups, *([] if of_shares else rows.names[:-2]), rows.names[-1]]
    persons = counted.select(*within, rows.names[-2]).distinct().groupBy(*within)
    several = persons.agg(count_rows("values")).filter("values > 1").limit(1)
    refuse_several(fetch(several, "people of several values").num_rows, of_shares=of_shares)
    names = dict(zip(rows.names, columns, strict=False)) | {rows.names[-1]: PERSON}
    folded = {name.lower() for name in columns}
    names |= {g: name for g, name in zip(groups, by, strict=True) if name.lower() not in folded}
    return distinct.select(*(F.col(place).alias(name) for place, name in names.items()))


def size_classes(people: DataFrame, names: ColumnNames, size: str) -> DataFrame:
    """How many people each class has, and how many records."""
    return people.groupBy(*names).agg(count_rows(size), F.sum("records").alias("records"))


def smallest_classes(
    people: DataFrame,
    classes: DataFrame,
    names: ColumnNames,
    short: Column,
    groups: ColumnNames = (),
) -> DataFrame:
    """How many classes have each `class_size`, and how many people have it as their smallest.

    Some of the people are in a short class. Where there are groups, it is within each.
    """
    keys, size = [*names, *groups], [*groups, "class_size"]
    right = with_key(classes.select(*keys, "class_size", short.alias("short")), keys)
    sized = people.select(*keys, "entity").join(
        right, same_key([F.col(name) for name in keys], right)
    )
    each = sized.groupBy(*groups, "entity").agg(
        F.min("class_size").alias("class_size"), F.bool_or("short").alias("short")
    )
    persons = each.groupBy(*size).agg(count_rows("records"), F.count_if("short").alias("uncovered"))
    counted = classes.groupBy(*size).agg(count_rows("classes"))
    both = counted.join(*same_values(counted, persons, size), "left").select(
        *size, "classes", "records", "uncovered"
    )
    return both.fillna(0, ["records", "uncovered"])


@dataclass(frozen=True)
class GroupCounts:
    """The distinct rows with their counts, and which are `complete`; people are `entity`."""

    rows: DataFrame
    names: ColumnNames  # of the columns
    groups: ColumnNames
    by: ColumnNames  # the groups' own names
    nulls: str

    @property
    def complete(self) -> DataFrame:
        """The rows that are counted: those without a NULL, where these are dropped."""
        return self.rows.filter("complete")

    def report(self, sized: DataFrame) -> DataFrame:
        """Join to every group what was counted of it, and how many of its records were dropped."""
        left_out = F.sum(F.when(F.col("complete"), 0).otherwise(F.col("records"))).alias(
            "records_dropped"
        )
        dropped = self.rows.groupBy(*self.groups).agg(left_out)
        joined = dropped.join(*same_values(dropped, sized, self.groups), "left")
        names = zip(self.groups, group_names(self.by), strict=True)
        named = (F.col(group).alias(name) for group, name in names)
        counts = [name for name in sized.columns if name not in self.groups]
        filled = joined.fillna(0, [name for name in counts if name in COUNTS])
        return filled.select(*named, *counts, "records_dropped", F.lit(self.nulls).alias("nulls"))


def name_groups(reduced: DataFrame, by: ColumnNames) -> DataFrame:
    """Give the columns of the groups their own names, where no column of ours can clash with them."""
    public_names = dict(zip(group_names(by), by, strict=True))
    return reduced.select(
        *(column(name).alias(public_names.get(name, name)) for name in reduced.columns)
    )


def resolve_groups(tbl: DataFrame, by: ColumnNames, nulls: str) -> list[str]:
    """Find the columns whose values divide the table, or refuse them."""
    resolved = resolve_columns(DIVIDING, by, tbl)
    refuse_groups(nulls)
    return resolved


def read_groups(  # noqa: PLR0917 - a table, what is counted of it, and how
    tbl: DataFrame,
    columns: ColumnNames,
    by: ColumnNames,
    entity: str | None,
    nulls: str,
    label: Columns = QUASI_IDENTIFIERS,
) -> Rows:
    """Read the columns under aliases, after those of the groups and of the people, if any."""
    refuse_entity(columns, entity, nulls)
    resolved = resolve_groups(tbl, by, nulls)
    groups = {place: column(name) for place, name in zip(_group_aliases(by), resolved, strict=True)}
    people = (
        {}
        if entity is None
        else {"entity": column(resolve_columns(QI_AND_ENTITY, [*columns, entity], tbl)[-1])}
    )
    return read_rows(tbl, columns, label, **groups, **people)


def count_groups(rows: Rows, by: ColumnNames, nulls: str) -> GroupCounts:
    """Count the rows by all of their columns."""
    counted = rows.frame.groupBy(*rows.frame.columns).agg(count_rows("records"))
    complete = ~any_null(rows.names) if nulls == "drop" else F.lit(True)  # noqa: FBT003 - a literal
    return GroupCounts(
        counted.withColumn("complete", complete), rows.names, _group_aliases(by), by, nulls
    )


def _group_aliases(by: ColumnNames) -> list[str]:
    return [f"g{place}" for place in range(1, len(by) + 1)]


# Values that stand for nobody in a column, which Spark counts.


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
