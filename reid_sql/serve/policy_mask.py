"""A policy decides whom a count counts, how small a count may be, and which functions may be asked."""

import math
from collections.abc import Collection
from dataclasses import replace
from typing import Any, Final

import duckdb
import pyarrow as pa

from reid_sql.check.masking import is_small, mask_counts_in_text, round_between
from reid_sql.check.policy_model import Policy
from reid_sql.errors import OutOfDomainError, UnavailableError
from reid_sql.parameters import quoted
from reid_sql.serve.masks import SAFE_TABLE, Cells, Mask, ask, groups_of
from reid_sql.serve.record import Record
from reid_sql.serve.statement import Call

MASKED_FUNCTIONS: Final = frozenset({SAFE_TABLE, "class_size_histogram"})  # besides those of the checks
# Columns of numbers that no record was counted for: what a client gave, or how something was computed.
SETTINGS: Final = frozenset(
    {"threshold", "threshold_k", "population", "fraction", "sample", "points", "size", "n", "draws", "c"}
)


class PolicyMask(Mask):
    """Answers calls as a policy has it."""

    def __init__(self, policy: Policy, record: Record) -> None:
        """Remember the policy, and the record of published counts."""
        super().__init__(policy.mask_below)
        self.tables = {table.name.casefold(): table for table in policy.tables}
        self.record = record
        checks = [check for table in policy.tables for check in table.checks]
        self.functions = MASKED_FUNCTIONS.union(check.measure.function for check in checks)
        for table in policy.tables:
            if table.missing:
                rule = f"a policy that is served must have no missing-value codes, got some of {table.name}"
                raise UnavailableError(f"{rule}; serve a view in which they are NULL")

    def ask(self, data: duckdb.DuckDBPyConnection, call: Call) -> pa.Table:
        """Call a function with the policy's entity and NULLs, and mask every count of its answer."""
        answer = super().ask(data, self._with_settings(call))
        records = max((_count_records(data, table) for table in call.tables), default=0)
        return mask_answer(
            answer, self.below, records, SETTINGS.union(answer.column_names[: len(groups_of(call))])
        )

    def publish(self, data: duckdb.DuckDBPyConnection, call: Call, cells: Cells) -> None:
        """Record the counts, with the total that every summary shows."""
        given = {name: call.arguments[name] for name in ("tbl", "entity", "nulls") if name in call.arguments}
        if call.function.name == SAFE_TABLE:  # which counts rows beside people
            given.pop("entity", None)
        sizes = ask(data, "class_size_histogram", {**given, "qi": call.arguments["by"]})[
            "records"
        ].to_pylist()
        self.record.add(data, call.tables[0], [*cells, ({}, sum(sizes))], self.below)

    def _with_settings(self, call: Call) -> Call:
        arguments = dict(call.arguments)
        names = {parameter.name for parameter in call.function.parameters}
        for served in call.tables[:1]:
            table = self.tables[served.casefold()]
            if table.entity and "entity" not in names:
                rule = f"a function must count people by '{table.entity}', got {call.function.name}"
                raise OutOfDomainError(f"{rule}, which counts rows; call one that takes entity")
            for name, due in (("entity", table.entity), ("nulls", table.nulls)):
                if name in names and arguments.setdefault(name, due) != due:
                    rule = f"{name} must be that of the policy, {due or 'none'}, got another"
                    raise OutOfDomainError(f"{rule}; omit it")
        return replace(call, arguments=arguments)


def mask_answer(answer: pa.Table, below: int, records: int, shown: Collection[str]) -> pa.Table:
    """Mask every figure of an answer that is a small count of the records, or reveals one."""
    masked = answer
    for place, name in enumerate(answer.column_names):
        if name not in shown and below > 1:
            masked = masked.set_column(place, name, _masked(name, answer[name], below, records))
    return masked


def _masked(name: str, column: pa.ChunkedArray, below: int, records: int) -> pa.Array:
    """Mask a column; where the hidden counts add up to a small one, the smallest other is hidden, too."""
    values = column.to_pylist()
    masked = [_mask_value(name, value, below, records) for value in values]
    if pa.types.is_integer(column.type):
        hidden = sum(value for value, shown in zip(values, masked, strict=True) if shown is None and value)
        others = [shown for shown in masked if shown]
        if is_small(hidden, below) and others:
            masked[masked.index(min(others))] = None
    return pa.array(masked, column.type)


def _mask_value(name: str, value: Any, below: int, records: int) -> Any:  # noqa: ANN401 - a cell of an answer
    """Mask a cell: a small count becomes NULL; a share is rounded, up, or down where it is a lower bound."""
    if isinstance(value, str):
        return mask_counts_in_text(value, below)
    if isinstance(value, list):
        masked = [_mask_value(name, each, below, records) for each in value]
        return masked if masked == value else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return value
    if not 0 < value < 1:
        is_count = value == round(value)
        small = is_small(round(value), below) or is_small(records - round(value), below)
        return None if is_count and small and not (value == 1 and isinstance(value, float)) else value
    if any(math.isclose(value * size, 1) for size in range(2, below)):  # the risk of a small class
        return None
    low, high = round_between(value, records, below)
    return low if name.endswith("low") else min(1.0, high)


def _count_records(data: duckdb.DuckDBPyConnection, table: str) -> int:
    return int(data.execute(f"SELECT count(*) FROM memory.main.{quoted(table)}").fetchall()[0][0])
