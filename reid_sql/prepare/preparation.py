"""Prepare a release: search for a transformation of each table, make it, and measure it by the gate."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor
from os import PathLike
from pathlib import Path
from typing import Any, Final

from reid_sql.check import gate
from reid_sql.check.cautions import INTERRUPTIONS
from reid_sql.check.duckdb_table import DuckDBTableCounts
from reid_sql.check.evaluation import ShowProgress, measure_check
from reid_sql.check.html import PreparedRelease
from reid_sql.check.masking import Mask
from reid_sql.check.policy import read_policy
from reid_sql.check.policy_model import Check, Policy, columns_prepared
from reid_sql.check.remarks import INFORMATIVE_CODES, Remark
from reid_sql.check.report import files_read, refuse_to_overwrite, write_report
from reid_sql.check.verdicts import FAIL, NO_WORSE, PASS, Baseline, judge_check
from reid_sql.engines.counted_rows import report_people
from reid_sql.errors import UnavailableError, UnknownNameError, suggestion
from reid_sql.hierarchies.limits import Limit
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
from reid_sql.prepare.page import page, steps
from reid_sql.prepare.partitioning import (
    LocalRelease,
    Settings,
    find_several_texts,
    partition_table,
    refuse_other_tables,
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
    refuse_for_people,
    refuse_unsuitable,
    sensitive_criteria,
)
from reid_sql.prepare.release_files import files_of_release, unfinished, write_releases
from reid_sql.prepare.transformation import Outcome, TableRelease, Transformation, transform
from reid_sql.prepare.usefulness import (
    cross_tables_of,
    refuse_cross_tables,
    refuse_target,
    target_of,
)
from reid_sql.reduction import REFUSAL_SEVERAL_IN_TABLE, REFUSAL_SEVERAL_VALUES
from reid_sql.terminal.runner import sentence

REPORT_INTERVAL: Final = 2.0  # seconds between reports of progress
MET: Final = (PASS, NO_WORSE)
HIDES_NOTHING: Final = Mask(1)  # no report is made of what the search measures


REFUSED_CAUTIONS: Final = (
    "The policy refuses figures with a caution, and the file has some: {}. To judge them nevertheless, write at "
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
    asked = read_policy(Path(policy))
    if target is not None:
        asked = replace(asked, preparing=replace(asked.preparing, target=target))
    if method is not None:
        METHOD.check("method", method)
        asked = replace(asked, preparing=replace(asked.preparing, method=method))
    files = (
        {}
        if release is None
        else files_of_release(
            Path(release), [each.name for each in asked.tables], files_read(asked, None)
        )
    )
    written = [unfinished(file) for file in files.values()]
    with report_people(), gate.open_tables(asked, memory_limit, tell, written) as originals:
        made = prepare_releases(asked, originals, tell, choices=choices)
        if files and made.passed:
            tell("writing the release")
            write_releases(made, originals, files)
        return made


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
        refuse_unsuitable(original)
        if policy.cautions == "refuse":
            _refuse_rows(policy, original)
            _refuse_unnamed_columns(policy, original)
        _refuse_unknown_kept(policy, original)
        refuse_target(policy.preparing.target, original)
        refuse_cross_tables(policy.preparing, original)
        if original.table.entity is not None:
            refuse_for_people(policy.preparing, original.table.entity)
            _refuse_several_values(original)
        if policy.preparing.method == "local":
            refuse_other_tables(original)
    before = gate.find_baseline(policy, originals, baseline)
    tables = tuple(_search_table(policy, original, before, tell) for original in originals)
    if choices:
        tables = tuple(
            choose_transformations(policy, original, table, baseline, tell)
            for original, table in zip(originals, tables, strict=True)
        )
    if any(table.form is None for table in tables):
        return Prepared(policy, tables, None)
    made = [
        transform(original, table.form)
        for original, table in zip(originals, tables, strict=True)
        if table.form is not None
    ]
    for original, table, form in zip(originals, tables, made, strict=True):
        if table.is_local and form.records != original.records:
            rule = "local recoding must find the class of each record"
            raise UnavailableError(f"{rule}, got {original.table.name}; write method = 'global'")
    prepared = Prepared(
        policy, tables, gate.measure_policy(policy, made, baseline, show_progress=tell)
    )
    state_hashes(prepared, originals)
    return prepared


def _refuse_rows(policy: Policy, original: DuckDBTableCounts) -> None:
    """Refuse a table whose rows may not be people before a search of which no outcome would be judged."""
    mask = Mask(policy.mask_below)
    if found := " ".join(str(mask.sentence(each)) for each in original.identifiers.values()):
        rule = "a table to prepare must have a row for each person where cautions = 'refuse'"
        raise UnavailableError(
            f"{rule}, got {original.table.name}, of which it is in doubt; {found}"
        )


def _refuse_several_values(original: DuckDBTableCounts) -> None:
    """Refuse a check of people of whom a class has several values: coarser classes have them, too."""
    for check in original.table.checks:
        if check.sensitive is None or check.by:
            continue
        try:
            original.answer(check)
        except INTERRUPTIONS:
            raise
        except original.errors as error:
            why = sentence(error)
            if why in {REFUSAL_SEVERAL_VALUES, REFUSAL_SEVERAL_IN_TABLE}:
                what = f"{check.measure.name} of {check.sensitive}"
                raise UnavailableError(f"{why}, or remove the check of {what}") from None


def _refuse_unnamed_columns(policy: Policy, original: DuckDBTableCounts) -> None:
    """Refuse a list of released columns of which some single people out: no outcome would be judged."""
    columns = None if original.table.released is None else original.released_columns
    prepared = columns_prepared(original.table, original.engine.columns)
    unlisted = [name for name in (columns.unlisted if columns else ()) if name in prepared]
    if unlisted and "unnamed_columns" not in policy.accept:
        rule = f"policy released must have no column that singles people out and is in no other list, got {', '.join(unlisted)}"
        raise UnavailableError(f"{rule}; name it in quasi_identifiers, or do not release it")


def _refuse_unknown_kept(policy: Policy, original: DuckDBTableCounts) -> None:
    for name in policy.preparing.keep:
        if name not in original.engine.columns:
            rule = f"policy prepare.keep must name columns of {original.table.name}, got '{name}'"
            raise UnknownNameError(f"{rule}; {suggestion(name, original.engine.columns)}")


def _search_table(
    policy: Policy, original: DuckDBTableCounts, before: Baseline | None, tell: ShowProgress
) -> TableRelease:
    """Search the lattice of one table."""
    began = time.monotonic()
    columns, wanted = columns_to_generalize(original), policy.preparing
    tell(f"{original.table.name}: hierarchies")
    ruled = sensitive_criteria(original, columns)
    others = [*(column for column, _ in ruled), *([] if wanted.target is None else [wanted.target])]
    others += [name for pair in wanted.cross_tables for name in pair if name not in columns]
    generalization = generalize(original, columns, wanted, list(dict.fromkeys(others)))
    asked = class_size_requirement(original, columns, wanted.suppression)
    loss = make_loss(wanted.loss, generalization.lattice)
    judge = _Judge(policy, original, before, generalization, asked)
    words = _Words(original.table.name, tell)
    result = Search(
        generalization.lattice,
        asked if original.table.entity is None else Requirement(original.records, original.records),
        loss,
        judge if judge.left else accept_all,
        rules=judge.rules,
        stop=limit_time(wanted.time_limit),
        on_progress=words,
    ).run()
    best = result.best
    form = judge.form(best) if best else None
    if form is not None and wanted.cells:
        form = _with_cells(judge, form)
    kinds = column_types(original)
    local = _search_local(judge, kinds, tell)
    refused = _describe_refused(policy, original) if form is None and local is None else ()
    return TableRelease(
        table=original.table,
        kinds=kinds,
        records=original.records,
        hierarchies=generalization.hierarchies,
        lattice=generalization.lattice,
        requirement=asked,
        rules=judge.rules,
        result=result,
        target=None if wanted.target is None else target_of(generalization, wanted.target),
        cross=cross_tables_of(generalization, wanted.cross_tables),
        transformation=form,
        loss=wanted.loss,
        left_to_gate=tuple(check.measure.name for check in judge.left),
        source=source_sql(original),
        cautions=(
            *(
                str(Mask(policy.mask_below).sentence(each))
                for each in original.identifiers.values()
            ),
            *(f"{note[:1].upper()}{note[1:]}." for note in generalization.notes),
            *refused,
        ),
        protected=generalization.protected,
        limits=wanted.limits,
        method=wanted.method,
        local=local,
        seconds=time.monotonic() - began,
    )


def _describe_refused(policy: Policy, original: DuckDBTableCounts) -> tuple[str, ...]:
    """Say which cautions on the file the policy refuses, as a release may have them, however coarse."""
    if policy.cautions != "refuse":
        return ()
    mask = Mask(policy.mask_below)
    found: dict[Remark, None] = {}
    for check in original.table.checks:
        measured = measure_check(original, check, mask)
        remarks = (each for figure in measured.figures for each in figure.remarks)
        found |= dict.fromkeys([*measured.cautions, *remarks])
    settled = INFORMATIVE_CODES.union(policy.accept)
    refused = [each for each in found if each.code not in settled]
    codes = list(dict.fromkeys(each.code for each in refused if each.code))
    if not codes:
        return ()
    words = "; ".join(str(mask.sentence(each)).rstrip(".") for each in refused)
    return (REFUSED_CAUTIONS.format(words, toml_texts(codes)),)


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
        loss=wanted.loss,
        kinds=kinds,
        written=frozenset(wanted.hierarchies),
        never_left_out=frozenset(name for name, limit in wanted.limits.items() if limit == Limit()),
        is_met=lambda form: not judge.left or judge.broken(form, judge.left) is None,
        stop=limit_time(wanted.time_limit),
    )
    return partition_table(original, judge.generalization, judge.requirement, judge.asked, settings)


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
    made = suppress_cells(distinct, form.cut, judge.generalization.protected)
    stages = tuple(tuple(form.names[at] for at in stage) for stage in made.stages)
    blanked = replace(form, stages=stages)
    return form if judge.broken(blanked, judge.original.table.checks) else blanked


def _known(original: DuckDBTableCounts, check: Check, columns: Sequence[str]) -> bool:
    """Whether the search itself guarantees the check."""
    return is_class_size_check(original, check, columns) or is_criterion_check(
        original, check, columns
    )


def rules_of(
    generalization: Generalization, asked: Sequence[tuple[str, Criterion]]
) -> Rules | None:
    """Return the rules on sensitive values, if there are any, over the lattice that has these columns."""
    if generalization.wider is None or not asked:
        return None
    places = [Rule(generalization.others.index(column), criterion) for column, criterion in asked]
    return Rules(generalization.wider, len(generalization.hierarchies), places)


class _Judge:
    """Measures what class sizes do not determine on the transformed table, by the gate."""

    def __init__(
        self,
        policy: Policy,
        original: DuckDBTableCounts,
        before: Baseline | None,
        generalization: Generalization,
        asked: Requirement,
    ) -> None:
        self.policy, self.original, self.before, self.generalization = (
            policy,
            original,
            before,
            generalization,
        )
        columns = [each.column for each in generalization.hierarchies]
        strict = policy.cautions == "refuse" or original.table.nulls != "value"
        left = [
            each for each in original.table.checks if strict or not _known(original, each, columns)
        ]
        self.left = sorted(left, key=lambda each: each.measure.interval)  # estimates take longest
        self.asked, self.requirement = tuple(sensitive_criteria(original, columns)), asked
        self.rules: SizeRules | None = rules_of(generalization, self.asked)
        removable = asked.suppressible
        if original.table.entity is not None:
            removable = floor(
                policy.preparing.suppression * original.engine.count_people(())[0][0] + 1e-9
            )
            self.rules = PeopleRules(asked.k, removable)
        self.whole = not removable or (asked.takes_nothing and not self.asked)

    def form(self, node: CountedNode) -> Transformation:
        """Return the transformation of a node."""
        person = self.original.table.entity
        rounds = max(node.outcome.rounds, 1) if self.asked or person is not None else 0
        hierarchies = self.generalization.hierarchies
        return Transformation(
            hierarchies,
            node.node[: len(hierarchies)],
            node.outcome.cut or 1,
            rules=self.asked,
            rounds=rounds,
            person=person,
        )

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
        made = transform(self.original, form)
        made.is_searched = True
        try:
            measured = (measure_check(made, each, HIDES_NOTHING) for each in checks)
            judged = (
                (each.check, judge_check(each, self.policy, self.before)) for each in measured
            )
            verdicts = ((check, result.verdict) for check, result in judged)
            return next((pair for pair in verdicts if pair[1] not in MET), None)
        finally:
            made.engine.drop()


class _Words:
    """Reports progress, not too often."""

    def __init__(self, table: str, tell: ShowProgress) -> None:
        self.table, self.tell, self.last = table, tell, time.monotonic()

    def __call__(self, result: Result) -> None:
        if time.monotonic() - self.last < REPORT_INTERVAL:
            return
        self.last = time.monotonic()
        best = (
            "none meets the policy yet"
            if result.best is None
            else f"least loss {result.best.loss:.1%}"
        )
        progress = f"{len(result.counted):,} of {result.nodes:,} transformations evaluated; {best}"
        self.tell(f"{self.table}: {progress}")
