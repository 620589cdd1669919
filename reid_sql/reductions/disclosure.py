"""What each class gives away about a sensitive column."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from reid_sql.errors import OutOfDomainError
from reid_sql.models.classes import sensitive
from reid_sql.models.classes import sensitive as model
from reid_sql.parameters import PROBABILITY, Choice, Number, fold_case, list_columns
from reid_sql.reduction import (
    BY,
    DROPPABLE_NULLS,
    ENTITY,
    TBL,
    Argument,
    Reduction,
    refuse_groups,
    refuse_result_names,
)
from reid_sql.sql.distances import Keys, distance, distance_along, gain, recursion
from reid_sql.sql.people import count_by_group, group_aliases
from reid_sql.sql.records import with_null_report
from reid_sql.sql.text import Source, aliases, none_null, numbered, prefix, same, with_names

REFUSAL_BY_SENSITIVE: Final = sensitive.REFUSAL_BY_SENSITIVE
OF_CLASSES: Final = (TBL, Argument("qi", sensitive.QI), Argument("sensitive", sensitive.SENSITIVE))
# Distances in an order need the values of each class and of the table in that order.
IN_ORDER: Final = {"variant": tuple(word for word in sensitive.DISTANCES.words if word != "equal")}
# A warehouse counts the records of a whole table; DuckDB those of people, and of groups.
IN_TABLE: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {"ibis": {"entity": (), "by": ()}}
DEFAULT_K: Final = 2  # records in a class, under (α, k)-anonymity
# Measures of the records of each value in a class alone, which are 1 in a class of one person.
OF_CELLS: Final = frozenset({"l distinct", "l entropy", "alpha"})
NO_INFINITY: Final = "its doubles are never infinite, as the measure can be"


# The variants of a measure, and the one that it has unless another is named.
VARIANTS: Final[Mapping[str, tuple[Choice, str]]] = {
    "l_diversity": (sensitive.DIVERSITIES, "distinct"),
    "t_closeness": (sensitive.DISTANCES, "equal"),
    "beta_likeness": (sensitive.LIKENESSES, "basic"),
    "delta_disclosure": (sensitive.PRESENCES, "present"),
}


def measured(
    name: str,
    *options: Argument,
    of_shares: bool = False,
    fallback: Mapping[str, Mapping[str, tuple[str, ...]]] = IN_TABLE,
) -> Reduction:
    """How many classes have each size and each value of the measure; the options say which variant of it.

    `records` are those in the classes; with `entity`, which names the person of each row, people by the size
    of their smallest class and the worst value of their classes.
    """
    variant = [Argument("variant", *VARIANTS[name])] if name in VARIANTS else []
    return Reduction(
        __name__,
        name=name,
        words="how many classes, and records or people, have each size and each value of the measure",
        arguments=(*OF_CLASSES, *variant, *options, ENTITY, BY, DROPPABLE_NULLS),
        columns={
            "class_size": "BIGINT",
            "value": "DOUBLE",
            "classes": "BIGINT",
            "records": "BIGINT",
        },
        arrays=sensitive.ClassValues,
        of_shares=of_shares,
        fallback=fallback,
    )


L_DIVERSITY: Final = measured("l_diversity", Argument("c", sensitive.CONCENTRATION, 3))
T_CLOSENESS: Final = measured(
    "t_closeness",
    of_shares=True,
    fallback={"spark": IN_ORDER, "ibis": {**IN_TABLE["ibis"], **IN_ORDER}},
)
ALPHA_K_ANONYMITY: Final = measured("alpha_k_anonymity")
BETA_LIKENESS: Final = measured("beta_likeness", of_shares=True)
DELTA_DISCLOSURE: Final = measured("delta_disclosure", of_shares=True)
MEASURES: Final = (L_DIVERSITY, T_CLOSENESS, ALPHA_K_ANONYMITY, BETA_LIKENESS, DELTA_DISCLOSURE)
NAMES: Final = tuple(each.name for each in MEASURES)
# What a class of each measure is compared with, and what it is unless it is given.
THRESHOLDS: Final[Mapping[str, tuple[Number, float]]] = {
    "l_diversity": (sensitive.DIVERSITY, 2),
    "t_closeness": (sensitive.CLOSENESS, 0.2),
    "alpha_k_anonymity": (PROBABILITY, 0.5),
    "beta_likeness": (sensitive.GAIN, 1),
    "delta_disclosure": (sensitive.GAIN, 1),
}
VARIANT: Final = Choice(
    tuple(word for words, _ in VARIANTS.values() for word in words.words), optional=True
)
# of a measure that compares a class with the table
GAIN_VARIANT: Final = Choice(
    (*sensitive.LIKENESSES.words, *sensitive.PRESENCES.words), optional=True
)
THRESHOLD: Final = Number(
    "a number from 0 to 1e+9",
    "pass what a class must not be beyond, such as 2 values",
    0.0,
    1e9,
    optional=True,
)


@dataclass(frozen=True)
class Criterion:
    """What a class is compared with: a measure, its variant, the threshold, and for one its records."""

    measure: str
    options: Mapping[str, Any]  # the variant, if the measure has some, and c
    threshold: float
    k: int | None


def read_criterion(
    measure: str, variant: str | None, threshold: float | None, c: float, k: int | None
) -> Criterion:
    """Read the criterion, each part the measure's own unless it is given; refuse parts of another measure."""
    if k is not None and measure != ALPHA_K_ANONYMITY.name:
        rule = f"k must be used with measure := '{ALPHA_K_ANONYMITY.name}', got '{measure}'"
        raise OutOfDomainError(f"{rule}; leave it out")
    domain, default = THRESHOLDS[measure]
    limit = default if threshold is None else domain.check_one("threshold", threshold)
    options: dict[str, Any] = {"c": c} if measure == L_DIVERSITY.name else {}
    if measure in VARIANTS:
        words, usual = VARIANTS[measure]
        options["variant"] = usual if variant is None else words.check("variant", variant)
    elif variant is not None:
        rule = f"variant must be left out with measure := '{measure}', got '{variant}'"
        raise OutOfDomainError(f"{rule}; the measure has none")
    smallest = DEFAULT_K if measure == ALPHA_K_ANONYMITY.name and k is None else k
    return Criterion(measure, options, limit, smallest)


