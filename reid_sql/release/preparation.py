"""Preparing a release: a form of each table is sought, made, and measured by the ordinary gate."""

import time
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Final

from reid_sql.check import gate
from reid_sql.check.duckdb_table import DuckDBRelease
from reid_sql.check.gate import ShowProgress
from reid_sql.check.policy import Check, Policy
from reid_sql.check.policy_file import read_policy
from reid_sql.check.verdicts import FAIL, NO_WORSE, PASS, Baseline, judge_check
from reid_sql.errors import UnknownNameError
from reid_sql.models.release.cells import rescue
from reid_sql.models.release.criteria import Criterion
from reid_sql.models.release.loss import loss_of
from reid_sql.models.release.requirement import Requirement
from reid_sql.models.release.rules import Rule, Rules
from reid_sql.models.release.search import Found, Judged, Result, Search, anything
from reid_sql.release.asked import (
    columns_to_generalize,
    is_folded,
    is_monotone,
    is_ruled,
    refuse_unprepared,
    requirement,
    rules,
)
from reid_sql.release.form import Form
from reid_sql.release.generalize import Generalization, generalize
from reid_sql.release.prepared import Prepared
from reid_sql.release.released import release_form
from reid_sql.release.sought import TableForm
from reid_sql.release.sql_file import source_sql
from reid_sql.release.targeted import refuse_target, target_of
from reid_sql.suggestion import suggestion

PATIENCE: Final = 2.0  # seconds between words of progress
MET: Final = (PASS, NO_WORSE)


def run(
    policy: str | PathLike[str],
    *,
    memory_limit: str | None = None,
    target: str | None = None,
    tell: ShowProgress = lambda _: None,
) -> Prepared:
    """Prepare the tables of a policy file."""
    asked = read_policy(Path(policy))
    if target is not None:
        asked = replace(asked, preparing=replace(asked.preparing, target=target))
    with gate.open_tables(asked, memory_limit, tell) as releases:
        return prepared(asked, releases, tell)


def prepared(
    policy: Policy, releases: Sequence[DuckDBRelease], tell: ShowProgress, baseline: Path | None = None
) -> Prepared:
    """Seek a form for each table, and measure all that were found as one release.

    `baseline` is that of this run, else the policy's, if there is one.
    """
    for release in releases:
        refuse_unprepared(release)
        _refuse_kept(policy, release)
        refuse_target(policy.preparing.target, release)
    before = gate.find_baseline(policy, releases, baseline)
    forms = [_sought(policy, release, before, tell) for release in releases]
    if any(form.form is None for form in forms):
        return Prepared(policy, tuple(forms), None)
    made = [
        release_form(release, form.form)
        for release, form in zip(releases, forms, strict=True)
        if form.form is not None
    ]
    return Prepared(policy, tuple(forms), gate.measure_policy(policy, made, baseline, tell=tell))


def _refuse_kept(policy: Policy, release: DuckDBRelease) -> None:
    for name in policy.preparing.keep:
        if name not in release.engine.columns:
            rule = f"policy prepare.keep must name columns of {release.table.name}, got '{name}'"
            raise UnknownNameError(f"{rule}; {suggestion(name, release.engine.columns)}")


def _sought(policy: Policy, release: DuckDBRelease, before: Baseline | None, tell: ShowProgress) -> TableForm:
    """Search the lattice of one table."""
    began = time.monotonic()
    columns, wanted = columns_to_generalize(release), policy.preparing
    tell(f"{release.table.name}: hierarchies")
    ruled = rules(release, columns)
    others = [*(column for column, _ in ruled), *([] if wanted.target is None else [wanted.target])]
    found = generalize(release, columns, wanted.hierarchies, list(dict.fromkeys(others)))
    asked = requirement(release, columns, wanted.suppression)
    loss = loss_of(wanted.loss, found.lattice)
    judge = _Judge(policy, release, before, found, asked)
    ends = began + wanted.time_limit
    words = _Words(release.table.name, tell)
    result = Search(
        found.lattice,
        asked,
        loss,
        judge if judge.left else anything,
        rules=judge.rules,
        stop=lambda: time.monotonic() > ends,
        tell=words,
    ).run()
    best = result.best
    form = judge.form(best) if best else None
    if form is not None and wanted.cells:
        form = _with_cells(judge, form)
    return TableForm(
        table=release.table,
        kinds=_kinds(release),
        records=release.records,
        hierarchies=found.hierarchies,
        lattice=found.lattice,
        requirement=asked,
        rules=judge.rules,
        result=result,
        target=None if wanted.target is None else target_of(found, wanted.target),
        form=form,
        loss=wanted.loss,
        left_to_gate=tuple(check.measure.name for check in judge.left),
        source=source_sql(release),
        seconds=time.monotonic() - began,
    )


