"""A table and a person's choices for it: reid-sql's own answers, which know no page.

A choice is a policy and a form of the release. The gate measures the release as it measures every other one,
so that the figures, the policy, the SQL and the file that a person takes away belong together.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from reid_sql.check import gate
from reid_sql.check.duckdb_table import DuckDBTableCounts
from reid_sql.check.html import render_html
from reid_sql.check.masking import Mask, ReportPage
from reid_sql.check.policy import read_policy_text
from reid_sql.check.policy_model import Policy, Preparing
from reid_sql.commands.starter import Starter, source_lines
from reid_sql.errors import OutOfDomainError
from reid_sql.explore.choice import KNOWN, OMITTED, PERSON, PRIVATE, SENSITIVE, Choice, first_choice
from reid_sql.explore.quick import (
    LARGE,
    SAMPLED,
    DrawnRows,
    QuickCounts,
    interval_below,
    measure_quickly,
)
from reid_sql.explore.search import Search
from reid_sql.hierarchies.hierarchy import Hierarchy, WrittenHierarchy
from reid_sql.models.generalization.lattice import DistinctRecords, Entropy, Node
from reid_sql.models.generalization.suppression import PeopleRules, Requirement, SizeRules
from reid_sql.parameters.document import toml_text
from reid_sql.prepare.files import source_sql, state_hashes, write_views
from reid_sql.prepare.preparation import column_types, rules_of
from reid_sql.prepare.problem import (
    Generalization,
    generalize,
    refuse_unsuitable,
    sensitive_criteria,
)
from reid_sql.prepare.release_files import unfinished, write_releases
from reid_sql.prepare.transformation import (
    Release,
    ReleasedForm,
    Transformation,
    TransformedRelease,
    transform,
)

# of the report and the policy that are taken away, if the page has no mask
MASK_OF_REPORT: Final = 10
PEOPLE_SHOWN: Final = 20  # combinations of values, which the fewest people have
# files of the release, of which the policy names the first
KINDS_OF_ROWS: Final = ("parquet", "csv")
REFUSAL_NOBODY: Final = "the groups must leave somebody in the release, got nobody; choose a coarser form, or a smaller group"


@dataclass(frozen=True)
class NextStep:
    """The next coarser form of a column: what is then left of the risk, and what the form loses."""

    column: str
    words: str
    small: float | None  # the share of the rows in too small groups; None where it is masked
    loss: float  # the share of the column's information


@dataclass(frozen=True)
class Answer:
    """What reid-sql answers for a choice; `page` is the gate's report on the release."""

    page: ReportPage
    in_small_groups: int | None  # people; None on a page with a mask: its bars show what may be
    learned: Mapping[str, int | None]  # the people whose group has one value of a sensitive column
    left_out: int | None  # rows that the release lacks
    losses: Mapping[str, float]  # the share of its information that a column loses
    next_steps: Sequence[NextStep]
    is_whole: bool  # whether also what needs all rows was counted

    @property
    def table(self) -> ReportPage:
        """What the report shows of the table."""
        table: ReportPage = self.page["tables"][0]
        return table


@dataclass(frozen=True)
class Estimate:
    """What drawn rows show of a choice: the intervals of 95 % of shares of all rows."""

    rows: int
    drawn: int
    alone: tuple[float, float]
    small: tuple[float, float]
    losses: Mapping[str, float]
    next_steps: Sequence[NextStep]