DISCLOSING_CLASSES: Final = Reduction(
    __name__,
    name="disclosing_classes",
    words="the classes that disclose more of a sensitive column than a measure allows",
    arguments=(
        *OF_CLASSES,
        Argument("measure", Choice(NAMES), L_DIVERSITY.name),
        Argument("variant", VARIANT, optional=True),
        Argument("threshold", THRESHOLD, optional=True),
        Argument("c", sensitive.CONCENTRATION, 3),
        Argument("k", replace(sensitive.MIN_K, optional=True), optional=True),
        ENTITY,
        DROPPABLE_NULLS,
    ),
    columns={"class_size": "BIGINT", "value": "DOUBLE"},
    measures_of_shares=tuple(each.name for each in MEASURES if each.of_shares),
    fallback=T_CLOSENESS.fallback,
    reasons={"by": "its rows are the classes of one table"},
)


Columns = Sequence[str]
LABEL = "quasi-identifiers and sensitive"
SHORT = {name: name.partition("_")[0] for name in NAMES}  # l, t, alpha, beta and delta


def _offends(criterion: Criterion) -> str:
    """Test for a value beyond the threshold by more than rounding may add to it, or fewer than k records."""
    limit, k = criterion.threshold, criterion.k
    below, above = f"value < {limit!r}::DOUBLE * (1 -", f"value > {limit!r}::DOUBLE * (1 +"
    test = f"{below if criterion.measure == L_DIVERSITY.name else above} {model.MEASURE_TOLERANCE})"
    return test if k is None else f"{test} OR class_size < {k}"


