"""What published tables give away together of their hidden cells, and of groups between them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, log
from typing import Annotated, Final, Literal

import numpy as np

from reid_sql.models.classes.disclosure import OK
from reid_sql.models.tables.bounds import Bounds, bound_variables
from reid_sql.models.tables.equations import (
    ContradictionError,
    LinkedCells,
    Rest,
    describe,
    find_connected_variables,
    find_sum,
    link_cells,
    shown,
)
from reid_sql.models.tables.figure_columns import find_figures
from reid_sql.models.tables.published_tables import (
    Cell,
    Cells,
    Counted,
    Key,
    PublishedRows,
    Reading,
    parse_rows,
    read_cells,
    read_counts,
)
from reid_sql.models.tables.renamed_columns import find_renamed_columns
from reid_sql.models.tables.rounded_tables import add_unlisted, guess_base
from reid_sql.models.tables.sums import (
    Estimate,
    SumCell,
    SumRules,
    estimate_contributors,
    read_sums,
)
from reid_sql.models.tables.undeclared_totals import refuse_undeclared_totals
from reid_sql.parameters import Choice, Integers, Number

LEAST_COUNT: Final = Number(
    "a whole number of people from 1 to 1e+6",
    "pass how many people a cell must have at least, such as 5",
    1.0,
    1e6,
    whole=True,
)
LeastCount = Annotated[int, LEAST_COUNT]
PEOPLE: Final = Choice(("same", "nested"))
PeopleWord = Annotated[Literal["same", "nested"], PEOPLE]
STATUS_NOT_TIGHT: Final = "bounds_not_tight: the interval contains the true one, and may be wider"
STATUS_ZEROS_EXCLUDED: Final = (
    "zeros_excluded: the finding assumes that no hidden count is 0, else pass lowest := 0"
)
STATUS_BASE_GUESSED: Final = (
    "base_guessed: all counts are multiples of one number, which is taken as base"
)
STATUS_NOT_AUDITED: Final = (
    "not_audited: '{}' has figures besides the counts, which may reveal hidden ones"
)
STATUS_RENAMED: Final = (
    "renamed_columns: {} may be one column under two names, which links nothing, so rename one"
)
RECOVERED, BELOW_K, PUBLISHED, PROTECTED = "recovered", "below_k", "published_below_k", "protected"
NOT_AUDITED: Final = "not_audited"  # columns, of figures or of one meaning
ESTIMATED: Final = "estimated"  # a contribution, nearer than a rule allows
ORDER: Final = (RECOVERED, BELOW_K, ESTIMATED, PUBLISHED, NOT_AUDITED, PROTECTED)
ONE_TABLE, SEVERAL_TABLES = "one_table", "several_tables"
RULE: Final = "publishers_rule"  # that hides counts below k alone: no table reveals more
TOTAL_SHOWN: Final = "(total)"
MAX_SUMS: Final = 500  # of revealed cells, each of which takes a linear programme


@dataclass(frozen=True)
class AuditedCell:
    """A hidden cell, a group between tables, or a published cell below k, and what an attacker computes."""

    cell: str
    categories: list[str]
    tables: list[int]
    kind: str
    low: int | None
    high: int | None
    width: int | None
    finding: str
    revealed_by: str | None
    revealing_sum: str | None
    status: str
    largest_low: float | None = None
    largest_high: float | None = None
    needed: float | None = None


def audit_tables(
    rows: PublishedRows,
    reading: Reading,
    k: int,
    *,
    nested: bool = False,
    rules: SumRules | None = None,
) -> list[AuditedCell]:
    """Compute the interval of each hidden cell from all tables, and find small groups between tables.

    >>> texts = ['{"sex": "F", "records": null}', '{"sex": "M", "records": 8}', '{"sex": null, "records": 9}']
    >>> [found] = audit_tables(PublishedRows(np.ones(3, dtype=int), texts), Reading(), 5)
    >>> found.finding, found.low, found.high, found.revealing_sum
    ('recovered', 1, 1, '[total] - [sex = M]')
    """
    figures = find_figures(parse_rows(rows), [int(each) for each in rows.tbl], reading, k)
    reading = replace(reading, figures=tuple(figures))
    columns, counted = read_counts(rows, reading, nested=nested)
    reading = leave_out_constants(counted, columns, reading, nested=nested)
    if reading.left_out:
        columns, counted = read_counts(rows, reading, nested=nested)
    is_guessed = not reading.base
    if is_guessed:
        reading = replace(reading, base=guess_base(counted))
        is_guessed = reading.base > 1
    refuse_undeclared_totals(counted, columns, reading, k)
    renamed = {} if nested else find_renamed_columns(counted, columns, reading, k)
    try:
        audit = _audit(rows, reading, k, nested=nested)
    except ContradictionError:
        if not is_guessed or reading.within:
            raise
        reading = replace(reading, within=reading.base - 1)
        audit = _audit(rows, reading, k, nested=nested)
    with_zeros = audit.findings
    if reading.lowest > 0 and {RECOVERED, BELOW_K} & {*with_zeros.values()}:
        with_zeros = _audit(rows, replace(reading, lowest=0.0), k, nested=nested).findings
    audited = [*audit.list_hidden_cells(with_zeros), *audit.small_cells()]
    if reading.value is not None and rules is not None:
        columns, cells = read_sums(rows, reading, nested=nested)
        for key, estimate in estimate_contributors(columns, cells, rules).items():
            if estimate.is_near or cells[key].value is None:
                audited.append(audit.describe_sum(key, cells[key], estimate))
    audited += describe_columns("column", figures, STATUS_NOT_AUDITED)
    audited += describe_columns("columns", renamed, STATUS_RENAMED)
    names = ", ".join(f"'{name}'" for name in reading.left_out)
    statuses = [STATUS_BASE_GUESSED] * is_guessed
    statuses += [STATUS_LEFT_OUT.format(names)] * bool(names)
    for status in statuses:
        audited = [
            replace(row, status=status if row.status == OK else f"{row.status}; {status}")
            for row in audited
        ]
    return sorted(audited, key=lambda each: (ORDER.index(each.finding), each.kind, each.cell))


def describe_columns(word: str, found: Mapping[str, list[int]], status: str) -> list[AuditedCell]:
    """The columns that the audit does not read as their tables mean them, each with its tables."""
    unknown = dict.fromkeys(("low", "high", "width", "revealed_by", "revealing_sum"))
    return [
        AuditedCell(
            cell=f"{word} {names}",
            categories=[],
            tables=tables,
            kind="column",
            finding=NOT_AUDITED,
            status=status.format(names),
            **unknown,
        )
        for names, tables in found.items()
    ]


def are_protected(
    rows: PublishedRows, reading: Reading, k: int, unlisted: Iterable[Key] = ()
) -> bool:
    """Whether no group of fewer than k people follows from the tables, which is proved.

    It answers sooner than `audit_tables`, as nothing is described. `unlisted` are cells that no table has,
    of which people may be: they link others.

    >>> texts = ['{"sex": "F", "records": null}', '{"sex": "M", "records": 8}', '{"sex": null, "records": 9}']
    >>> are_protected(PublishedRows(np.ones(3, dtype=int), texts), Reading(base=1), 5)
    False
    """
    return _audit(rows, reading, k, nested=False, unlisted=unlisted).is_protected()


def _audit(
    rows: PublishedRows,
    reading: Reading,
    k: int,
    *,
    nested: bool,
    unlisted: Iterable[Key] = (),
) -> "_Audit":
    columns, cells = read_cells(rows, reading, nested=nested)
    for key in unlisted:
        cells.setdefault(key, Cell(0.0, inf, is_listed=False))
    if reading.distance and not nested:
        add_unlisted(cells, read_counts(rows, reading)[1], reading)
    has_several = int(rows.tbl.max()) > 1
    try:
        return _Audit(link_cells(cells, columns, whole=reading.whole), k, has_several=has_several)
    except ContradictionError:  # unless a column only says of which people its table is
        linked = link_cells(cells, columns, with_labels=True, whole=reading.whole)
        return _Audit(linked, k, has_several=has_several)


class _Audit:
    """One audit: the equations of all tables, the bounds that follow, and the tables one by one."""

    def __init__(self, linked: LinkedCells, k: int, *, has_several: bool) -> None:
        self.linked, self.k, self.has_several = linked, k, has_several
        self.equations = linked.equations()
        self.keys = [key for key in linked.numbers if isinstance(key, Rest) or key in linked.cells]
        numbers = np.array([linked.numbers[key] for key in self.keys], dtype=np.int64)
        self.bounds: Bounds = bound_variables(self.equations, numbers)
        shown_keys = [
            key for key, cell in linked.cells.items() if cell.suppressed and cell.value is not None
        ]
        values = np.array([linked.cells[key].bounds[0] for key in shown_keys])
        self.keys += shown_keys  # hidden in one table, shown in another
        self.bounds = Bounds(
            np.concatenate([self.bounds.low, values]),
            np.concatenate([self.bounds.high, values]),
            np.concatenate([self.bounds.is_exact, np.ones(len(shown_keys), dtype=bool)]),
        )
        self.findings = {key: self._finding(key, place) for place, key in enumerate(self.keys)}
        self.parts: dict[int, Integers] = {}
        self.sums = 0

    def list_hidden_cells(self, with_zeros: Mapping[Key | Rest, str]) -> list[AuditedCell]:
        """The hidden and rounded cells; of what totals have besides their parts, those revealed.

        `with_zeros` are the findings if a hidden count may be 0.
        """
        finding_of = self.findings
        by_rule = {key for place, key in enumerate(self.keys) if self._is_known_by_rule(key, place)}
        revealed = [key for key, finding in finding_of.items() if finding in {RECOVERED, BELOW_K}]
        alone = self._find_revealed_alone([key for key in revealed if not isinstance(key, Rest)])
        rows = [
            (
                key,
                self._row(
                    key, place, finding_of[key], is_alone=key in alone, is_by_rule=key in by_rule
                ),
            )
            for place, key in enumerate(self.keys)
            if self._is_uncertain(key) or (finding_of[key] != PROTECTED and key not in by_rule)
        ]
        return [
            replace(row, status=STATUS_ZEROS_EXCLUDED)
            if row.status == OK and with_zeros.get(key) != finding_of[key] != PROTECTED
            else row
            for key, row in rows
        ]

    def is_protected(self) -> bool:
        """Whether each hidden count is protected, which is proved, and each published one at least k."""
        is_proved = self.bounds.is_exact | (self.bounds.low >= self.k)
        is_few = (self.bounds.low >= 1) & (self.bounds.high < self.k)
        return not self.small_cells() and all(
            is_proved[place] and self.findings[key] == PROTECTED
            if self._is_uncertain(key)
            else self._is_known_by_rule(key, place) or (is_proved[place] and not is_few[place])
            for place, key in enumerate(self.keys)
        )

    def _is_uncertain(self, key: Key | Rest) -> bool:
        """Whether a table lists the cell, and none shows its exact count."""
        if isinstance(key, Rest):
            return False
        cell = self.linked.cells[key]
        return bool(cell.suppressed) or (cell.value is None and cell.is_listed)

    def _is_known_by_rule(self, key: Key | Rest, place: int) -> bool:
        """Whether nothing narrows what the publisher's rule, or rounding, tells of a cell."""
        if isinstance(key, Rest):
            return False
        bounds = self.bounds.low[place], self.bounds.high[place]
        return self.linked.cells[key].value is None and bounds == self.linked.cells[key].bounds

    def small_cells(self) -> list[AuditedCell]:
        """The published cells of fewer than k people."""
        return [
            self._describe(
                key, sorted(cell.published), "published", cell.value, cell.value, PUBLISHED
            )
            for key, cell in self.linked.cells.items()
            if cell.value is not None and 1 <= cell.value < self.k and not cell.suppressed
        ]

    def _finding(self, key: Key | Rest, place: int) -> str:
        low, high = self.bounds.low[place], self.bounds.high[place]
        if isinstance(key, Rest):  # of nobody, or of k and more, it is no small group
            return PROTECTED if low < 1 or high >= self.k else RECOVERED if low == high else BELOW_K
        if low == high:
            return RECOVERED
        # A rounded count near 0 may be of nobody.
        is_group = low >= 1 or (
            not isinstance(key, Rest) and bool(self.linked.cells[key].suppressed)
        )
        return BELOW_K if high < self.k and is_group else PROTECTED

    def _find_revealed_alone(self, keys: list[Key]) -> set[Key]:
        """Those that one of their tables reveals without the others."""
        if not self.has_several:
            return set(keys)
        alone: set[Key] = set()
        cells_of = [self.linked.cells[key] for key in keys]
        numbers = {number for cell in cells_of for number in cell.suppressed or cell.published}
        for number in sorted(numbers):
            cells: Cells = {
                key: cell.of_table(number)
                for key, cell in self.linked.cells.items()
                if number in cell.tables
            }
            linked = link_cells(cells, self.linked.columns)
            keys_of_table = [key for key in keys if key in linked.numbers]
            places = np.array([linked.numbers[key] for key in keys_of_table], dtype=np.int64)
            bounds = bound_variables(linked.equations(), places)
            for key, low, high in zip(keys_of_table, bounds.low, bounds.high, strict=True):
                if low == high or high < self.k:
                    alone.add(key)
        return alone

    def _row(
        self, key: Key | Rest, place: int, finding: str, *, is_alone: bool, is_by_rule: bool
    ) -> AuditedCell:
        low, high = float(self.bounds.low[place]), float(self.bounds.high[place])
        cell = None if isinstance(key, Rest) else self.linked.cells[key]
        tables = sorted(cell.suppressed or cell.published) if cell else []
        is_revealed = finding in {RECOVERED, BELOW_K}
        by = (
            RULE
            if is_by_rule
            else ONE_TABLE
            if is_alone or not self.has_several
            else SEVERAL_TABLES
        )
        return self._describe(
            key,
            tables,
            "difference" if cell is None else "suppressed" if cell.suppressed else "rounded",
            low,
            high,
            finding,
            revealed_by=by if is_revealed else None,
            revealing_sum=self._sum(key, high) if is_revealed and not is_by_rule else None,
            status=OK if self.bounds.is_exact[place] else STATUS_NOT_TIGHT,
        )

    def _describe(  # noqa: PLR0917 - the columns of a row
        self,
        key: Key | Rest,
        tables: list[int],
        kind: str,
        low: float | None,
        high: float | None,
        finding: str,
        revealed_by: str | None = None,
        revealing_sum: str | None = None,
        status: str = OK,
    ) -> AuditedCell:
        key_of_cell = key.total if isinstance(key, Rest) else key
        categories = [
            TOTAL_SHOWN if each is None else shown(each)
            for each in key_of_cell[: len(self.linked.columns)]
        ]
        least, most = int(low or 0), None if high is None or np.isinf(high) else int(high)
        width = None if most is None else most - least
        return AuditedCell(
            describe(self.linked, key),
            categories,
            tables,
            kind,
            least,
            most,
            width,
            finding,
            revealed_by,
            revealing_sum,
            status,
        )

    def describe_sum(self, key: Key, cell: SumCell, estimate: Estimate) -> AuditedCell:
        """The sum of a cell, by what an attacker computes of its largest contribution."""
        by = f"contributor of [{describe(self.linked, estimate.other)}]" if estimate.other else None
        described = self._describe(
            key,
            sorted(cell.suppressed if cell.value is None else cell.published),
            "sum",
            None,
            None,
            ESTIMATED if estimate.is_near else PROTECTED,
            revealed_by=estimate.attacker if estimate.is_near else None,
            revealing_sum=by,
            status=OK if estimate.is_exact else STATUS_NOT_TIGHT,
        )
        ends = (None if np.isinf(each) else float(each) for each in (estimate.low, estimate.high))
        low, high = ends
        return replace(
            described, low=None, largest_low=low, largest_high=high, needed=float(estimate.needed)
        )

    def _sum(self, key: Key | Rest, high: float) -> str | None:
        """The sum that reveals the cell; none after the first `MAX_SUMS`."""
        cell = None if isinstance(key, Rest) else self.linked.cells[key]
        if cell is not None and cell.value is not None:
            return f"[{describe(self.linked, key)}] in table {cell.published[0]}"
        self.sums += 1
        if self.sums > MAX_SUMS:
            return None
        variable = self.linked.numbers[key]
        if not self.parts:
            connected = find_connected_variables(self.equations)
            self.parts = {int(other): part for part in connected for other in part}
        part = self.parts.get(variable, np.array([variable]))
        return find_sum(self.linked, self.equations, part, variable, high) or None


