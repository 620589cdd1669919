"""Distinct records: with which records hold each, scored under a model, or as households."""

from typing import Final

from reid_sql.models.classes.disclosure import Households
from reid_sql.models.population.individual_risk import WeightedRecords
from reid_sql.models.population.loglinear import INTERACTIONS, FittedRecords
from reid_sql.parameters import Column, ColumnNames, Columns, Key, fold_case, list_columns
from reid_sql.reduction import (
    CLASS_WEIGHT,
    DROPPABLE_NULLS,
    HOUSEHOLD,
    KEY,
    QI,
    TBL,
    Argument,
    Reduction,
)
from reid_sql.sql.people import class_columns, class_size, positive, weight_number
from reid_sql.sql.records import (
    fits_memory,
    log_expected,
    named_by_key,
    with_null_report,
)
from reid_sql.sql.text import Source, name, none_null, numbered, place_of

KEYED_QI: Final = Columns("quasi-identifiers, weight and key")
HOUSED_QI: Final = Columns("quasi-identifiers, weight, household and key")
# that a distinct record takes at least, from the lists for a body to its answers, as measured
FITTED_BYTES: Final = 1400
WEIGHTED_BYTES: Final = 600
NOTHING_CREATED: Final = {
    "ibis": "answers for records would have to be put into a table of the warehouse, and nothing is "
    "created there"
}
NO_GROUPS: Final = {"by": "each record's answer is estimated from all records of the table"}
FITTED_RECORDS: Final = Reduction(
    __name__,
    name="fitted_records",
    words="the distinct records, with the number that have each and the number expected if columns were "
    "independent",
    arguments=(TBL, QI, Argument("interactions", INTERACTIONS, 0), KEY, DROPPABLE_NULLS),
    columns={
        "place": "BIGINT",
        "records": "BIGINT",
        "class_size": "BIGINT",
        "log_expected": "DOUBLE",
        "codes": "BIGINT[]",
        "members": "BIGINT[]",
    },
    arrays=FittedRecords,
    absences=NOTHING_CREATED,
    reasons=NO_GROUPS,
)
WEIGHTED_RECORDS: Final = Reduction(
    __name__,
    name="weighted_records",
    words="the distinct records, with the number that have each, the sum of their weights, and with weights the "
    "number expected if columns were independent",
    arguments=(TBL, QI, Argument("weight", Key(), optional=True), HOUSEHOLD, KEY, DROPPABLE_NULLS),
    columns={
        "place": "BIGINT",
        "records": "BIGINT",
        "class_size": "BIGINT",
        "mass": "DOUBLE",
        "log_expected": "DOUBLE",
        "members": "BIGINT[]",
    },
    arrays=WeightedRecords,
    absences=NOTHING_CREATED,
    reasons=NO_GROUPS,
)


HOUSEHOLD_COLUMN: Final = Column("household and columns")
HOUSEHOLD_AND_COLUMNS: Final = Columns("household and columns")
HOUSEHOLDS: Final = Reduction(
    __name__,
    name="households",
    words="how many households have each class size, number of members and risk",
    arguments=(
        TBL,
        Argument("household", HOUSEHOLD_COLUMN),
        Argument("columns", HOUSEHOLD_AND_COLUMNS),
        DROPPABLE_NULLS,
    ),
    columns={
        "class_size": "BIGINT",
        "members": "BIGINT",
        "risk": "DOUBLE",
        "member_risk": "DOUBLE",
        "households": "BIGINT",
    },
    arrays=Households,
    reasons={
        "entity": "a household counts its members, each of one row",
        "by": "a household may have members in several groups",
    },
)


def fitted_records(
    tbl: Source, qi: ColumnNames, interactions: int, key: str | None, nulls: str
) -> str:
    """List the distinct records, with how many hold each and how many would with independent columns."""
    codes, joins = "[]::BIGINT[]", ""
    if interactions == 2:  # noqa: PLR2004 - of two columns, whose codes the model needs
        codes = f"[{', '.join(f'code{place}' for place, _ in enumerate(qi, 1))}]"
        joins = "".join(
            f"""
        JOIN (
          SELECT q{place} AS w{place}, row_number() OVER () AS code{place}
          FROM reid_distinct GROUP BY q{place}
        ) ON q{place} IS NOT DISTINCT FROM w{place}"""
            for place, _ in enumerate(qi, 1)
        )
    body = f"""
        SELECT id AS place, records, class_size, log_expected, {codes} AS codes, members
        FROM ({log_expected(qi, "reid_distinct")}) {joins}
        WHERE (SELECT {fits_memory(FITTED_BYTES)} FROM reid_distinct)"""
    return _over_distinct(tbl, qi, None, key, nulls, body)


