"""What would meet the policy: failing checks measured again without, or with coarser, quasi-identifiers.

One or two are left out, or one is made coarser.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from reid_sql.check.gate import Tell
from reid_sql.check.judging.finding import FAIL, NOT_JUDGED, Checked, checked
from reid_sql.check.measures.answers import Answers
from reid_sql.check.measures.release import Release
from reid_sql.check.policy.coarsening import Coarsening, coarsenings
from reid_sql.check.policy.policy import Check, Policy
from reid_sql.check.reports.report import Hidden, checked_page, header, hidden_of, rounded
from reid_sql.check.reports.words import telling
from reid_sql.reductions.classes import HISTOGRAM

Page = dict[str, Any]


@dataclass(frozen=True)
class Change:
    """Columns left out, or one made coarser."""

    dropped: tuple[str, ...] = ()
    coarser: Coarsening | None = None

    @property
    def words(self) -> str:
        """The change as a person would say it."""
        return (
            f"{self.coarser.column} {self.coarser.how}"
            if self.coarser
            else f"without {' and '.join(self.dropped)}"
        )

    def applied(self, check: Check) -> Check | None:
        """Give the check after the change; None where it changes nothing or leaves nothing."""
        if self.coarser:
            one = self.coarser
            counted = check.measure.declared.reduction is HISTOGRAM and one.column in check.quasi_identifiers
            return replace(check, coarser=((one.column, one.relation),)) if counted else None
        left = tuple(column for column in check.quasi_identifiers if column not in self.dropped)
        return (
            replace(check, quasi_identifiers=left)
            if left and set(self.dropped) <= set(check.quasi_identifiers)
            else None
        )


def advice(
    policy: Policy, releases: Sequence[Answers], *, pairs: bool = True, tell: Tell = lambda _: None
) -> Page:
    """Measure, for every check that fails, what each change does to it; the strongest change comes first.

    Values are made coarser where DuckDB counts alone.
    """
    failing, tables = [], []
    for release in releases:
        tell(f"{release.table.name}: measuring")
        found = [checked(release, check, policy, None) for check in release.table.checks]
        bad = [each for each in found if each.verdict in (FAIL, NOT_JUDGED)]
        measured = {
            change: _measured(release, policy, bad, change, tell)
            for change in _changes(release, bad, pairs=pairs)
        }
        hidden = hidden_of(found, policy.mask_below)
        failing += [_check_page(release, policy, each, measured, hidden) for each in bad]
        tables.append(_table_page(release, bad, measured))
    page: Page = rounded({**header(policy), "failing": failing, "tables": tables})
    return page


def _changes(release: Answers, bad: Sequence[Checked], *, pairs: bool) -> Iterator[Change]:
    named = list(dict.fromkeys(column for each in bad for column in each.check.quasi_identifiers))
    yield from (Change((column,)) for column in named)
    plain = release.table.nulls != "wildcard" and release.table.entity is None
    if isinstance(release, Release) and plain:
        yield from (Change(coarser=way) for column in named for way in coarsenings(release, column))
    if pairs:
        yield from (Change(pair) for pair in combinations(named, 2))


def _measured(
    release: Answers, policy: Policy, bad: Sequence[Checked], change: Change, tell: Tell
) -> dict[int, Checked]:
    """Measure the failing checks after a change, by their place; those it does not touch are left out."""
    tell(f"{release.table.name}: {change.words}")
    after = {place: change.applied(each.check) for place, each in enumerate(bad)}
    return {
        place: checked(release, check, policy, None) for place, check in after.items() if check is not None
    }


def _check_page(
    release: Answers,
    policy: Policy,
    each: Checked,
    measured: dict[Change, dict[int, Checked]],
    hidden: Hidden,
) -> Page:
    rows = []
    for change, after in measured.items():
        for found in after.values():
            if _same(found.check, each.check):
                page = checked_page(found, release.records, policy.mask_below, hidden)
                rows.append({**_change(change), "verdict": page["verdict"], "figure": telling(page)})
    before = checked_page(each, release.records, policy.mask_below, hidden)
    return {**before, "groups": [telling(before)], "changes": sorted(rows, key=lambda row: _rank(each, row))}


def _same(found: Check, asked: Check) -> bool:
    return replace(found, quasi_identifiers=asked.quasi_identifiers, coarser=()) == asked


def _change(change: Change) -> Page:
    coarser = {"column": change.coarser.column, "how": change.coarser.how} if change.coarser else None
    return {"change": change.words, "drop": list(change.dropped), "coarsen": coarser}


def _rank(each: Checked, row: Page) -> tuple[Any, ...]:
    """Put what meets the limit first, the smallest change of those; then the lowest risk."""
    sign = -1 if each.check.measure.at_least else 1
    judged = row["figure"]["judged"]
    risk = float("inf") if judged is None else sign * judged
    return (
        row["verdict"] in (FAIL, NOT_JUDGED),
        len(row["drop"]) if row["verdict"] not in (FAIL, NOT_JUDGED) else 0,
        risk,
    )


def _table_page(release: Answers, bad: Sequence[Checked], measured: dict[Change, dict[int, Checked]]) -> Page:
    """Tell which changes meet every failing check of the table, and how many the others meet."""
    met = {
        change: sum(found.verdict not in (FAIL, NOT_JUDGED) for found in after.values())
        for change, after in measured.items()
    }
    best = sorted(measured, key=lambda change: (-met[change], len(change.dropped)))
    return {
        "name": release.table.name,
        "failing": len(bad),
        "changes": [{**_change(change), "meets": met[change]} for change in best if met[change]],
    }
