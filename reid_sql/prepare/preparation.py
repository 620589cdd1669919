"""Prepare a release: search for a transformation of each table, make it, and measure it by the gate."""

import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from math import floor
from os import PathLike
from pathlib import Path
from typing import Any, Final

from reid_sql.check import gate
from reid_sql.check.duckdb_table import DuckDBTableCounts
from reid_sql.check.evaluation import ShowProgress, measure_check
from reid_sql.check.html import PreparedRelease
from reid_sql.check.masking import Mask
from reid_sql.check.policy import read_policy
from reid_sql.check.policy_model import Check, Policy, Preparing
from reid_sql.check.remarks import INFORMATIVE_CODES, Remark
from reid_sql.check.report import files_read, refuse_to_overwrite, write_report
from reid_sql.check.sentences import REMEDY_TABLE
from reid_sql.check.verdicts import FAIL, NO_WORSE, PASS, Baseline, CheckResult, judge_check
from reid_sql.engines.counted_rows import report_people
from reid_sql.errors import UnavailableError
from reid_sql.models.generalization.criteria import Criterion
from reid_sql.models.generalization.lattice import make_loss
from reid_sql.models.generalization.partition import METHOD
from reid_sql.models.generalization.search import CountedNode, Result, Search, Verdict, accept_all
from reid_sql.models.generalization.suppression import (
    PeopleRules,
    Requirement,
    Rule,
    Rules,
    SizeRules,
    suppress_cells,
)
from reid_sql.parameters.document import toml_texts
from reid_sql.prepare.choices import choose_transformations
from reid_sql.prepare.files import DUCKDB, python_file, source_sql, sql_file, state_hashes
from reid_sql.prepare.local import LocalTransformation
from reid_sql.prepare.page import page
from reid_sql.prepare.partitioning import (
    LocalRelease,
    Settings,
    find_several_texts,
    partition_table,
    refuse_several_texts,
)
from reid_sql.prepare.problem import (
    Generalization,
    class_size_requirement,
    columns_to_generalize,
    generalize,
    is_class_size_check,
    is_criterion_check,
    is_monotone,
    limit_time,
    sensitive_criteria,
)
from reid_sql.prepare.refusals import refuse_table
from reid_sql.prepare.release_files import files_of_release, unfinished, write_releases
from reid_sql.prepare.sentences import steps
from reid_sql.prepare.transformation import Outcome, TableRelease, Transformation, transform

REPORT_INTERVAL: Final = 2.0  # seconds between reports of progress
MET: Final = (PASS, NO_WORSE)
HIDES_NOTHING: Final = Mask(1)  # no report is made of what the search measures


AT_COARSEST: Final = "Even with each column at its coarsest level, and no record left out, the check of {} says {}{}."
REFUSED_CAUTIONS: Final = (
    "The policy refuses figures with a caution, and the file has some: {}. {}To judge them nevertheless, write at "
    "the top of the policy: accept = {}"
)


@dataclass(frozen=True)
class Prepared(Outcome):
    """The release of a policy's tables; `report` is the gate's, measured on it, None if there is none."""

    @property
    def page(self) -> Mapping[str, Any]:
        """The outcome as a dictionary, small counts masked."""
        return page(self)

    @property
    def way_out(self) -> PreparedRelease:
        """The outcome as the gate's HTML report shows it."""
        document = dict(self.page)
        return PreparedRelease(document, steps(document))

    @property
    def sql(self) -> str:
        """The release as SQL of DuckDB: a view for each table."""
        return sql_file(self)

    def sql_in(self, dialect: str) -> str:
        """The release as SQL of another dialect, by sqlglot; it reads each table by its name there."""
        return sql_file(self, dialect)

    @property
    def python(self) -> str:
        """The release as Python with Polars: a function for each table."""
        return python_file(self)

    def write(self, path: str | PathLike[str], dialect: str = DUCKDB) -> Path:
        """Write the SQL in a dialect; refuse to overwrite anything but an earlier one."""
        file = Path(path)
        refuse_to_overwrite({"--sql": file}, files_read(self.policy, None))
        write_report(file, self.sql_in(dialect))
        return file


