"""How DuckDB hands distinct records over, as codes, for the classes of many subsets of their columns."""

from decimal import Decimal
from typing import Final

import numpy as np
import pyarrow as pa

from reid_sql.errors import ReidError
from reid_sql.models.classes.partitions import DistinctRecords
from reid_sql.models.classes.subset_counts import CountedSubsets, count_subset_classes

COUNTED: Final = "reid_subset_counts"
COUNTS: Final = (
    "STRUCT(places BIGINT[], records BIGINT, classes BIGINT, reidentifications DOUBLE, "
    "pairs DECIMAL(38,0), dropped BIGINT, unique_records BIGINT)[]"
)
NOTHING: Final = np.zeros(0, dtype=np.int32)
WIDE: Final = pa.decimal128(38, 0)
SUBSET: Final = pa.struct(
    [
        ("places", pa.list_(pa.int64())),
        ("records", pa.int64()),
        ("classes", pa.int64()),
        ("reidentifications", pa.float64()),
        ("pairs", WIDE),
        ("dropped", pa.int64()),
        ("unique_records", pa.int64()),
    ]
)


def counts_of_subsets(codes: pa.Array, records: pa.Array, people: pa.Array, *given: pa.Array) -> pa.Array:
    """Count the subsets of a table of distinct records: the counts, one struct a subset, or the refusal.

    Given are max_size, nulls and memory_mb.
    """
    columns = [column.values.to_numpy() if column.is_valid else NOTHING for column in codes[0].values]
    packed = records[0].values.to_numpy() if records[0].is_valid else NOTHING
    whose = people[0].values.to_numpy() if people[0].is_valid else None
    kind = pa.struct([("refusal", pa.string()), ("answers", pa.list_(SUBSET))])
    try:
        counted = count_subset_classes(
            DistinctRecords(columns, packed, whose), *(each[0].as_py() for each in given)
        )
    except ReidError as error:  # the engine would wrap the sentence in its own
        return pa.array([{"refusal": str(error)}], kind)
    rows = pa.StructArray.from_arrays(_cells(counted), fields=list(SUBSET))
    listed = pa.ListArray.from_arrays(pa.array([0, len(rows)], pa.int32()), rows)
    return pa.StructArray.from_arrays([pa.nulls(1, pa.string()), listed], fields=list(kind))


def _cells(counted: CountedSubsets) -> list[pa.Array]:
    """The counts as columns; SQL numbers places from 1."""
    places, ends = counted.places()
    starts = pa.array(np.concatenate(([0], ends)), pa.int32())
    pairs = counted.pairs if counted.pairs.dtype == np.int64 else [Decimal(one) for one in counted.pairs]
    return [
        pa.ListArray.from_arrays(starts, pa.array(places + 1, pa.int64())),
        pa.array(counted.records, pa.int64()),
        pa.array(counted.classes, pa.int64()),
        pa.array(counted.reidentifications, pa.float64()),
        pa.array(pairs, pa.int64() if counted.pairs.dtype == np.int64 else WIDE).cast(WIDE),
        pa.array(counted.dropped, pa.int64()),
        pa.array(counted.unique, pa.int64()),
    ]
