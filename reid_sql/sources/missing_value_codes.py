"""Find missing-value codes in columns of DuckDB: of a call's tables, or of a file."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import compress
from typing import TYPE_CHECKING

import duckdb

from reid_sql.models.columns.column_profile import (
    DATE_TYPES,
    NUMERIC_TYPES,
    TYPES_WITHOUT_CODES,
    ColumnForm,
    missing_values_of,
)
from reid_sql.models.columns.missing_value_codes import (
    MissingValueCode,
    describe_codes,
    may_end_with_code,
    values_beside,
)
from reid_sql.parameters import ColumnNames, Rows, fold_case, quoted
from reid_sql.reductions.profile import kind_of_values
from reid_sql.sources.identifiers import Ask
from reid_sql.sql.missing_value_codes import count_candidates, find_candidates_in_texts, select_ends

if TYPE_CHECKING:
    from reid_sql.engines.duckdb.planner import PlannedCall


def describe_codes_of_calls(calls: Iterable["PlannedCall"], ask: Ask) -> str:
    """Say which columns of some calls have missing-value codes; nothing of a table that is there no more."""
    sentences: dict[str, None] = {}
    for call in dict.fromkeys(calls):
        for item in call.coded:
            sentences |= dict.fromkeys(
                filter(None, [describe_codes_in(ask, item, call.rows.coded)])
            )
    return " ".join(sentences)


def describe_codes_in(ask: Ask, item: str, columns: ColumnNames) -> str:
    """Say which columns of a FROM item have missing-value codes."""
    with suppress(duckdb.Error):
        return " ".join(
            f"{each}." for each in describe_codes(find_codes(ask, item, columns)).values()
        )
    return ""


def find_codes(ask: Ask, item: str, columns: ColumnNames) -> dict[str, list[MissingValueCode]]:
    """Find the missing-value codes of those of the columns that a FROM item has, as `profile` does.

    A scan tells which columns may have some; the values of those alone are counted.
    """
    described = ask(f"FROM {item}")
    kinds = {
        fold_case(name): (name, kind_of_values(str(kind)))
        for name, kind in zip(described.columns, described.types, strict=True)
    }
    kinds_of_columns = dict(kinds[name] for name in map(fold_case, columns) if name in kinds)
    named = _may_have_codes(ask, item, kinds_of_columns)
    names = [name for name in kinds_of_columns if name in named]
    counts = [
        count_candidates(item, quoted(name), kinds_of_columns[name], place)
        for place, name in enumerate(names)
    ]
    rows = _rows_of(ask(f"FROM ({' UNION ALL '.join(counts)}) ORDER BY place ASC")) if names else []
    codes = {}
    for name, row in zip(names, rows, strict=True):
        ends = row["least"], row["greatest"]
        form = ColumnForm(name, kinds_of_columns[name], row["values"], row["numbers"], 0, *ends)
        candidates = zip(row["texts"], row["rows"], strict=True)
        codes[name] = missing_values_of(form, candidates, values_beside(row, form.values))
    return codes


def _rows_of(answer: duckdb.DuckDBPyRelation) -> Rows:
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.fetchall()]


def _may_have_codes(ask: Ask, item: str, kinds: Mapping[str, str]) -> set[str]:
    """Find the columns that may have codes: numbers and dates by their ends, texts by their values."""
    with_order = {*NUMERIC_TYPES, *DATE_TYPES}
    ordered = {name: kind for name, kind in kinds.items() if kind in with_order}
    texts = [
        name
        for name, kind in kinds.items()
        if kind not in with_order and kind not in TYPES_WITHOUT_CODES
    ]
    return {*_ends_may_be_codes(ask, item, ordered), *_texts_may_be_codes(ask, item, texts)}


def _ends_may_be_codes(ask: Ask, item: str, kinds: Mapping[str, str]) -> Iterator[str]:
    if not kinds:
        return
    selected = select_ends({quoted(name): kind for name, kind in kinds.items()})
    ends = ask(f"SELECT {selected} FROM {item} AS reid_source").fetchall()[0]
    for name, *pair in zip(kinds, ends[::2], ends[1::2], strict=True):
        if pair[0] is True or (kinds[name] in NUMERIC_TYPES and may_end_with_code(*pair)):
            yield name


def _texts_may_be_codes(ask: Ask, item: str, names: ColumnNames) -> Iterator[str]:
    if not names:
        return
    texts = [*map(quoted, names)]
    try:
        flags = ask(find_candidates_in_texts(item, texts, in_groups=True)).fetchall()[0]
    except duckdb.OutOfMemoryException:
        flags = ask(find_candidates_in_texts(item, texts, in_groups=False)).fetchall()[0]
    yield from compress(names, flags)
