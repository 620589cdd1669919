"""Polars: the key that records are grouped by over a window, whatever number and type of columns."""

import secrets
from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any, Final

import polars as pl

from reid_sql.engines.polars.frames import named
from reid_sql.errors import OutOfDomainError, WrongTypeError
from reid_sql.parameters import MAX_COLUMNS, QUASI_IDENTIFIERS
from reid_sql.reduction import refuse_entity

AS_THEY_ARE: Final = 4  # columns that are compared as they are; of more a key is made
# Seeds of this process for each place of a column, twice: no table can be made against hashes that nobody
# knows beforehand.
SECRETS: Final = [[secrets.randbits(64) for _ in range(MAX_COLUMNS)] for _ in range(2)]


def class_size(columns: Sequence[Any], entity: str | pl.Expr | None = None) -> pl.Expr:
    """Records, or people where a column tells them apart, that share this record's values.

    Up to four columns are compared as they are, more by two secretly keyed 64-bit sums. Each column has a
    keyed hash of its own, so two records that differ meet in both sums with a chance of 2^-128, whatever the
    data: among a billion records, 2^-69.
    """
    key = _expressions(columns)
    if len(key) > AS_THEY_ARE:
        high, low = (reduce(add, map(pl.Expr.hash, key, seeds)).cast(pl.UInt128) for seeds in SECRETS)
        key = [high * pl.lit(2**64, dtype=pl.UInt128) + low]
    counted = pl.len() if entity is None else _people(entity, columns).n_unique()
    return counted.over(key).cast(pl.Int64)


def _people(entity: str | pl.Expr, columns: Sequence[Any]) -> pl.Expr:
    """The column that tells people apart; refuses one of those by which classes are told."""
    name, own = _name(entity), [name for column in columns if (name := _name(column))]
    refuse_entity(own, name, "value")
    return _expressions([entity])[0]


def _name(column: Any) -> str | None:  # noqa: ANN401 - a name, an expression, or what is refused later
    """The name of the column that is meant; none where it is worked out of columns."""
    if isinstance(column, pl.Expr):
        return column.meta.output_name() if column.meta.is_column() else None
    return column if isinstance(column, str) else None


def _expressions(columns: Sequence[Any]) -> list[pl.Expr]:
    """The columns as expressions, each of one column; refuses what is none, and what no column stands in."""
    if not 1 <= len(columns) <= MAX_COLUMNS:
        QUASI_IDENTIFIERS.check([str(column) for column in columns], [])
    for column in columns:
        if not isinstance(column, str | pl.Expr):
            rule = (
                f"quasi-identifiers must each be a column name or an expression, got {type(column).__name__}"
            )
            raise WrongTypeError(f"{rule}; write equivalence_class_size('age', 'sex')")
    if all(isinstance(column, pl.Expr) and _constant(column) for column in columns):
        rule = f"quasi-identifiers must be columns, got {columns[0]}, in which no column stands"
        raise OutOfDomainError(f"{rule}; name the columns, such as equivalence_class_size('age', 'sex')")
    return [named(column) if isinstance(column, str) else _one(column) for column in columns]


def _constant(column: pl.Expr) -> bool:
    """Whether no column stands in the expression, be it a name or a selector of several."""
    return not column.meta.root_names() and not column.meta.has_multiple_outputs()


def _one(column: pl.Expr) -> pl.Expr:
    """A selector's columns as one value: it would stand for a window each."""
    return pl.struct(column) if column.meta.has_multiple_outputs() else column