def _values(
    measure: str,
    tbl: Source,
    qi: Columns,
    sensitive: str,
    *,
    variant: str = "",
    c: float = 0,
    entity: str | None,
    by: Columns | None,
    nulls: str,
) -> str:
    """Count the classes, and the records or people, of each size and value, within each group of `by`."""
    columns, measure = _with_sensitive(qi, sensitive), f"{measure} {variant}".strip()
    if by is not None:
        refuse_groups(nulls)
        # Divided by the sensitive column, each group would have one value, and all would pass.
        if fold_case(columns[-1]) in map(fold_case, by):
            raise OutOfDomainError(REFUSAL_BY_SENSITIVE.format(columns[-1]))
        groups = group_aliases(columns, by)
        keys = _keys(tbl, [*groups, *aliases(len(columns) - 1)], entity, groups)
        if entity is None:
            cells = f"""reid_cells AS MATERIALIZED (
          SELECT * EXCLUDE (q{len(columns)}, records, entity, complete), q{len(columns)} AS s, records AS n
          FROM reid_divided WHERE complete
        )"""
        else:
            cells = f"""reid_people AS (
          SELECT * EXCLUDE (q{len(columns)}, records, complete), q{len(columns)} AS s
          FROM reid_divided WHERE complete
        ),
        reid_cells AS MATERIALIZED (
          SELECT {keys.listed}, s, count(*) AS n FROM reid_people GROUP BY {keys.listed}, s
        )"""
        sized = f"""{cells},
        reid_sized AS ({_count_kinds(measure, columns[-1], c, keys)})"""
        counts = """class_size, value, coalesce(classes, 0)::BIGINT AS classes,
          coalesce(records, 0)::BIGINT AS records"""
        return count_by_group(
            tbl, "quasi-identifiers, sensitive", columns, by, entity, nulls, counts, sized
        )
    keys = _keys(tbl, aliases(len(qi)), entity)
    is_divided = entity is not None and measure in OF_CELLS
    cells = _cells(tbl, columns, entity, nulls, is_divided=is_divided)
    body = f"""
        WITH {cells}
        {_count_kinds(measure, columns[-1], c, keys, is_divided=is_divided)}"""
    return tbl.check_columns(LABEL, columns, with_null_report(tbl, columns, nulls, body))


def _keys(
    tbl: Source,
    names: Columns,
    entity: str | None,
    groups: Columns = (),
    *,
    is_listed: bool = False,
) -> Keys:
    """The columns of a class, of which each is listed where people are counted."""
    has_people = entity is not None
    return Keys(
        names,
        groups,
        is_listed=is_listed or has_people,
        is_materialized=tbl.is_materialized,
        has_people=has_people,
    )


def _with_sensitive(qi: Columns, sensitive: str) -> list[str]:
    """The quasi-identifiers and the sensitive column, which must be none of them."""
    return list_columns(LABEL, [*qi, sensitive], fold_case)


def _cells(
    tbl: Source, columns: Columns, entity: str | None, nulls: str, *, is_divided: bool = False
) -> str:
    """Name the cells reid_cells, and where people are counted reid_people, a row for each in each class.

    Where they are divided, reid_keys has the classes, and reid_cells the cells of those of several people.
    """
    keys, value = numbered(columns[:-1]), f"q{len(columns)} AS s"
    if entity is None:
        rows = tbl.rows(columns, drop_nulls=nulls == "drop")
        cells = f"SELECT {keys}, {value}, count(*) AS n FROM {rows} GROUP BY {numbered(columns)}"
        return f"reid_cells AS MATERIALIZED ({cells})"
    where, of_several = f"WHERE {none_null(columns)}" if nulls == "drop" else "", ""
    named_keys = ""
    if is_divided:
        named_keys = f"""
        reid_keys AS MATERIALIZED (
          SELECT {keys}, min(entity) AS entity, count(*) > 1 AS is_shared FROM reid_people GROUP BY {keys}
        ),"""
        of_several = f"""SEMI JOIN (FROM reid_keys WHERE is_shared) AS k
            ON {same("reid_people", "k", aliases(len(columns) - 1))}"""
    return f"""reid_people AS MATERIALIZED (
          SELECT {keys}, {value}, q{len(columns) + 1} AS entity FROM {tbl.rows([*columns, entity])} {where}
        ),{named_keys}
        reid_cells AS MATERIALIZED (
          SELECT {keys}, s, count(*) AS n FROM reid_people {of_several} GROUP BY {keys}, s
        )"""


