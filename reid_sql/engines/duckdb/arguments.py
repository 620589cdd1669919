"""The arguments of a call in SQL, as DuckDB passes them to the planner: checked, or refused in one sentence."""

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from reid_sql.engines.duckdb.source import table_source
from reid_sql.errors import OutOfDomainError
from reid_sql.function import Function
from reid_sql.parameters import (
    Choice,
    Column,
    Columns,
    Document,
    Domain,
    Groups,
    Key,
    Number,
    Numbers,
    OptionalTable,
    Table,
    Text,
    Texts,
    list_columns,
    list_text,
)
from reid_sql.sql.text import fold_case


def check_arguments(
    declared: Function, values: Sequence[Any], *, may_read_files: bool = True, is_plain: bool = False
) -> dict[str, Any]:
    """Check the values in the order of the parameters: tables as sources, whole numbers whole, texts as texts."""
    named = zip(declared.parameters, values, strict=True)
    return {
        parameter.name: _check(parameter.name, parameter.domain, value, may_read_files, is_plain)
        for parameter, value in named
    }


def _check(name: str, domain: Domain, value: Any, may_read_files: bool, is_plain: bool) -> Any:  # noqa: ANN401, FBT001
    if isinstance(domain, Table) or (isinstance(domain, OptionalTable) and value is not None):
        return table_source(value, is_plain=is_plain)
    if isinstance(domain, Columns | Groups):
        label, is_optional = ("by", True) if isinstance(domain, Groups) else (domain.words, domain.optional)
        return None if value is None and is_optional else list_columns(label, value, fold_case)
    if isinstance(domain, Column | Key | OptionalTable):
        return None if value is None else str(value)
    if isinstance(domain, Document):
        text = json.dumps(value, default=_plain_json) if isinstance(value, dict) else value
        return domain.check(name, text) if may_read_files else domain.sealed(text)
    if isinstance(domain, Number):
        number = _number(domain, name, value)
        return int(number) if domain.whole else number
    if isinstance(domain, Numbers):
        return _numbers(domain, name, value)
    if isinstance(domain, Choice):
        return domain.check(name, "NULL" if value is None else str(value))
    if isinstance(domain, Text | Texts):
        return domain.check(name, value)
    return value


def _number(domain: Number, name: str, value: Any) -> float:  # noqa: ANN401 - as SQL gave it
    try:
        number = float(value)
    except OverflowError:
        raise OutOfDomainError(domain.sentence(name, "a number of more than 308 digits")) from None
    except (TypeError, ValueError):
        got = "NULL" if value is None else str(value)
        raise OutOfDomainError(domain.sentence(name, got)) from None
    return domain.check_one(name, number)


def _numbers(domain: Numbers, name: str, value: Any) -> list[float] | None:  # noqa: ANN401 - as SQL gave it
    if value is None and domain.optional:
        return None
    if not isinstance(value, list | tuple) or not value or any(each is None for each in value):
        raise OutOfDomainError(domain.sentence(name, "NULL" if value is None else list_text(value)))
    return [_number(domain.each, name, each) for each in value]


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
        return f"[{', '.join('NULL' if each is None else _text(each) for each in value)}]::VARCHAR[]"
    return _text(str(value))


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


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
    own = set(checked) - ({"entity"} if declared.individuals else set())
    arguments = declared.reduction.arguments if declared.reduction else ()
    return {each.name: checked[each.name] if each.name in own else None for each in arguments}
