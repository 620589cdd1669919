"""The sample's classes, by what a population table holds of them."""

from collections.abc import Sequence
from typing import Final

from reid_sql.models.classes.disclosure import PopulationHistogram
from reid_sql.parameters import TABLE, ColumnNames
from reid_sql.parameters.tolerance import allowances_of
from reid_sql.reduction import (
    ANY_NULLS,
    BY,
    ENTITY,
    QI,
    TBL,
    WILDCARDS,
    WITHIN,
    Argument,
    Reduction,
    refuse_groups,
    refuse_tolerance,
)
from reid_sql.sql.people import (
    count_by_group,
    count_people,
    group_aliases,
    histogram_by_group,
    label_with_entity,
    number_people,
    with_entity,
)
from reid_sql.sql.records import count_distinct, count_matches, match_records, with_null_report
from reid_sql.sql.text import Source, aliases, all_null, numbered, same
from reid_sql.sql.tolerance import count_within, match_within

POPULATION_HISTOGRAM: Final = Reduction(
    __name__,
    name="population_histogram",
    words="the histogram of the sample's records by the size of their class in the population",
    arguments=(TBL, Argument("population_tbl", TABLE), QI, ENTITY, BY, ANY_NULLS, WITHIN),
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
    qi: ColumnNames,
    entity: str | None,
    by: ColumnNames | None,
    nulls: str,
    tolerance: str | None = None,
) -> str:
    """Count the sample's classes and records, or people, by the size of their class in the population.

    A population contains its sample: a class that the population holds fewer of is uncovered, and as large as
    in the sample.
    """
    refuse_tolerance(tolerance, nulls)
    tbl, population_tbl = tbl.guard_types([population_tbl], qi)
    if by is not None:
        return f"{_by_group(tbl, population_tbl, qi, entity, by, nulls, tolerance)} ORDER BY class_size ASC"
    if entity is not None:
        body = _histogram_of_people(tbl, population_tbl, qi, entity, nulls, tolerance)
    else:
        body = f"""
            SELECT greatest(in_population, own) AS class_size, count(*) AS classes,
              sum(records)::BIGINT AS records,
              coalesce(sum(records) FILTER (in_population < own), 0)::BIGINT AS uncovered,
              sum(blank)::BIGINT AS blank_records
            FROM ({_sizes_in_population(tbl, population_tbl, qi, nulls, tolerance)})
            GROUP BY ALL"""
    report = with_null_report(tbl, qi, nulls, tbl.check_types(population_tbl, qi, body))
    label = label_with_entity("quasi-identifiers", entity)
    names = ("the table", "the population table")
    checked = tbl.check_columns_of_both(
        population_tbl, names, label, with_entity(qi, entity, nulls), report
    )
    return f"{checked} ORDER BY class_size ASC"


def _sizes_in_population(
    tbl: Source, population_tbl: Source, qi: ColumnNames, nulls: str, tolerance: str | None
) -> str:
    """The number of records of each of the sample's classes, in the sample and in the population."""
    if tolerance is not None:
        both = f"""
            {count_distinct(tbl, qi, nulls, 0)} UNION ALL {count_distinct(population_tbl, qi, nulls, 1)}"""
        return f"""
            WITH {_match_both(both, qi, tolerance)}
            SELECT own, records, in_population, NULL::BIGINT AS blank FROM reid_within"""
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


def _match_both(
    both: str,
    qi: ColumnNames,
    tolerance: str,
    groups: Sequence[str] = (),
    *,
    of_people: bool = False,
) -> str:
    """Match the sample within itself and with the population: tables of a WITH clause, reid_within."""
    allowances = allowances_of(tolerance, qi)
    matched = match_within(qi, both, allowances, groups=groups, of_people=of_people)
    exact = [*(f"q{place}" for place, _ in enumerate(qi, 1) if place not in allowances)]
    population = count_within(exact, allowances, "side = 1", "in_population", of_people=of_people)
    return f"""{matched},
        reid_within AS MATERIALIZED (
          SELECT m.*, m.class_size AS own, in_population
          FROM reid_matched AS m JOIN ({population}) AS p ON m.id = p.id
        )"""


def _count_population(
    population_tbl: Source, qi: ColumnNames, entity: str | None, nulls: str
) -> str:
    """Count the records, or people, of the population that hold each distinct combination."""
    if entity is None:
        rows = population_tbl.rows(qi, drop_nulls=nulls == "drop")
    else:
        rows = f"({count_people(population_tbl, qi, entity, nulls)})"
    return f"SELECT {numbered(qi)}, count(*) AS records FROM {rows} GROUP BY {numbered(qi)}"