def prepare(
    policy: str | PathLike[str],
    *,
    memory_limit: str | None = None,
    target: str | None = None,
    method: str | None = None,
    choices: bool = False,
    release: str | PathLike[str] | None = None,
    tell: ShowProgress = lambda _: None,
) -> Prepared:
    """Find the transformation of each table of the policy that meets it at the least loss.

    `target`, instead of the policy's, is a column whose prediction by the others is reported. `method`,
    instead of the policy's, is 'global', 'local', or 'best' for the one of both that loses less. With
    `choices`, `page` lists for each table the best different transformations that meet the policy, at most
    ten, ranked by what they retain. `release` is a new file for the rows of a release that passes, .parquet
    or .csv, or a folder for a file of each table. `tell` is called with what is done. The policy's files are
    only read. Raises a `ReidError` for a policy that it cannot follow.
    """
    parsed = read_policy(Path(policy))
    preparing = parsed.preparing
    if method is not None:
        METHOD.check("method", method)
        preparing = replace(preparing, method=method)
    if target is not None:
        preparing = replace(preparing, target=target)
    parsed = replace(parsed, preparing=preparing)
    files: dict[str, Path] = {}
    if release is not None:
        names = [each.name for each in parsed.tables]
        files = files_of_release(Path(release), names, files_read(parsed, None))
    written = [unfinished(file) for file in files.values()]
    with report_people(), gate.open_tables(parsed, memory_limit, tell, written) as originals:
        prepared = prepare_releases(parsed, originals, tell, choices=choices)
        if files and prepared.passed:
            tell("writing the release")
            write_releases(prepared, originals, files)
        return prepared


def prepare_releases(
    policy: Policy,
    originals: Sequence[DuckDBTableCounts],
    tell: ShowProgress,
    baseline: Path | None = None,
    *,
    choices: bool = False,
) -> Prepared:
    """Search for a transformation of each table, and measure all of them as one release.

    `baseline` replaces the policy's.
    """
    for original in originals:
        refuse_table(policy, original)
    before = gate.find_baseline(policy, originals, baseline)
    tables = tuple(_search_table(policy, original, before, tell) for original in originals)
    if choices:
        tables = tuple(
            choose_transformations(policy, original, table, baseline, tell)
            for original, table in zip(originals, tables, strict=True)
        )
    if any(table.form is None for table in tables):
        return Prepared(policy, tables, None)
    transformed = []
    for original, table in zip(originals, tables, strict=True):
        transformed.append(transform(original, table.released))
        if table.is_local and transformed[-1].records != original.records:
            raise UnavailableError(
                f"local recoding must find the class of each record, got {original.table.name}; write method = 'global'"
            )
    prepared = Prepared(
        policy, tables, gate.measure_policy(policy, transformed, baseline, show_progress=tell)
    )
    state_hashes(prepared, originals)
    return prepared


def _search_table(
    policy: Policy, original: DuckDBTableCounts, before: Baseline | None, tell: ShowProgress
) -> TableRelease:
    """Search the lattice of one table."""
    began = time.monotonic()
    columns, wanted = columns_to_generalize(original), policy.preparing
    tell(f"{original.table.name}: hierarchies")
    generalization = generalize(original, columns, wanted, _list_unchanged(original, wanted))
    requirement = class_size_requirement(original, columns, wanted.suppression)
    loss = make_loss(wanted.loss, generalization.lattice)
    judge = _Judge(policy, original, before, generalization, requirement)
    result = Search(
        generalization.lattice,
        requirement
        if original.table.entity is None
        else Requirement(original.records, original.records),
        loss,
        judge if judge.left else accept_all,
        rules=judge.rules,
        stop=limit_time(wanted.time_limit),
        on_progress=_report_progress(original.table.name, tell),
    ).run()
    best = result.best
    form = judge.form(best) if best else None
    if form is not None and wanted.cells:
        form = _with_cells(judge, form)
    kinds = column_types(original)
    local = _search_local(judge, kinds, tell)
    is_none = form is None and local is None
    refused = _describe_refused(policy, original) if is_none else ()
    return TableRelease(
        table=original.table,
        kinds=kinds,
        records=original.records,
        generalization=generalization,
        requirement=requirement,
        rules=judge.rules,
        result=result,
        preparing=wanted,
        transformation=form,
        left_to_gate=tuple(check.measure.name for check in judge.left),
        source=source_sql(original),
        cautions=tuple(_list_cautions(judge, refused, is_none=is_none)),
        is_refused=bool(refused),
        method=wanted.method,
        local=local,
        seconds=time.monotonic() - began,
    )


