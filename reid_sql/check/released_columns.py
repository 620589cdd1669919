"""The columns that a release has, and those that no check measures: each is named, with what it would do.

A policy's checks are about the columns that they name. The file has others, which are released with them
unless the policy leaves them out. Each is counted by itself, and all together, through the functions that
every engine has; no value leaves it.
"""

from typing import Final

from reid_sql.check.exact_figures import ColumnAlone, ReleasedColumns
from reid_sql.check.policy_model import TablePolicy, columns_checked, columns_released
from reid_sql.check.remarks import Remark, remark
from reid_sql.check.table_engine import TableEngine
from reid_sql.parameters import MAX_COLUMNS, fold_case
from reid_sql.parameters.document import toml_texts

# A column singles people out if at least this share of them are the only one with their value. Of a column
# of few values, such as ages, a rare one or two may be single, too. In nine public tables these are at most
# 0.4 % of the people of a category, a count or an age; of weights, amounts and identifiers, 1 to 100 %.
MIN_SHARE_SINGLED_OUT: Final = 0.01
MIN_SINGLED_OUT: Final = 3
CAUTION_UNNAMED: Final = (
    "no list of the policy names {}, which single{} people out by {}: name {} in quasi_identifiers, "
    "sensitive, or left_out"
)
MAX_NAMED: Final = 10  # columns in a caution; the report names all


def caution_on(columns: ReleasedColumns | None) -> Remark | None:
    """Return the caution on columns that single people out and that nobody named; it has no count."""
    names = columns.unlisted if columns else ()
    if columns is None or not names:
        return None
    listed = ", ".join(names[:MAX_NAMED])
    if len(names) > MAX_NAMED:
        listed = f"{listed} and {len(names) - MAX_NAMED} more columns"
    words = ("s", "itself", "it") if len(names) == 1 else ("", "themselves", "them")
    remedy = "" if columns.has_list else f"left_out = {toml_texts([*columns.left_out, *names])}"
    return remark(CAUTION_UNNAMED.format(listed, *words), code="unnamed_columns", remedy=remedy)


def measure_released_columns(
    engine: TableEngine,
    table: TablePolicy,
    records: int,
    errors: tuple[type[Exception], ...],
) -> ReleasedColumns:
    """Count the people whom each column in no check singles out by itself, and all columns together."""
    gone = set(map(fold_case, engine.omitted))
    released = [c for c in columns_released(table, engine.columns) if fold_case(c) not in gone]
    entity = "" if table.entity is None else fold_case(table.entity)
    described = [name for name in released if fold_case(name) != entity]
    checked = {fold_case(name) for name in columns_checked(table)}
    listed = {fold_case(name) for name in (*table.quasi_identifiers, *table.sensitive, *table.kept)}
    unchecked = [name for name in described if fold_case(name) not in checked]
    together = tuple(described[:MAX_COLUMNS])
    sets = [*((name,) for name in unchecked), *([together] if together else [])]
    unique = engine.count_unique(sets, errors)
    alone = [ColumnAlone(name, count) for name, count in zip(unchecked, unique, strict=False)]
    alone.sort(key=lambda each: -records - 1 if each.unique is None else -each.unique)
    least = max(MIN_SINGLED_OUT, MIN_SHARE_SINGLED_OUT * records)
    kept = {fold_case(name) for name in released}
    return ReleasedColumns(
        unmeasured=tuple(alone),
        unlisted=tuple(
            each.column
            for each in alone
            # One that could not be counted may single people out.
            if fold_case(each.column) not in listed
            and (each.unique is None or each.unique >= least)
        ),
        left_out=tuple(
            dict.fromkeys(
                name for name in (*engine.columns, *engine.omitted) if fold_case(name) not in kept
            )
        ),
        counted=together,
        more=len(described) - len(together),
        unique=unique[-1] if together else None,
        entity=table.entity if entity in kept else None,
        is_prepared=engine.is_prepared,
        has_list=table.released is not None,
    )
