"""Ibis: matching in which NULL may be any value.

The warehouse counts the distinct records, the client matches these.
"""

from collections.abc import Sequence

import polars as pl
import pyarrow as pa
from ibis.expr.types import Table

from reid_sql.engines.codes import value_codes
from reid_sql.engines.ibis.frames import collected
from reid_sql.models.classes.wildcard import wildcard_class_sizes
from reid_sql.parameters import Integers


def distinct(counted: Table) -> pa.Table:
    """Bring the distinct records with their counts to the client."""
    return collected(counted, "the distinct records under nulls='wildcard'")


def coded(*tables: pa.Table, names: Sequence[str]) -> Integers:
    """A code for each value of the columns, 0 for NULL, the same in all of the tables; one row a record."""
    frames = [pl.DataFrame(pl.from_arrow(each.select(list(names)))) for each in tables]
    return value_codes(pl.concat(frames), names)


def class_sizes(own: pa.Table, other: pa.Table, names: Sequence[str]) -> Integers:
    """How many of the other's records each distinct record matches, in its order."""
    codes = coded(own, other, names=names)
    return wildcard_class_sizes(codes[: own.num_rows], codes[own.num_rows :], other["records"].to_numpy())