class Exploration:
    """A table that is open, and what is proposed for it."""

    def __init__(
        self,
        starter: Starter,
        original: DuckDBTableCounts,
        mask: int,
        folder: Path,
        memory_limit: str | None,
        *,
        copied_from: str | None,
    ) -> None:
        """Take the table as the gate opened it; nothing is counted yet."""
        self.copied_from = copied_from
        self.starter, self.original, self.memory_limit = starter, original, memory_limit
        self.mask, self.folder = Mask(mask), folder
        self.search: Search | None = None
        self.file = Path(next(iter(starter.source.values()))).name
        self.answer = lru_cache(64)(self._answer)
        self._generalize = lru_cache(2)(self._generalize_columns)
        self._identify = lru_cache(8)(self._find_identifiers)
        self.estimate = lru_cache(64)(self._estimate)
        self._draw = lru_cache(2)(self._draw_rows)
        self.large, self.sampled = LARGE, SAMPLED
        self._made: tuple[Choice, TransformedRelease] | None = None

    @property
    def profile(self) -> Sequence[Mapping[str, Any]]:
        """A row for each column; its counts are exact."""
        return self.starter.rows

    @cached_property
    def proposed(self) -> Choice:
        """The starter policy's roles; what it does not measure is left out until a person decides."""
        starter = self.starter
        names = [row["column_name"] for row in self.profile]
        roles = dict.fromkeys(names, OMITTED)
        roles |= dict.fromkeys(starter.quasi_identifiers, KNOWN) | dict.fromkeys(
            starter.sensitive, SENSITIVE
        )
        roles |= {} if starter.entity is None else {starter.entity: PERSON}
        people = None if starter.population is None else int(starter.population)
        return first_choice(names, [roles[name] for name in names], people)

    @property
    def reasons(self) -> Mapping[str, str]:
        """Why a role is proposed, by column; there is no figure in it."""
        advice = {row["column_name"]: row["suggestion"].partition(":")[0] for row in self.profile}
        return advice | self.starter.sensitive

    def steps(self, choice: Choice) -> Mapping[str, Sequence[str]]:
        """The forms that `prepare` knows of each column that others can know, the finest first."""
        if not choice.of_role(KNOWN):
            return {}
        forms = self._generalization(choice).hierarchies
        return {each.column: [_words(each, level) for level in _levels(each)] for each in forms}

    def _counts(self, choice: Choice) -> DuckDBTableCounts:
        """The table as the choice's policy sees it."""
        table = replace(self._read_policy(choice).tables[0], source=self.original.table.source)
        engine = self.original.engine.seen_by(table)
        return DuckDBTableCounts(table, engine, self.original.evidence)

    def _read_policy(self, choice: Choice, text: str = "") -> Policy:
        """Read the policy of a choice on the file itself; without a text, with the page's mask."""
        choice.refuse_unmeasurable()
        policy = read_policy_text(text or choice.policy('file = "table"', self.mask.below))
        table = replace(
            policy.tables[0], source=self.original.table.source, name=self.original.table.name
        )
        return replace(policy, name=self.file, tables=(table,))

    def _generalization(self, choice: Choice) -> Generalization:
        """The forms of the columns, and the distinct records: they depend on the roles alone."""
        return self._generalize(choice.roles_alone)

    def _generalize_columns(self, choice: Choice) -> Generalization:
        counts = self._counts(choice)
        refuse_unsuitable(counts)
        try:
            own = choice.own_groups.items()
            wanted = Preparing(
                hierarchies={name: WrittenHierarchy(name, (groups,)) for name, groups in own}
            )
            return generalize(counts, choice.of_role(KNOWN), wanted, choice.of_role(SENSITIVE))
        finally:
            counts.engine.forget_counts()

    def _find_identifiers(self, choice: Choice) -> DuckDBTableCounts:
        """Look once for rows that may not be people: it depends on the roles alone."""
        counts = self._counts(choice)
        counts.take_identifiers(counts)
        counts.engine.forget_counts()
        return counts

    def _node(self, choice: Choice, forms: Sequence[Hierarchy]) -> Node:
        """The level of each column that others know; a coarser one than there is, is the coarsest."""
        return tuple(min(choice.level_of(each.column), _levels(each)[-1]) for each in forms)

    def _form(
        self, choice: Choice, counts: DuckDBTableCounts
    ) -> tuple[Transformation, NDArray[np.bool_]]:
        """The form of the release, and which groups it leaves out; all may go but the last."""
        generalization, person = self._generalization(choice), choice.person
        records = generalization.lattice.records
        node = self._node(choice, generalization.hierarchies)
        form = Transformation(generalization.hierarchies, node, 1, person=person)
        classes = _classes(choice, generalization, node)
        if not choice.leaves_out:
            return replace(form, person=None), np.zeros(len(classes.counts), dtype=np.bool_)
        requirement = Requirement(records, records, choice.smallest_group)
        criteria = tuple(sensitive_criteria(counts, choice.of_role(KNOWN)))
        rules: SizeRules = rules_of(generalization, criteria) or SizeRules()
        if person is not None:
            rules = PeopleRules(choice.smallest_group, records)
        outcome = rules.judge(node, classes, requirement.judge(classes.counts), requirement)
        if outcome.cut is None:
            raise OutOfDomainError(REFUSAL_NOBODY)
        return replace(form, rules=criteria).at(node, outcome), rules.gone(node, classes, outcome)

    def _release(self, choice: Choice) -> TransformedRelease:
        """The release, as it is measured; that of the choice before is dropped."""
        if self._made is not None and self._made[0] == choice:
            return self._made[1]
        if self._made is not None:
            before, self._made = self._made[1], None
            before.engine.drop()
        counts = self._counts(choice)
        counts.take_identifiers(self._identify(choice.roles_alone))
        release = transform(counts, self._form(choice, counts)[0])
        self._made = choice, release
        return release

    def is_quick(self, choice: Choice) -> bool:
        """Whether a choice is answered from the distinct combinations alone; people have several rows."""
        return (
            self.original.records >= self.large
            and not (choice.counts_all or choice.shows_people)
            and choice.person is None
        )

    def _answer(self, choice: Choice) -> Answer:
        """Measure the release of a choice."""
        policy, generalization = self._read_policy(choice), self._generalization(choice)
        node = self._node(choice, generalization.hierarchies)
        if self.is_quick(choice):
            counts = self._counts(choice)
            criteria = sensitive_criteria(counts, choice.of_role(KNOWN))
            gone = self._form(choice, counts)[1]
            quick = QuickCounts(generalization, node, gone, rules_of(generalization, criteria))
            page = measure_quickly(policy, counts, quick)
            sizes, rows = quick.histogram(range(len(node))), generalization.lattice.records
            learned = {
                name: quick.diversity(name)["offending_records"]
                for name in choice.of_role(SENSITIVE)
            }
            left_out = rows - int(sizes.records.sum())
        else:
            release = self._release(choice)
            # no combinations of values where a mask hides who has them
            are_shown = choice.shows_people and self.mask.below == 1
            page = gate.measure_policy(
                policy, [release], None, risky=PEOPLE_SHOWN if are_shown else 0
            )
            sizes = release.histogram(choice.of_role(KNOWN))
            learned = {
                str(check.sensitive): release.answer(check)[0]["offending_records"]
                for check in release.table.checks
                if check.sensitive
            }
            left_out = self.original.records - release.engine.count_records()
        people = int(sizes.records.sum())
        return Answer(
            page,
            int(sizes.records[sizes.class_size < choice.smallest_group].sum())
            if self.mask.below == 1
            else None,
            {name: self._shown(int(count), people) for name, count in learned.items()},
            self._shown(left_out, left_out + people),
            _losses(generalization, node),
            self._next_steps(choice, generalization, node),
            not self.is_quick(choice),
        )

    def is_estimated(self, choice: Choice) -> bool:
        """Whether a choice is answered from drawn rows: it may have more classes than a click counts."""
        if not self.is_quick(choice) or self.mask.below > 1:
            return False
        choice.refuse_unmeasurable()
        generalization = self._generalization(choice)
        columns = generalization.lattice.level_codes
        node = self._node(choice, generalization.hierarchies)
        classes = prod(each.sizes[level] for each, level in zip(columns, node, strict=False))
        return min(classes, generalization.lattice.distinct_records) > self.sampled

    def _draw_rows(self, choice: Choice) -> DrawnRows:
        """Draw rows: it depends on the roles alone."""
        return DrawnRows(self._generalization(choice).lattice)

    def _estimate(self, choice: Choice) -> Estimate:
        """Estimate the shares of a choice, before anybody is left out."""
        generalization, rows = self._generalization(choice), self._draw(choice.roles_alone)
        node = self._node(choice, generalization.hierarchies)
        sizes = rows.class_sizes(node)
        return Estimate(
            self.original.records,
            len(sizes),
            interval_below(sizes, 2),
            interval_below(sizes, choice.smallest_group),
            _losses(generalization, node),
            self._next_steps(choice, generalization, node, rows),
        )

    def interrupt(self) -> None:
        """Stop what is being counted."""
        self.original.engine.con.interrupt()

    def begin_search(self, choice: Choice) -> None:
        """Search for the least loss for a choice, in place of what was searched before."""
        choice.refuse_unmeasurable()
        self.stop_search()
        (key, file), *keys = self.starter.source.items()
        source = source_lines(dict([(key, str(Path(file).absolute())), *keys]))
        problem = choice.problem(source, self.mask.below)
        self.search = Search(choice, problem, self.folder, self.memory_limit)

    def stop_search(self) -> None:
        """End the search, if there is one."""
        if self.search is not None:
            self.search.stop()

    def notice_reader(self) -> None:
        """Somebody looks at the page: the search goes on."""
        if self.search is not None:
            self.search.seen = monotonic()

    def _shown(self, count: int, people: int) -> int | None:
        """A number of people, where neither it nor that of the others is small."""
        hides = self.mask.hides(count) or self.mask.hides(people - count)
        return None if hides else count

    def _next_steps(
        self,
        choice: Choice,
        generalization: Generalization,
        node: Node,
        rows: DrawnRows | None = None,
    ) -> list[NextStep]:
        """Measure each form in which one column is one step coarser, before anybody is left out."""
        lost, steps = Entropy(generalization.lattice).columns, []
        for at, form in enumerate(generalization.hierarchies):
            if node[at] == _levels(form)[-1]:
                continue
            coarser = (*node[:at], node[at] + 1, *node[at + 1 :])
            small = None
            if rows is not None:
                sizes = rows.class_sizes(coarser)
                small = float((sizes < max(2, choice.smallest_group)).mean())
            elif self.mask.below == 1:
                small = (
                    _count_small(choice, generalization, coarser) / generalization.lattice.records
                )
            loss = _share(lost[at], coarser[at])
            steps.append(NextStep(form.column, _words(form, coarser[at]), small, loss))
        return steps

    # What a person takes away.

    def release_name(self, choice: Choice) -> str:
        """Name the release: a file that fails its policy is not named like one that passes."""
        passed = self.answer(replace(choice, counts_all=True)).page["exit_code"] == 0
        stem = re.sub(r"[^A-Za-z0-9_-]+", "_", Path(self.file).stem)
        return f"{stem}_{'released' if passed else 'not_for_release'}"

    def policy_text(self, choice: Choice) -> str:
        """Write the policy that judges the released file."""
        source = f"file = {toml_text(f'{self.release_name(choice)}.parquet')}"
        return choice.policy(source, self._mask_taken_away)

    @property
    def _mask_taken_away(self) -> int:
        return MASK_OF_REPORT if self.mask.below == 1 else self.mask.below

    def release(self, choice: Choice) -> Release:
        """The release with the gate's report on it, whose small counts are masked."""
        policy = self._read_policy(choice, self.policy_text(choice))
        measured = self._release(choice)
        counts = self._counts(choice)
        form = ReleasedForm(
            counts.table,
            column_types(counts),
            self.copied_from or source_sql(counts),
            self._form(choice, counts)[0],
        )
        release = Release(policy, (form,), gate.measure_policy(policy, [measured], None))
        state_hashes(release, [counts])
        return release

    def sql(self, choice: Choice) -> str:
        """Write the release as a view in DuckDB's SQL."""
        return write_views(self.release(choice))

    def report(self, choice: Choice) -> str:
        """Write the gate's page on the release, with small counts masked."""
        page = self.release(choice).report
        return "" if page is None else render_html(page)

    def rows(self, choice: Choice, kind: str = KINDS_OF_ROWS[0]) -> bytes:
        """Write the rows of the release as Parquet or CSV, read again and compared with those measured."""
        release = self.release(choice)
        file = _file_of_rows(self.folder, kind)
        write_releases(release, [self.original], {release.tables[0].table.name: file})
        try:
            return file.read_bytes()
        finally:
            file.unlink()