def _kinds(release: DuckDBRelease) -> dict[str, str]:
    """Give the type of each column of the source; of one that no check names, it may not be known."""
    told = {row[0]: str(row[1]) for row in release.engine.ask(f"DESCRIBE FROM {release.engine.view}")}
    return {name: told.get(name, "") for name in release.engine.columns}


def _with_cells(judge: "_Judge", form: Form) -> Form:
    """Blank single values in place of records, unless a check is no longer met then."""
    if judge.rules is not None and form.rounds:
        return form
    made = rescue(judge.found.lattice.folded(form.node), form.cut)
    stages = tuple(tuple(form.names[at] for at in stage) for stage in made.stages)
    blanked = replace(form, stages=stages)
    return form if judge.broken(blanked, judge.release.table.checks) else blanked


def _known(release: DuckDBRelease, check: Check, columns: Sequence[str]) -> bool:
    """Whether the search itself holds the check."""
    return is_folded(release, check, columns) or is_ruled(release, check, columns)


def _rules(found: Generalization, asked: Sequence[tuple[str, Criterion]]) -> Rules | None:
    if found.beside is None or not asked:
        return None
    places = [Rule(found.others.index(column), criterion) for column, criterion in asked]
    return Rules(found.beside, len(found.hierarchies), places)


class _Judge:
    """What class sizes do not tell is measured on the form itself, by the ordinary gate."""

    def __init__(
        self,
        policy: Policy,
        release: DuckDBRelease,
        before: Baseline | None,
        found: Generalization,
        asked: Requirement,
    ) -> None:
        self.policy, self.release, self.before, self.found = policy, release, before, found
        columns = [each.column for each in found.hierarchies]
        strict = policy.cautions == "refuse" or release.table.nulls != "value"
        self.left = [each for each in release.table.checks if strict or not _known(release, each, columns)]
        self.asked = tuple(rules(release, columns))
        self.rules = _rules(found, self.asked)
        self.whole = not asked.suppressible or (asked.takes_nothing and not self.asked)

    def form(self, found: Found) -> Form:
        """Give the form that was found."""
        rounds = max(found.outcome.rounds, 1) if self.asked else 0
        return Form(
            self.found.hierarchies, found.node, found.outcome.cut or 1, rules=self.asked, rounds=rounds
        )

    def __call__(self, found: Found) -> Judged:
        broken = self.broken(self.form(found), self.left)
        if broken is None:
            return Judged(met=True)
        check, verdict = broken
        return Judged(met=False, hopeless=self.whole and verdict == FAIL and is_monotone(check))

    def broken(self, form: Form, checks: Sequence[Check]) -> tuple[Check, str] | None:
        """Give the first check that the form does not meet, with its verdict."""
        made = release_form(self.release, form)
        try:
            verdicts = ((each, judge_check(made, each, self.policy, self.before).verdict) for each in checks)
            return next((pair for pair in verdicts if pair[1] not in MET), None)
        finally:
            made.engine.drop()


class _Words:
    """Progress in words, not too often."""

    def __init__(self, table: str, tell: ShowProgress) -> None:
        self.table, self.tell, self.last = table, tell, time.monotonic()

    def __call__(self, result: Result) -> None:
        if time.monotonic() - self.last < PATIENCE:
            return
        self.last = time.monotonic()
        best = "none meets the policy yet" if result.best is None else f"least loss {result.best.loss:.1%}"
        told = f"{len(result.counted):,} of {result.nodes:,} forms counted; {best}"
        self.tell(f"{self.table}: {told}")