def _count_kinds(
    measure: str, sensitive: str, c: float, keys: Keys, *, is_divided: bool = False
) -> str:
    """Count classes, and records or people, of each size and value of the measure.

    A person counts by the size of the smallest, and the value of the worst, of their classes: an attacker
    knows one row of theirs, and a threshold of either is then offended where one of the classes offends it.
    Where reid_keys divides the classes, those of one person have the value 1.
    """
    alone = "SELECT 1 AS class_size, 1.0 AS value, {} FROM reid_keys WHERE NOT is_shared UNION ALL"
    alone = alone if is_divided else ""
    measured = f"({_measure(measure, sensitive, c, keys)})"
    counted, records = measured, "class_size * classes"
    if keys.has_people:
        worst, records = "min" if measure.startswith("l ") else "max", "people"
        counted = f"""(
          WITH reid_measured AS MATERIALIZED (FROM {measured})
          SELECT {keys.group}class_size, value, classes, 0 AS people FROM reid_measured
          UNION ALL
          {alone.format("1, 0")}
          SELECT {keys.group}min(class_size), {worst}(value), 0, 1
          FROM (
            {alone.format("entity")}
            SELECT {prefix(f"h.{group}" for group in keys.groups)}h.class_size, h.value, c.entity
            FROM reid_people AS c JOIN reid_measured AS h ON {keys.of_class}
          )
          GROUP BY {keys.group}entity
        )"""
    return f"""
        SELECT {keys.group}class_size, value, sum(classes)::BIGINT AS classes,
          sum({records})::BIGINT AS records
        FROM {counted}
        GROUP BY {keys.group}class_size, value"""


def _measure(measure: str, sensitive: str, c: float, keys: Keys) -> str:
    if measure in OF_CELLS:
        # Entropy l-diversity is exp(H), H = ln N - (sum n ln n) / N; of equal counts it is exactly their
        # number.
        value = {
            "l distinct": "count(*)::DOUBLE",
            "l entropy": """CASE WHEN max(n) * count(*) = sum(n) THEN count(*)::DOUBLE
            ELSE exp(ln(sum(n)) - sum(n * ln(n)) / sum(n)) END""",
            "alpha": "max(n)::DOUBLE / sum(n)",
        }[measure]
        return f"""
        SELECT {keys.shown}sum(n)::BIGINT AS class_size, 1 AS classes, {value} AS value
        FROM reid_cells GROUP BY {keys.listed}"""
    if measure == "l recursive":
        return recursion(c, keys)
    if measure == "t equal":
        return distance(keys)
    if measure in {"t ordered", "t numeric"}:
        return distance_along(measure, sensitive, keys)
    return gain(measure, keys)


def disclosing_classes(
    tbl: Source,
    qi: Columns,
    sensitive: str,
    *,
    measure: str,
    entity: str | None,
    nulls: str,
    **options: Any,  # noqa: ANN401 - the variant, the threshold, and k of one measure
) -> str:
    """List the classes that offend the threshold, or whose value is not known."""
    refuse_result_names(qi, ("class_size", "value"))
    criterion = read_criterion(measure, **options)
    variant, c = criterion.options.get("variant", ""), criterion.options.get("c", 0)
    columns = _with_sensitive(qi, sensitive)
    keys = _keys(tbl, aliases(len(qi)), entity, is_listed=True)
    body = f"""
        WITH {_cells(tbl, columns, entity, nulls)}
        SELECT {with_names(qi)}, class_size, value
        FROM ({_measure(f"{SHORT[measure]} {variant}".strip(), columns[-1], c, keys)})
        WHERE value IS NULL OR {_offends(criterion)}"""
    return tbl.check_columns(LABEL, columns, with_null_report(tbl, columns, nulls, body))


# How many sensitive values a class has; how far they are from those of the table; the share of the most
# frequent one; how much more frequent, and how much more or less, a value is in the class than in the table.
l_diversity, t_closeness = partial(_values, "l"), partial(_values, "t")
alpha_k_anonymity, beta_likeness = partial(_values, "alpha"), partial(_values, "beta")
delta_disclosure = partial(_values, "delta")