def _file_of_rows(folder: Path, kind: str) -> Path:
    return folder / f"released.{kind}"


def _classes(choice: Choice, generalization: Generalization, node: Node) -> DistinctRecords:
    """The classes at a node; of people with several rows, their records."""
    return generalization.lattice.records_at(node if choice.person is None else (*node, 0))


def _count_small(choice: Choice, generalization: Generalization, node: Node) -> int:
    """Count the rows in too small classes at a node."""
    requirement = Requirement(generalization.lattice.records, k=choice.smallest_group)
    if choice.person is None:
        return requirement.count_small(generalization.lattice.class_sizes_at(node))
    rules = PeopleRules(choice.smallest_group, 0)
    return rules.count_small(_classes(choice, generalization, node), requirement)


def _losses(generalization: Generalization, node: Node) -> dict[str, float]:
    """The share of its information that each column loses at a node."""
    lost = Entropy(generalization.lattice).columns
    forms = zip(generalization.hierarchies, node, lost, strict=False)
    return {form.column: _share(bits, level) for form, level, bits in forms}


def _levels(form: Hierarchy) -> Sequence[int]:
    """The levels of a column without the last, at which every record shows the same: that is a role."""
    return range(max(1, form.levels - 1))


def _words(form: Hierarchy, level: int) -> str:
    return form.words(level).removeprefix(f"{form.column} ")


