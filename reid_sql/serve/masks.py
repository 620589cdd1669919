"""What an answer may show: no group and no cell of few people, by a policy, and by what was published."""

import json
import math
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from reid_sql.check.masking import is_small, mask_counts_in_text, round_between
from reid_sql.check.policy_model import Policy
from reid_sql.errors import OutOfDomainError, UnavailableError
from reid_sql.parameters import quoted, sql_literal
from reid_sql.serve.statement import TABLE_FUNCTIONS, Call

DEFAULT_MASK: Final = 10  # as in a policy without `mask_below`
SAFE_TABLE: Final = "safe_table"
ONLY_SAFE: Final = {"suppress": "secondary", "zeros": "omit"}
NOT_TO_GIVE: Final = (*ONLY_SAFE, "protection", "dominance", "p_percent")  # each could weaken a rule
NOT_TO_PUBLISH: Final = ("unsafe", "status", "loss", "largest_share")  # columns of safe_table
Cells = list[tuple[dict[str, str], int | None]]  # categories by column, and the count, None where hidden


class Mask:
    """Answers calls without figures of groups and cells below a number of records, or of people."""

    functions: Collection[str] = TABLE_FUNCTIONS  # that may be asked

    def __init__(self, below: int = DEFAULT_MASK) -> None:
        """Hide what counts fewer."""
        self.below = below

    def ask(self, data: duckdb.DuckDBPyConnection, call: Call) -> pa.Table:
        """Call a function where the data is, and mask its answer."""
        if call.function.name == SAFE_TABLE:
            return self._ask_safe_table(data, call)
        answer = ask(data, call.function.name, call.arguments)
        if by := groups_of(call):
            self._publish_groups(data, call, by, answer)
        return answer

    def publish(self, data: duckdb.DuckDBPyConnection, call: Call, cells: Cells) -> None:
        """Take notice of counts that are about to leave, or refuse them."""

    def _publish_groups(
        self, data: duckdb.DuckDBPyConnection, call: Call, by: Sequence[str], answer: pa.Table
    ) -> None:
        """Refuse an answer for each group where one is small: it would name the group's value."""
        given = call.arguments
        options = {name: given[name] for name in ("entity", "nulls") if given.get(name)}
        groups = ask(data, "equivalence_classes", {"tbl": given["tbl"], "qi": by, **options})
        if any(size < self.below for size in groups["class_size"].to_pylist()):
            rule = f"by must make groups of at least {self.below} records, got a smaller one"
            raise OutOfDomainError(f"{rule}; name fewer or coarser columns")
        source, count = (answer, "records") if "records" in answer.column_names else (groups, "class_size")
        found: dict[tuple[str, ...], int] = {}
        for row in source.to_pylist():
            key = tuple(repr(row[name]) for name in source.column_names[: len(by)])
            found[key] = found.get(key, 0) + row[count]
        columns = [name.casefold() for name in source.column_names[: len(by)]]
        self.publish(
            data, call, [(dict(zip(columns, key, strict=True)), size) for key, size in found.items()]
        )

    def _ask_safe_table(self, data: duckdb.DuckDBPyConnection, call: Call) -> pa.Table:
        """Publish the cells that are safe, and not which others there are."""
        given = {"k": self.below, **ONLY_SAFE, **call.arguments}
        if wrong := [name for name in NOT_TO_GIVE if name in call.arguments]:
            raise OutOfDomainError(f"{wrong[0]} must not be given where answers leave, got it; omit it")
        if given["k"] is None or given["k"] < self.below:
            raise OutOfDomainError(f"k must be at least the mask of {self.below}, got a lower one; omit it")
        cells = ask(data, SAFE_TABLE, given)
        columns = cells.column_names[: len(groups_of(call))]
        self.publish(
            data,
            replace(call, arguments=given),
            [
                ({c.casefold(): repr(row[c]) for c in columns if c not in row["total_over"]}, row["records"])
                for row in cells.to_pylist()
            ],
        )
        return cells.filter(pc.field("status") == "published").drop_columns(list(NOT_TO_PUBLISH))


def groups_of(call: Call) -> list[str]:
    """Return the columns whose values an answer names."""
    roles = {parameter.name: parameter.domain.role for parameter in call.function.parameters}
    by = call.arguments.get("by") or []
    is_groups = roles.get("by") == "groups" or call.function.name == SAFE_TABLE
    return ([by] if isinstance(by, str) else list(by)) if is_groups else []


