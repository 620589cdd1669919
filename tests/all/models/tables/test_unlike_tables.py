"""Tables that write a category, or name a column, in two ways: their cells are not linked in silence."""

import json
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

from reid_sql.errors import ReidError
from reid_sql.models.tables.audit import AuditedCell
from reid_sql.models.tables.published_tables import PublishedRows
from reid_sql_udfs.audit_tables import audit_tables

CELLS = [("N", "F", None), ("N", "M", 30), ("S", "F", None), ("S", "M", 44)]
HIDDEN = (2, 3)  # women of both regions; together, they do not follow from one table
REGIONS = [("N", 32), ("S", 47)]


def audit(*tables: Sequence[dict[str, Any]], **more: Any) -> list[AuditedCell]:
    numbers = [number for number, rows in enumerate(tables, 1) for _ in rows]
    texts = [json.dumps(row) for rows in tables for row in rows]
    return audit_tables(PublishedRows(np.array(numbers), texts), **more)


def first_table(names: dict[str, str]) -> list[dict[str, Any]]:
    return [
        {"region": names.get(region, region), "sex": sex, "records": count}
        for region, sex, count in CELLS
    ]


def second_table(names: dict[str, str], column: str = "region") -> list[dict[str, Any]]:
    return [{column: names.get(region, region), "records": count} for region, count in REGIONS]


def test_the_tables_reveal_both_counts_by_brute_force() -> None:
    fitting = [
        pair
        for pair in product(range(1, 50), repeat=2)
        if [(each, pair[at] + (30, 44)[at]) for at, each in enumerate("NS")] == REGIONS
    ]
    assert fitting == [HIDDEN]
    found = audit(first_table({}), second_table({}))
    assert [(each.finding, each.low) for each in found] == [("recovered", 2), ("recovered", 3)]


@pytest.mark.parametrize(
    ("written", "other"),
    [("Nord", "NORD"), ("Nord", "nord "), ("01", "1"), ("Québec", "Quebec"), ("a  b", "a b")],
)
def test_a_category_that_is_written_in_two_ways_is_refused(written: str, other: str) -> None:
    tables = first_table({"N": written}), second_table({"N": other})
    with pytest.raises(ReidError, match="write categories alike, got two of 'region'") as refusal:
        audit(*tables)
    assert written not in str(refusal.value)


def test_categories_that_one_table_distinguishes_are_two() -> None:
    """In the first table, a and A are two codes; the second lacks one of them."""
    first = [{"code": code, "records": 20} for code in ("a", "A", "b")]
    second = [{"code": code, "sex": "F", "records": 9} for code in ("A", "b")]
    assert audit(first, second) is not None


def test_a_column_with_two_names_is_named() -> None:
    found = audit(first_table({}), second_table({}, "area"))
    [named] = [each for each in found if each.kind == "column"]
    assert named.finding == "not_audited"
    assert named.status.startswith("renamed_columns: ")
    assert named.tables == [1, 2]


def test_columns_of_the_same_categories_and_other_counts_are_two() -> None:
    smokers = [{"smoker": each, "records": count} for each, count in (("yes", 31), ("no", 70))]
    ill = [{"ill": each, "records": count} for each, count in (("yes", 44), ("no", 57))]
    assert not [each for each in audit(smokers, ill) if each.kind == "column"]
    both = [
        {"smoker": one, "ill": other, "records": 20 + (one == other == "yes")}
        for one, other in product(("yes", "no"), repeat=2)
    ]
    halves = [
        [{name: "yes", "records": 41}, {name: "no", "records": 40}] for name in ("smoker", "ill")
    ]
    assert [each for each in audit(*halves) if each.kind == "column"]
    assert not [each for each in audit(*halves, both) if each.kind == "column"]
