"""What a policy asks: tables, their checks and limits, and how a release that meets them is sought."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reid_sql.check.measure import Measure
from reid_sql.check.sources import (
    Source,
)
from reid_sql.hierarchies.hierarchy import WrittenHierarchy
from reid_sql.hierarchies.limits import Limit
from reid_sql.parameters import (
    WEIGHT,
    Column,
    Domain,
    NullWord,
)


@dataclass(frozen=True)
class Preparing:
    """The settings of `prepare`: the share of records that may be left out, loss, time and hierarchies.

    With `cells`, single values of records that would be left out become blank, where that is enough.
    `keep` are columns that are released besides those that the policy names, unmeasured; for `target` the
    report shows how well the others still predict it. `method` is global recoding, local recoding, or the one
    of both that loses less. `weights` are how much a bit of a column counts in the entropy, 1 by default.
    `limits` are the coarsest forms that columns may have. For each pair of `cross_tables`, the report shows
    how much the table of both columns changes.
    """

    suppression: float = 0.02
    cells: bool = False
    loss: str = "entropy"
    method: str = "global"
    time_limit: float = 60.0
    keep: tuple[str, ...] = ()
    target: str | None = None
    hierarchies: Mapping[str, WrittenHierarchy] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    limits: Mapping[str, Limit] = field(default_factory=dict)
    cross_tables: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Check:
    """A limit on a measure, or that it be no worse than the baseline, for the table or for each group.

    The groups are of its records.
    """

    measure: Measure
    parameters: Mapping[str, Any]
    quasi_identifiers: tuple[str, ...]
    sensitive: str | None
    limit: float | None
    no_worse: bool
    by: tuple[str, ...]
    judge_by: str
    coarser: tuple[
        tuple[str, str], ...
    ] = ()  # a column and the relation that merges its values; only advice asks for it

    @property
    def counted(self) -> tuple[str, ...]:
        """The columns that tell people apart: the quasi-identifiers, or what a scenario's attacker knows."""
        return self.quasi_identifiers or _columns_of_scenario(self.parameters.get("scenario"))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it counts by, and those that its parameters name, such as that of households."""
        domains = {name: each.domain for name, each in self.measure.parameters.items()}
        given = ((domains[name], value) for name, value in self.parameters.items() if value is not None)
        return (*self.counted, *(str(value) for domain, value in given if _names_a_column(domain)))

    @property
    def without_limit(self) -> tuple[Any, ...]:
        """What is measured, by which a check is found again in an earlier report."""
        return (
            self.measure.name,
            self.quasi_identifiers,
            self.sensitive,
            self.by,
            repr(sorted(self.parameters.items())),
        )


def _columns_of_scenario(scenario: str | None) -> tuple[str, ...]:
    """The columns of a checked scenario's groups."""
    groups = json.loads(scenario).get("groups", []) if scenario else []
    return tuple(dict.fromkeys(column for group in groups for column in group.get("columns", [])))


@dataclass(frozen=True)
class TablePolicy:
    """A table, its columns, and its checks."""

    name: str
    source: Source
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    nulls: NullWord
    population: float | None
    others: Mapping[str, Source]  # tables that this one is compared with, by role
    checks: tuple[Check, ...]
    entity: str | None = None  # the column that identifies people, where rows are not people

    @property
    def sources(self) -> tuple[Source, ...]:
        """Where the table and those it is compared with lie."""
        return (self.source, *self.others.values())


@dataclass(frozen=True)
class Policy:
    """A whole policy; `sha256` is that of its file."""

    name: str
    tables: tuple[TablePolicy, ...]
    baseline: Path | None
    mask_below: int
    memory_limit: str | None
    seed: int
    cautions: str
    sha256: str
    baseline_accepted_by: str | None = None
    preparing: Preparing = field(default_factory=Preparing)
    engine: str | None = None  # what counts, where the policy says so
    files: tuple[Path, ...] = field(
        default=(), compare=False
    )  # what the policy was read from: reports spare them


def columns_named(table: TablePolicy) -> list[str]:
    """Every column that the checks name, once."""
    own = [
        name
        for check in table.checks
        for name in (*check.columns, *check.by, *([check.sensitive] if check.sensitive else ()))
    ]
    people = [] if table.entity is None else [table.entity]
    return list(dict.fromkeys([*table.quasi_identifiers, *table.sensitive, *own, *people]))


def _names_a_column(domain: Domain) -> bool:
    return isinstance(domain, Column) or domain is WEIGHT


def sets_counted(table: TablePolicy, *, overview: bool) -> list[tuple[str, ...]]:
    """The sets of columns by which the whole table is counted, by its checks and by the report, each once."""
    named = table.quasi_identifiers
    without = [tuple(c for c in named if c != name) for name in named]
    own = [named, *((name,) for name in named), *without] if overview else [named]
    checks = [check.counted for check in table.checks if not check.by]
    return [each for each in dict.fromkeys([*checks, *own]) if each]


def largest_population(table: TablePolicy) -> float | None:
    """The largest population that the table or a check of it names."""
    asked = [check.parameters.get("population") for check in table.checks]
    return max((float(size) for size in (*asked, table.population) if size), default=None)


def columns_counted(table: TablePolicy) -> list[str]:
    """The columns by which records are counted or grouped, once."""
    own = [name for check in table.checks for name in (*check.counted, *check.by)]
    return list(dict.fromkeys([*table.quasi_identifiers, *own]))