def _list_unchanged(original: DuckDBTableCounts, wanted: Preparing) -> list[str]:
    """List the sensitive columns that checks are about, the target and the columns of cross tables."""
    columns = columns_to_generalize(original)
    unchanged = [column for column, _ in sensitive_criteria(original, columns)]
    unchanged += [] if wanted.target is None else [wanted.target]
    unchanged += [name for pair in wanted.cross_tables for name in pair if name not in columns]
    return list(dict.fromkeys(unchanged))


def _list_cautions(judge: "_Judge", refused: Sequence[str], *, is_none: bool) -> Iterator[str]:
    """List doubts about the rows, notes on the hierarchies, and why nothing meets the policy."""
    mask = Mask(judge.policy.mask_below)
    yield from (str(mask.sentence(each)) for each in judge.original.identifiers.values())
    yield from (f"{note[:1].upper()}{note[1:]}." for note in judge.generalization.notes)
    yield from refused
    if is_none and not refused:
        hierarchies, top = judge.generalization.hierarchies, judge.generalization.lattice.top
        coarsest = Transformation(
            hierarchies, top[: len(hierarchies)], 1, person=judge.original.table.entity
        )
        for result in judge.judge(coarsest, judge.original.table.checks):
            if result.verdict not in MET:
                check = result.check
                named = " of ".join(filter(None, (check.measure.name, check.sensitive)))
                # each reason once; the counts in them are masked, as in a report
                reasons = (
                    str(mask.status(each.why, small=each.figure.small)) for each in result.findings
                )
                why = "".join(f"; {each}" for each in dict.fromkeys(filter(None, reasons)))
                yield AT_COARSEST.format(named, result.verdict, why)


def _describe_refused(policy: Policy, original: DuckDBTableCounts) -> tuple[str, ...]:
    """Say which cautions on the file the policy refuses, as a release may have them, however coarse."""
    if policy.cautions != "refuse":
        return ()
    mask = Mask(policy.mask_below)
    cautions: dict[Remark, None] = {}
    for check in original.table.checks:
        measured = measure_check(original, check, mask)
        remarks = (each for figure in measured.figures for each in figure.remarks)
        cautions |= dict.fromkeys([*measured.cautions, *remarks])
    settled = INFORMATIVE_CODES.union(policy.accept)
    refused = [each for each in cautions if each.code not in settled]
    codes = list(dict.fromkeys(filter(None, (each.code for each in refused))))
    if not codes:
        return ()
    words = "; ".join(str(mask.sentence(each)).rstrip(".") for each in refused)
    lines = dict.fromkeys(f"    {each.remedy}\n" for each in refused if each.remedy)
    resolve = f"{REMEDY_TABLE}\n{''.join(lines)}" if lines else ""
    return (REFUSED_CAUTIONS.format(words, resolve, toml_texts(codes)),)


def _search_local(
    judge: "_Judge", kinds: dict[str, str], tell: ShowProgress
) -> LocalRelease | None:
    """Search local recoding, if the policy asks for it, with a time limit of its own."""
    original, wanted = judge.original, judge.policy.preparing
    if (
        wanted.method == "global"
        or original.table.role_sources
        or original.table.entity is not None
    ):
        return None
    tell(f"{original.table.name}: local recoding")
    as_they_are = (each for each, level in judge.generalization.limits.items() if level == 0)
    by_text = {*wanted.hierarchies, *as_they_are}
    name = find_several_texts(original, judge.generalization.hierarchies, kinds, by_text)
    if name is not None and wanted.method == "local":
        raise refuse_several_texts(name, kinds[name])
    if name is not None:
        return None
    settings = Settings(
        wanted, kinds, lambda form: not judge.left or judge.broken(form, judge.left) is None
    )
    return partition_table(
        original, judge.generalization, judge.requirement, judge.criteria, settings
    )


def column_types(original: DuckDBTableCounts) -> dict[str, str]:
    """Return the type of each column of the source, empty if unknown."""
    types = {
        row[0]: str(row[1]) for row in original.engine.ask(f"DESCRIBE FROM {original.engine.view}")
    }
    return {name: types.get(name, "") for name in original.engine.columns}


