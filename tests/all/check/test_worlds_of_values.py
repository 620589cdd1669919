"""Whoever knows all tables that agree with a whole report learns no small count of a sensitive value.

All tables of a few people by one quasi-identifier and a sensitive column are tried, up to the names of their
values. What each check measures is computed here from the counts of the table, by the definitions of the
measures; the gate judges and masks it. A small count follows from a report if in every table that agrees with
it some value of a class has that many people, or all but so many of a class have one value, or so many
people are in the classes that a check counts or in none of them, unless it is so in every table of as many
people with the same k.
"""

import json
import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np

from reid_sql.check.exact_figures import WHOLE, Figure, MeasuredCheck, MeasuredTable
from reid_sql.check.masked_checks import mask_report
from reid_sql.check.masking import ReportPage, has_small_counts
from reid_sql.check.policy import read_policy
from reid_sql.check.policy_model import Check, Policy
from reid_sql.check.sources import Evidence
from reid_sql.check.verdicts import judge_tables
from reid_sql.models.classes.disclosure import OK, Histogram
from tests.cells import each_cell

Table = tuple[tuple[int, ...], ...]  # people by class and value
Page = dict[str, Any]

ASKED: list[dict[str, Any]] = [
    {"measure": "k", "at_least": 1},
    {"measure": "average_risk", "at_most": 1},
    {"measure": "alpha_k_anonymity", "at_most": 1},
    {"measure": "l_diversity", "at_least": 0},
    {"measure": "l_diversity", "variant": "entropy", "at_least": 0},
    {"measure": "l_diversity", "variant": "recursive", "c": 2, "at_least": 0},
    {"measure": "t_closeness", "at_most": 1},
    {"measure": "beta_likeness", "at_most": 1e6},
    {"measure": "delta_disclosure", "at_most": 1e6},
    {"measure": "alpha_k_anonymity_offending", "alpha": 0.6, "at_most": 1},
    {"measure": "alpha_k_anonymity_offending", "alpha": 0.8, "at_most": 1},
    {"measure": "l_diversity_offending", "l": 2, "at_most": 1},
    {"measure": "t_closeness_offending", "t": 0.2, "at_most": 1},
]


def compositions(people: int, parts: int) -> Iterator[tuple[int, ...]]:
    """All ways to divide so many people into so many parts, of which some may be empty."""
    if parts == 1:
        yield (people,)
        return
    for first in range(people + 1):
        for rest in compositions(people - first, parts - 1):
            yield (first, *rest)


@cache
def all_tables(people: int, classes: int, values: int) -> tuple[Table, ...]:
    """All tables of so many people, up to the names of classes and values, of which some may be empty."""
    found = {
        min(
            tuple(sorted(tuple(row[at] for at in order) for row in table if any(row)))
            for order in permutations(range(values))
        )
        for cells in compositions(people, classes * values)
        if (table := tuple(zip(*[iter(cells)] * values, strict=True)))
    }
    return tuple(sorted(found))


def shares(row: Sequence[int]) -> list[float]:
    return [count / sum(row) for count in row]


def share_of_table(table: Table) -> list[float]:
    return shares([sum(column) for column in zip(*table, strict=True)])


def alpha(row: Sequence[int], _: Table, **__: Any) -> float:
    return max(shares(row))


def diversity(row: Sequence[int], _: Table, *, variant: str = "distinct", c: float = 3) -> float:
    counts = sorted(filter(None, row), reverse=True)
    if variant == "distinct":
        return len(counts)
    if variant == "entropy":
        return math.exp(-sum(p * math.log(p) for p in shares(row) if p))
    fitting = [at for at in range(1, len(counts) + 1) if counts[0] < c * sum(counts[at - 1 :])]
    return max(fitting, default=0)


def closeness(row: Sequence[int], table: Table, **_: Any) -> float:
    pairs = zip(shares(row), share_of_table(table), strict=True)
    return sum(abs(p - q) for p, q in pairs) / 2


def likeness(row: Sequence[int], table: Table, **_: Any) -> float:
    return max((p - q) / q for p, q in zip(shares(row), share_of_table(table), strict=True) if q)


def disclosure(row: Sequence[int], table: Table, **_: Any) -> float:
    pairs = zip(shares(row), share_of_table(table), strict=True)
    return max(abs(math.log(p / q)) for p, q in pairs if p)


OF_A_CLASS: dict[str, Callable[..., float]] = {
    "alpha_k_anonymity": alpha,
    "l_diversity": diversity,
    "t_closeness": closeness,
    "beta_likeness": likeness,
    "delta_disclosure": disclosure,
}


def offends(asked: dict[str, Any], row: Sequence[int], table: Table) -> bool:
    """Whether a class breaks the threshold of a check."""
    name = asked["measure"].removesuffix("_offending")
    value = OF_A_CLASS[name](row, table)
    if name == "l_diversity":
        return bool(value < asked["l"])
    if name == "alpha_k_anonymity":
        return bool(value > asked["alpha"] + 1e-12 or sum(row) < 2)
    return bool(value > asked["t"] + 1e-12)


def measure(asked: dict[str, Any], table: Table) -> float:
    """What a check measures, by the definition of its measure."""
    people = sum(map(sum, table))
    name = asked["measure"]
    if name == "k":
        return min(map(sum, table))
    if name == "average_risk":
        return len(table) / people
    if name.endswith("_offending"):
        return sum(sum(row) for row in table if offends(asked, row, table)) / people
    options = {key: asked[key] for key in ("variant", "c") if key in asked}
    worst = min if name == "l_diversity" else max
    return worst(OF_A_CLASS[name](row, table, **options) for row in table)


