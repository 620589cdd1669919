"""Perturb a table where asked, and attack the result: nothing here is safe by construction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

import duckdb
import numpy as np
import polars as pl

from reid_sql.engines.duckdb import connection_of, register
from reid_sql.errors import OutOfDomainError, UnknownNameError, WrongTypeError, suggestion
from reid_sql.models.release import perturbation
from reid_sql.models.release.perturbation import draw_anew, swap_ranks
from reid_sql.parameters import PROBABILITY, Number, quoted
from reid_sql.release.problem import RESERVED_PREFIX
from reid_sql_udfs import declared

ROW: Final = "reid_row"
NUMBERS: Final = count(1)
GROUP_SIZE: Final = Number(
    "a whole number from 2 to 1000",
    "pass how many records share a mean, such as 3",
    2.0,
    1000.0,
    whole=True,
)
SEED: Final = Number(
    "a whole number from 0 to 2**63", "pass a seed, such as 1", 0.0, 2.0**63, whole=True
)
TARGETS: Final = 10_000
NUMBER_TYPES: Final = (
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
    *("DECIMAL", "FLOAT", "DOUBLE"),
)


@dataclass(frozen=True)
class Perturbed:
    """A perturbed table and its original, in a connection; both have the row's number as a key."""

    con: duckdb.DuckDBPyConnection
    original: str
    released: str
    columns: tuple[str, ...]  # that were perturbed

    @property
    def relation(self) -> duckdb.DuckDBPyRelation:
        """The perturbed table, with its rows and columns in the original order."""
        return self.con.sql(f"SELECT * EXCLUDE ({ROW}) FROM {self.released} ORDER BY {ROW}")

    def attacks(
        self, columns: Sequence[str] | None = None, *, targets: int = TARGETS
    ) -> list[dict[str, Any]]:
        """Attack the result as `compare` does, by these columns, or by those that were perturbed.

        The attacker knows the original values of everybody. A row for each figure, before and after.
        """
        place = register(self.con, declared())
        given = [self.original, self.released, list(columns or self.columns)]
        sql = f"FROM {place}.compare(?, ?, ?, key := '{ROW}', targets := {int(targets)})"
        answer = self.con.execute(sql, given)
        names = [column[0] for column in answer.description or []]
        return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]


def perturb(
    con: duckdb.DuckDBPyConnection,
    table: Any,  # noqa: ANN401 - a name, or any frame that DuckDB reads
    *,
    microaggregate: Sequence[str] = (),
    group_size: int = 3,
    pram: Mapping[str, float] | None = None,
    rank_swap: Mapping[str, float] | None = None,
    seed: int = 0,
) -> Perturbed:
    """Perturb columns of a table: means of groups, values drawn anew, values that change places.

    `microaggregate` names columns of numbers that are grouped together by MDAV, `group_size` records or more
    in a group. `pram` gives the probability with which a value of a column is retained. `rank_swap` gives the
    share of all ranks within which values of a column change places; NULL remains where it is. A seed gives
    the same result again, if the rows come in the same order. Whoever knows the seed can undo some of it.
    Nothing of it is safe by construction: `attacks()` of the result measures it.
    """
    size = int(GROUP_SIZE.check("group_size", group_size))
    rng = np.random.default_rng(int(SEED.check("seed", seed)))
    drawn = {name: PROBABILITY.check(f"pram.{name}", each) for name, each in (pram or {}).items()}
    moved = {
        name: PROBABILITY.check(f"rank_swap.{name}", each)
        for name, each in (rank_swap or {}).items()
    }
    columns = (*microaggregate, *drawn, *moved)
    original = _copy(connection_of(con), table)
    _refuse_columns(con, original, columns, microaggregate)
    records = int(con.execute(f"SELECT count(*) FROM {original}").fetchall()[0][0])
    changes = {ROW: pl.Series(range(records), dtype=pl.Int64)}
    changes |= _average(con, original, list(microaggregate), size) if microaggregate else {}
    rows = np.arange(records)
    changes |= {name: pl.Series(draw_anew(rows, float(each), rng)) for name, each in drawn.items()}
    changes |= {name: _swap(con, original, name, float(each), rng) for name, each in moved.items()}
    released = _write(con, original, changes, [*drawn, *moved])
    return Perturbed(con, original, released, columns)


