"""What a report hides is open: a table of another number there gives the same report in all formats."""

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path

import pytest

from reid_sql.check.gate import check
from reid_sql.check.html import render_html
from reid_sql.check.masking import round_above
from reid_sql.check.report import render_junit, to_json
from reid_sql.check.terminal import verdict_page
from reid_sql.terminal.console import VisibleConsole
from tests.cells import each_cell

Record = tuple[str, str, str]  # a, b, c; nothing is NULL
Table = list[Record]
HASH = re.compile(r"\b[0-9a-f]{64}\b")

LACKING = """
nulls = "drop"
checks = [
  { measure = "k", at_least = 2, quasi_identifiers = ["a"] },
  { measure = "average_risk", at_most = 0.9, quasi_identifiers = ["a", "b"] },
  { measure = "uniqueness", at_most = 0.9, quasi_identifiers = ["a", "b"], by = ["c"] },
  { measure = "records_at_risk", threshold = 0.03, at_most = 0, quasi_identifiers = ["b"] },
  { measure = "separation", at_most = 0.9 },
  { measure = "average_class_risk", at_most = 1e-6 },
]
"""
GROUPED = """
checks = [
  { measure = "uniqueness", at_most = 0.9, quasi_identifiers = ["a", "b"], by = ["c"] },
  { measure = "average_risk", at_most = 0.9, quasi_identifiers = ["a", "b"], by = ["c"] },
  { measure = "unique_records", at_most = 1 },
  { measure = "average_risk", at_most = 0.9 },
  { measure = "distinction", at_most = 0.1 },
]
"""


def reports(folder: Path, table: Table, checks: str, head: str = "") -> str:
    """Everything that a run writes, in all formats, without the hashes of the files."""
    lines = ["a,b,c", *(",".join(record) for record in table)]
    (folder / "t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    policy = folder / "p.toml"
    about = f'{head}\n[[tables]]\nfile = "t.csv"\nquasi_identifiers = ["a", "b", "c"]\n{checks}'
    policy.write_text(about, encoding="utf-8")
    page, shown = check(policy), StringIO()
    console = VisibleConsole(file=shown, width=160)
    console.print(verdict_page(page))
    return HASH.sub(
        "",
        "\n".join([to_json(page), render_html(page), render_junit(page), shown.getvalue()]),
    )


def lacking_table() -> Table:
    """Classes of 25 to 42 records; 60 records lack a, 40 lack a and b, 25 lack c, and three lack b alone."""
    kinds = list(itertools.product(("a1", "a2", "a3"), ("b1", "b2", "b3"), ("c1", "c2")))
    table = [kind for place, kind in enumerate(kinds) for _ in range(25 + place)]
    table += [("", kinds[place % 18][1], kinds[place % 18][2]) for place in range(60)]
    table += [("", "", f"c{1 + place % 2}") for place in range(40)]
    table += [(kinds[place % 18][0], kinds[place % 18][1], "") for place in range(25)]
    return [*table, ("a2", "", "c1"), ("a2", "", "c2"), ("a3", "", "c1")]


def moved_gaps(table: Table) -> Iterator[Table]:
    """Two records change places: one that lacks a has it, and another lacks b."""
    for a, b, c in sorted(set(table), reverse=True):  # the larger classes first, which decide less
        if a and b and c and ("", b, c) in table:
            other = [*table]
            other[other.index((a, b, c))] = (a, "", c)
            other[other.index(("", b, c))] = (a, b, c)
            yield other


def lack_only_b(table: Table) -> int:
    return sum(bool(a and not b and c) for a, b, c in table)


def lack_a_and_not_b(table: Table) -> int:
    return sum(bool(not a and b) for a, b, c in table)


def lack_b_in(group: str) -> Callable[[Table], int]:
    return lambda table: sum(not b and c == group for a, b, c in table)


@pytest.mark.parametrize(
    "number",
    [lack_only_b, lack_a_and_not_b, lack_b_in("c1")],
    ids=["only b", "a, not b", "b in c1"],
)
def test_how_few_lack_a_value_does_not_follow_from_what_several_checks_dropped(
    tmp_path: Path, number: Callable[[Table], int]
) -> None:
    table = lacking_table()
    reported = reports(tmp_path, table, LACKING)
    others = (other for other in moved_gaps(table) if number(other) != number(table))
    assert any(reports(tmp_path, other, LACKING) == reported for other in others)


def test_without_a_mask_every_report_tells_such_tables_apart(tmp_path: Path) -> None:
    table = lacking_table()
    reported = reports(tmp_path, table, LACKING, "mask_below = 1")
    assert all(
        reports(tmp_path, other, LACKING, "mask_below = 1") != reported
        for other in itertools.islice(moved_gaps(table), 3)
    )


def grouped_table() -> Table:
    """In c1 three records are unique, in c2 fourteen; all others are in classes of 30."""
    table = [("x", "y", c) for c in ("c1", "c2") for _ in range(30)]
    table += [("x", "z", c) for c in ("c1", "c2") for _ in range(30)]
    table += [("u", f"v{place}", "c1") for place in range(3)]
    return table + [("u", f"w{place}", "c2") for place in range(14)]


def moved_unique(table: Table) -> Iterator[Table]:
    """One more is unique in c1, one less in c2; nobody changes the group."""
    for crowd in ("y", "z"):
        other = [*table]
        other[other.index(("x", crowd, "c1"))] = ("u", "w13", "c1")
        other[other.index(("u", "w13", "c2"))] = ("x", crowd, "c2")
        yield other


def test_how_few_are_unique_in_a_group_does_not_follow_from_another_check_of_the_whole(
    tmp_path: Path,
) -> None:
    table = grouped_table()
    reported = reports(tmp_path, table, GROUPED)
    for other in moved_unique(table):
        alone = [
            sum(n == 1 and record[2] == "c1" for record, n in Counter(t).items())
            for t in (table, other)
        ]
        assert alone == [3, 4]
        if reports(tmp_path, other, GROUPED) == reported:
            return
    pytest.fail("only one table fits the report")


PARTED = """
checks = [
  { measure = "records_at_risk", threshold = 0.3, at_most = 1 },
  { measure = "forecast_k_violation", population = 223, k = 4, at_most = 1 },
]
"""


def test_a_threshold_between_two_class_sizes_does_not_tell_how_few_lie_below_it(
    tmp_path: Path,
) -> None:
    """20 are unique, 20 in pairs, 3 in a class of 3, 40 in classes of 4: reports tell 3 to 4 as one bin."""

    def town(threes: int) -> Table:
        single = [("u", f"v{place}", "") for place in range(20)]
        pairs = [("p", f"v{place // 2}", "") for place in range(20)]
        three = [("t", f"v{place // 3}", "") for place in range(3 * threes)]
        four = [("f", f"v{place // 4}", "") for place in range(43 - 3 * threes)]
        return [*single, *pairs, *three, *four, *[("x", "y", "")] * 140]

    one, three = (reports(tmp_path, town(threes), PARTED) for threes in (1, 3))
    wide = [re.findall(r'"(?:value|low|high)": (\S+),', reported) for reported in (one, three)]
    assert wide[0] == wide[1]


@each_cell("records", [30, 101, 500, 1100, 1200, 1999, 11_000, 32_561])
@each_cell("below", [3, 10, 50])
def test_every_round_bound_stands_for_several_counts(records: int, below: int) -> None:
    bounds = Counter(round_above(count / records, records, below) for count in range(1, records))
    last = max(bounds)
    assert all(fits > 1 for bound, fits in bounds.items() if bound != last)
