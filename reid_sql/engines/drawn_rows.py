"""Rows drawn from a table, as numbers of their values, to find columns that identify people."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from reid_sql.engines.arrow_rows import numbers_in
from reid_sql.models.columns.column_profile import CODE_NAME, MAX_CATEGORIES
from reid_sql.models.columns.dates import DATE_PATTERN
from reid_sql.models.columns.direct_identifiers import IDENTIFIER_NAME
from reid_sql.models.columns.identifiers import (
    MAX_IDENTIFIERS,
    MAX_ROWS_OF_PERSON,
    find_people_columns,
)
from reid_sql.models.columns.missing_value_codes import MIN_SHARE_OF_FORM
from reid_sql.parameters import ColumnNames, Integers

ROWS_DRAWN: Final = 10_000
VALUES_DRAWN: Final = 200  # of each column that may identify people
MAX_ROWS_DRAWN: Final = 50_000
MIN_COLUMNS: Final = 3  # the column of people, and two that are constant within its values
Values = Mapping[str, Sequence[int | str]]  # of columns; a row with any of them is drawn


def find_panels_in(
    columns: ColumnNames,
    draw: Callable[[Values, int], pa.Table],
    named: ColumnNames = (),
) -> list[str]:
    """Return columns of people by the structure of rows: `draw` returns so many, or those with some values.

    A quasi-identifier is one, too: with it, a class has a person's rows. `named` are known to be none.
    All rows of a value may be anywhere in the table; so those of a few values of each candidate are drawn.
    """
    if len(columns) < MIN_COLUMNS:
        return []
    drawn = draw({}, ROWS_DRAWN)
    candidates = find_candidates(drawn, named)
    if candidates and drawn.num_rows == ROWS_DRAWN:
        values = {
            name: drawn[name].unique().drop_null()[:VALUES_DRAWN].to_pylist() for name in candidates
        }
        drawn = draw(values, MAX_ROWS_DRAWN)
    return find_people_columns(encode_columns(drawn), candidates) if candidates else []


def find_candidates(drawn: pa.Table, named: ColumnNames = ()) -> list[str]:
    """Return the columns of whole numbers, or of texts with digits, whose names do not say whose they are."""
    in_roles = {name.lower() for name in named}
    return [
        name
        for name, column in zip(drawn.column_names, drawn.columns, strict=True)
        if name.lower() not in in_roles
        and not CODE_NAME.search(name)
        and not IDENTIFIER_NAME.search(name)  # which is found by its name
        and _may_identify(column)
    ][:MAX_IDENTIFIERS]


def _may_identify(column: pa.ChunkedArray) -> bool:
    is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    if not is_text and not pa.types.is_integer(column.type):
        return False
    values = column.unique().drop_null()
    if len(values) <= MAX_CATEGORIES or len(column) > MAX_ROWS_OF_PERSON * len(values):
        return False
    if not is_text:
        return True
    import pyarrow.compute as pc  # noqa: PLC0415 - it takes long to import, and no other function needs it

    coded = pc.sum(pc.match_substring_regex(values, "[0-9]")).as_py() or 0
    dates = pc.sum(pc.match_substring_regex(values, f"^({DATE_PATTERN})$")).as_py() or 0
    return coded >= MIN_SHARE_OF_FORM * len(values) and dates < MIN_SHARE_OF_FORM * len(values)


def encode_columns(drawn: pa.Table) -> dict[str, Integers]:
    """Number the values of each column that can be compared, -1 for NULL."""
    codes: dict[str, Integers] = {}
    for name, column in zip(drawn.column_names, drawn.columns, strict=True):
        if pa.types.is_nested(column.type) or isinstance(column.type, pa.BaseExtensionType):
            continue
        values = column.combine_chunks()
        if pa.types.is_dictionary(column.type):
            values = values.dictionary_decode()
        # fill_null and to_numpy of Arrow import pandas
        numbers = numbers_in(values.dictionary_encode().indices)
        codes[name] = np.nan_to_num(numbers, nan=-1).astype(np.int64)
    return codes
