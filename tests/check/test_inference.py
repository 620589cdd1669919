"""Whoever tries all tables that fit a report cannot bound what it hides within less than the mask."""

import itertools
import json
import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reid_sql.check.gate import check
from reid_sql.check.inference import Unknowns, is_protected
from reid_sql.check.masking import round_between
from tests.cells import each_cell

BELOW = 5
Sizes = tuple[int, ...]  # of the classes of a table, descending


@cache
def partitions(records: int, largest: int) -> list[Sizes]:
    """All ways to divide so many records into classes."""
    if records == 0:
        return [()]
    return [
        (first, *rest)
        for first in range(min(records, largest), 0, -1)
        for rest in partitions(records - first, first)
    ]


def within(sizes: Sizes, low: int, high: float) -> int:
    return sum(size for size in sizes if low <= size <= high)


def fits(page: dict[str, Any], sizes: Sizes, *, empty: bool) -> bool:
    """Whether a table of these classes may be behind the page; `empty` if a masked bin has no records."""
    table, records = page["tables"][0], sum(sizes)
    for each in table["class_sizes"]:
        low, high = each["from"], each["to"] or math.inf
        counted = within(sizes, low, high)
        if each["records"] is None and counted == 0 and not empty:
            return False
        if each["records"] not in (None, counted):
            return False
        if each["classes"] not in (None, sum(low <= size <= high for size in sizes)):
            return False
    if table["classes"] not in (None, len(sizes)):
        return False
    return all(fits_check(each, sizes, records) for each in page["checks"])


def fits_check(each: dict[str, Any], sizes: Sizes, records: int) -> bool:
    group = each["groups"][0]
    if group["masked"]:
        return True
    unique = sizes.count(1)
    exact = {
        "k": min(sizes),
        "unique_records": unique,
        "uniqueness": unique / records,
        "records_at_risk": within(
            sizes, 1, math.ceil(1 / (each["parameters"].get("threshold") or 1)) - 1
        )
        / records,
        "average_risk": len(sizes) / records,
        "average_class_risk": sum(1 / size for size in sizes) / len(sizes),
    }[each["measure"]]
    if group["below"] is None:
        return group["value"] is None or math.isclose(
            group["value"], exact, rel_tol=1e-9, abs_tol=1e-12
        )
    scale = records if each["measure"] == "unique_records" else 1
    if not 0 < exact / scale < 1:
        return False
    if group["below"] == scale:  # all but a few, or no bound
        return True
    low, high = round_between(exact / scale, records, BELOW)
    return low * scale <= exact < high * scale + 1e-9 and math.isclose(
        high * scale, group["below"], abs_tol=0.6 if scale > 1 else 1e-9
    )


CHECKS = [
    {"measure": "k", "at_least": 1},
    {"measure": "unique_records", "at_most": 0},
    {"measure": "records_at_risk", "threshold": 0.3, "at_most": 0},
    {"measure": "average_risk", "at_most": 0},
    {"measure": "average_class_risk", "at_most": 0},
]


def report(folder: Path, sizes: Sizes) -> dict[str, Any]:
    """The gate's report on a table of classes of these sizes, as JSON."""
    lines = [f"v{place}" for place, size in enumerate(sizes) for _ in range(size)]
    (folder / "t.csv").write_text("\n".join(["a", *lines]) + "\n", encoding="utf-8")
    policy = {
        "mask_below": BELOW,
        "tables": [{"file": "t.csv", "quasi_identifiers": ["a"], "checks": CHECKS}],
    }
    (folder / "p.json").write_text(json.dumps(policy), encoding="utf-8")
    found: dict[str, Any] = json.loads(json.dumps(check(folder / "p.json")))
    return found


def tables() -> Iterator[Sizes]:
    draw = random.Random(7)  # noqa: S311 - tables, not secrets
    yield (1, 1, 1)
    yield (20, 1, 1, 1)
    yield (20, 2, 1, 1)
    yield (12, 12, 2, 1)
    yield (9, 9, 9, 1)
    for _ in range(19):
        drawn = [draw.choice([1, 1, 2, 3, 4, 6, 12]) for _ in range(draw.randint(2, 9))]
        yield tuple(sorted(drawn, reverse=True))


@each_cell("sizes", list(tables()))
@pytest.mark.first(cells=6)
def test_no_small_count_of_a_report_can_be_bounded_within_less_than_the_mask(
    tmp_path: Path, sizes: Sizes
) -> None:
    records = sum(sizes)
    if records > 42:
        sizes = sizes[1:]
        records = sum(sizes)
    page = report(tmp_path, sizes)
    bins = [
        (each["from"], each["to"] or math.inf)
        for each in page["tables"][0]["class_sizes"]
        if each["records"] is None
    ]
    bounds = {each["groups"][0]["below"] for each in page["checks"]} - {None, 1.0, records}
    if not bounds and not any(
        each["records"] is not None for each in page["tables"][0]["class_sizes"]
    ):
        return  # only the number of all records is left, and k, which the policy asks for
    empty = any(within(sizes, *each) == 0 for each in bins)
    worlds = [world for world in partitions(records, records) if fits(page, world, empty=empty)]
    assert sizes in worlds  # or the reader of the page is not the one that is meant
    assert all(
        each["records"] in (None, 0) or each["records"] >= BELOW
        for each in page["tables"][0]["class_sizes"]
    )
    # an array of shape (worlds, bins)
    counts = np.array([[within(world, *each) for each in bins] for world in worlds])
    for some in itertools.chain.from_iterable(
        itertools.combinations(range(len(bins)), n) for n in range(1, len(bins) + 1)
    ):
        if 0 < sum(within(sizes, *bins[at]) for at in some) < BELOW:
            sums = counts[:, some].sum(axis=1)
            assert is_protected((sums.min(), sums.max()), sum(bins[at][0] for at in some), BELOW), (
                some,
                page,
            )


