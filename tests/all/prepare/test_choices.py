"""What the first tier leaves of tests/prepare/test_choices.py."""

from itertools import permutations
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.prepare.brute import class_sizes, made_by, present
from tests.prepare.test_choices import QI, chosen

L2 = 'measure = "l_diversity"\nat_least = 2'


def levels_of(table: dict[str, Any], form: dict[str, Any]) -> list[int]:
    """The level of each column, by the words of its hierarchy."""
    hierarchies = {each["column"]: each["hierarchy"] for each in table["columns"]}
    return [hierarchies[each["column"]].index(each["form"]) for each in form["columns"]]


@pytest.mark.parametrize("more", ["", 'method = "best"', "cells = true"])
def test_each_form_meets_the_policy_by_its_own_query(tmp_path: Path, more: str) -> None:
    made = chosen(tmp_path, more, L2)
    (table,) = made.page["tables"]
    forms = table["choices"]
    assert 2 <= len(forms) <= 10
    assert [form["rank"] for form in forms] == list(range(1, len(forms) + 1))
    losses = [form["losses"]["entropy"] for form in forms]
    assert losses == sorted(losses)
    assert [form["retained"] for form in forms] == pytest.approx([1 - loss for loss in losses])
    [released] = [form for form in forms if form["is_release"]]
    assert released["losses"] == table["losses"]
    assert released["sql"].split("AS\n", 1)[1] == made.sql.split("AS\n", 1)[1]
    levels = [levels_of(table, form) for form in forms if form["method"] == "global"]
    for one, other in permutations(levels, 2):
        assert any(fine < coarse for fine, coarse in zip(one, other, strict=True))
    for form in forms:
        released = made_by(form["sql"], "people_released")
        assert class_sizes(released, QI)[0] >= 3
        assert (
            min(
                released.group_by(present(released, QI))
                .agg(pl.col("ill").n_unique())["ill"]
                .to_list()
            )
            >= 2
        )
        left_out = 1 - len(released) / 400
        assert form["suppressed_share"] is None or form["suppressed_share"] == pytest.approx(
            left_out, abs=1e-6
        )
    assert {form["method"] for form in forms} == (
        {"local", "global"} if "best" in more else {"global"}
    )
