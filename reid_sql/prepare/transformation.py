"""A transformation of a table: each column at a level, small classes suppressed, as one query."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Final

from reid_sql.check.duckdb_table import DuckDBTable, DuckDBTableCounts
from reid_sql.check.masking import ReportPage
from reid_sql.check.policy_model import (
    Check,
    Policy,
    Preparing,
    TablePolicy,
    columns_named,
    columns_prepared,
)
from reid_sql.check.remarks import Remark
from reid_sql.check.verdicts import FAIL, NO_WORSE, PASS
from reid_sql.errors import ReidError
from reid_sql.hierarchies.hierarchy import Hierarchy
from reid_sql.hierarchies.steps import ALL
from reid_sql.models.generalization.criteria import (
    EVERYWHERE,
    RECORDS,
    SIZE,
    VALUE_RECORDS,
    Criterion,
)
from reid_sql.models.generalization.lattice import Node
from reid_sql.models.generalization.search import Result
from reid_sql.models.generalization.suppression import Outcome as Suppression
from reid_sql.models.generalization.suppression import Requirement, SizeRules
from reid_sql.parameters import Row, quoted, sql_text
from reid_sql.prepare.local import LocalTransformation
from reid_sql.prepare.partitioning import LocalRelease
from reid_sql.prepare.problem import Generalization
from reid_sql.sources.other_programs import OTHER_SHEETS

SMALL: Final = "reid_small"
RESCUED: Final = "reid_rescued"
FIRST: Final = "reid_first"
LEAST: Final = "reid_least"
NUMBERS: Final = count(1)


@dataclass(frozen=True)
class Transformation:
    """Hierarchies of the quasi-identifiers with levels, and the size below which classes are suppressed."""

    hierarchies: tuple[Hierarchy, ...]
    node: Node
    cut: int
    # columns that become blank in records of small classes
    stages: tuple[tuple[str, ...], ...] = ()
    rules: tuple[tuple[str, Criterion], ...] = ()  # sensitive columns, and what classes must fulfil
    rounds: int = 0  # of suppressing classes that break a rule, or people
    person: str | None = None  # the column of people, who are left out whole

    def at(self, node: Node, outcome: Suppression) -> "Transformation":
        """The same at a node that was judged, without the classes, or people, that are then taken away."""
        rounds = max(outcome.rounds, 1) if self.rules or self.person is not None else 0
        levels = node[: len(self.hierarchies)]
        return replace(self, node=levels, cut=outcome.cut or 1, rounds=rounds, stages=())

    @property
    def names(self) -> list[str]:
        """The quasi-identifiers."""
        return [each.column for each in self.hierarchies]

    @property
    def left_out(self) -> set[str]:
        """The columns of which every record shows the same."""
        return {
            name
            for name, (each, level) in self.levels.items()
            if each.levels == level + 1 and level
        }

    @property
    def levels_read(self) -> list[tuple[Hierarchy, int]]:
        """The levels that the query computes; columns that are as they are need none."""
        return [each for each in self.levels.values() if each[1]]

    @property
    def levels(self) -> dict[str, tuple[Hierarchy, int]]:
        """The hierarchy and the level of each column."""
        return {
            each.column: (each, level)
            for each, level in zip(self.hierarchies, self.node, strict=True)
        }

    def columns(self, names: Sequence[str]) -> list[str]:
        """Write each column as it is in the release, under its own name."""
        return [self._column(name) for name in names]

    def _column(self, name: str) -> str:
        """Write a column; one that becomes blank in some records is text."""
        hierarchy, level = self.levels.get(name, (None, 0))
        if hierarchy is not None and level:
            return f"{hierarchy.sql(level)} AS {quoted(name)}"
        blanked = any(name in stage for stage in self.stages)
        return f"CAST({quoted(name)} AS VARCHAR) AS {quoted(name)}" if blanked else quoted(name)

    @property
    def has_rounds(self) -> bool:
        """Whether classes that are small or break a rule, or people of small ones, are left out in rounds."""
        return bool(self.rules) or self.person is not None

    @property
    def names_read(self) -> list[str]:
        """The columns by which records are left out."""
        sensitive = [column for column, _ in self.rules]
        return [*self.names, *sensitive, *([] if self.person is None else [self.person])]

    def select(self, names: Sequence[str], source: str) -> str:
        """Write the release as a query on the source: no record is listed, classes are counted where it runs.

        Records of a class below the cut are left out as rows, so that no class of blanks is formed by them.
        """
        is_whole = self.cut <= 1 and not self.has_rounds
        carried = list(dict.fromkeys([*names, *([] if is_whole else self.names_read)]))
        listed = ",\n    ".join(self.columns(carried))
        inner = f"SELECT\n    {listed}\n  FROM {source}"
        if is_whole:
            return inner
        outer = f"SELECT {_listed(names)}"
        condition = f"\nQUALIFY count(*) OVER (PARTITION BY {_listed(self.names)}) >= {self.cut}"
        if self.has_rounds:
            steps, condition = [self._round(carried, at) for at in range(self.rounds)], ""
        elif self.stages:
            steps = [self._stage(carried, at, stage) for at, stage in enumerate(self.stages)]
        else:
            return f"{outer}\nFROM (\n  {inner}\n) AS reid_form{condition}"
        forms = ",\n".join(
            f"reid_form_{at} AS (\n  {step}\n)" for at, step in enumerate([inner, *steps])
        )
        return f"WITH {forms}\n{outer}\nFROM reid_form_{len(steps)}{condition}"

    def _round(self, names: Sequence[str], number: int) -> str:
        if self.person is not None:
            # Whole people are left out: those with a record in a class of fewer people than the cut. The
            # first record of a person in a class counts as one, since not every database counts distinct
            # values over a window.
            person = quoted(self.person)
            in_class = _listed([*self.names, self.person])
            first = f"row_number() OVER (PARTITION BY {in_class} ORDER BY {person})"
            source = f"(SELECT *, {first} AS {FIRST}\n    FROM reid_form_{number}) AS reid_counted"
            one = f"CASE WHEN {FIRST} = 1 THEN 1 ELSE 0 END"
            people = f"sum({one}) OVER (PARTITION BY {_listed(self.names)}) AS {SIZE}"
            source = f"(SELECT *, {people}\n    FROM {source}) AS reid_counted"
            least = f"min({SIZE}) OVER (PARTITION BY {person}) AS {LEAST}"
            source = f"(SELECT *, {least}\n    FROM {source}) AS reid_counted"
            return f"SELECT {_listed(names)}\n  FROM {source}\n  WHERE {LEAST} >= {self.cut}"
        counted = f"SELECT *, count(*) OVER (PARTITION BY {_listed(self.names)}) AS {SIZE}"
        source = f"({counted} FROM reid_form_{number})"
        for name, parts in self.counts.items():
            over = f"PARTITION BY {_listed(parts)}" if parts else ""
            source = (
                f"(SELECT *, count(*) OVER ({over}) AS {name}\n    FROM {source} AS reid_counted)"
            )
        part = f"OVER (PARTITION BY {_listed(self.names)})"
        conditions = [rule.sql(part, at) for at, rule in self.numbered]
        small = [f"{SIZE} >= {self.cut}"] if self.cut > 1 else []
        condition = " AND ".join([*small, *conditions])
        return f"SELECT {_listed(names)}\n  FROM {source} AS reid_counted\n  QUALIFY {condition}"

    @property
    def numbered(self) -> list[tuple[int, Criterion]]:
        """The rules with the number of their sensitive column."""
        columns = list(dict.fromkeys(column for column, _ in self.rules))
        return [(columns.index(column) + 1, rule) for column, rule in self.rules]

    @property
    def counts(self) -> dict[str, list[str]]:
        """The counts of records that the rules need, by name, and the columns that these records share."""
        each = [
            (at, column, rule)
            for (at, rule), (column, _) in zip(self.numbered, self.rules, strict=True)
        ]
        per_value = {f"{VALUE_RECORDS}_{at}": [*self.names, column] for at, column, _ in each}
        relative = {f"{EVERYWHERE}_{at}": [column] for at, column, rule in each if rule.relative}
        return per_value | relative | ({RECORDS: []} if relative else {})

    def _stage(self, names: Sequence[str], number: int, stage: Sequence[str]) -> str:
        """Blank the columns in records of small classes that are then alike with enough others of them."""
        remaining = _listed([SMALL, *(name for name in self.names if name not in stage)])
        flag = f"count(*) OVER (PARTITION BY {_listed(self.names)}) < {self.cut} AS {SMALL}"
        small = f"SELECT *, {flag} FROM reid_form_{number}"
        rescued = f"{SMALL} AND count(*) OVER (PARTITION BY {remaining}) >= {self.cut} AS {RESCUED}"
        blank = ", ".join(
            f"CASE WHEN {RESCUED} THEN {sql_text(ALL)} ELSE {quoted(name)} END AS {quoted(name)}"
            if name in stage
            else quoted(name)
            for name in names
        )
        source = f"(SELECT *, {rescued} FROM ({small}) AS reid_flagged) AS reid_flagged"
        return f"SELECT {blank}\n  FROM {source}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(quoted(name) for name in names)


def columns_shipped(
    table: TablePolicy, columns: Iterable[str], form: Transformation | LocalTransformation | None
) -> list[str]:
    """Return the columns of a release: those that the policy names, without those that are '*' alone."""
    prepared = columns_prepared(table, columns)
    shown = [name for name in prepared if form is None or name not in form.left_out]
    return shown or prepared  # a release has a column


class ReleasedTable(DuckDBTable):
    """A transformed table, in the connection of its source."""

    def __init__(self, original: DuckDBTable, form: Transformation | LocalTransformation) -> None:
        """Create the transformed table; what it is compared with is generalized in the same way.

        But for a former release, which is published as it is.
        """
        view = f"reid_released_{next(NUMBERS)}"
        prepared = columns_prepared(original.table, original.columns)
        named = {*columns_named(original.table), *prepared}
        columns = [name for name in original.columns if name in named]
        select = form.select(columns, original.view)
        original.ask(f"CREATE TEMP TABLE {view} AS {select}", "creating the release")
        super().__init__(original.con, original.table, view)
        self.raw = original.raw
        # other sheets stay behind: the release is a file of its own
        self.cautions = [each for each in original.cautions if each.code != OTHER_SHEETS]
        self.left_out = form.left_out
        self.is_prepared = True
        shipped = columns_shipped(original.table, original.columns, form)
        self.omitted = [name for name in original.columns if name not in shipped]
        self.recoded = set(form.labels) if isinstance(form, LocalTransformation) else set()
        if isinstance(form, Transformation):  # a table with others has no local recoding
            of_any_type = tuple(each.with_bands(integer=False) for each in form.hierarchies)
            form = replace(form, hierarchies=of_any_type)  # theirs may be text
            for role, view in original.other_views.items():
                self._generalize(
                    view, self.other_views[role], None if role in {"former", "joined"} else form
                )

    def _generalize(self, source: str, view: str, form: Transformation | None) -> None:
        names = [row[0] for row in self.con.execute(f"DESCRIBE {source}").fetchall()]
        columns = "*" if form is None else ", ".join(form.columns(names))
        self.con.execute(f"CREATE TEMP VIEW {view} AS SELECT {columns} FROM {source}")

    def profile(self, columns: Sequence[str]) -> list[Row]:
        """Profile the columns that are not suppressed: the others contain the same text in every record."""
        released = [name for name in columns if name not in self.left_out]
        rows = super().profile(released) if released else []
        return [_without_blanks(row) if row["column_name"] in self.recoded else row for row in rows]

    def drop(self) -> None:
        """Drop what was created to measure the transformation."""
        views = "SELECT view_name FROM duckdb_views() WHERE temporary AND starts_with(view_name, ?)"
        for (name,) in self.con.execute(views, [f"{self.view}_"]).fetchall():
            self.con.execute(f"DROP VIEW {quoted(name)}")
        self.forget_counts()
        self.con.execute(f"DROP TABLE {self.view}")


def _without_blanks(row: Row) -> Row:
    """Leave out what the release itself writes in place of values: it is no code of a missing one."""
    records = dict(zip(row["sentinels"], row["sentinel_records"], strict=True))
    records.pop(ALL, None)
    return {**row, "sentinels": list(records), "sentinel_records": list(records.values())}


class TransformedRelease(DuckDBTableCounts):
    """A transformed table, measured as its source is."""

    engine: ReleasedTable
    is_searched = False  # one of many that are measured in a search, whose columns are the same

    def find_unnamed_columns(self, check: Check) -> list[Remark]:
        """Find the caution on columns that single people out, and are in no list of the policy."""
        return [] if self.is_searched else super().find_unnamed_columns(check)


def transform(
    original: DuckDBTableCounts, form: Transformation | LocalTransformation
) -> TransformedRelease:
    """Create the transformed table, to be measured as its source is."""
    release = TransformedRelease(
        original.table, ReleasedTable(original.engine, form), original.evidence
    )
    release.take_identifiers(original)  # the release is of the same people, without the column
    return release


@dataclass(frozen=True)
class ReleasedForm:
    """A table and the form in which its rows are released, or None if none meets the policy."""

    table: TablePolicy
    kinds: Mapping[str, str]  # of the source's columns, their types
    source: str
    transformation: Transformation | None

    @property
    def form(self) -> Transformation | LocalTransformation | None:
        """What is released; None if nothing meets the policy."""
        return self.transformation

    @property
    def released(self) -> Transformation | LocalTransformation:
        """What is released; refuses a table of which nothing meets the policy."""
        if self.form is None:
            raise ReidError("no transformation of the table meets the policy")
        return self.form

    @property
    def shipped(self) -> list[str]:
        """The columns of the release: those that the policy names, and those to keep."""
        return columns_shipped(self.table, self.kinds, self.form)

    @property
    def blank(self) -> list[str]:
        """The quasi-identifiers that every record would show as '*', which the release lacks."""
        gone = set() if self.form is None else self.form.left_out
        return [name for name in self.kinds if name in gone and name not in self.shipped]

    @property
    def omitted(self) -> list[str]:
        """The columns of the source that the policy does not name, or leaves out."""
        return [name for name in self.kinds if name not in {*self.shipped, *self.blank}]

    @property
    def numbered(self) -> str | None:
        """The column of people, if the release has random numbers in its place."""
        person = self.table.entity
        return person if person in self.shipped and person not in self.table.kept else None


@dataclass(frozen=True)
class TableRelease(ReleasedForm):
    """A table's transformation, and how it was searched."""

    records: int
    generalization: Generalization
    requirement: Requirement
    rules: SizeRules | None
    result: Result
    preparing: Preparing  # that the policy asks for
    left_to_gate: tuple[str, ...]
    seconds: float
    cautions: tuple[str, ...] = ()  # that rows may not be people
    is_refused: bool = False  # by a caution on the file, and not by its risk
    # rows of transformations to choose from, if asked for
    choices: tuple[Mapping[str, Any], ...] = ()
    method: str = "global"
    local: LocalRelease | None = None  # None if it was not sought, or none meets the policy

    @property
    def is_local(self) -> bool:
        """Whether local recoding is released: it was asked for, or loses less than global recoding."""
        best = self.result.best
        if self.method != "best" or best is None or self.local is None:
            return self.method == "local" or (best is None and self.local is not None)
        return self.local.losses[self.preparing.loss] < best.loss

    @property
    def form(self) -> Transformation | LocalTransformation | None:
        """What is released; None if nothing meets the policy."""
        if not self.is_local:
            return self.transformation
        return None if self.local is None else self.local.transformation

    @property
    def proved(self) -> bool:
        """Whether no other transformation loses less; with NULL as no value, the search asks too much."""
        return self.result.optimal and self.table.nulls == "value"


@dataclass(frozen=True)
class Release:
    """Tables in the form of their release; `report` is the gate's, measured on it, None if there is none."""

    policy: Policy
    tables: tuple[ReleasedForm, ...]
    report: ReportPage | None

    @property
    def verdict(self) -> str:
        """The gate's verdict on the release; fail if a table has no transformation that meets the policy."""
        return FAIL if self.report is None else str(self.report["verdict"])

    @property
    def passed(self) -> bool:
        """Whether the release meets the policy."""
        return self.verdict in {PASS, NO_WORSE}

    @property
    def exit_code(self) -> int:
        """The exit code of the command: 0, 1 or 2."""
        return 1 if self.report is None else int(self.report["exit_code"])


@dataclass(frozen=True)
class Outcome(Release):
    """The release that a search found for a policy's tables."""

    tables: tuple[TableRelease, ...]
