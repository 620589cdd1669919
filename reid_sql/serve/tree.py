"""The tree of a parsed statement, as json_serialize_sql of DuckDB 1.5 and 2.0 writes it."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
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


def type_of(cast: Node) -> str:
    """Return the name of the type of a cast, in capitals."""
    types = cast.get("cast_type") or {}, cast.get("type_expr") or {}
    return str(types[0].get("id") or types[1].get("type_name")).upper()


def parts_of(tree: Any, without: Collection[str] = ()) -> Iterator[Node]:  # noqa: ANN401 - any part of a tree
    """Yield each part of a tree, the whole before what is within it, but nothing within a constant.

    Nor is anything yielded that is within the fields `without`.
    """
    if isinstance(tree, dict):
        yield tree
        is_constant = tree.get("type") == "VALUE_CONSTANT"
        tree = [] if is_constant else [each for key, each in tree.items() if key not in without]
    if isinstance(tree, list):
        for each in tree:
            yield from parts_of(each, without)


def named_queries(tree: Node) -> list[str]:
    """List the names that WITH gives."""
    maps = [part["map"] for part in parts_of(tree) if isinstance(part.get("map"), list)]
    return [str(query["key"]) for queries in maps for query in queries]


def columns_in(tree: Any) -> list[str]:  # noqa: ANN401 - any part of a tree
    """List the columns that a part of a statement names, each once."""
    columns = [part for part in parts_of(tree) if part.get("type") == "COLUMN_REF"]
    return list(dict.fromkeys(str(column["column_names"][-1]) for column in columns))


def aggregates_in(tree: Any) -> list[Node]:  # noqa: ANN401 - any part of a tree
    """List the calls of aggregates in a part of a statement."""
    return [part for part in parts_of(tree) if name_of(part) in AGGREGATES]


def replaced(tree: Any, change: Callable[[Node], Node | None]) -> Any:  # noqa: ANN401 - any part of a tree
    """Put what `change` returns in place of a part; where that is None, go on within the part."""
    if isinstance(tree, list):
        return [replaced(each, change) for each in tree]
    if not isinstance(tree, dict):
        return tree
    changed = change(tree)
    if changed is not None:
        return changed
    return {key: replaced(each, change) for key, each in tree.items()}


def spliced(tree: Node, parts: Mapping[str, Node]) -> Node:
    """Put parts of a client's statement in place of the columns that stand for them."""

    def put(part: Node) -> Node | None:
        if part.get("type") != "COLUMN_REF" or part["column_names"][0] not in parts:
            return None
        return {**parts[part["column_names"][0]], "alias": part.get("alias", "")}

    whole: Node = replaced(tree, put)
    return whole


def without_places(node: Node, constant: Node | None = None) -> Node:
    """Leave out where the parts of a tree stand in its text.

    `constant` replaces each constant, but not the name that is given to it.
    """

    def placeless(part: Node) -> Node:
        if constant is not None and part.get("type") == "VALUE_CONSTANT":
            return {**constant, "alias": part.get("alias", "")}
        return {key: each for key, each in part.items() if not key.startswith("query_location")}

    tree: Node = json.loads(json.dumps(node), object_hook=placeless)
    return tree


def document_of(node: Node) -> str:
    """Write a tree as json_deserialize_sql reads it."""
    return json.dumps({"error": False, "statements": [{"node": node}]})


def written(node: Node) -> str:
    """Write a tree without its places, so that equal parts of a statement are equal."""
    return json.dumps(without_places(node), sort_keys=True)


def shape_of(node: Node) -> str:
    """Write a tree without its places and its constants."""
    return json.dumps(without_places(node, {}), sort_keys=True)
