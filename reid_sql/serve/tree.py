"""The tree of a parsed statement, as json_serialize_sql of DuckDB 1.5 and 2.0 writes it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

Node = dict[str, Any]
COUNTS: Final = frozenset({"count", "count_star"})
SUMS: Final = frozenset({"sum", "avg", "mean"})
OTHER_AGGREGATES: Final = frozenset(
    ["any_value", "bool_and", "bool_or", "max", "median", "min", "stddev"]
)
AGGREGATES: Final = COUNTS | SUMS | OTHER_AGGREGATES


def path_of(part: Node, key: str) -> list[str]:
    """Return the name of a function or a table with its places, which DuckDB 2.0 writes as one."""
    path: list[str] = (part.get("qualified_name") or {}).get("path") or []
    keys = ("catalog_name", "catalog", "schema_name", "schema", key)
    return path or [str(part[each]) for each in keys if part.get(each)]


def arguments_of(function: Node) -> list[tuple[str, Node]]:
    """List the arguments with their names; DuckDB before 2.0 writes a name as an alias."""
    if function.get("arguments"):
        return [(str(each.get("name") or ""), each["expression"]) for each in function["arguments"]]
    return [(str(each.get("alias") or ""), each) for each in function.get("children", [])]


def name_of(part: Node) -> str:
    """Return the name of a function; empty for other parts."""
    if part.get("type") != "FUNCTION":
        return ""
    return path_of(part, "function_name")[-1].lower()


def named_queries(part: Any) -> Iterator[str]:  # noqa: ANN401 - any part of a tree
    """Yield the names that WITH gives."""
    if isinstance(part, dict):
        if isinstance(part.get("map"), list):
            yield from (str(query["key"]) for query in part["map"])
        part = list(part.values())
    if isinstance(part, list):
        for each in part:
            yield from named_queries(each)


def columns_in(part: Any) -> Iterator[str]:  # noqa: ANN401 - any part of a tree
    """Yield the columns that a part of a statement names."""
    if isinstance(part, dict):
        if part.get("type") == "COLUMN_REF":
            yield str(part["column_names"][-1])
        part = list(part.values())
    if isinstance(part, list):
        for each in part:
            yield from columns_in(each)


def aggregates_in(part: Any) -> list[Node]:  # noqa: ANN401 - any part of a tree
    """List the calls of aggregates in a part of a tree."""
    if isinstance(part, list):
        return [found for each in part for found in aggregates_in(each)]
    if not isinstance(part, dict):
        return []
    return [part] if name_of(part) in AGGREGATES else aggregates_in(list(part.values()))


def spliced(part: Any, parts: Mapping[str, Node]) -> Any:  # noqa: ANN401 - any part of a tree
    """Put parts of a client's statement in place of the columns that stand for them."""
    if isinstance(part, list):
        return [spliced(each, parts) for each in part]
    if not isinstance(part, dict):
        return part
    if part.get("type") == "COLUMN_REF" and part["column_names"][0] in parts:
        return {**parts[part["column_names"][0]], "alias": part.get("alias", "")}
    return {key: spliced(each, parts) for key, each in part.items()}


def without_places(node: Node) -> Node:
    """Leave out where the parts of a tree stand in its text."""

    def placeless(part: Node) -> Node:
        return {key: each for key, each in part.items() if not key.startswith("query_location")}

    tree: Node = json.loads(json.dumps(node), object_hook=placeless)
    return tree


def written(node: Node) -> str:
    """Write a tree without its places, so that equal parts of a statement are equal."""
    return json.dumps(without_places(node), sort_keys=True)


def with_constants(node: Node, constant: Node) -> Node:
    """Replace each constant of a tree without places, but not the name that is given to it."""

    def replaced(part: Node) -> Node:
        if part.get("type") == "VALUE_CONSTANT":
            return {**constant, "alias": part.get("alias", "")}
        return part

    mapped: Node = json.loads(json.dumps(without_places(node)), object_hook=replaced)
    return mapped


def shape_of(node: Node) -> str:
    """Write a tree without its places and its constants."""
    return json.dumps(with_constants(node, {}), sort_keys=True)
