"""A table's hierarchies, with the codes of its values at each level: what the search needs to know of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np

from reid_sql.check.distinct_table import DistinctTable
from reid_sql.check.duckdb_table import DuckDBRelease
from reid_sql.errors import OutOfDomainError
from reid_sql.hierarchies.hierarchy import Hierarchy
from reid_sql.hierarchies.proposed import Facts, merging, proposed
from reid_sql.hierarchies.written import Written
from reid_sql.models.columns.column_profile import NUMERIC_TYPES
from reid_sql.models.release.lattice import Folded, Lattice, LevelCodes
from reid_sql.parameters import MAX_COLUMNS, Integers
from reid_sql.runner import run

FREQUENT: Final = 1000  # values of a column that a step may name
NEAR: Final = (0.01, 0.99)


@dataclass(frozen=True)
class Generalization:
    """The hierarchies of a table's columns, its lattice, and one with further, unchanged columns."""

    hierarchies: tuple[Hierarchy, ...]
    lattice: Lattice
    others: tuple[str, ...] = ()
    beside: Lattice | None = None


def generalize(
    release: DuckDBRelease, columns: Sequence[str], given: Mapping[str, Written], others: Sequence[str] = ()
) -> Generalization:
    """Give each column the hierarchy that the policy writes, or one that suits it, and code its values."""
    told = facts(release, columns)
    wished = [given[each.column].of(each) if each.column in given else proposed(each) for each in told]
    coded = [_rungs(release, each, written=each.column in given) for each in wished]
    level_codes = [each for _, each in coded]
    lattice = Lattice(level_codes, _distinct_codes(release, release.engine.distinct, columns))
    hierarchies = tuple(each for each, _ in coded)
    return Generalization(
        hierarchies,
        lattice,
        tuple(others),
        _beside(release, columns, level_codes, others) if others else None,
    )


def _beside(
    release: DuckDBRelease, columns: Sequence[str], level_codes: Sequence[LevelCodes], others: Sequence[str]
) -> Lattice:
    """Return the lattice with other columns after the generalized ones; the values have the same codes."""
    distinct = DistinctTable(release.engine.ask, release.engine.whole, [*columns, *others])
    try:
        own = [_single_level(release, distinct, other) for other in others]
        return Lattice([*level_codes, *own], _distinct_codes(release, distinct, [*columns, *others]))
    finally:
        distinct.drop()


def _single_level(release: DuckDBRelease, distinct: DistinctTable, column: str) -> LevelCodes:
    """Return a column's only level; code 0 stands for NULL."""
    counts = release.engine.ask(f"SELECT records FROM {distinct.values(column)} ORDER BY code")
    records = np.array([0, *(row[0] for row in counts)], dtype=np.int64)
    records[0] = release.records - int(records.sum())
    return LevelCodes((np.arange(len(records)),), records)


def _distinct_codes(release: DuckDBRelease, distinct: DistinctTable, columns: Sequence[str]) -> Folded:
    """Return the distinct records as codes of their values, with how many records are equal."""
    name = f"{release.engine.view}_codes"
    release.engine.ask(f"CREATE OR REPLACE TEMP TABLE {name} AS {distinct.select_codes(columns)}")
    rows = release.engine.con.execute(f"FROM {name}").fetchnumpy()
    release.engine.ask(f"DROP TABLE {name}")
    codes = np.array([np.asarray(rows[f"q{at}"], dtype=np.int64) for at in range(len(columns))])
    return Folded(codes, np.asarray(rows["records"], dtype=np.int64))


def _rungs(release: DuckDBRelease, wished: Hierarchy, *, written: bool) -> tuple[Hierarchy, LevelCodes]:
    """Code the values at each level that merges some, the table's own by their places, 0 for NULL."""
    values = release.engine.distinct.values(wished.column)
    everything = f"SELECT code, v, records FROM {values} UNION ALL SELECT 0, NULL, 0"
    steps = [step.sql("v") for step in wished.steps]
    ranked = ", ".join(f"dense_rank() OVER (ORDER BY {each} NULLS FIRST) - 1" for each in steps)
    rows = release.engine.ask(f"SELECT records, {ranked} FROM ({everything}) ORDER BY code", "hierarchies")
    records, *coarser = np.array(rows, dtype=np.int64).T
    codes = [np.arange(len(records)), *coarser]
    records[0] = release.records - int(records.sum())
    present = [len(np.unique(level[records > 0])) for level in codes]
    kept = merging(wished.steps, present)
    if written:
        _refuse_parted(wished, codes)
    levels = [codes[0], *(codes[at + 1] for at, step in enumerate(wished.steps) if step in kept)]
    return Hierarchy(wished.column, tuple(kept)), LevelCodes(tuple(levels), records)


def _refuse_parted(wished: Hierarchy, codes: Sequence[Integers]) -> None:
    """Refuse a step that parts what the one before has merged."""
    for level, (before, after) in enumerate(pairwise(codes)):
        if len(np.unique(np.array([before, after]), axis=1).T) > len(np.unique(before)):
            rule = f"prepare.hierarchies.{wished.column}[{level + 1}] must merge values of the step before it"
            got = f"'{wished.steps[level].words}' after '{wished.steps[level - 1].words if level else ''}'"
            raise OutOfDomainError(
                f"{rule}, got {got}, which parts some; write widths that are multiples of those before, and "
                "groups of the values themselves"
            )


def facts(release: DuckDBRelease, columns: Sequence[str]) -> list[Facts]:
    """Profile the columns, as far as hierarchies hang on it."""
    rows: list[dict[str, Any]] = []
    for start in range(0, len(columns), MAX_COLUMNS):
        asked = [release.engine.view, list(columns[start : start + MAX_COLUMNS])]
        rows += run(
            release.engine.con, "FROM profile(?, ?)", asked, f"{release.table.name}: columns"
        ).records()
    return [_facts(release, column, row) for column, row in zip(columns, rows, strict=True)]


def _facts(release: DuckDBRelease, column: str, row: Mapping[str, Any]) -> Facts:
    values = release.engine.distinct.values(column)
    marks = ", ".join(f"'{each.replace(chr(39), chr(39) * 2)}'" for each in row["sentinels"]) or "''"
    told = f"SELECT v::VARCHAR AS t, try_cast(v::VARCHAR AS DOUBLE) AS x, records FROM {values}"
    ranked = f"""SELECT x, sum(records) OVER (ORDER BY x) / sum(records) OVER () AS share
        FROM ({told}) WHERE isfinite(x) AND t NOT IN ({marks})"""
    low, high, near_low, near_high, whole = release.engine.ask(f"""SELECT min(x), max(x),
        min(x) FILTER (share >= {NEAR[0]}), min(x) FILTER (share >= {NEAR[1]}), bool_and(x = floor(x))
        FROM ({ranked})""")[0]
    lengths = release.engine.ask(
        f"SELECT coalesce(min(length(t)), 0), coalesce(max(length(t)), 0) FROM ({told})"
    )
    frequent = release.engine.ask(
        f"SELECT t, records FROM ({told}) ORDER BY records DESC, t LIMIT {FREQUENT}"
    )
    return Facts(
        column=column,
        looks_like=row["looks_like"],
        records=release.records,
        numbers=row["column_type"] in NUMERIC_TYPES or low is not None,
        whole=bool(whole) if whole is not None else True,
        low=low or 0.0,
        high=high or 0.0,
        near_low=near_low or 0.0,
        near_high=near_high or 0.0,
        shortest=lengths[0][0],
        longest=lengths[0][1],
        frequent=tuple((text, int(records)) for text, records in frequent),
    )
