"""What a policy asks: tables, their checks and limits, and how a release that meets them is sought."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from reid_sql.check.assessment import Assessment, Recipient
from reid_sql.check.measure import Measure
from reid_sql.check.sources import Codes, Source
from reid_sql.errors import OutOfDomainError, UnknownNameError, suggestion
from reid_sql.hierarchies.hierarchy import WrittenHierarchy, read_hierarchy
from reid_sql.hierarchies.limits import LIMIT_KEYS, Limit, read_limits
from reid_sql.models.generalization.lattice import LOSS
from reid_sql.models.generalization.partition import METHOD
from reid_sql.parameters import ColumnNames, NullWord, Number, fold_case
from reid_sql.parameters.document import Place, shown

NAMING: Final = ("column", "key")  # roles of parameters that name columns of the table


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
    recipient: str | None = None  # for whom it is judged; None: for the controller

    @property
    def counted(self) -> tuple[str, ...]:
        """The columns that distinguish people: the quasi-identifiers, or what a scenario's attacker knows."""
        return self.quasi_identifiers or _columns_of_scenario(self.parameters.get("scenario"))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it counts by, and those that its parameters name, such as that of households."""
        domains = {name: each.domain for name, each in self.measure.parameters.items()}
        named = [
            domains[name].columns_in(value, "left") or ()
            for name, value in self.parameters.items()
            if value is not None and domains[name].role in NAMING
        ]
        return (*self.counted, *(str(each) for names in named for each in names))

    @property
    def dilutes_by_nulls(self) -> bool:
        """Whether NULL, counted as one more sensitive value, makes the figure look safer."""
        return self.measure.function in {"l_diversity", "attribute_disclosure"}

    @property
    def values_counted(self) -> tuple[str, ...]:
        """The columns whose values count, each once: a missing-value code among them would be one.

        The column that identifies people or households has no values, but identifiers.
        """
        weight = self.parameters.get("weight")
        sensitive = [self.sensitive] if self.sensitive else []
        weights = [str(weight)] if weight else []
        return tuple(dict.fromkeys([*self.counted, *sensitive, *self.by, *weights]))

    @property
    def without_limit(self) -> tuple[Any, ...]:
        """What is measured, by which a check is found again in an earlier report."""
        return (
            self.measure.name,
            self.quasi_identifiers,
            self.sensitive,
            self.by,
            repr(sorted(self.parameters.items())),
            self.recipient,
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
    role_sources: Mapping[str, Source]  # of the tables that this one is compared with, by role
    checks: tuple[Check, ...]
    number: int = 1  # among the tables of its policy
    engine: str | None = None  # what counts it, where it says so itself
    entity: str | None = None  # the column that identifies people, where rows are not people
    missing: Codes = field(default_factory=dict)  # by column, the values that mean "missing"
    released: tuple[str, ...] | None = None  # the columns of the release; None: all of the file
    left_out: tuple[str, ...] = ()  # columns that the release lacks
    kept: tuple[
        str, ...
    ] = ()  # columns that `prepare` releases besides those that the policy names

    @property
    def codes_as_nulls(self) -> Codes:
        """The codes that count as NULL: of columns that records are counted by only if NULL is no value."""
        counted = set(map(fold_case, columns_counted(self))) if self.nulls == "value" else set()
        return {
            name: codes for name, codes in self.missing.items() if fold_case(name) not in counted
        }

    @property
    def call_options(self) -> dict[str, Any]:
        """What every call on the table takes: how NULL counts, and the column of people."""
        return {"nulls": self.nulls, "entity": self.entity}

    @property
    def asks_for_population(self) -> bool:
        """Whether a check needs the model of people."""
        return any(check.measure.function == "population_risk" for check in self.checks)

    @property
    def sources(self) -> tuple[Source, ...]:
        """Where the table and those it is compared with lie."""
        return (self.source, *self.role_sources.values())


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
    keep_values: bool = False  # whether queries of a warehouse return counts and codes alone
    accept: tuple[str, ...] = ()  # the codes of cautions that never block
    baseline_accepted_by: str | None = None
    preparing: Preparing = field(default_factory=Preparing)
    engine: str | None = None  # what counts, where the policy says so
    recipients: tuple[Recipient, ...] = ()
    assessment: Assessment | None = None  # what people write about the release
    # of the policy, which no report overwrites
    files: tuple[Path, ...] = field(default=(), compare=False)


def without_names(names: Iterable[str], left_out: Iterable[str]) -> list[str]:
    """Return the names that are not among those that are left out; capitals are no difference."""
    folded = set(map(fold_case, left_out))
    return [name for name in names if fold_case(name) not in folded]


def columns_named(table: TablePolicy) -> list[str]:
    """Every column that the checks name, once."""
    checked = columns_checked(table)
    people = [] if table.entity is None else [table.entity]
    listed = (*table.quasi_identifiers, *table.sensitive)
    return list(dict.fromkeys([*listed, *checked, *people, *table.missing]))


def columns_required(table: TablePolicy) -> list[str]:
    """Every column that the table must have: those that its checks name, and those that it releases."""
    return list(dict.fromkeys([*columns_named(table), *(table.released or ())]))


def columns_checked(table: TablePolicy) -> list[str]:
    """Every column that some check measures, or divides the table by, once."""
    named = [
        name
        for check in table.checks
        for name in (*check.columns, *check.by, *([check.sensitive] if check.sensitive else ()))
    ]
    return list(dict.fromkeys(named))


def columns_of_people(table: TablePolicy) -> list[str]:
    """Every column that some check measures, and the one that distinguishes people."""
    return list(dict.fromkeys([*columns_checked(table), str(table.entity)]))


def columns_released(table: TablePolicy, columns: Iterable[str]) -> list[str]:
    """Those of a file's columns that its release has: all but those that the policy leaves out."""
    if table.released is None:
        return without_names(columns, table.left_out)
    named = set(map(fold_case, (*table.released, *table.kept)))
    return [name for name in columns if fold_case(name) in named]


