"""What needs Python: bodies, readers of documents and models as vectorised Arrow functions."""

from collections.abc import Callable, Iterable
from decimal import Decimal
from functools import lru_cache, partial
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from reid_sql.engines.arrow import kernel, model_kernel, reply_type, table_kernel
from reid_sql.engines.arrow_rows import array_of, numbers_in, numbers_of
from reid_sql.engines.duckdb import jobs
from reid_sql.engines.duckdb.answers import body_name
from reid_sql.engines.duckdb.names import BEGIN, BODY
from reid_sql.engines.group_answers import group_kernel
from reid_sql.errors import ReidError
from reid_sql.function import Answer, Function
from reid_sql.models.classes.partitions import DistinctRecords
from reid_sql.models.classes.subset_counts import CountedSubsets, count_subset_classes
from reid_sql.models.classes.wildcard import wildcard_class_sizes
from reid_sql.sql.records import MATCHES, ROUNDED, SUPPRESSED

COUNTED: Final = "reid_subset_counts"
COUNTS: Final = (
    "STRUCT(places BIGINT[], records BIGINT, classes BIGINT, reidentifications DOUBLE, "
    "pairs DECIMAL(38,0), dropped BIGINT, unique_records BIGINT)[]"
)
NO_CODES: Final = np.zeros(0, dtype=np.int32)
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


def count_subsets(
    codes: pa.Array, records: pa.Array, people: pa.Array, *limits: pa.Array
) -> pa.Array:
    """Count the subsets of a table of distinct records: the counts, one struct a subset, or the refusal.

    Given are max_size, nulls and the limit of memory in bytes.
    """
    columns = [
        numbers_in(column.values) if column.is_valid else NO_CODES for column in codes[0].values
    ]
    packed = numbers_in(records[0].values) if records[0].is_valid else NO_CODES
    whose = numbers_in(people[0].values) if people[0].is_valid else None
    try:
        counted = count_subset_classes(
            DistinctRecords(columns, packed, whose), *(each[0].as_py() for each in limits)
        )
    except ReidError as error:  # the engine would wrap the sentence in its own
        return _reply(None, SUBSET, str(error))
    rows = pa.StructArray.from_arrays(_cells(counted), fields=list(SUBSET))
    listed = pa.ListArray.from_arrays(array_of([0, len(rows)], pa.int32()), rows)
    fields = ["refusal", "answers"]
    return pa.StructArray.from_arrays([pa.nulls(1, pa.string()), listed], fields)


def _reply(answers: list[int] | None, kind: pa.DataType, refusal: str | None = None) -> pa.Array:
    """The answers of one call, or the refusal, as one row."""
    return array_of([{"refusal": refusal, "answers": answers}], reply_type(pa.list_(kind)))


def _cells(counted: CountedSubsets) -> list[pa.Array]:
    """The counts as columns; SQL numbers places from 1."""
    places, ends = counted.places()
    starts = numbers_of(np.concatenate(([0], ends)), pa.int32())
    if counted.pairs.dtype == np.int64:
        pairs = numbers_of(counted.pairs, pa.int64()).cast(WIDE)
    else:
        pairs = pa.array([Decimal(one) for one in counted.pairs], WIDE)
    return [
        pa.ListArray.from_arrays(starts, numbers_of(places + 1, pa.int64())),
        numbers_of(counted.records, pa.int64()),
        numbers_of(counted.classes, pa.int64()),
        numbers_of(counted.reidentifications, pa.float64()),
        pairs,
        numbers_of(counted.dropped, pa.int64()),
        numbers_of(counted.unique, pa.int64()),
    ]


Work = Callable[..., pa.Array]
NOT_FIRST: Final = "an answer must be read from the first row that has one; run the statement again"
BODIES: Final[dict[str, Work]] = {}  # what `reid_begin` begins, by name


class Bound(NamedTuple):
    """A callable as DuckDB takes it; types of None stand for any number of arguments of any type."""

    body: Work
    types: list[Any] | None
    answer: str
    volatile: bool = False  # whether each call counts, so that none is folded away or made twice


def python_functions(functions: Iterable[Function]) -> dict[str, Bound]:
    """Everything that is Python, by its name in DuckDB."""
    registered: dict[str, Bound] = {
        BEGIN: Bound(_begin, None, "BIGINT", volatile=True),
        MATCHES: _bind_in_thread(MATCHES, _wildcard_class_sizes, "BIGINT[]"),
        SUPPRESSED: _bind_in_thread(SUPPRESSED, _suppress_cells, "BIGINT[]"),
        ROUNDED: _bind_in_thread(ROUNDED, _round_cells, "BIGINT[]"),
        COUNTED: _bind_in_thread(COUNTED, count_subsets, COUNTS),
    }
    for declared in (each for function in functions for each in function.all_outputs):
        if declared.needs_python:
            registered[body_name(declared)] = _body(declared)
    return registered


def _body(declared: Function) -> Bound:
    """Bind a body by the shape of its answer."""
    options = [parameter.domain.sql_type for parameter in declared.own_parameters]
    fields = ", ".join(f"{column} {kind}" for column, kind in declared.columns.items())
    if declared.answer is Answer.SCALAR:
        return Bound(kernel(declared), ["DOUBLE"] * len(declared.parameters), "DOUBLE")
    if declared.answer is Answer.MODEL_SCORE:
        types = ["VARCHAR[]", "VARCHAR", "VARCHAR", *options]
        return Bound(model_kernel(declared), types, "STRUCT(refusal VARCHAR, answer DOUBLE)")
    if declared.answer is Answer.SCORED_TABLE:
        types = ["VARCHAR[]", "BIGINT", "VARCHAR", "VARCHAR", *options]
        return Bound(
            model_kernel(declared), types, f"STRUCT(refusal VARCHAR, answer STRUCT({fields}))"
        )
    if declared.grouped:
        return _bind_in_thread(body_name(declared), group_kernel(declared), f"STRUCT({fields})[][]")
    return _bind_in_thread(body_name(declared), table_kernel(declared), f"STRUCT({fields})[]")


