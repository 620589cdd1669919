"""Rows of published tables through Ibis, which come to the client."""

from collections.abc import Sequence
from typing import Final

import pyarrow as pa
from ibis.expr.types import Table

from reid_sql.engines.ibis.frames import aliases, check_columns, count_by, with_aliases
from reid_sql.engines.ibis.transfer import fetch_values
from reid_sql.reductions.published import FETCHED, TABLE_COLUMNS, encode_rows

COPIES: Final = "copies"  # of a row; two of one cell are refused


def published_rows(tables: Sequence[Table]) -> pa.Table:
    """List the rows of all tables, each as a JSON object."""
    texts = [_encode(table) for table in tables]
    numbers = [number for number, each in enumerate(texts, 1) for _ in each]
    count = len(numbers)
    return pa.table(
        {
            "place": pa.array(range(count), pa.int64()),
            "tbl": pa.array(numbers, pa.int64()),
            "text": pa.array([text for each in texts for text in each], pa.string()),
            "records_dropped": pa.repeat(pa.scalar(0, pa.int64()), count),
            "nulls": pa.repeat("value", count),
        }
    )


def _encode(table: Table) -> list[str]:
    """Fetch the rows by the numbers of their values, so that no driver makes one category of two."""
    columns = check_columns(TABLE_COLUMNS, list(table.columns), table)
    names = aliases(columns)
    counted = count_by(with_aliases(table, columns), names, COPIES)
    fetched = fetch_values(counted, dict(zip(names, columns, strict=True)), FETCHED)
    rows = pa.table({name: fetched.column(place) for place, name in enumerate(columns)}).to_pylist()
    copies = fetched.others[COPIES].to_pylist()
    return [text for text, count in zip(encode_rows(rows), copies, strict=True) for _ in range(count)]