@each_cell("seed", range(20))
def test_what_is_protected_is_what_trying_all_finds(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - counts, not secrets
    most, many = 6, 3
    reader = Unknowns(most)
    ends = [(draw.randint(0, 2), draw.randint(3, most)) for _ in range(many)]
    unknowns = [reader.add(*each) for each in ends]
    truth = [draw.randint(*each) for each in ends]
    worlds = list(itertools.product(*(range(low, high + 1) for low, high in ends)))
    for _ in range(3):
        for some in ([1, 0, 0], [0, 1, 1], [1, 1, 1]):
            found = [dot(some, each) for each in worlds]
            low, high = min(found), max(found)
            small = dict(zip(unknowns, some, strict=True))
            assert not reader.protects(small, low - 1, high - low + 1)
            assert not reader.protects(small, low, high + 2)
            assert reader.protects(small, low - 1, high - low)
            assert reader.protects(small, low, high + 1)
        terms = [draw.randint(-1, 2) for _ in range(many)]
        value = dot(terms, truth)
        low = value - draw.randint(0, 1)
        reader.show(dict(zip(unknowns, terms, strict=True)), low, value)
        worlds = [each for each in worlds if low <= dot(terms, each) <= value]


def test_nothing_is_protected_by_figures_that_no_counts_fit() -> None:
    reader = Unknowns(9)
    unknown = reader.add()
    assert reader.protects({unknown: 1}, 1, 5)
    reader.show({unknown: 2}, 3, 3)
    assert not reader.protects({unknown: 1}, 1, 5)


def dot(terms: Sequence[int], values: Sequence[int]) -> int:
    return sum(a * b for a, b in zip(terms, values, strict=True))


RELATIVE = ("t_closeness", "beta_likeness", "delta_disclosure")


@each_cell("measure", RELATIVE)
@each_cell("rare", [1, 9, 12, 30])
@each_cell("records", [150, 32_561])
@pytest.mark.first(cells=4)
def test_the_count_of_a_rare_value_does_not_follow_from_measures_of_it(
    tmp_path: Path, measure: str, rare: int, records: int
) -> None:
    """A class of rare values alone has t = 1 − q, β = 1/q − 1, δ = −ln q, with q the share of the value.

    Another value has three records in a class, so that figures of the values are masked. Where no value of a
    class has fewer records than the mask, these counts could be shown themselves, and so may the figures.
    """
    others = [each for each in RELATIVE if each != measure]
    kinds = Counter(
        {
            ("x", "cold"): records // 2,
            ("x", "flu"): records - records // 2 - rare - 3,
            ("x", "gout"): 3,
            ("y", "hiv"): rare,
        }
    )
    [group, *later] = measure_values(tmp_path, kinds, (measure, *others))
    assert all(each["value"] is None and each["judged"] is None for each in (group, *later))
    # together they could reveal it
    assert all(each["below"] is None and each["masked"] for each in later)
    assert group["masked"] == (rare < 10)  # as its class is of few records
    kinds["x", "cold"] += kinds.pop(("x", "gout"))
    shown = measure_values(tmp_path, kinds, (measure, *others))
    assert all((each["value"] is None) == (rare < 10) for each in shown)
    if group["masked"]:
        assert group["below"] is None
        return
    exact = {"t_closeness": 1 - rare / records, "beta_likeness": records / rare - 1}
    assert shown[0]["value"] == pytest.approx(exact.get(measure, math.log(records / rare)))
    assert group["below"] >= exact.get(measure, math.log(records / rare))
    share: dict[str, Callable[[float], float]] = {
        "t_closeness": lambda t: 1 - t,
        "beta_likeness": lambda gain: 1 / (gain + 1),
        "delta_disclosure": lambda log: math.exp(-log),
    }
    fitting = [
        count
        for count in range(1, records // 2)
        if share[measure](group["below"]) * records <= count + 1e-9
        and same_bound(measure, count, records, group)
    ]
    assert rare in fitting
    assert max(fitting) - min(fitting) >= 8  # all that the mask itself says, or more


def measure_values(
    folder: Path, kinds: Counter[tuple[str, str]], measures: Sequence[str]
) -> list[dict[str, Any]]:
    """What a report shows of each measure of the sensitive column s in the classes by a."""
    lines = [",".join(each) for each in kinds.elements()]
    (folder / "t.csv").write_text("\n".join(["a,s", *lines]) + "\n", encoding="utf-8")
    asked = [{"measure": name, "at_most": 0} for name in measures]
    table = {"file": "t.csv", "quasi_identifiers": ["a"], "sensitive": ["s"], "checks": asked}
    (folder / "p.json").write_text(json.dumps({"tables": [table]}), encoding="utf-8")
    return [each["groups"][0] for each in check(folder / "p.json")["checks"]]


def same_bound(measure: str, count: int, records: int, group: dict[str, Any]) -> bool:
    """Whether a table with another count of the value has the same bound, by the gate's rounding."""
    q = count / records
    if measure == "t_closeness":
        return math.isclose(1 - round_between(q, records, 10)[0], group["below"], rel_tol=1e-9)
    low = round_between(q, records, 10)[0]
    highest = 1 / low if measure == "beta_likeness" else -math.log(low)
    return math.isclose(highest, group["below"], rel_tol=0.03)
