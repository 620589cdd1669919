"""Holding a document against a JSON Schema: as much of the standard as the report's schema uses."""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

Schema = Mapping[str, Any]
KINDS: Final[Mapping[str, tuple[type, ...]]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
    "number": (int, float),
    "integer": (int,),
}


def broken_rule(value: object, schema: Schema) -> str:
    """Say the first rule that the document breaks, and where; nothing where it keeps all.

    >>> broken_rule({"k": 0}, {"type": "object", "properties": {"k": {"type": "integer", "minimum": 1}}})
    '$.k is below 1'
    """
    return next(_broken(value, schema, schema, "$"), "")


def _broken(value: Any, schema: Schema, root: Schema, at: str) -> Iterator[str]:  # noqa: ANN401 - any JSON
    if "$ref" in schema:
        node: Any = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            node = node[part]
        yield from _broken(value, node, root, at)
        return
    if "anyOf" in schema and all(
        any(True for _ in _broken(value, each, root, at)) for each in schema["anyOf"]
    ):
        yield f"{at} is none of what it may be"
    if ("const" in schema and value != schema["const"]) or ("enum" in schema and value not in schema["enum"]):
        yield f"{at} is no word that it may be"
    kinds = [schema["type"]] if isinstance(schema.get("type"), str) else schema.get("type", [])
    if kinds and not any(_is(value, kind) for kind in kinds):
        yield f"{at} is no {' or '.join(kinds)}"
        return
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield from _out_of_range(value, schema, at)
    if isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{at} is not written as it must be"
    if isinstance(value, list):
        yield from _broken_list(value, schema, root, at)
    if isinstance(value, dict):
        yield from _broken_object(value, schema, root, at)


def _is(value: object, kind: str) -> bool:
    return isinstance(value, KINDS[kind]) and (not isinstance(value, bool) or kind == "boolean")


def _out_of_range(value: float, schema: Schema, at: str) -> Iterator[str]:
    if isinstance(value, float) and not math.isfinite(value):
        yield f"{at} is not finite"
    if value < schema.get("minimum", -math.inf):
        yield f"{at} is below {schema['minimum']}"
    if value > schema.get("maximum", math.inf):
        yield f"{at} is above {schema['maximum']}"


def _broken_list(value: list[Any], schema: Schema, root: Schema, at: str) -> Iterator[str]:
    if len(value) < schema.get("minItems", 0):
        yield f"{at} has too few entries"
    for place, each in enumerate(value):
        yield from _broken(each, schema.get("items", {}), root, f"{at}[{place}]")


def _broken_object(value: dict[str, Any], schema: Schema, root: Schema, at: str) -> Iterator[str]:
    yield from (f"{at} lacks {key}" for key in schema.get("required", []) if key not in value)
    for key, each in value.items():
        inside = schema.get("properties", {}).get(key, schema.get("additionalProperties", True))
        if inside is False:
            yield f"{at} has {key}, which stands for nothing"
        elif isinstance(inside, Mapping):
            yield from _broken(each, inside, root, f"{at}.{key}")
