"""The keys that a policy, its tables and its checks may have."""

from typing import Final

KEYS: Final = (
    "name",
    "engine",
    "url",
    "baseline",
    "baseline_accepted_by",
    "mask_below",
    "memory_limit",
    "seed",
    "cautions",
    "prepare",
    "tables",
    "checks",
)
TABLE_KEYS: Final = (
    "name",
    "file",
    "files",
    "url",
    "table",
    "delimiter",
    "encoding",
    "header",
    "quote",
    "quasi_identifiers",
    "sensitive",
    "nulls",
    "entity",
    "population",
    "population_file",
    "population_table",
    "checks",
)
CHECK_KEYS: Final = (
    "measure",
    "at_most",
    "at_least",
    "no_worse",
    "by",
    "quasi_identifiers",
    "sensitive",
    "judge_by",
)
