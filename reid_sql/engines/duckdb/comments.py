"""Words for whoever browses DuckDB's catalogue: a comment on each function."""

from collections.abc import Mapping

from reid_sql.engines.duckdb.names import HOME
from reid_sql.function import Function, sql_literal


def comments(functions: Mapping[str, Function]) -> str:
    """Write the statements that put each function's summary, call and source as a comment on its macro."""
    return "\n".join(_comment(declared) for declared in functions.values()) + "\n"


def _comment(declared: Function) -> str:
    kind = "MACRO" if declared.answer.of_rows else "MACRO TABLE"
    words = f"{declared.words} {declared.signature}. Source: {declared.source}"
    plain = words.replace(";", ",")  # tools that split a script at semicolons do so within texts too
    return f"COMMENT ON {kind} {HOME}{declared.name} IS {sql_literal(plain)};"
