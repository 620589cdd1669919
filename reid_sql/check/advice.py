"""How values could be made coarser: bands of numbers, months, years, beginnings, rare values as one.

The beginnings are those of codes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Final

from reid_sql.check.duckdb_table import DuckDBTable
from reid_sql.check.masked_checks import Hidden, check_page, collect_cautions, find_hidden_groups
from reid_sql.check.masking import Mask, Node, ReportPage, Setting
from reid_sql.check.measuring import ShowProgress, measure_check
from reid_sql.check.policy_model import Check, Policy
from reid_sql.check.release import Release
from reid_sql.check.report import report_header
from reid_sql.check.sentences import deciding_group
from reid_sql.check.verdicts import FAIL, NOT_JUDGED, CheckResult, judge_check
from reid_sql.reductions.classes import HISTOGRAM

BANDS: Final = tuple(digit * 10**power for power in range(10) for digit in (1, 2, 5))
MAX_VALUES_KEPT: Final = 8  # values up to which there is nothing to gain by bands or beginnings
MAX_WAYS: Final = 3  # ways tried for one column
RARE_SHARE: Final = 0.01
DATE_PARTS: Final = (("month", "date_trunc('month', v)"), ("year", "date_trunc('year', v)"))


@dataclass(frozen=True)
class Coarsening:
    """A column, how its values become fewer, and the relation (v, coarse) that says so."""

    column: str
    how: str
    relation: str


def find_coarsenings(engine: DuckDBTable, column: str) -> list[Coarsening]:
    """Find up to three ways to make the column coarser; each must leave fewer values, and more than one."""
    values = engine.distinct.values(column)
    coarsenings: list[Coarsening] = []
    for how, expression in _ways(engine, values):
        relation = f"{values}_coarse_{len(coarsenings)}"
        engine.ask(
            f"CREATE OR REPLACE TEMP TABLE {relation} AS SELECT v, {expression} AS coarse FROM {values}"
        )
        before, after = engine.ask(f"SELECT count(*), count(DISTINCT coarse) FROM {relation}")[0]
        if 1 < after < before:
            coarsenings.append(Coarsening(column, how, relation))
        if len(coarsenings) == MAX_WAYS:
            break
    return coarsenings


def _ways(engine: DuckDBTable, values: str) -> Iterator[tuple[str, str]]:
    """Yield what could be done with values of this kind, in words and as an expression.

    The expression is one of code, v and records.
    """
    kind, count, shortest, longest, low, high, total, numbers = _profile_values(engine, values)
    if kind.startswith(("DATE", "TIMESTAMP")):
        yield from ((f"to its {part}", expression) for part, expression in DATE_PARTS)
    elif kind == "VARCHAR" and shortest == longest and longest > MAX_WAYS and count > MAX_VALUES_KEPT:
        yield from (
            (f"to its first {length} characters", f"left(v, {length})")
            for length in range(longest - 1, 1, -1)
        )
    elif numbers and count > MAX_VALUES_KEPT:
        wide = [width for width in BANDS if 2 * (high - low) / count <= width <= (high - low) / 2]
        yield from ((f"in bands of {width}", f"floor(v::DOUBLE / {width})") for width in wide[1:])
    else:
        least = max(2, int(RARE_SHARE * total))
        words = f"with its values of fewer than {least:,} records as one"
        yield words, f"CASE WHEN records < {least} THEN 0 ELSE code END"


def _profile_values(engine: DuckDBTable, values: str) -> tuple[Any, ...]:
    """Kind of the values, how many, lengths of texts, range of numbers, records, whether all are numbers.

    The lengths are those of the shortest and the longest.
    """
    sql = f"""SELECT any_value(typeof(v)), count(*), min(length(v::VARCHAR)), max(length(v::VARCHAR)),
        min(try_cast(v::VARCHAR AS DOUBLE)), max(try_cast(v::VARCHAR AS DOUBLE)), sum(records)::BIGINT,
        coalesce(bool_and(isfinite(try_cast(v::VARCHAR AS DOUBLE))), false)
        AND count(try_cast(v::VARCHAR AS DOUBLE)) = count(*) FROM {values}"""
    return (
        engine.ask(sql)[0]
        if engine.ask(f"SELECT count(*) FROM {values}")[0][0]
        else ("", 0, 0, 0, 0.0, 0.0, 0, False)
    )


Page = dict[str, Node]


@dataclass(frozen=True)
class Change:
    """Columns left out, or one made coarser."""

    dropped: tuple[str, ...] = ()
    coarser: Coarsening | None = None

    @property
    def words(self) -> str:
        """The change in words."""
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


def advise(
    policy: Policy,
    releases: Sequence[Release],
    *,
    pairs: bool = True,
    show_progress: ShowProgress = lambda _: None,
) -> ReportPage:
    """Measure, for every check that fails, what each change does to it; the strongest change comes first.

    Values are made coarser where DuckDB counts alone.
    """
    failing: list[Page] = []
    tables: list[Page] = []
    mask = Mask(policy.mask_below)
    for release in releases:
        show_progress(f"{release.table.name}: measuring")
        checks = [
            judge_check(measure_check(release, each, mask), policy, None) for each in release.table.checks
        ]
        bad = [each for each in checks if each.verdict in (FAIL, NOT_JUDGED)]
        measured = {
            change: _measure_change(release, policy, bad, change, show_progress)
            for change in _list_changes(release, bad, pairs=pairs)
        }
        hidden = find_hidden_groups(checks, mask)
        failing += [_check_page(release, mask, each, measured, hidden) for each in bad]
        tables.append(_table_page(release, bad, measured) | {"cautions": _cautions(release, checks, mask)})
    return ReportPage({**report_header(policy), "failing": failing, "tables": tables})


def _cautions(release: Release, checks: Sequence[CheckResult], mask: Mask) -> list[Node]:
    """Return the cautions of all checks, also of those that pass, each once."""
    cautions = (words for each in checks for words in collect_cautions(each, release.records, mask, None))
    return list(dict.fromkeys(cautions))


def _list_changes(release: Release, bad: Sequence[CheckResult], *, pairs: bool) -> Iterator[Change]:
    named = list(dict.fromkeys(column for each in bad for column in each.check.quasi_identifiers))
    yield from (Change((column,)) for column in named)
    plain = release.table.nulls != "wildcard" and release.table.entity is None
    engine = release.engine
    if isinstance(engine, DuckDBTable) and plain:
        yield from (Change(coarser=way) for column in named for way in find_coarsenings(engine, column))
    if pairs:
        yield from (Change(pair) for pair in combinations(named, 2))


def _measure_change(
    release: Release,
    policy: Policy,
    bad: Sequence[CheckResult],
    change: Change,
    show_progress: ShowProgress,
) -> dict[int, CheckResult]:
    """Measure the failing checks after a change, by their place; those it does not touch are left out."""
    show_progress(f"{release.table.name}: {change.words}")
    after = {place: change.applied(each.check) for place, each in enumerate(bad)}
    mask = Mask(policy.mask_below)
    return {
        place: judge_check(measure_check(release, check, mask), policy, None)
        for place, check in after.items()
        if check is not None
    }


def _check_page(
    release: Release,
    mask: Mask,
    each: CheckResult,
    measured: dict[Change, dict[int, CheckResult]],
    hidden: Hidden,
) -> Page:
    """Return a failing check, and what it comes to after each change.

    No audit knows the figures after all changes: those that would be rounded are withheld.
    """
    rows: list[ReportPage] = []
    for change, after in measured.items():
        for coarsening in after.values():
            if _is_same_check(coarsening.check, each.check):
                page = ReportPage(check_page(coarsening, release.records, mask, hidden, withheld=True))
                rows.append(
                    ReportPage(
                        {**_change(change), "verdict": coarsening.verdict, "figure": deciding_group(page)}
                    )
                )
    before = check_page(each, release.records, mask, hidden, withheld=True)
    return {
        **before,
        "groups": [deciding_group(ReportPage(before))],
        "changes": sorted(rows, key=lambda row: _rank(each, row)),
    }


def _is_same_check(known: Check, asked: Check) -> bool:
    return replace(known, quasi_identifiers=asked.quasi_identifiers, coarser=()) == asked


def _change(change: Change) -> Page:
    coarser = {"column": change.coarser.column, "how": change.coarser.how} if change.coarser else None
    return {"change": change.words, "drop": list(change.dropped), "coarsen": coarser}


def _rank(each: CheckResult, row: ReportPage) -> tuple[Any, ...]:
    """Put what meets the limit first, the smallest change of those; then the lowest risk."""
    sign = -1 if each.check.measure.at_least else 1
    judged = row["figure"]["judged"]
    risk = float("inf") if judged is None else sign * judged
    return (
        row["verdict"] in (FAIL, NOT_JUDGED),
        len(row["drop"]) if row["verdict"] not in (FAIL, NOT_JUDGED) else 0,
        risk,
    )


def _table_page(
    release: Release, bad: Sequence[CheckResult], measured: dict[Change, dict[int, CheckResult]]
) -> Page:
    """Tell which changes meet every failing check of the table, and how many the others meet."""
    met = {
        change: sum(coarsening.verdict not in (FAIL, NOT_JUDGED) for coarsening in after.values())
        for change, after in measured.items()
    }
    best = sorted(measured, key=lambda change: (-met[change], len(change.dropped)))
    return {
        "name": release.table.name,
        "failing": Setting(len(bad)),
        "changes": [{**_change(change), "meets": Setting(met[change])} for change in best if met[change]],
    }
