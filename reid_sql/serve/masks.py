"""What an answer may show: no group and no cell of few people."""

from collections.abc import Mapping
from typing import Any, Final

import duckdb
import pyarrow as pa

from reid_sql.errors import OutOfDomainError, UnavailableError
from reid_sql.parameters import sql_literal
from reid_sql.serve.statement import Call

DEFAULT_MASK: Final = 10  # as in a policy without `mask_below`
SAFE_TABLE: Final = "safe_table"
ONLY_SAFE: Final = {"suppress": "secondary", "zeros": "omit"}
NOT_TO_PUBLISH: Final = ("unsafe", "status", "loss", "largest_share")  # columns of safe_table
REFUSAL_UNPROTECTED: Final = (
    "every cell below the mask must be protected by others, got one that is not; name coarser columns"
)


class Mask:
    """Answers calls without figures of groups and cells below a number of records, or of people."""

    def __init__(self, below: int = DEFAULT_MASK) -> None:
        """Hide what counts fewer."""
        self.below = below

    def ask(self, data: duckdb.DuckDBPyConnection, call: Call) -> pa.Table:
        """Call a function where the data is, and mask its answer."""
        self._refuse_small_groups(data, call)
        if call.function.name == SAFE_TABLE:
            return self._ask_safe_table(data, call)
        return ask(data, call.function.name, call.arguments)

    def _refuse_small_groups(self, data: duckdb.DuckDBPyConnection, call: Call) -> None:
        """Refuse an answer for each group where one is small: it would name the group's value."""
        given = call.arguments
        for parameter in call.function.parameters:
            by = given.get(parameter.name)
            if parameter.domain.role != "groups" or not by:
                continue
            options = {"entity": given["entity"]} if given.get("entity") else {}
            classes = ask(data, "equivalence_classes", {"tbl": given["tbl"], "qi": by, **options})
            if any(size < self.below for size in classes["class_size"].to_pylist()):
                rule = (
                    f"{parameter.name} must make groups of at least {self.below} records, got a smaller one"
                )
                raise OutOfDomainError(f"{rule}; name fewer or coarser columns")

    def _ask_safe_table(self, data: duckdb.DuckDBPyConnection, call: Call) -> pa.Table:
        """Publish the cells that are safe, and not which others there are."""
        given = {"k": self.below, **ONLY_SAFE, **call.arguments}
        wrong = [name for name, due in ONLY_SAFE.items() if given[name] != due]
        if wrong:
            due = ONLY_SAFE[wrong[0]]
            raise OutOfDomainError(f"{wrong[0]} must be {due} where answers leave, got another word; omit it")
        if given["k"] is None or given["k"] < self.below:
            raise OutOfDomainError(f"k must be at least the mask of {self.below}, got a lower one; omit it")
        cells = ask(data, SAFE_TABLE, given)
        states = cells["status"].to_pylist()
        if "unprotected" in states:
            raise UnavailableError(REFUSAL_UNPROTECTED)
        return cells.filter([each == "published" for each in states]).drop_columns(list(NOT_TO_PUBLISH))


def ask(data: duckdb.DuckDBPyConnection, function: str, arguments: Mapping[str, Any]) -> pa.Table:
    """Call a function of reid-sql with values by name."""
    named = [f"{name} := {sql_literal(value)}" for name, value in arguments.items()]
    return data.execute(f"FROM reid.{function}({', '.join(named)})").to_arrow_table()