def _copy(con: duckdb.DuckDBPyConnection, table: Any) -> str:  # noqa: ANN401 - a name or a frame
    """Number the rows of the table in the order in which they come."""
    name, source = f"reid_original_{next(NUMBERS)}", table
    if not isinstance(table, str):
        source = f"{name}_frame"
        con.register(source, table)
    try:
        numbered = f"SELECT row_number() OVER () - 1 AS {ROW}, * FROM {quoted(source)}"
        con.execute(f"CREATE TEMP TABLE {name} AS {numbered}")
    except duckdb.CatalogException:
        rule = f"table must be a table of the connection or a frame, got '{table}'"
        raise UnknownNameError(f"{rule}; pass its name, or the frame itself") from None
    finally:
        if source is not table:
            con.unregister(source)
    return name


def _refuse_columns(
    con: duckdb.DuckDBPyConnection, original: str, columns: Sequence[str], numbers: Sequence[str]
) -> None:
    """Refuse columns that the table lacks, that are named twice, or that cannot be averaged."""
    described = con.execute(f"DESCRIBE {original}").fetchall()[1:]
    kinds = {row[0]: str(row[1]) for row in described}
    if own := [name for name in kinds if name.lower().startswith(RESERVED_PREFIX)]:
        rule = f"a table to perturb must have no column whose name begins with {RESERVED_PREFIX}"
        raise OutOfDomainError(f"{rule}, got '{own[0]}'; rename it in a view")
    if not columns:
        rule = "perturb must have a column to perturb, got none"
        raise OutOfDomainError(f"{rule}; pass microaggregate, pram or rank_swap")
    for name in columns:
        if name not in kinds:
            rule = f"perturb must name columns of the table, got '{name}'"
            raise UnknownNameError(f"{rule}; {suggestion(name, list(kinds))}")
        if columns.count(name) > 1:
            rule = f"perturb must name each column once, got '{name}' twice"
            raise OutOfDomainError(f"{rule}; perturb the result again")
    for name in numbers:
        if kinds[name].partition("(")[0] not in NUMBER_TYPES:
            rule = (
                f"microaggregate must name columns of numbers, got '{name}' of type {kinds[name]}"
            )
            raise WrongTypeError(f"{rule}; use pram or rank_swap for it")


def _average(
    con: duckdb.DuckDBPyConnection, original: str, names: list[str], size: int
) -> dict[str, pl.Series]:
    """Replace the numbers by the means of their groups; NULL and missing are one."""
    listed = ", ".join(f"CAST({quoted(name)} AS DOUBLE) AS {quoted(name)}" for name in names)
    frame = con.sql(f"SELECT {listed} FROM {original} ORDER BY {ROW}").pl()
    values = frame.to_numpy().astype(np.float64)
    if np.isinf(values).any():
        rule = "microaggregate must have finite numbers, got an infinite one"
        raise OutOfDomainError(f"{rule}; replace it by NULL")
    means = perturbation.microaggregate(values, size)
    return {name: pl.Series(means[:, at]).fill_nan(None) for at, name in enumerate(names)}


def _swap(
    con: duckdb.DuckDBPyConnection, original: str, name: str, share: float, rng: np.random.Generator
) -> pl.Series:
    """Give the row whose value each row receives; values are ordered as the engine orders them."""
    ranked = f"SELECT {ROW} FROM {original} WHERE {quoted(name)} IS NOT NULL ORDER BY {quoted(name)}, {ROW}"
    rows = np.array([row[0] for row in con.execute(ranked).fetchall()], dtype=np.int64)
    records = con.execute(f"SELECT count(*) FROM {original}").fetchall()[0][0]
    source = np.arange(records)
    if len(rows):
        source[rows] = rows[swap_ranks(np.arange(len(rows)), share, rng)]
    return pl.Series(source)


def _write(
    con: duckdb.DuckDBPyConnection,
    original: str,
    changes: Mapping[str, pl.Series],
    sources: Sequence[str],
) -> str:
    """Write the released table: means as they are given, other values from the rows that are named."""
    name = original.replace("original", "perturbed")
    frame = f"{name}_frame"
    con.register(frame, pl.DataFrame(dict(changes)))
    columns = [row[0] for row in con.execute(f"DESCRIBE {original}").fetchall()]
    aliases = {column: f"reid_source_{at}" for at, column in enumerate(sources)}
    listed = ", ".join(
        f"{aliases.get(column, 'reid_new' if column in changes else 'reid_old')}.{quoted(column)}"
        for column in columns
    )
    joins = " ".join(
        f"JOIN {original} AS {alias} ON {alias}.{ROW} = reid_new.{quoted(column)}"
        for column, alias in aliases.items()
    )
    joined = f"{original} AS reid_old JOIN {frame} AS reid_new ON reid_old.{ROW} = reid_new.{ROW} {joins}"
    try:
        con.execute(
            f"CREATE TEMP TABLE {name} AS SELECT {listed} FROM {joined} ORDER BY reid_old.{ROW}"
        )
    finally:
        con.unregister(frame)
    return name