def _histogram_of_people(
    tbl: Source,
    population_tbl: Source,
    qi: ColumnNames,
    entity: str,
    nulls: str,
    tolerance: str | None,
) -> str:
    """Count the people of the sample by the size of their smallest class in the population."""
    keys = aliases(len(qi))
    if tolerance is None:
        matched = f"""reid_people AS MATERIALIZED ({count_people(tbl, qi, entity, nulls)}),
        reid_others AS ({_count_population(population_tbl, qi, entity, nulls)}),
        reid_in_classes AS MATERIALIZED (
          SELECT s.*, coalesce(p.records, 0) AS in_population
          FROM (SELECT {numbered(qi)}, count(*) AS own FROM reid_people GROUP BY {numbered(qi)}) s
          LEFT JOIN reid_others p ON {same("s", "p", keys)}
        )"""
    else:
        both = f"""
            {number_people(tbl, qi, entity, nulls)}
            UNION ALL {number_people(population_tbl, qi, entity, nulls, 1)}"""
        matched = f"""{_match_both(both, qi, tolerance, of_people=True)},
        reid_people AS (SELECT {numbered(qi)}, entity FROM reid_within),
        reid_in_classes AS MATERIALIZED (
          SELECT DISTINCT {numbered(qi)}, own, in_population FROM reid_within
        )"""
    return f"""
        WITH {matched},
        reid_smallest AS (
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
          FROM reid_smallest GROUP BY class_size
        ) USING (class_size)"""


def _by_group(
    tbl: Source,
    population_tbl: Source,
    qi: ColumnNames,
    entity: str | None,
    by: ColumnNames,
    nulls: str,
    tolerance: str | None,
) -> str:
    """Write the histogram of each group of the sample, each against the whole population."""
    refuse_groups(nulls)
    size = "records" if entity is None else f"count(*) OVER (PARTITION BY {numbered([*qi, *by])})"
    if tolerance is None:
        in_classes = f"""reid_others AS ({_count_population(population_tbl, qi, entity, nulls)}),
        reid_in_classes AS (
          SELECT o.*, greatest(coalesce(p.records, 0), own) AS class_size,
            coalesce(p.records, 0) < own AS short
          FROM (SELECT *, {size} AS own FROM reid_divided WHERE complete) AS o
          LEFT JOIN reid_others AS p ON {same("o", "p", aliases(len(qi)))}
        )"""
    else:
        in_classes = _match_groups(population_tbl, qi, entity, by, nulls, tolerance)
    sized = f"""{in_classes},
        {histogram_by_group(qi, by, of_people=entity is not None)}"""
    counts = """class_size, coalesce(classes, 0)::BIGINT AS classes,
          coalesce(records, 0)::BIGINT AS records, coalesce(uncovered, 0)::BIGINT AS uncovered,
          NULL::BIGINT AS blank_records"""
    body = count_by_group(tbl, "quasi-identifiers", qi, by, entity, nulls, counts, sized)
    label = label_with_entity("quasi-identifiers", entity, by)
    checked = with_entity(qi, entity, nulls)
    return population_tbl.check_columns(label, checked, tbl.check_types(population_tbl, qi, body))


def _match_groups(
    population_tbl: Source,
    qi: ColumnNames,
    entity: str | None,
    by: ColumnNames,
    nulls: str,
    tolerance: str,
) -> str:
    """Match the people of each group within it and with the whole population: reid_in_classes."""
    groups, of_people = group_aliases(qi, by), entity is not None
    if entity is None:
        population = (
            f"SELECT *, NULL AS entity FROM ({count_distinct(population_tbl, qi, nulls, 1)})"
        )
    else:
        population = number_people(population_tbl, qi, entity, nulls, 1)
    both = f"""
        SELECT 0 AS side, row_number() OVER () AS id, * FROM reid_divided WHERE complete
        UNION ALL BY NAME FROM ({population})"""
    return f"""{_match_both(both, qi, tolerance, groups, of_people=of_people)},
        reid_in_classes AS (
          SELECT *, greatest(own, in_population) AS class_size, in_population < own AS short FROM (
            SELECT * EXCLUDE (class_size) FROM reid_within
          )
        )"""