def _bind_in_thread(name: str, work: Work, answers: str) -> Bound:
    """Bind what is begun by one call and answered by others, between which the engine can be interrupted.

    The rows that follow the answer are no NULLs: DuckDB before 2.0 holds a few rows back until more come.
    They are made of arrays, as pa.scalar imports pandas.
    """
    BODIES.setdefault(name, work)

    def ask(numbers: pa.Array) -> pa.Array:
        result = jobs.answer(numbers[0].as_py())
        if result is None:
            return pa.nulls(len(numbers))
        refusals = _refuse_others(len(numbers) - len(result))
        fields = list(result.type)
        rest = [refusals, *(pa.nulls(len(refusals), field.type) for field in fields[1:])]
        return pa.concat_arrays([result, pa.StructArray.from_arrays(rest, fields=fields)])

    return Bound(ask, ["BIGINT"], f"STRUCT(refusal VARCHAR, answers {answers})", volatile=True)


@lru_cache(maxsize=4)
def _refuse_others(rows: int) -> pa.Array:
    """The refusals of the rows after the answer, mostly one less than DuckDB's vector has."""
    return array_of([NOT_FIRST] * rows, pa.string())


def _begin(*columns: pa.Array) -> pa.Array:
    """Begin the body of this name with what follows it: whole columns, each in one row, and values."""
    name, *arguments = columns
    body = name[0].as_py()
    if body not in BODIES:
        body_of(body)
    return array_of([jobs.begin(partial(BODIES[body], *arguments))], pa.int64())


CALLED_FUNCTIONS: Final[dict[str, Work]] = {}  # Python functions that have been called, by name
FUNCTION_FINDERS: Final[
    list[Callable[[str], Function]]
] = []  # finds a function by name; set by what registers


def body_of(name: str) -> Work:
    """The Python function of this name, bound when it is first called."""
    if name not in CALLED_FUNCTIONS:
        declared = [FUNCTION_FINDERS[0](name.removeprefix(BODY))] if name.startswith(BODY) else []
        CALLED_FUNCTIONS.update(
            {each: bound.body for each, bound in python_functions(declared).items()}
        )
    return CALLED_FUNCTIONS[name]


def _wildcard_class_sizes(
    codes: pa.Array, other_codes: pa.Array, other_counts: pa.Array
) -> pa.Array:
    """Count matches of records as lists of codes, one list of records a row; nothing is refused."""
    answers = [
        wildcard_class_sizes(
            _matrix(mine.values), _matrix(other.values), numbers_in(others_counts.values)
        ).tolist()
        if mine.is_valid and other.is_valid
        else [0] * (len(mine.values) if mine.is_valid else 0)
        for mine, other, others_counts in zip(codes, other_codes, other_counts, strict=True)
    ]
    listed = array_of(answers, pa.list_(pa.int64()))
    return pa.StructArray.from_arrays(
        [pa.nulls(len(listed), pa.string()), listed], ["refusal", "answers"]
    )


def _suppress_cells(
    codes: pa.Array, counts: pa.Array, is_primary: pa.Array, *more: pa.Array
) -> pa.Array:
    """Choose the cells to hide, by their width, and by their sums and protections; without a cell, none."""
    from reid_sql.models.tables.published_tables import PublishedRows  # noqa: PLC0415
    from reid_sql.models.tables.suppression import (  # noqa: PLC0415
        CellSums,
        find_earlier,
        suppress_cells,
    )

    if not codes[0].is_valid:
        return _reply([], pa.int64())
    width, hierarchies, names, tbl, text, labels, *sums = more
    numbers, primary = (numbers_in(each[0].values) for each in (counts, is_primary))
    figures = CellSums(*(numbers_in(each[0].values) for each in sums)) if sums else None
    categories = _matrix(codes[0].values)
    try:
        before = None
        if text[0].is_valid:
            rows = PublishedRows(numbers_in(tbl[0].values), text[0].as_py())
            before = find_earlier(rows, names[0].as_py(), labels[0].as_py(), categories, numbers)
        chosen = suppress_cells(
            categories,
            numbers,
            primary > 0,
            width[0].as_py(),
            figures,
            hierarchies=hierarchies[0].as_py(),
            before=before,
        )
    except ReidError as error:
        return _reply(None, pa.int64(), str(error))
    return _reply(chosen.statuses.tolist(), pa.int64())


def _round_cells(codes: pa.Array, counts: pa.Array, base: pa.Array) -> pa.Array:
    """Round the counts to multiples of the base; without a cell, none."""
    from reid_sql.models.tables.rounding import round_cells  # noqa: PLC0415 - no other call

    if not codes[0].is_valid:
        return _reply([], pa.int64())
    rounded = round_cells(_matrix(codes[0].values), numbers_in(counts[0].values), base[0].as_py())
    return _reply(rounded.tolist(), pa.int64())


def _matrix(records: pa.ListArray) -> np.ndarray[Any, np.dtype[np.int64]]:
    flat: np.ndarray[Any, np.dtype[np.int64]] = numbers_in(records.flatten())
    return flat.reshape(len(records), -1)
