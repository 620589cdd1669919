"""What an answer may show: no group and no cell of few people."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import duckdb
import pyarrow as pa

from reid_sql.errors import OutOfDomainError, UnavailableError
from reid_sql.parameters import sql_literal
from reid_sql.serve.statement import TABLE_FUNCTIONS, Call

DEFAULT_MASK: Final = 10  # as in a policy without `mask_below`
SAFE_TABLE: Final = "safe_table"
ONLY_SAFE: Final = {"suppress": "secondary", "zeros": "omit"}
NOT_TO_GIVE: Final = (*ONLY_SAFE, "protection", "dominance", "p_percent")  # each could weaken a rule
NOT_TO_PUBLISH: Final = ("unsafe", "status", "loss", "largest_share")  # columns of safe_table
REFUSAL_UNPROTECTED: Final = (
    "every cell below the mask must be protected by others, got one that is not; name coarser columns"
)
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
        states = cells["status"].to_pylist()
        if "unprotected" in states:
            raise UnavailableError(REFUSAL_UNPROTECTED)
        columns = cells.column_names[: len(groups_of(call))]
        self.publish(
            data,
            replace(call, arguments=given),
            [
                ({c.casefold(): repr(row[c]) for c in columns if c not in row["total_over"]}, row["records"])
                for row in cells.to_pylist()
            ],
        )
        return cells.filter([each == "published" for each in states]).drop_columns(list(NOT_TO_PUBLISH))


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
