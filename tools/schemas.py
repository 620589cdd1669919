"""The JSON Schema of a policy, for editors."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain, count
from typing import Any, Final

from reid_sql.check.assessment import ENVIRONMENT, HOURS, LINKS
from reid_sql.check.catalogue import MEASURES
from reid_sql.check.measure import LIMITS, Measure
from reid_sql.check.policy import CAUTIONS, ENGINE, JUDGE_BY, MASK
from reid_sql.check.policy_model import LOSS_WEIGHT, SECONDS, SUPPRESSION, Preparing
from reid_sql.check.sources import PUBLISHED, ROLES
from reid_sql.hierarchies.hierarchy import (
    END,
    LENGTH,
    PART,
    RARE_BELOW,
    SEPARATOR,
    STANDARD_NAME,
    WIDTH,
)
from reid_sql.hierarchies.limits import LEVEL
from reid_sql.models.attacker.knowledge import SEED
from reid_sql.models.generalization.lattice import LOSS
from reid_sql.models.generalization.partition import METHOD
from reid_sql.parameters import NULLS, POINTS, POPULATION

Schema = dict[str, Any]

LINE_WIDTH: Final = 110
DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
NAMES: Final[Schema] = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
TEXT: Final[Schema] = {"type": "string"}
LINES: Final[Schema] = {"type": "integer", "minimum": 0, "maximum": 1000}
DAY: Final[Schema] = {"type": "string", "format": "date"}
URL: Final[Schema] = {
    "type": "string",
    "description": "the warehouse, like postgres://user@host/database; with a password, the variable of the "
    "environment that holds it, like env:WAREHOUSE_URL",
}


def policy() -> str:
    """Write reid_sql/check/policy.schema.json."""
    return write_json(share_repeated(policy_schema())) + "\n"


def policy_schema() -> Schema:
    """Write the schema."""
    return {
        "$schema": DRAFT,
        "title": "A release policy of reid-sql",
        "type": "object",
        "required": ["tables"],
        "additionalProperties": False,
        "properties": {
            "name": TEXT
            | {"description": "what the reports call the policy; the file's name unless given"},
            "engine": ENGINE.schema
            | {"description": "what counts; as the tables need unless given"},
            "url": URL,
            "baseline": TEXT
            | {"description": "an earlier JSON report: fail only on what got worse"},
            "baseline_accepted_by": TEXT
            | {
                "description": "who accepts that figures which failed in the baseline stay as they are"
            },
            "mask_below": MASK.schema
            | {"default": 10, "description": "counts of fewer records are masked"},
            "keep_values": {
                "type": "boolean",
                "description": "whether queries of a warehouse return counts and codes alone, and no value",
            },
            "memory_limit": TEXT | {"description": "the most memory to use, such as 4GB"},
            "seed": SEED.schema | {"default": 0},
            "cautions": CAUTIONS.schema
            | {"description": "whether a figure with a caution may be judged"},
            "accept": NAMES
            | {"description": "the codes of cautions that never block, such as missing_codes"},
            "prepare": _prepare(),
            "checks": {"$ref": "#/$defs/checks", "description": "checks of every table"},
            "tables": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/table"}},
            "recipients": {"type": "array", "items": _recipient()},
            "assessment": _assessment(),
        },
        "$defs": {
            "table": _table(),
            "hierarchies": {
                "type": "object",
                "description": "for a column, its steps; else they are proposed",
                "additionalProperties": {
                    "oneOf": [
                        {"type": "array", "items": {"oneOf": _steps()}},
                        *_named_hierarchies(),
                    ]
                },
            },
            "checks": {"type": "array", "items": {"oneOf": [_check(m) for m in MEASURES.values()]}},
        },
    }


def _recipient() -> Schema:
    return {
        "type": "object",
        "description": "who receives tables, and what they may know; its checks are judged for them",
        "required": ["name", "environment", "checks"],
        "additionalProperties": False,
        "properties": {
            "name": TEXT,
            "environment": ENVIRONMENT.schema,
            "controls": NAMES
            | {"description": "what prevents misuse, in words; no figure hangs on it"},
            "tables": NAMES | {"description": "the tables that they receive; all unless given"},
            "knows": NAMES
            | {"description": "the columns that they may know; the quasi-identifiers unless given"},
            "rows": POINTS.schema | {"description": "how many rows of a person they may know"},
            "scenario": TEXT
            | {"description": "the file of what they may know, for measures of an attacker"},
            "links": {
                "type": "array",
                "items": LINKS.schema,
                "description": "the tables that they may link with, such as population",
            },
            "checks": {"$ref": "#/$defs/checks"},
        },
    }


def _assessment() -> Schema:
    test = {"who": TEXT, "date": DAY, "hours": HOURS.schema, "sources": NAMES, "outcome": TEXT}
    return {
        "type": "object",
        "description": "what people write about the release, for reid-sql dossier",
        "required": ["assessor", "date"],
        "additionalProperties": False,
        "properties": {
            **dict.fromkeys(("assessor", "role", "qualification", "purpose", "license"), TEXT),
            "date": DAY,
            "valid_until": DAY,
            "triggers": NAMES | {"description": "what requires a new assessment"},
            "standards": NAMES
            | {
                "description": "the tables of clauses: shipped names, or TOML files beside the policy"
            },
            "answers": {"type": "object", "additionalProperties": TEXT},
            "intruder_tests": {
                "type": "array",
                "description": "tests in which people tried to identify somebody",
                "items": {
                    "type": "object",
                    "required": ["who", "date", "hours", "outcome"],
                    "additionalProperties": False,
                    "properties": test,
                },
            },
        },
    }


def _prepare() -> Schema:
    usual = Preparing()
    return {
        "type": "object",
        "description": "how `reid-sql prepare` seeks a release that meets the policy",
        "additionalProperties": False,
        "properties": {
            "suppression": SUPPRESSION.schema | {"default": usual.suppression},
            "cells": {"type": "boolean", "description": "blank single values where that is enough"},
            "loss": LOSS.schema | {"default": usual.loss},
            "weights": {
                "type": "object",
                "description": "for a column, how much it counts in the loss; others count 1",
                "additionalProperties": LOSS_WEIGHT.schema,
            },
            "method": METHOD.schema
            | {
                "default": usual.method,
                "description": "global or local recoding, or the one that loses less",
            },
            "time_limit": SECONDS.schema | {"default": usual.time_limit},
            "keep": NAMES
            | {"description": "columns to release besides those that the policy names"},
            "target": {
                "type": "string",
                "minLength": 1,
                "description": "a column; the report shows how well the others still predict it",
            },
            "cross_tables": {
                "type": "array",
                "items": NAMES | {"minItems": 2, "maxItems": 2},
                "description": "pairs of columns; the report shows how much the table of both changes",
            },
            "fixed": NAMES | {"description": "quasi-identifiers that stay as they are"},
            "never_left_out": NAMES
            | {"description": "quasi-identifiers that may be coarser, but not left out"},
            "max_level": {
                "type": "object",
                "description": "for a column, the coarsest level of its hierarchy; 0 is as it is",
                "additionalProperties": LEVEL.schema,
            },
            "at_most": {
                "type": "object",
                "description": "for a column of numbers, the width of its widest bands",
                "additionalProperties": WIDTH.schema,
            },
            "hierarchies": {"$ref": "#/$defs/hierarchies"},
            "ladders": {
                "$ref": "#/$defs/hierarchies",
                "description": "the older name of hierarchies",
            },
        },
    }


def _steps() -> list[Schema]:
    ends = {"below": END.schema, "above": END.schema}
    groups = {"type": "object", "additionalProperties": NAMES}
    return [
        _step("bands", {"bands": WIDTH.schema, **ends}),
        _step("date", {"date": PART.schema, "form": TEXT}),
        _step("prefix", {"prefix": LENGTH.schema}),
        _step("rare", {"rare": RARE_BELOW.schema}),
        _step("groups", {"groups": groups}),
        _step("above", ends),
        _step("below", ends) | {"not": {"required": ["above"]}},
    ]


def _named_hierarchies() -> list[Schema]:
    return [
        _step("standard", {"standard": STANDARD_NAME.schema}),
        _step("arx", {"arx": TEXT, "separator": SEPARATOR.schema | {"default": ";"}}),
    ]


def _step(kind: str, properties: Schema) -> Schema:
    return {
        "type": "object",
        "required": [kind],
        "additionalProperties": False,
        "properties": properties,
    }


def _table() -> Schema:
    return {
        "type": "object",
        "anyOf": [{"required": ["file"]}, {"required": ["files"]}, {"required": ["table"]}],
        "not": {"required": ["file", "files"]},
        "additionalProperties": False,
        "properties": {
            "name": TEXT,
            "engine": ENGINE.schema
            | {"description": "what counts this table, if not what counts the others"},
            "file": TEXT
            | {
                "description": "CSV, Parquet, JSON, DuckDB, Excel, SPSS or Stata file, seen from the policy's folder"
            },
            "files": TEXT
            | {"description": "a pattern of files with the same columns, in place of file"},
            "url": URL,
            "table": TEXT
            | {
                "description": "the table of a DuckDB file or a warehouse, by its name or schema.name"
            },
            "delimiter": TEXT
            | {"minLength": 1, "maxLength": 1, "description": "between the fields of a text file"},
            "quote": TEXT
            | {"maxLength": 1, "description": "around fields of a text file; empty for none"},
            "encoding": {
                "type": "string",
                "examples": ["utf-8", "cp1252", "latin-1", "utf-16"],
                "description": "of a text file, as Python names it; utf-8 unless given",
            },
            "header": {
                "type": "boolean",
                "description": "whether a text file begins with the names of its columns",
            },
            "skip": {
                "anyOf": [LINES, {"type": "array", "items": LINES, "minItems": 1, "maxItems": 2}],
                "description": "lines of a text file above the names of its columns, or these and the lines "
                "below the last record",
            },
            "quasi_identifiers": NAMES,
            "sensitive": NAMES,
            "released": NAMES
            | {"description": "the columns of the release; all columns of the file unless given"},
            "left_out": NAMES
            | {"description": "columns of the file that the release lacks, in place of released"},
            "nulls": NULLS.schema,
            "entity": TEXT
            | {"description": "the column that identifies people, where a person has several rows"},
            "missing": {
                "type": "object",
                "description": "for a column, the values that mean missing, such as 97 or unknown",
                "additionalProperties": {
                    "type": "array",
                    "minItems": 1,
                    "items": {"type": ["string", "number"]},
                },
            },
            "population": POPULATION.schema
            | {"description": "the people that the table is a sample of"},
            "population_file": TEXT | {"description": "the table of the population"},
            "original_file": TEXT | {"description": "the table that a synthetic one was made from"},
            "holdout_file": TEXT
            | {"description": "people like those of the original, who were not used"},
            "former_file": TEXT | {"description": "the release of the table before this one"},
            "joined_file": TEXT | {"description": "a table that this one is joined with"},
            **{
                f"{role}_file": TEXT
                | {"description": "a published table that is audited with this one"}
                for role in PUBLISHED
            },
            **{f"{role}_table": TEXT for role in ROLES},
            "checks": {"$ref": "#/$defs/checks"},
        },
    }


def _check(measure: Measure) -> Schema:
    own: Schema = {
        "measure": {"const": measure.name},
        measure.bound: LIMITS[measure.unit].schema,
        "no_worse": {"type": "boolean"},
        "by": NAMES,
        "quasi_identifiers": NAMES,
        "sensitive": TEXT,
        "judge_by": JUDGE_BY.schema,
    }
    return {
        "type": "object",
        "description": measure.words,
        "required": ["measure"],
        "anyOf": [{"required": [measure.bound]}, {"required": ["no_worse"]}],
        "additionalProperties": False,
        "properties": own
        | {name: parameter.domain.schema for name, parameter in measure.parameters.items()},
    }


def share_repeated(schema: Schema) -> Schema:
    """Name what several properties may be once, in `$defs`, after the first of the properties."""
    found = Counter(json.dumps(each) for _, each in _properties(schema))
    names: dict[str, str] = {}
    for name, each in _properties(schema):
        text = json.dumps(each)
        if found[text] > 1 and text not in names and "$ref" not in each:
            taken = {*names.values(), *schema["$defs"]}
            numbered = chain([name], (f"{name}_{place}" for place in count(2)))
            names[text] = next(free for free in numbered if free not in taken)
    shared = {name: json.loads(text) for text, name in names.items()}
    replaced: Schema = _replace(schema, names)
    return {**replaced, "$defs": {**replaced["$defs"], **shared}}


def _properties(schema: Any) -> Iterator[tuple[str, Schema]]:  # noqa: ANN401 - any part of a schema
    """Find every property with its schema, at any depth."""
    if isinstance(schema, list):
        for each in schema:
            yield from _properties(each)
    elif isinstance(schema, dict):
        yield from schema.get("properties", {}).items()
        for each in schema.values():
            yield from _properties(each)


def _replace(schema: Any, names: Mapping[str, str]) -> Any:  # noqa: ANN401 - any part of a schema
    if isinstance(schema, list):
        return [_replace(each, names) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if name := names.get(json.dumps(schema)):
        return {"$ref": f"#/$defs/{name}"}
    return {key: _replace(each, names) for key, each in schema.items()}


def write_json(value: Any, indent: int = 0) -> str:  # noqa: ANN401 - any JSON
    """Write JSON with one line for whatever fits into it."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + indent <= LINE_WIDTH or not isinstance(value, list | dict):
        return line
    named = value.items() if isinstance(value, dict) else [(None, each) for each in value]
    inner = " " * (indent + 1)
    parts = [
        inner + ("" if key is None else f"{json.dumps(key)}: ") + write_json(each, indent + 1)
        for key, each in named
    ]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return "\n".join([opening, ",\n".join(parts), " " * indent + closing])