def counts_of(table: Table, asked: Sequence[dict[str, Any]], below: int) -> set[tuple[str, int]]:
    """The small counts of a table that somebody may learn."""
    people = sum(map(sum, table))
    found = {("value", count) for row in table for count in row if count < sum(row)}
    found |= {("rest", sum(row) - max(row)) for row in table}
    for place, each in enumerate(asked):
        if each["measure"].endswith("_offending"):
            inside = sum(sum(row) for row in table if offends(each, row, table))
            found |= {(f"inside {place}", inside), (f"outside {place}", people - inside)}
    return {(what, count) for what, count in found if 0 < count < below}


def read(folder: Path, asked: Sequence[dict[str, Any]], below: int) -> Policy:
    """The policy of these checks, whose file is never measured."""
    (folder / "t.csv").write_text("a,s\n1,1\n", encoding="utf-8")
    about = {"file": "t.csv", "quasi_identifiers": ["a"], "sensitive": ["s"], "checks": asked}
    (folder / "p.json").write_text(json.dumps({"mask_below": below, "tables": [about]}))
    return read_policy(folder / "p.json")


def report(policy: Policy, asked: Sequence[dict[str, Any]], table: Table) -> Page:
    """The gate's report on the table, judged and masked by the gate."""
    sizes = Counter(map(sum, table))
    histogram = Histogram(
        *(
            np.array(each, dtype=np.int64)
            for each in zip(*((s, n, s * n) for s, n in sorted(sizes.items())), strict=True)
        )
    )
    few = any(0 < count < policy.mask_below for row in table for count in row)
    small = policy.mask_below > 1 and has_small_counts(histogram, 0, policy.mask_below)
    people, k = sum(map(sum, table)), min(map(sum, table))

    def measured(check: Check, each: dict[str, Any]) -> MeasuredCheck:
        figure = Figure(WHOLE, measure(each, table), None, None, OK, whole=people, k=k)
        figure = replace(figure, small=small, few_values=few and policy.mask_below > 1)
        return MeasuredCheck("t", check, (figure,))

    checks = policy.tables[0].checks
    all_checks = tuple(measured(*each) for each in zip(checks, asked, strict=True))
    evidence = Evidence("", {}, ())
    of_table = MeasuredTable(policy.tables[0], evidence, people, all_checks, classes=histogram)
    masked = mask_report(policy, [of_table], judge_tables(policy, [of_table], None), None)
    return ReportPage({"table": masked.tables[0], "checks": masked.checks})


def agrees(shown: Any, true: Any) -> bool:
    """Whether what is shown of class sizes is so in a table; what is masked may be anything."""
    return shown is None or shown == true


def fits(page: Page, masked: Page, true: Page) -> bool:
    """Whether a report may be that of a table, by the table's own report and its exact one."""
    pairs = zip(page["table"]["class_sizes"], true["table"]["class_sizes"], strict=True)
    if not all(
        agrees(each[key], exact[key]) for each, exact in pairs for key in ("records", "classes")
    ):
        return False
    for each, own, exact in zip(page["checks"], masked["checks"], true["checks"], strict=True):
        [shown], [mine], [real] = each["groups"], own["groups"], exact["groups"]
        if shown["value"] is not None and not math.isclose(
            shown["value"], real["value"], abs_tol=1e-9
        ):
            return False
        if shown["below"] is not None:
            if mine["below"] is not None and mine["below"] != shown["below"]:
                return False
            if not 0 < real["value"] < shown["below"] + 1e-9:
                return False
    return True


def floor_of(table: Table, asked: Sequence[dict[str, Any]]) -> str:
    """What no report can hide: k, where a check asks for it."""
    return json.dumps([measure(each, table) for each in asked if each["measure"] == "k"])


def describe(page: Page) -> list[tuple[Any, ...]]:
    """The figures of a report, for whoever reads that the test failed."""
    return [
        (
            each["measure"],
            each["parameters"],
            *(each["groups"][0][key] for key in ("value", "below")),
        )
        for each in page["checks"]
    ]


SIZES = [(12, 2, 2, 4), (14, 2, 2, 4), (9, 2, 3, 3), (11, 3, 2, 3)]


@each_cell("sizes", SIZES)
@each_cell("seed", range(3))
def test_no_small_count_is_the_same_in_all_tables_that_agree_with_a_report(
    tmp_path: Path, sizes: tuple[int, int, int, int], seed: int
) -> None:
    *shape, below = sizes
    draw = random.Random(seed)  # noqa: S311 - tables, not secrets
    asked = ASKED if seed == 0 else draw.sample(ASKED, 5)
    tables = all_tables(*shape)
    by_mask = [
        [report(policy, asked, table) for table in tables]
        for policy in (read(tmp_path, asked, below), read(tmp_path, asked, 1))
    ]
    worlds = list(zip(tables, *by_mask, strict=True))
    unhidden = {table: floor_of(table, asked) for table in tables}
    counts = {table: counts_of(table, asked, below) for table in tables}
    floors: dict[str, set[tuple[str, int]]] = {}
    for table in tables:
        key = unhidden[table]
        floors[key] = floors.get(key, counts[table]) & counts[table]
    found: dict[str, list[set[tuple[str, int]]]] = defaultdict(list)
    for table, page, _ in worlds if len(tables) < 60 else draw.sample(worlds, 60):
        learned = set(counts[table])
        for other, masked, true in worlds:
            if learned and fits(page, masked, true):
                learned &= counts[other]
        learned -= floors[unhidden[table]]
        assert not learned, (table, learned, describe(page))
        found[json.dumps(page)].append(counts[table])
    assert sum(bool(each) for each in counts.values()) > len(tables) / 2  # there was much to hide