def columns_prepared(table: TablePolicy, columns: Iterable[str]) -> list[str]:
    """Those of a file's columns that a prepared release has: what the policy names and does not leave out."""
    named = {*map(fold_case, columns_required(table)), *map(fold_case, table.kept)}
    return columns_released(table, [name for name in columns if fold_case(name) in named])


def columns_read(table: TablePolicy, columns: Iterable[str]) -> list[str]:
    """Those of a file's columns that its checks name, or that its release has."""
    of_file = list(columns)
    used = {fold_case(name) for name in (*columns_named(table), *columns_released(table, of_file))}
    return [name for name in of_file if fold_case(name) in used]


def sets_counted(table: TablePolicy, *, overview: bool) -> list[tuple[str, ...]]:
    """The sets of columns by which the whole table is counted, by its checks and by the report, each once."""
    named = table.quasi_identifiers
    without = [tuple(c for c in named if c != name) for name in named]
    reported = [named, *((name,) for name in named), *without] if overview else [named]
    checked = [check.counted for check in table.checks if not check.by]
    return [each for each in dict.fromkeys([*checked, *reported]) if each]


def largest_population(table: TablePolicy) -> float | None:
    """The largest population that the table or a check of it names."""
    asked = [check.parameters.get("population") for check in table.checks]
    return max((float(size) for size in (*asked, table.population) if size), default=None)


def columns_counted(table: TablePolicy) -> list[str]:
    """The columns by which records are counted or grouped, once."""
    own = [name for check in table.checks for name in (*check.counted, *check.by)]
    return list(dict.fromkeys([*table.quasi_identifiers, *own]))


# Read how a release is sought: the table `prepare` of a policy.


