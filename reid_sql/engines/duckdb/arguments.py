"""The arguments of a call in SQL, as DuckDB passes them to the planner: checked, or refused."""

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from reid_sql.engines.duckdb.source import table_source
from reid_sql.function import Function
from reid_sql.parameters import (
    Document,
    Domain,
    Number,
    Numbers,
    OptionalTable,
    Table,
    Tables,
    Texts,
)
from reid_sql.sql.text import text


def check_arguments(
    declared: Function, values: Sequence[Any], *, may_read_files: bool = True, is_plain: bool = False
) -> dict[str, Any]:
    """Check the values in the order of the parameters: tables become sources, whole numbers whole."""
    named = zip(declared.parameters, values, strict=True)
    return {
        parameter.name: _check(parameter.name, parameter.domain, value, may_read_files, is_plain)
        for parameter, value in named
    }


def _check(name: str, domain: Domain, value: Any, may_read_files: bool, is_plain: bool) -> Any:  # noqa: ANN401, FBT001
    if isinstance(domain, Table) or (isinstance(domain, OptionalTable) and value is not None):
        return table_source(value, is_plain=is_plain)
    if isinstance(domain, Tables):
        return [table_source(each, is_plain=is_plain) for each in domain.check(name, value)]
    if isinstance(domain, Document):
        source = json.dumps(value, default=_plain_json) if isinstance(value, dict) else value
        return domain.check(name, source) if may_read_files else domain.sealed(source)
    return domain.from_sql(name, value)


def _plain_json(value: Any) -> Any:  # noqa: ANN401 - what JSON has no word for
    return float(value) if isinstance(value, Decimal) else str(value)


def literal(domain: Domain, value: Any) -> str:  # noqa: ANN401 - a checked value
    """Write a checked value as SQL, with its type."""
    if value is None:
        return f"NULL::{sql_type(domain)}"
    if isinstance(domain, Number):
        return f"{value!r}::{sql_type(domain)}"
    if isinstance(domain, Numbers):
        return f"[{', '.join(map(repr, value))}]::DOUBLE[]"
    if isinstance(domain, Texts):
        return f"[{', '.join('NULL' if each is None else text(each) for each in value)}]::VARCHAR[]"
    return text(str(value))


def sql_type(domain: Domain) -> str:
    """The type by which a parameter reaches a Python body."""
    if isinstance(domain, Numbers):
        return "DOUBLE[]"
    if isinstance(domain, Texts):
        return "VARCHAR[]"
    if isinstance(domain, Number):
        return "BIGINT" if domain.whole else "DOUBLE"
    return "VARCHAR"


def reduction_arguments(declared: Function, checked: Mapping[str, Any]) -> dict[str, Any]:
    """What the function passes to its reduction: a parameter of the same name, or None."""
    own = set(checked) - ({"entity"} if declared.one_row_per_person else set())
    arguments = declared.reduction.arguments if declared.reduction else ()
    return {each.name: checked[each.name] if each.name in own else None for each in arguments}
