"""Codes that a policy declares missing, against the same table with NULL in their place."""

from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from reid_sql.check.gate import check, run
from reid_sql.errors import OutOfDomainError, UnknownNameError
from tests.cells import each_cell

Columns = dict[str, list[Any]]
L = '{measure = "l_diversity", at_least = 1}'
K = '{measure = "k", at_least = 1}, {measure = "uniqueness", at_most = 1}'
KINDS: dict[str, tuple[list[Any], str]] = {
    "text": (["a", "97", "098", "98"], '["97", "98"]'),
    "whole number": ([1, 97, 3, 98], "[97, 98]"),
    "number": ([1.5, 97.0, 3.0, 98.0], '["97", "98.0"]'),
    "date": (
        [date(2020, 1, 1), date(9999, 12, 31), date(2021, 1, 1), date(1900, 1, 1)],
        '["9999-12-31", "1900-01-01"]',
    ),
}


def people(values: list[Any]) -> Columns:
    """A table of 240 people by an age, and a value of each; every second value means missing."""
    column = [values[i * 7 % 11 % 4] for i in range(240)]
    return {"age": [20 + i % 9 for i in range(240)], "x": column}


def known(columns: Columns, values: list[Any]) -> Columns:
    return columns | {
        "x": [None if each in (values[1], values[3]) else each for each in columns["x"]]
    }


def page(folder: Path, columns: Columns, about: str, checks: str) -> Any:
    pl.DataFrame(columns).write_parquet(folder / "t.parquet")
    (folder / "p.toml").write_text(
        f'mask_below = 1\n[[tables]]\nfile = "t.parquet"\n{about}\nchecks = [{checks}]',
        encoding="utf-8",
    )
    return check(folder / "p.toml")


def figures(found: Any) -> list[Any]:
    return [(each["groups"][0]["value"], each["groups"][0]["records"]) for each in found["checks"]]


ROLES = {
    "wildcard": ('quasi_identifiers = ["age", "x"]\nnulls = "wildcard"', K),
    "drop": ('quasi_identifiers = ["age", "x"]\nnulls = "drop"', K),
    "sensitive": ('quasi_identifiers = ["age"]\nsensitive = ["x"]', L),
}


@each_cell("kind", KINDS)
@each_cell("role", ROLES)
@pytest.mark.first(cells=4)
def test_declared_codes_count_as_null(tmp_path: Path, role: str, kind: str) -> None:
    (about, checks), (values, codes) = ROLES[role], KINDS[kind]
    columns = people(values)
    declared = page(tmp_path, columns, f"{about}\nmissing = {{ x = {codes} }}", checks)
    as_null = page(tmp_path, known(columns, values), about, checks)
    assert figures(declared) == figures(as_null)
    assert figures(declared) != figures(page(tmp_path, columns, about, checks))
    for one, other in zip(declared["checks"], as_null["checks"], strict=True):
        assert one["cautions"] == other["cautions"]


def test_quasi_identifiers_keep_their_codes_apart_and_are_no_caution(tmp_path: Path) -> None:
    """The released table shows 97 and 98: as one NULL they would be a larger class than they are."""
    columns = people([1, 97, 3, 98])
    about = 'quasi_identifiers = ["age", "x"]'
    before = page(tmp_path, columns, about, K)
    after = page(tmp_path, columns, f'{about}\nmissing = {{ x = ["97", "98"] }}', K)
    assert figures(before) == figures(after)
    assert [each["caution_codes"] for each in before["checks"]] != [[], []]
    assert not any("missing_codes" in each["caution_codes"] for each in after["checks"])


def test_a_code_that_is_not_declared_is_a_caution_still(tmp_path: Path) -> None:
    about = 'quasi_identifiers = ["age", "x"]\nmissing = { x = [97] }'
    found = page(tmp_path, people([1, 97, 3, 98]), about, K)["checks"][0]
    assert [each for each in found["cautions"] if "'98'" in each and "'97'" not in each]


@pytest.mark.all
def test_a_warehouse_counts_as_duckdb_does(tmp_path: Path) -> None:
    ibis = pytest.importorskip("ibis")
    for role, (about, checks) in ROLES.items():
        for kind, (values, codes) in KINDS.items():
            columns, declared = people(values), f"{about}\nmissing = {{ x = {codes} }}"
            expected = figures(page(tmp_path, columns, declared, checks))
            policy = tmp_path / "w.toml"
            head = 'mask_below = 1\n[[tables]]\ntable = "t"'
            policy.write_text(f"{head}\n{declared}\nchecks = [{checks}]", encoding="utf-8")
            table = ibis.memtable(pl.DataFrame(columns))
            assert figures(run(policy, tables={"t": table}).page) == expected, (role, kind)


def test_odd_declarations_are_refused(tmp_path: Path) -> None:
    about = 'quasi_identifiers = ["age", "x"]\nmissing = '
    with pytest.raises(
        OutOfDomainError, match=r"missing\.x must be a list of values that mean missing"
    ):
        page(tmp_path, people([1, 97, 3, 98]), f'{about}{{ x = "97" }}', K)
    with pytest.raises(UnknownNameError, match="must be columns of the table, got 'y'"):
        page(tmp_path, people([1, 97, 3, 98]), f"{about}{{ y = [97] }}", K)