def ask(data: duckdb.DuckDBPyConnection, function: str, arguments: Mapping[str, Any]) -> pa.Table:
    """Call a function of reid-sql with values by name."""
    named = [f"{name} := {sql_literal(value)}" for name, value in arguments.items()]
    return data.execute(f"FROM reid.{function}({', '.join(named)})").to_arrow_table()


MAX_CELLS: Final = 2_000  # of a table, which an audit takes some seconds for
PROTECTED: Final = "protected"  # what an audit finds of a cell that nobody can compute
AUDITED: Final = "reid_published"
REMEDY: Final = "ask for fewer or coarser columns"
REFUSAL_OTHER_PEOPLE: Final = (
    f"an answer must count the people of the answers before, got counts that do not add up; {REMEDY}"
)


class Record:
    """A DuckDB file of the owner's, with each count that left."""

    def __init__(self, file: str | Path = ":memory:") -> None:
        """Open the record, or begin one."""
        self._lock = threading.Lock()
        self._con = duckdb.connect(str(file))
        self._con.execute("""CREATE TABLE IF NOT EXISTS published (
            asked_at TIMESTAMP DEFAULT current_timestamp, tbl VARCHAR, cell VARCHAR, records BIGINT)""")

    def add(self, data: duckdb.DuckDBPyConnection, table: str, cells: Cells, below: int) -> None:
        """Record the counts of a table, unless a group below the mask follows from all that are recorded."""
        with self._lock:  # two clients may not ask for two halves at once
            counts: dict[str, dict[str, int | None]] = {table: {}}
            for name, cell, count in self._con.execute("SELECT tbl, cell, records FROM published").fetchall():
                counts.setdefault(name, {})[cell] = count
            known = counts.pop(table)
            merged, new = _merge(known, cells)
            if not new:
                return
            if len(merged) > MAX_CELLS:
                rule = f"the published counts of a table must be at most {MAX_CELLS:,}, got more"
                raise UnavailableError(f"{rule}; ask the owner for a new record")
            for other in counts.values():
                _refuse_near(new, other, below)
            _refuse_findings(data, merged, below)
            self._con.execute("BEGIN")
            self._con.executemany(
                "DELETE FROM published WHERE tbl = $1 AND cell = $2", [(table, cell) for cell in new]
            )
            self._con.executemany(
                "INSERT INTO published (tbl, cell, records) VALUES ($1, $2, $3)",
                [(table, cell, count) for cell, count in new.items()],
            )
            self._con.execute("COMMIT")


def _merge(
    known: Mapping[str, int | None], cells: Cells
) -> tuple[dict[str, int | None], dict[str, int | None]]:
    """Return all counts, and those that are new; one that is hidden in one answer may be shown in another."""
    merged, new = dict(known), {}
    for categories, count in cells:
        cell = json.dumps(categories, sort_keys=True)
        before = merged.get(cell)
        if None not in (before, count) and before != count:
            raise OutOfDomainError(REFUSAL_OTHER_PEOPLE)
        if cell not in merged or (before is None and count is not None):
            merged[cell] = new[cell] = count
    return merged, new


def _refuse_findings(data: duckdb.DuckDBPyConnection, counts: Mapping[str, int | None], below: int) -> None:
    """Audit all counts of a table together; whatever is not proved to be protected is refused."""
    cells = [json.loads(cell) for cell in counts]
    names = sorted({name for cell in cells for name in cell})
    columns = {f"c{place}": pa.array([cell.get(name) for cell in cells]) for place, name in enumerate(names)}
    data.register(AUDITED, pa.table({**columns, "records": pa.array(counts.values(), pa.int64())}))
    try:
        found = ask(data, "audit_tables", {"tables": [AUDITED], "k": below, "columns": list(columns)})
    except duckdb.InvalidInputException:
        raise OutOfDomainError(REFUSAL_OTHER_PEOPLE) from None
    findings = zip(found["finding"].to_pylist(), found["status"].to_pylist(), strict=True)
    if any(each != PROTECTED or status.startswith("bounds_not_tight") for each, status in findings):
        rule = f"an answer must reveal no group of fewer than {below} with those before, got one that does"
        raise OutOfDomainError(f"{rule}; {REMEDY}")


def _refuse_near(new: Mapping[str, int | None], other: Mapping[str, int | None], below: int) -> None:
    """Refuse a count that differs from that of another table by fewer people than the mask."""
    pairs = ((count, other.get(cell)) for cell, count in new.items())
    if any(0 < abs(one - two) < below for one, two in pairs if one is not None and two is not None):
        rule = f"a count must differ from that of another table by 0 or at least {below}, got a nearer one"
        raise OutOfDomainError(f"{rule}; {REMEDY}")


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
