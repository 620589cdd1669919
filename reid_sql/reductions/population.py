"""The sample's classes, by what a population table holds of them."""

from collections.abc import Sequence
from typing import Final

from reid_sql.models.classes.disclosure import PopulationHistogram
from reid_sql.parameters import TABLE
from reid_sql.reduction import ANY_NULLS, BY, ENTITY, QI, TBL, WILDCARDS, Argument, Reduction, refuse_groups
from reid_sql.sql.people import (
    count_by_group,
    count_people,
    histogram_by_group,
    label_with_entity,
    with_entity,
)
from reid_sql.sql.records import count_distinct, count_matches, match_records, with_null_report
from reid_sql.sql.text import Source, aliases, all_null, numbered, same

POPULATION_HISTOGRAM: Final = Reduction(
    __name__,
    name="population_histogram",
    words="the histogram of the sample's records by the size of their class in the population",
    arguments=(TBL, Argument("population_tbl", TABLE), QI, ENTITY, BY, ANY_NULLS),
    columns={
        "class_size": "BIGINT",
        "classes": "BIGINT",
        "records": "BIGINT",
        "uncovered": "BIGINT",
        "blank_records": "BIGINT",
    },
    arrays=PopulationHistogram,
    fallback={"spark": WILDCARDS, "ibis": {**WILDCARDS, "by": ()}},
)


def population_histogram(
    tbl: Source,
    population_tbl: Source,
    qi: Sequence[str],
    entity: str | None,
    by: Sequence[str] | None,
    nulls: str,
) -> str:
    """Count the sample's classes and records, or people, by the size of their class in the population.

    A population contains its sample: a class that the population holds fewer of is uncovered, and as large as
    in the sample.
    """
    tbl, population_tbl = tbl.guard_types([population_tbl], qi)
    if by is not None:
        return f"{_by_group(tbl, population_tbl, qi, entity, by, nulls)} ORDER BY class_size ASC"
    if entity is not None:
        body = _histogram_of_people(tbl, population_tbl, qi, entity, nulls)
    else:
        body = f"""
            SELECT greatest(in_population, own) AS class_size, count(*) AS classes,
              sum(records)::BIGINT AS records,
              coalesce(sum(records) FILTER (in_population < own), 0)::BIGINT AS uncovered,
              sum(blank)::BIGINT AS blank_records
            FROM ({_sizes_in_population(tbl, population_tbl, qi, nulls)})
            GROUP BY ALL"""
    report = with_null_report(tbl, qi, nulls, tbl.check_types(population_tbl, qi, body))
    label = label_with_entity("quasi-identifiers", entity)
    names = ("the table", "the population table")
    checked = tbl.check_columns_of_both(population_tbl, names, label, with_entity(qi, entity, nulls), report)
    return f"{checked} ORDER BY class_size ASC"


def _sizes_in_population(tbl: Source, population_tbl: Source, qi: Sequence[str], nulls: str) -> str:
    """The number of records of each of the sample's classes, in the sample and in the population."""
    if nulls == "wildcard":
        both = f"""
            {count_distinct(tbl, qi, nulls, 0)} UNION ALL {count_distinct(population_tbl, qi, nulls, 1)}"""
        return f"""
            {match_records(qi, both, 1)}, reid_own AS ({count_matches(0, "own")})
            SELECT own, records, class_size AS in_population,
              CASE WHEN {all_null(qi)} THEN records ELSE 0 END AS blank
            FROM reid_matched JOIN reid_own USING (id)"""
    return f"""
        SELECT s.records AS own, s.records, coalesce(p.records, 0) AS in_population, NULL::BIGINT AS blank
        FROM ({count_distinct(tbl, qi, nulls, 0)}) s
        LEFT JOIN ({count_distinct(population_tbl, qi, nulls, 1)}) p ON {same("s", "p", aliases(len(qi)))}"""


def _count_population(population_tbl: Source, qi: Sequence[str], entity: str | None, nulls: str) -> str:
    """Count the records, or people, of the population that hold each distinct combination."""
    if entity is None:
        rows = population_tbl.rows(qi, drop_nulls=nulls == "drop")
    else:
        rows = f"({count_people(population_tbl, qi, entity, nulls)})"
    return f"SELECT {numbered(qi)}, count(*) AS records FROM {rows} GROUP BY {numbered(qi)}"


def _histogram_of_people(
    tbl: Source, population_tbl: Source, qi: Sequence[str], entity: str, nulls: str
) -> str:
    """Count the people of the sample by the size of their smallest class in the population."""
    keys = aliases(len(qi))
    return f"""
        WITH reid_people AS MATERIALIZED ({count_people(tbl, qi, entity, nulls)}),
        reid_others AS ({_count_population(population_tbl, qi, entity, nulls)}),
        reid_in_classes AS MATERIALIZED (
          SELECT s.*, coalesce(p.records, 0) AS in_population
          FROM (SELECT {numbered(qi)}, count(*) AS own FROM reid_people GROUP BY {numbered(qi)}) s
          LEFT JOIN reid_others p ON {same("s", "p", keys)}
        ),
        reid_placed AS (
          SELECT min(greatest(in_population, own)) AS class_size, bool_or(in_population < own) AS short
          FROM reid_people AS s JOIN reid_in_classes AS m ON {same("s", "m", keys)}
          GROUP BY entity
        )
        SELECT class_size, classes, coalesce(records, 0)::BIGINT AS records,
          coalesce(uncovered, 0)::BIGINT AS uncovered, NULL::BIGINT AS blank_records
        FROM (
          SELECT greatest(in_population, own) AS class_size, count(*) AS classes
          FROM reid_in_classes GROUP BY ALL
        )
        LEFT JOIN (
          SELECT class_size, count(*) AS records, count(*) FILTER (short) AS uncovered
          FROM reid_placed GROUP BY class_size
        ) USING (class_size)"""


def _by_group(
    tbl: Source, population_tbl: Source, qi: Sequence[str], entity: str | None, by: Sequence[str], nulls: str
) -> str:
    """Write the histogram of each group of the sample, each against the whole population."""
    refuse_groups(nulls)
    own = "records" if entity is None else f"count(*) OVER (PARTITION BY {numbered([*qi, *by])})"
    sized = f"""reid_others AS ({_count_population(population_tbl, qi, entity, nulls)}),
        reid_in_classes AS (
          SELECT o.*, greatest(coalesce(p.records, 0), own) AS class_size,
            coalesce(p.records, 0) < own AS short
          FROM (SELECT *, {own} AS own FROM reid_divided WHERE complete) AS o
          LEFT JOIN reid_others AS p ON {same("o", "p", aliases(len(qi)))}
        ),
        {histogram_by_group(qi, by, of_people=entity is not None)}"""
    counts = """class_size, coalesce(classes, 0)::BIGINT AS classes,
          coalesce(records, 0)::BIGINT AS records, coalesce(uncovered, 0)::BIGINT AS uncovered,
          NULL::BIGINT AS blank_records"""
    body = count_by_group(tbl, "quasi-identifiers", qi, by, entity, nulls, counts, sized)
    label = label_with_entity("quasi-identifiers", entity, by)
    asked = with_entity(qi, entity, nulls)
    return population_tbl.check_columns(label, asked, tbl.check_types(population_tbl, qi, body))