PREPARE_KEYS: Final = (
    "suppression",
    "cells",
    "loss",
    "weights",
    "method",
    "time_limit",
    "keep",
    "target",
    "cross_tables",
    *LIMIT_KEYS,
    "hierarchies",
    "ladders",
)
SUPPRESSION: Final = Number(
    "a share from 0 to 0.5",
    "write how many records may be left out, such as 0.02 for 2 %",
    0.0,
    0.5,
)
LOSS_WEIGHT: Final = Number(
    "a number from 0.001 to 1000",
    "write how much the column counts, such as 3; others count 1",
    0.001,
    1000.0,
)
COLUMNS_OF_A_CROSS_TABLE: Final = 2
SECONDS: Final = Number(
    "a number of seconds from 1 to 1e6", "write how long a search may take, such as 60", 1.0, 1e6
)


def read_preparing(place: Place, columns: ColumnNames, folder: Path) -> Preparing:
    """Read the table `prepare` of a policy; hierarchies are of columns that its tables count by.

    The files of hierarchies are in the folder of the policy.
    """
    place.only(PREPARE_KEYS)
    hierarchies = place.table(_hierarchies_key(place))
    weights = place.table("weights")
    _refuse_unknown_columns(hierarchies.where, hierarchies.values, columns)
    _refuse_unknown_columns(weights.where, weights.values, columns)
    limits = read_limits(place)
    _refuse_unknown_columns(f"{place.where} limits", limits, columns)
    usual = Preparing()
    loss = LOSS.check(place.at("loss"), place.text("loss", usual.loss))
    if weights.values and loss != usual.loss:
        raise OutOfDomainError(
            f"{weights.where} must come with loss = '{usual.loss}', the only loss of columns, got '{loss}'; "
            "remove the weights or the loss"
        )
    return Preparing(
        suppression=place.number("suppression", SUPPRESSION, usual.suppression),
        cells=place.flag("cells"),
        loss=loss,
        method=METHOD.check(place.at("method"), place.text("method", usual.method)),
        time_limit=place.number("time_limit", SECONDS, usual.time_limit),
        keep=place.texts("keep"),
        target=place.text("target") if "target" in place.values else None,
        hierarchies={
            name: read_hierarchy(hierarchies, name, folder) for name in hierarchies.values
        },
        weights={name: weights.number(name, LOSS_WEIGHT) for name in weights.values},
        limits=limits,
        cross_tables=_read_cross_tables(place),
    )


def _read_cross_tables(place: Place) -> tuple[tuple[str, str], ...]:
    """Read pairs of columns."""
    pairs = place.values.get("cross_tables", [])
    pairs = pairs if isinstance(pairs, list) else [pairs]
    for number, pair in enumerate(pairs, 1):
        named = isinstance(pair, list) and all(isinstance(name, str) for name in pair)
        if not named or len(pair) != COLUMNS_OF_A_CROSS_TABLE or len(set(pair)) < len(pair):
            raise OutOfDomainError(
                f"{place.at('cross_tables')}[{number}] must name two columns, got {shown(pair)}"
                '; write it like [["sex", "income"]]'
            )
    return tuple((first, second) for first, second in pairs)


def _refuse_unknown_columns(where: str, names: Iterable[str], columns: ColumnNames) -> None:
    for name in names:
        if name not in columns:
            raise UnknownNameError(
                f"{where} must name quasi-identifiers of the policy, got '{name}'; "
                f"{suggestion(str(name), list(columns), 'quasi-identifiers')}"
            )


def list_hierarchy_files(place: Place, folder: Path) -> list[Path]:
    """List the files of hierarchies that the table names."""
    hierarchies = place.table(_hierarchies_key(place)).values.values()
    files = [each.get("arx") for each in hierarchies if isinstance(each, Mapping)]
    return [folder / each for each in files if isinstance(each, str)]


def _hierarchies_key(place: Place) -> str:
    """Return the key that the policy uses; `ladders` is the older name of `hierarchies`."""
    if "ladders" not in place.values:
        return "hierarchies"
    if "hierarchies" in place.values:
        raise OutOfDomainError(
            f"{place.where} must have one of the keys hierarchies and ladders (its older name), got both; "
            "move the steps to hierarchies"
        )
    return "ladders"