def _with_cells(judge: "_Judge", form: Transformation) -> Transformation:
    """Blank single values instead of suppressing records, unless a check then fails."""
    if judge.rules is not None and form.rounds:
        return form
    distinct = judge.generalization.lattice.records_at(form.node)
    suppression = suppress_cells(distinct, form.cut, judge.generalization.protected)
    stages = tuple(tuple(form.names[at] for at in stage) for stage in suppression.stages)
    blanked = replace(form, stages=stages)
    return form if judge.broken(blanked, judge.original.table.checks) else blanked


def rules_of(
    generalization: Generalization, criteria: Sequence[tuple[str, Criterion]]
) -> Rules | None:
    """Return the rules on sensitive values, if there are any, over the lattice that has these columns."""
    if generalization.wider is None or not criteria:
        return None
    places = [
        Rule(generalization.unchanged.index(column), criterion) for column, criterion in criteria
    ]
    return Rules(generalization.wider, len(generalization.hierarchies), places)


class _Judge:
    """Measures what class sizes do not determine on the transformed table, by the gate."""

    def __init__(
        self,
        policy: Policy,
        original: DuckDBTableCounts,
        before: Baseline | None,
        generalization: Generalization,
        requirement: Requirement,
    ) -> None:
        self.policy, self.original, self.before = policy, original, before
        self.generalization = generalization
        columns = [each.column for each in generalization.hierarchies]
        strict = policy.cautions == "refuse" or original.table.nulls != "value"
        # the search itself guarantees the other checks
        left = [
            each
            for each in original.table.checks
            if strict
            or not (
                is_class_size_check(original, each, columns)
                or is_criterion_check(original, each, columns)
            )
        ]
        self.left = sorted(left, key=lambda each: each.measure.interval)  # estimates take longest
        self.criteria, self.requirement = tuple(sensitive_criteria(original, columns)), requirement
        self.rules: SizeRules | None = rules_of(generalization, self.criteria)
        removable = requirement.suppressible
        if original.table.entity is not None:
            removable = floor(
                policy.preparing.suppression * original.engine.count_people(())[0][0] + 1e-9
            )
            self.rules = PeopleRules(requirement.k, removable)
        self.whole = not removable or (requirement.takes_nothing and not self.criteria)

    def form(self, node: CountedNode) -> Transformation:
        """Return the transformation of a node."""
        hierarchies, person = self.generalization.hierarchies, self.original.table.entity
        form = Transformation(hierarchies, (), 1, rules=self.criteria, person=person)
        return form.at(node.node, node.outcome)

    def __call__(self, node: CountedNode) -> Verdict:
        broken = self.broken(self.form(node), self.left)
        if broken is None:
            return Verdict(is_met=True)
        check, verdict = broken
        return Verdict(is_met=False, hopeless=self.whole and verdict == FAIL and is_monotone(check))

    def broken(
        self, form: Transformation | LocalTransformation, checks: Sequence[Check]
    ) -> tuple[Check, str] | None:
        """Return the first check that the transformation fails, with its verdict."""
        with closing(self.judge(form, checks)) as results:
            pairs = ((each.check, each.verdict) for each in results)
            return next((pair for pair in pairs if pair[1] not in MET), None)

    def judge(
        self, form: Transformation | LocalTransformation, checks: Sequence[Check]
    ) -> Generator[CheckResult, None, None]:
        """Judge the checks on the transformed table, one by one."""
        release = transform(self.original, form)
        release.is_searched = True
        try:
            for each in checks:
                measured = measure_check(release, each, HIDES_NOTHING)
                yield judge_check(measured, self.policy, self.before)
        finally:
            release.engine.drop()


def _report_progress(table: str, tell: ShowProgress) -> Callable[[Result], None]:
    """Return what reports the progress of a search, not too often."""
    last = time.monotonic()

    def report(result: Result) -> None:
        nonlocal last
        if time.monotonic() - last < REPORT_INTERVAL:
            return
        last = time.monotonic()
        best = (
            "none meets the policy yet"
            if result.best is None
            else f"least loss {result.best.loss:.1%}"
        )
        progress = f"{len(result.counted):,} of {result.nodes:,} transformations evaluated; {best}"
        tell(f"{table}: {progress}")

    return report