def _share(lost: Any, level: int) -> float:  # noqa: ANN401 - an array of bits by level
    """The share of a column's bits that a level loses; of a column of one value, there are none to lose."""
    return float(lost[level] / lost[-1]) if lost[-1] else 0.0


@contextmanager
def explore(
    starter: Starter,
    mask: int = 1,
    memory_limit: str | None = None,
    *,
    copied_from: str | None = None,
) -> Iterator[Exploration]:
    """Open the table of a starter policy for exploring.

    The SQL of a release reads what a copy is `copied_from`, as the copy goes with the page.
    """
    names = [row["column_name"] for row in starter.rows]
    choice = first_choice(names, [KNOWN, *[PRIVATE] * (len(names) - 1)], None)
    policy = read_policy_text(choice.policy(source_lines(starter.source), mask))
    policy = replace(policy, tables=(replace(policy.tables[0], released=None),))
    with TemporaryDirectory() as name:
        folder = Path(name)
        written = [unfinished(_file_of_rows(folder, kind)) for kind in KINDS_OF_ROWS]
        with gate.open_tables(policy, memory_limit, written=written) as (original,):
            exploration = Exploration(
                starter, original, mask, folder, memory_limit, copied_from=copied_from
            )
            try:
                yield exploration
            finally:
                exploration.stop_search()
