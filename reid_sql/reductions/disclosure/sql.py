"""What each class reveals about a sensitive column, in SQL.

A cell is a class and a sensitive value in it: the class's keys, the value s, and n records. Each measure is a
query over reid_cells that returns class_size, classes and value; distances.py has those that compare a
class's values with the table's.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from reid_sql.errors import OutOfDomainError
from reid_sql.models.classes import sensitive as model
from reid_sql.parameters import fold_case, list_columns
from reid_sql.reduction import refuse_groups, refuse_result_names
from reid_sql.reductions.disclosure import (
    L_DIVERSITY,
    NAMES,
    REFUSAL_BY_SENSITIVE,
    Criterion,
    read_criterion,
)
from reid_sql.reductions.disclosure.distances import Keys, distance, distance_along, gain, recursion
from reid_sql.sql.people import count_by_group, group_aliases
from reid_sql.sql.records import with_null_report
from reid_sql.sql.text import Source, aliases, none_null, numbered, with_names

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
    asked, measure = _with_sensitive(qi, sensitive), f"{measure} {variant}".strip()
    if by is not None:
        return _values_by_group(tbl, asked, measure, c, entity, by, nulls)
    keys = Keys(
        aliases(len(qi)),
        [],
        is_listed=entity is not None,
        is_materialized=tbl.is_materialized,
        has_people=entity is not None,
    )
    body = f"""
        WITH {_cells(tbl, asked, entity, nulls)}
        {_count_kinds(measure, asked[-1], c, keys)}"""
    return tbl.check_columns(LABEL, asked, with_null_report(tbl, asked, nulls, body))


def _with_sensitive(qi: Columns, sensitive: str) -> list[str]:
    """The quasi-identifiers and the sensitive column, which must be none of them."""
    return list_columns(LABEL, [*qi, sensitive], fold_case)


def _cells(tbl: Source, asked: Columns, entity: str | None, nulls: str) -> str:
    """Name the cells reid_cells, and where people are counted reid_people, a row for each in each class."""
    keys, value = numbered(asked[:-1]), f"q{len(asked)} AS s"
    if entity is None:
        rows = tbl.rows(asked, drop_nulls=nulls == "drop")
        cells = f"SELECT {keys}, {value}, count(*) AS n FROM {rows} GROUP BY {numbered(asked)}"
        return f"reid_cells AS MATERIALIZED ({cells})"
    where = f"WHERE {none_null(asked)}" if nulls == "drop" else ""
    return f"""reid_people AS MATERIALIZED (
          SELECT {keys}, {value}, q{len(asked) + 1} AS entity FROM {tbl.rows([*asked, entity])} {where}
        ),
        reid_cells AS MATERIALIZED (SELECT {keys}, s, count(*) AS n FROM reid_people GROUP BY {keys}, s)"""


def _count_kinds(measure: str, sensitive: str, c: float, keys: Keys) -> str:
    """Count classes, and records or people, of each size and value of the measure.

    A person counts by the size of the smallest, and the value of the worst, of their classes: an attacker
    knows one row of theirs, and a threshold of either is then offended where one of the classes offends it.
    """
    measured = f"({_measure(measure, sensitive, c, keys)})"
    counted, records = measured, "class_size * classes"
    if keys.has_people:
        worst, records = "min" if measure.startswith("l ") else "max", "people"
        counted = f"""(
          WITH reid_measured AS MATERIALIZED (FROM {measured})
          SELECT {keys.group}class_size, value, classes, 0 AS people FROM reid_measured
          UNION ALL
          SELECT {keys.group}min(class_size), {worst}(value), 0, 1
          FROM (SELECT h.*, c.entity FROM reid_people AS c JOIN reid_measured AS h ON {keys.of_class})
          GROUP BY {keys.group}entity
        )"""
    return f"""
        SELECT {keys.group}class_size, value, sum(classes)::BIGINT AS classes,
          sum({records})::BIGINT AS records
        FROM {counted}
        GROUP BY {keys.group}class_size, value"""


def _measure(measure: str, sensitive: str, c: float, keys: Keys) -> str:
    if measure in {"l distinct", "l entropy", "alpha"}:
        return _measure_cells(measure, keys)
    if measure == "l recursive":
        return recursion(c, keys)
    if measure == "t equal":
        return distance(keys)
    if measure in {"t ordered", "t numeric"}:
        return distance_along(measure, sensitive, keys)
    return gain(measure, keys)


def _measure_cells(measure: str, keys: Keys) -> str:
    """Measure from the records of each value in a class alone.

    Entropy l-diversity is exp(H), H = ln N - (sum n ln n) / N; of equal counts it is their number, exactly.
    """
    value = {
        "l distinct": "count(*)::DOUBLE",
        "l entropy": """CASE WHEN max(n) * count(*) = sum(n) THEN count(*)::DOUBLE
            ELSE exp(ln(sum(n)) - sum(n * ln(n)) / sum(n)) END""",
        "alpha": "max(n)::DOUBLE / sum(n)",
    }[measure]
    return f"""
        SELECT {keys.shown}sum(n)::BIGINT AS class_size, 1 AS classes, {value} AS value
        FROM reid_cells GROUP BY {keys.listed}"""


def _values_by_group(
    tbl: Source, asked: Columns, measure: str, c: float, entity: str | None, by: Columns, nulls: str
) -> str:
    """The same of each group, which is a table of its own.

    Refuses to divide by the sensitive column: each group would have one value, and all would pass.
    """
    refuse_groups(nulls)
    if fold_case(asked[-1]) in map(fold_case, by):
        raise OutOfDomainError(REFUSAL_BY_SENSITIVE.format(asked[-1]))
    groups = group_aliases(asked, by)
    keys = Keys(
        [*groups, *aliases(len(asked) - 1)],
        groups,
        is_listed=entity is not None,
        is_materialized=tbl.is_materialized,
        has_people=entity is not None,
    )
    cells_of_people = f"""reid_people AS (
          SELECT * EXCLUDE (q{len(asked)}, records, complete), q{len(asked)} AS s
          FROM reid_divided WHERE complete
        ),
        reid_cells AS MATERIALIZED (
          SELECT {keys.listed}, s, count(*) AS n FROM reid_people GROUP BY {keys.listed}, s
        )"""
    cells = f"""reid_cells AS MATERIALIZED (
          SELECT * EXCLUDE (q{len(asked)}, records, entity, complete), q{len(asked)} AS s, records AS n
          FROM reid_divided WHERE complete
        )"""
    sized = f"""{cells if entity is None else cells_of_people},
        reid_sized AS ({_count_kinds(measure, asked[-1], c, keys)})"""
    counts = """class_size, value, coalesce(classes, 0)::BIGINT AS classes,
          coalesce(records, 0)::BIGINT AS records"""
    return count_by_group(tbl, "quasi-identifiers, sensitive", asked, by, entity, nulls, counts, sized)


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
    asked = _with_sensitive(qi, sensitive)
    keys = Keys(
        aliases(len(qi)),
        [],
        is_listed=True,
        is_materialized=tbl.is_materialized,
        has_people=entity is not None,
    )
    body = f"""
        WITH {_cells(tbl, asked, entity, nulls)}
        SELECT {with_names(qi)}, class_size, value
        FROM ({_measure(f"{SHORT[measure]} {variant}".strip(), asked[-1], c, keys)})
        WHERE value IS NULL OR {_offends(criterion)}"""
    return tbl.check_columns(LABEL, asked, with_null_report(tbl, asked, nulls, body))


# How many sensitive values a class has; how far they are from those of the table; the share of the most
# frequent one; how much more frequent, and how much more or less, a value is in the class than in the table.
l_diversity, t_closeness = partial(_values, "l"), partial(_values, "t")
alpha_k_anonymity, beta_likeness = partial(_values, "alpha"), partial(_values, "beta")
delta_disclosure = partial(_values, "delta")