def weighted_records(
    tbl: Source,
    qi: ColumnNames,
    weight: str | None,
    household: str | None,
    key: str | None,
    nulls: str,
) -> str:
    """List the distinct records, with the number that have each and the sum of their weights.

    Without weights the table is the population, and nothing is expected of independent columns.
    """
    counted = "SELECT *, NULL::DOUBLE AS log_expected FROM reid_distinct"
    if weight is not None:
        counted = log_expected(qi, "reid_distinct")
    body = f"""
        SELECT id AS place, records, class_size, mass, log_expected, members
        FROM ({counted})
        WHERE (SELECT {fits_memory(WEIGHTED_BYTES)} FROM reid_distinct)"""
    return _over_distinct(tbl, qi, weight, key, nulls, body, household)


def _over_distinct(
    tbl: Source,
    qi: ColumnNames,
    weight: str | None,
    key: str | None,
    nulls: str,
    body: str,
    household: str | None = None,
) -> str:
    """Write the body over reid_distinct: the distinct records, numbered, each with the records that hold it.

    These are named by the key, or else by their place in the scan, counted before any is left out. `mass` is
    the sum of the weights of the class, NaN where one of them is no number above 0. With a household, a
    member is the record and its household.
    """
    before = {
        "record": "row_number() OVER () - 1" if key is None else name(key),
        "weight": "1::DOUBLE" if weight is None else weight_number(name(weight)),
        **class_columns(tbl),
    }
    member = "record"
    if household is not None:
        before["household"] = tbl.without_nan(name(household))
        member = "{'record': record, 'household': household}"
    weights = positive("weight")  # numbers with fractions: their sum depends on their order
    size = class_size(tbl)
    mass = f"sum({weights}{'' if weight is None else f' ORDER BY {weights} ASC'})"
    if tbl.has_people and weight is not None and not place_of(weight, [*qi, str(key)]):
        before["class_weight"], mass = name(CLASS_WEIGHT), "max(class_weight)"
    elif tbl.has_people:  # of one weight; the class has people who are in a smaller one, too
        mass = f"{mass} * {size} / count(*)"
    listed = f"""
        WITH reid_distinct AS MATERIALIZED (
          SELECT row_number() OVER () AS id, *
          FROM (
            SELECT {numbered(qi)}, count(*) AS records, {size} AS class_size,
              list({member}) AS members, {mass} AS mass
            FROM {tbl.rows(qi, before=before)}
            {f"WHERE {none_null(qi)}" if nulls == "drop" else ""}
            GROUP BY {numbered(qi)}
          )
        )
        {body}"""
    more = [column for column in (weight, key, household) if column is not None]
    label = (KEYED_QI if household is None else HOUSED_QI).words if more else "quasi-identifiers"
    if household is not None:
        list_columns(label, [household, *qi], fold_case)
    reported = with_null_report(tbl, qi, nulls, named_by_key(tbl, qi, key, nulls, listed))
    return tbl.check_columns(label, [*qi, *more], reported)


def households(tbl: Source, household: str, columns: ColumnNames, nulls: str) -> str:
    """Count the households of each class size, number of members and risk.

    The class of a household is the multiset of its members' classes, here a sorted list of their numbers. A
    person without a household is one of their own.
    """
    names, label = [household, *columns], HOUSEHOLD_AND_COLUMNS.words
    list_columns(label, names, fold_case)
    values = [f"q{place}" for place in range(2, len(names) + 1)]
    complete = (
        f"WHERE {' AND '.join(f'{value} IS NOT NULL' for value in values)}"
        if nulls == "drop"
        else ""
    )
    home = tbl.without_nan("q1")
    body = f"""
        WITH reid_members AS (
          SELECT {home} AS q1, CASE WHEN {home} IS NULL THEN row_number() OVER () END AS alone,
            dense_rank() OVER (ORDER BY {", ".join(f"{name} ASC NULLS LAST" for name in values)}) AS class,
            count(*) OVER (PARTITION BY {", ".join(values)}) AS size
          FROM {tbl.rows(names)} {complete}
        ),
        reid_households AS (
          SELECT list(class ORDER BY class ASC) AS classes, count(*) AS members,
            1 - product(1 - 1::DOUBLE / size ORDER BY size ASC) AS risk,
            sum(1::DOUBLE / size ORDER BY size ASC) AS member_risk
          FROM reid_members GROUP BY q1, alone
        )
        SELECT class_size, members, risk, member_risk, sum(class_size)::BIGINT AS households
        FROM (
          SELECT count(*) AS class_size, any_value(members) AS members, any_value(risk) AS risk,
            any_value(member_risk) AS member_risk
          FROM reid_households GROUP BY classes
        )
        GROUP BY class_size, members, risk, member_risk"""
    return tbl.check_columns(label, names, with_null_report(tbl, columns, nulls, body))
