"""Whoever knows all tables of so many records, and how reports are made, cannot solve for what one hides.

All tables of a few records are checked, up to the names of their values. Behind a report may be any table
that agrees with all that it shows. A small count is protected if it may be so many or so few that they are
apart by the mask, or any count that the mask itself allows; or if the report leaves it as open as what no
report can hide: the number of records, verdicts, cautions, and the figures of single classes that a policy
asks for.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, combinations_with_replacement, permutations, product
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from reid_sql.check.duckdb_table import DuckDBTable
from reid_sql.check.gate import measure_policy, open_with_engine
from reid_sql.check.inference import is_protected
from reid_sql.check.masking import round_between
from reid_sql.check.policy import read_policy
from tests.cells import each_cell

BELOW = 3
Record = tuple[str, ...]
Table = tuple[Record, ...]
Page = dict[str, Any]
# of each: how many, and the fewest if there are any
Counts = dict[tuple[Any, ...], tuple[int, int]]
SINGLE = {"k", "l_diversity"}  # figures of one class, which a policy asks for
CHECKS = [
    {"measure": "k", "at_least": 1},
    {"measure": "unique_records", "at_most": 0},
    {"measure": "records_at_risk", "threshold": 0.3, "at_most": 0},
    {"measure": "average_risk", "at_most": 0},
    {"measure": "average_class_risk", "at_most": 0},
]
OF_A = [
    {"measure": "uniqueness", "at_most": 0, "quasi_identifiers": ["a"]},
    {"measure": "average_risk", "at_most": 0, "quasi_identifiers": ["a"]},
]
BY_B = [{**each, "quasi_identifiers": ["a"], "by": ["b"]} for each in CHECKS[1:4]]
OF_S = [
    {"measure": name, "at_most": 0} for name in ("t_closeness", "beta_likeness", "delta_disclosure")
]
AB = {"quasi_identifiers": ["a", "b"]}


def canonical(table: Table, columns: Sequence[Sequence[str]], named: Sequence[bool]) -> Table:
    """The table with other names of its values; those of a column are interchangeable unless `named`."""
    ways = []
    for at, values in enumerate(columns):
        used = sorted({record[at] for record in table} - {""})
        new = (
            [used] if named[at] else permutations([value for value in values if value][: len(used)])
        )
        ways.append([dict(zip(used, each, strict=True)) | {"": ""} for each in new])
    return min(
        tuple(
            sorted(
                tuple(one[value] for one, value in zip(way, record, strict=True))
                for record in table
            )
        )
        for way in product(*ways)
    )


def all_tables(
    records: int, columns: Sequence[Sequence[str]], named: Sequence[bool]
) -> list[Table]:
    """All tables of so many records of values of these columns."""
    found: set[Table] = {()}
    for _ in range(records):
        found = {
            canonical((*table, each), columns, named)
            for table in found
            for each in product(*columns)
        }
    return sorted(found)


def all_of_people(values: Sequence[str], people: Sequence[str]) -> list[Table]:
    """Tables with all sizes of classes that people may have; as many values as people are enough.

    The people of each value are a class; which value has which class makes no difference.
    """
    classes = [some for many in range(1, len(people) + 1) for some in combinations(people, many)]
    every: dict[Any, Table] = {}
    for many in range(1, len(values) + 1):
        for chosen in combinations_with_replacement(classes, many):
            table = tuple(
                (value, person)
                for value, some in zip(values, chosen, strict=False)
                for person in some
            )
            sizes = tuple(sorted(map(len, chosen)))
            every.setdefault((sizes, tuple(sorted(count_people(table)))), table)
    return list(every.values())


def values(many: int, *, missing: bool = False) -> list[str]:
    return [f"v{place}" for place in range(many)] + [""] * missing


def reports(folder: Path, tables: Sequence[Table], about: Mapping[str, Any]) -> list[list[Page]]:
    """The report of each table, as it is masked, and without a mask: from the same counts."""
    asked = []
    for place, table in enumerate(tables):
        # no text file: a row of separators alone is refused
        rows = [[value or None for value in record] for record in table]
        frame = pl.DataFrame(rows, schema={"a": pl.String, "b": pl.String}, orient="row")
        frame.write_parquet(folder / f"{place}.parquet")
        asked.append({"file": f"{place}.parquet", "name": str(place), **about})
    (folder / "p.json").write_text(
        json.dumps({"mask_below": BELOW, "tables": asked}), encoding="utf-8"
    )
    policy = read_policy(folder / "p.json")
    with open_with_engine(None, policy) as releases:
        masked, true = (
            measure_policy(replace(policy, mask_below=below), releases, None)
            for below in (BELOW, 1)
        )
    return [tables_of(masked), tables_of(true)]


def tables_of(report: Page) -> list[Page]:
    """The part of the report on each table, with its checks."""
    checks = defaultdict(list)
    for each in report["checks"]:
        checks[each["table"]].append(each)
    return [{**table, "checks": checks[table["name"]]} for table in report["tables"]]


# "sentences" say in words what the fields beside them do; `_shown` compares them, too.
UNSEEN = re.compile(r"^(name|file|sha256|checks|population_risk|forecast|sentences)$")


def agrees(shown: Any, true: Any) -> bool:
    """Whether what is shown is so in a table; what is masked may be anything."""
    if isinstance(shown, dict):
        return true is not None and all(
            agrees(each, true[key]) for key, each in shown.items() if not UNSEEN.match(key)
        )
    if isinstance(shown, list):
        return len(shown) == len(true) and all(map(agrees, shown, true))
    return shown is None or bool(shown == true)


def may_be_behind(page: Page, masked: Page, true: Page, *, empty: bool) -> bool:
    """Whether the report fits a table, by its own report and its exact one.

    `empty` if a masked range of class sizes has no records: then any may have none.
    """
    if not agrees(page, true):
        return False
    for shown, exact in zip(page["class_sizes"], true["class_sizes"], strict=True):
        if shown["records"] is None and exact["records"] == 0 and not empty:
            return False
    checks = zip(page["checks"], masked["checks"], true["checks"], strict=True)
    return all(_check_fits(*each, records=page["records"]) for each in checks)


def _check_fits(shown: Page, masked: Page, true: Page, *, records: int) -> bool:
    if (shown["verdict"], shown["cautions"]) != (true["verdict"], masked["cautions"]):
        return False
    exact = {json.dumps(group["group"]): group for group in true["groups"]}
    small = [name for name, group in exact.items() if shown["by"] and group["records"] < BELOW]
    named = [group for group in shown["groups"] if group["group"] is not None or not shown["by"]]
    if len(named) != len(exact) - len(small) or (len(shown["groups"]) > len(named)) != bool(small):
        return False
    own = {json.dumps(group["group"]): group for group in masked["groups"]}
    return all(_group_fits(shown, group, own, exact, records) for group in named)


def _group_fits(
    check: Page, group: Page, own: Mapping[str, Page], true: Mapping[str, Page], records: int
) -> bool:
    name = json.dumps(group["group"])
    exact = true.get(name)
    if (
        exact is None
        or group["verdict"] != exact["verdict"]
        or not agrees(group["value"], exact["value"])
    ):
        return False
    if check["by"] and (exact["records"] < BELOW or not agrees(group["records"], exact["records"])):
        return False
    return _bound_fits(check, group, own[name], exact, records)


def _bound_fits(check: Page, group: Page, masked: Page, exact: Page, records: int) -> bool:
    """Whether a figure is rounded to the bound that is shown."""
    if group["below"] is None or masked["below"] is not None:
        return bool(group["below"] in {None, masked["below"]})
    scale = records if check["measure"] == "unique_records" else 1
    share = (exact["value"] or 0) / scale
    if not 0 < share < 1:
        return False
    high = round_between(share, records, BELOW)[1] * scale
    return bool(
        group["below"] == scale or abs(high - group["below"]) <= (0.6 if scale > 1 else 1e-9)
    )


def unhidden(page: Page) -> str:
    """What no report can hide."""
    asked = [
        (
            each["cautions"],
            [(group["group"], group["verdict"]) for group in each["groups"]],
            [group["value"] for group in each["groups"]] if each["measure"] in SINGLE else None,
        )
        for each in page["checks"]
    ]
    return json.dumps((page["records"], asked))


def count(table: Table, columns: Sequence[int], nulls: str) -> Iterator[tuple[Record, int]]:
    """Each record that is measured by these columns, and the size of its class, by comparing all pairs."""
    lacks = [any(record[at] == "" for at in columns) for record in table]
    rows = [
        record
        for record, lacking in zip(table, lacks, strict=True)
        if nulls != "drop" or not lacking
    ]
    for one in rows:
        yield (
            one,
            sum(
                all(
                    one[at] == other[at] or (nulls == "wildcard" and "" in {one[at], other[at]})
                    for at in columns
                )
                for other in rows
            ),
        )


def count_people(table: Table) -> list[int]:
    """The size of the smallest class of each person, who is in the second column, classes by the first."""
    people = {person for _, person in table}
    return [
        min(
            len({other for same, other in table if same == value})
            for value, own in table
            if own == person
        )
        for person in people
    ]


def counts_of(
    table: Table, nulls: str, by: int | None, sensitive: int | None, *, entity: bool = False
) -> Counts:
    """What a report may have to hide: records by class size and column, dropped ones, groups, rare values."""
    found: Counts = {}
    if entity:
        people = count_people(table)
        for low, high in ((1, 1), (2, 2), (3, 4), (5, 9)):
            # as nobody in it is in a smaller one
            smallest = min(people) if low <= min(people) <= high else 1
            found["sizes", (0,), low] = (sum(low <= size <= high for size in people), smallest)
        return found
    width = 1 if sensitive is not None else 2
    for columns in [(0,), (1,), (0, 1)][: 1 if width == 1 else 3]:
        counted = list(count(table, columns, nulls))
        sizes = [size for _, size in counted]
        found["dropped", columns] = (len(table) - len(sizes), 1)
        for low, high in ((1, 1), (2, 2), (3, 4), (5, 9)):
            found["sizes", columns, low] = (sum(low <= size <= high for size in sizes), low)
    if by is not None:
        for value in sorted({record[by] for record in table}):
            group = tuple(record for record in table if record[by] == value)
            found["group", value] = (len(group), 1)
            found["unique", value] = (sum(size == 1 for _, size in count(group, (0,), nulls)), 1)
    if sensitive is not None:
        for place, many in enumerate(
            sorted(Counter(record[sensitive] for record in table).values())
        ):
            found["value", place] = (many, 1)
    return found


Scenario = tuple[int, list[list[str]], list[bool], dict[str, Any], dict[str, Any]]
SCENARIOS: dict[str, Callable[[], Scenario]] = {
    "plain": lambda: (
        5,
        [values(5), values(5)],
        [False, False],
        {**AB, "checks": CHECKS + OF_A},
        {},
    ),
    # Of which no check asks for k, so that nobody knows that there is a class of that size.
    "without k": lambda: (
        5,
        [values(5), values(5)],
        [False, False],
        {**AB, "checks": CHECKS[1:]},
        {},
    ),
    "groups": lambda: (
        *(5, [values(5), values(2)], [False, True]),
        *({**AB, "checks": [*BY_B, CHECKS[3]]}, {"by": 1}),
    ),
    "drop": lambda: (
        *(4, [values(4, missing=True), values(1, missing=True)], [False, False]),
        *({**AB, "nulls": "drop", "checks": CHECKS + OF_A}, {"nulls": "drop"}),
    ),
    "wildcard": lambda: (
        *(4, [values(4, missing=True), values(1, missing=True)], [False, False]),
        *({**AB, "nulls": "wildcard", "checks": CHECKS + OF_A}, {"nulls": "wildcard"}),
    ),
    "sensitive": lambda: (
        *(5, [values(5), values(3)], [False, False]),
        {
            "quasi_identifiers": ["a"],
            "sensitive": ["b"],
            "checks": [*CHECKS[:4], *OF_S, {"measure": "l_diversity", "at_least": 1}],
        },
        {"sensitive": 1},
    ),
    # Of any number of records, as a report counts people.
    # The whole table is fewer records than the mask.
    "few": lambda: (2, [values(2), values(2)], [False, False], {**AB, "checks": CHECKS + OF_A}, {}),
    "people": lambda: (
        *(0, [values(4), values(4)], [False, False]),
        *({"quasi_identifiers": ["a"], "entity": "b", "checks": CHECKS[:4]}, {"entity": True}),
    ),
}
# Counts that follow from which figures are withheld, for a reader who knows all tables that there may be: the
# audit shows a figure where it may, and so tells by what it withholds. docs/release_gate_security.md says so.
CLOSED_BY_WITHHOLDING = {"plain": 7, "without k": 7, "sensitive": 9, "people": 30}


def _shown(page: Page) -> str:
    """All that a reader sees of the table."""
    seen = {
        name: value
        for name, value in page.items()
        if name not in {"name", "file", "sha256", "checks"}
    }
    return json.dumps([seen, [{**each, "table": ""} for each in page["checks"]]])


# Whether values mean missing ones is a query for each table, and these values never do: few tables ask it.
SEEKS_CODES = {"few", "drop"}


@each_cell("scenario", SCENARIOS)
def test_every_hidden_count_of_every_small_table_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scenario: str
) -> None:
    if scenario not in SEEKS_CODES:
        monkeypatch.setattr(DuckDBTable, "profile", lambda *_: [])
    records, columns, named, about, more = SCENARIOS[scenario]()
    tables = all_tables(records, columns, named) if records else all_of_people(*columns)
    masked, true = reports(tmp_path, tables, about)
    options: dict[str, Any] = {"nulls": "value", "by": None, "sensitive": None} | more
    counted = [counts_of(table, **options) for table in tables]
    alike = defaultdict(list)
    for place, page in enumerate(masked):
        alike[unhidden(page)].append(place)
    fitting: dict[str, list[int]] = {}
    hidden, closed = 0, 0
    for place, page in enumerate(masked):
        floor = alike[unhidden(page)]
        ranges = zip(page["class_sizes"], true[place]["class_sizes"], strict=True)
        empty = any(shown["records"] is None and not exact["records"] for shown, exact in ranges)
        key = json.dumps(
            [{**page, "name": "", "file": "", "sha256": "", "checks": ""}, empty]
        ) + json.dumps([{**each, "table": ""} for each in page["checks"]])
        if key not in fitting:
            fitting[key] = [
                at for at in floor if may_be_behind(page, masked[at], true[at], empty=empty)
            ]
        assert place in fitting[key], tables[place]  # or the reader is not the one that is meant
        equal = [at for at in floor if _shown(masked[at]) == _shown(page)]
        for name, (many, least) in counted[place].items():
            if not 0 < many < BELOW:
                continue
            hidden += 1
            interval, strict, at_best = (
                (min(counts), max(counts))
                for counts in (
                    [counted[at].get(name, (0, 0))[0] for at in places]
                    for places in (fitting[key], equal, floor)
                )
            )
            protected = is_protected(interval, least, BELOW) or interval == at_best
            assert protected, (Counter(tables[place]), name, many, interval, page)
            closed += not (is_protected(strict, least, BELOW) or strict == at_best)
    assert closed <= CLOSED_BY_WITHHOLDING.get(scenario, 0)
    assert hidden > len(tables) / 2  # there was much to hide