# Columns of one category in each table and another in the next: the year, or the state, of publication.
#
# As a column of categories it would part the tables: no cell would be in both, and nobody could subtract.
# Where each table counts some of the people of the one before, it says nothing of the people, and is left
# out. Where all count the same, it is left out if the tables show the same counts without it: a draft and its
# final version. Else it says of which people each table is, as tables of several regions do.

STATUS_LEFT_OUT: Final = "left_out: {} has one value in each table, and was left out"
MAX_CHANCE: Final = 0.01  # that tables of other people show the same counts


def leave_out_constants(
    counted: Sequence[Counted], columns: Sequence[str], reading: Reading, *, nested: bool
) -> Reading:
    """Leave out the columns that part the tables by one category in each.

    >>> from reid_sql.models.tables.published_tables import Cell
    >>> cells = [(1, ("2020", "N"), 60.0), (1, ("2020", "S"), 98.0), (2, ("2021", "N"), 60.0)]
    >>> counted = [Counted(number, key, Cell(1.0, 9.0, count)) for number, key, count in cells]
    >>> leave_out_constants(counted, ["year", "town"], Reading(), nested=True).left_out
    ('year',)
    """
    places = [place for place in range(len(columns)) if _has_one_a_table(counted, place)]
    if not places or len(places) == len(columns):
        return reading
    if not nested and (reading.columns or not _show_the_same(counted, places)):
        return reading
    return replace(reading, left_out=tuple(columns[place] for place in places))


def _has_one_a_table(counted: Sequence[Counted], place: int) -> bool:
    """Whether a column has one category in each table, and several in all of them."""
    categories: dict[int, set[str | None]] = {}
    for each in counted:
        categories.setdefault(each.table, set()).add(each.key[place])
    everything = set().union(*categories.values())
    has_one = all(len(each) == 1 for each in categories.values())
    return has_one and len(everything) > 1 and None not in everything


def _show_the_same(counted: Sequence[Counted], places: Sequence[int]) -> bool:
    """Whether the counts that tables show are the same without the columns, more often than by chance."""
    counts: dict[Key, float] = {}
    chance = 0.0
    for each in counted:
        key = tuple(category for place, category in enumerate(each.key) if place not in places)
        if each.cell.value is None:
            continue
        if key in counts:
            if counts[key] != each.cell.value:
                return False
            chance -= log(each.cell.value + 1)
        counts[key] = each.cell.value
    return chance <= log(MAX_CHANCE)
