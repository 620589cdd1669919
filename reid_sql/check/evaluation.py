"""Measure the checks of a policy: the figure of each group, with the cautions that a report prints with it.

What cannot be measured is a refusal in its place, so that nobody takes it for a pass.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any, Final

from reid_sql.check.catalogue import MEASURES
from reid_sql.check.cautions import CAUTION_COPIES, check_cautions, table_cautions
from reid_sql.check.exact_figures import (
    ColumnSizes,
    Figure,
    Forecast,
    Group,
    MeasuredCheck,
    MeasuredTable,
    Overview,
    PopulationEstimate,
    group_labels,
)
from reid_sql.check.masking import Mask
from reid_sql.check.measure import whole_of
from reid_sql.check.policy_model import Check, Policy, largest_population
from reid_sql.check.remarks import Count, RefusedTableError, Remark, remark
from reid_sql.check.small_counts import count_around, has_few_gaps, reveals_small_cells
from reid_sql.check.table_counts import EMPTY_HISTOGRAM, TableCounts
from reid_sql.errors import ReidError
from reid_sql.models.classes.disclosure import OK, Histogram
from reid_sql.models.classes.repeats import count_copies
from reid_sql.models.classes.uniqueness import rarefy
from reid_sql.models.population.classical_estimators import COVERED
from reid_sql.models.pyc.pitman_yor_forecast import forecast_pitman_yor
from reid_sql.parameters import Row, Rows, plain
from reid_sql.terminal.runner import sentence

ShowProgress = Callable[[str], None]
QUOTED: Final = "uniqueness"  # the column that the sentence of population_risk is about
REFUSAL_NO_GROUPS: Final = "the table has no records to group"
REFUSAL_ALIKE_GROUPS: Final = (
    "groups by {} must differ as reports write them, got two that are written alike; "
    "cast the column to text in a view"
)
REMARK_BLANK_RECORDS: Final = (
    "match every person, so that their own risk is the lowest, and no other record matches them"
)
REMARK_POPULATION_OF_GROUP: Final = (
    "{} people are taken for the population of each group; "
    "where a group's has fewer, its risk is higher than its figure"
)
STATUS_NOT_ASKED: Final = "no check asks for it; add a check of population_correctness, or run reid-sql risk with --population {}"
POPULATION_MEASURE: Final = "population_below_k"
POINTS: Final = 24  # of the curve of right matches


def measure_tables(
    policy: Policy,
    counted_tables: Sequence[TableCounts],
    *,
    risky: int = 0,
    overview: bool = True,
    show_progress: ShowProgress = lambda _: None,
) -> list[MeasuredTable]:
    """Measure all tables, then look whether one changed meanwhile."""
    measured = [
        _measure_table(counts, policy, risky=risky, overview=overview, show_progress=show_progress)
        for counts in counted_tables
    ]
    return [
        # why the figures are not to be trusted: the table changed, or nobody can find out
        replace(each, changed=counts.attempt(counts.describe_change, sentence))
        for each, counts in zip(measured, counted_tables, strict=True)
    ]


def _measure_table(
    counts: TableCounts, policy: Policy, *, risky: int, overview: bool, show_progress: ShowProgress
) -> MeasuredTable:
    """Measure one table; of one whose records cannot be counted, nothing."""
    counts.engine.counts_overview = overview
    table, packages = counts.table, tuple(counts.engine.packages)
    mask = Mask(policy.mask_below)

    def describe(error: Exception) -> str:
        if isinstance(error, RefusedTableError):
            return str(mask.sentence(error.sentence))
        return sentence(error)

    records = counts.attempt(lambda: counts.records, describe)
    if isinstance(records, str):
        checks = tuple(MeasuredCheck(table.name, each, refusal=records) for each in table.checks)
        return MeasuredTable(
            table, counts.evidence, 0, checks, packages=packages, uncounted=records
        )
    show_progress(f"{table.name}: columns")
    columns = counts.released_columns
    checks = measure_checks(counts, table.checks, mask, show_progress)
    if overview:
        show_progress(f"{table.name}: what drives the risk")
    measured = MeasuredTable(
        table, counts.evidence, records, checks, columns=columns, packages=packages
    )
    if not table.quasi_identifiers or not records:
        return measured
    with suppress(ReidError):  # the checks by these columns say why they are not measured
        classes = counts.histogram(table.quasi_identifiers)
        measured = replace(measured, classes=classes, few_gaps=has_few_gaps(counts, mask.below))
        if overview and len(classes.class_size):
            measured = replace(measured, overview=_measure_overview(counts, classes, policy, mask))
        if risky:
            measured = replace(measured, rarest=counts.engine.rarest(risky))
    return measured


def measure_checks(
    counts: TableCounts,
    checks: Sequence[Check],
    mask: Mask,
    show_progress: ShowProgress = lambda _: None,
) -> tuple[MeasuredCheck, ...]:
    """Measure the checks, those that the client computes last, so that no server waits with the others."""
    numbered = list(enumerate(checks))
    measured: dict[int, MeasuredCheck] = {}
    fetched = [one for one in numbered if counts.engine.is_fetched(one[1])]
    ordered = [*(one for one in numbered if one not in fetched), *fetched]
    for number, (place, each) in enumerate(ordered, 1):
        if fetched and number == len(checks) - len(fetched) + 1:
            for _, late in fetched:
                _count_ahead(counts, late, mask)
        show_progress(f"{counts.table.name}: {each.measure.name} ({number} of {len(checks)})")
        measured[place] = measure_check(counts, each, mask)
    return tuple(measured[place] for place, _ in numbered)


def measure_check(counts: TableCounts, check: Check, mask: Mask) -> MeasuredCheck:
    """Measure a check, group by group; with a mask of 1, which hides nothing, nothing is counted for it."""
    table = counts.table.name
    counted = counts.attempt(
        lambda: (counts.groups(check.by), _find_cautions(counts, check)), sentence
    )
    if isinstance(counted, str):
        return MeasuredCheck(table, check, refusal=counted)
    groups, cautions = counted
    if not groups:
        return MeasuredCheck(table, check, (), cautions, REFUSAL_NO_GROUPS)
    if len({group_labels(group) for group in groups}) < len(groups):
        return MeasuredCheck(
            table, check, (), cautions, REFUSAL_ALIKE_GROUPS.format(", ".join(check.by))
        )
    figures = tuple(_measure_figure(counts, check, group, mask) for group in groups)
    return MeasuredCheck(table, check, figures, cautions)


def _find_cautions(counts: TableCounts, check: Check) -> tuple[Remark, ...]:
    """Return the cautions on the table, then those on what the check asks of it, each once."""
    of_people = counts.population_identifiers if check.measure.takes("population_tbl") else {}
    of_check = check_cautions(check, counts.records, counts.identifiers, of_people)
    of_table = table_cautions(
        counts.table, counts.records, counts.engine.columns, counts.engine.cautions
    )
    copies: list[Remark] = []
    table = counts.table
    counted = table.quasi_identifiers
    if table.entity is None and table.nulls != "wildcard" and counted and counts.records:
        # the checks by these columns say why they are not measured
        classes = counts.attempt(lambda: counts.histogram(counted), lambda _: EMPTY_HISTOGRAM)
        # whether every class has a multiple of the same number of rows
        if count_copies(classes.class_size, classes.classes) > 1:
            copies = [remark(CAUTION_COPIES, code="repeated_rows")]
    cautions = [
        *of_table,
        *counts.find_unnamed_columns(check),
        *(counts.copies or copies),
        *counts.unused_codes,
        *counts.find_nobodies(check),
        *of_check,
    ]
    return tuple(dict.fromkeys(cautions))


def _measure_figure(counts: TableCounts, check: Check, group: Group, mask: Mask) -> Figure:
    """Measure a check on a group; a refusal is its status."""

    def measure() -> Figure:
        about = count_around(counts, check, group, mask.below)
        rows = counts.answer(check, group)
        figure = read_figure(check, rows, group)
        about["small"] |= reveals_small_cells(counts, check, rows, figure.value, mask.below)
        return replace(figure, **about, remarks=(*figure.remarks, *counts.hints(check)))

    return counts.attempt(measure, lambda error: Figure(group, None, None, None, sentence(error)))


def _count_ahead(counts: TableCounts, check: Check, mask: Mask) -> None:
    """Count what a check needs besides its answer; what cannot be counted is refused when it is measured."""

    def count() -> None:
        _find_cautions(counts, check)
        counts.hints(check)
        for group in counts.groups(check.by):
            count_around(counts, check, group, mask.below)

    counts.attempt(count, sentence)


def read_figure(check: Check, rows: Rows, group: Group) -> Figure:
    """Take the check's figure from the function's answer."""
    measure = check.measure
    if measure.row_by:
        column, parameter = measure.row_by
        rows = [row for row in rows if row[column] == check.parameters[parameter]]
    row = measure.pick(rows)
    status = row.get("status") or OK
    # an interval that covers too seldom decides nothing
    covers = measure.interval and COVERED not in status
    low, high = (
        _number(row[f"{measure.column}_{end}"]) if covers else None for end in ("low", "high")
    )
    return Figure(
        group,
        _number(row[measure.column]),
        low,
        high,
        status,
        whole=_whole_number(row.get(whole_of(measure.function))),
        k=_whole_number(row.get("k")),
        remarks=_remarks(check, row),
        method=row.get("method"),
        sentence=row.get("sentence") if measure.column == QUOTED else None,
    )


def _number(value: Any) -> float | None:  # noqa: ANN401 - a cell of an answer
    finite: float | None = None if value is None or value != value else value  # noqa: PLR0124 - NaN is none
    return finite


def _whole_number(value: Any) -> int | None:  # noqa: ANN401 - a cell of an answer
    return None if value is None else int(value)


def _remarks(check: Check, row: Row) -> tuple[Remark, ...]:
    """Say where records are blank, fewer choices measured than asked for, or a population not the group's."""
    if blank := row.get("blank_records"):
        columns = ", ".join(check.counted)
        counted = Count(int(blank), "records", "record")
        return (
            remark(
                counted,
                f" without any value of {columns} {REMARK_BLANK_RECORDS}",
                code="blank_records",
            ),
        )
    if check.by and "population" in check.parameters:
        words = REMARK_POPULATION_OF_GROUP.format(plain(check.parameters["population"]))
        return (remark(words, code="population_of_groups"),)
    sample, measured = check.parameters.get("sample"), row.get("quasi_identifiers")
    if not isinstance(sample, int | float) or not sample or measured is None or measured == sample:
        return ()
    words = (
        f"a sample of {int(sample):,} choices of columns was asked for, {measured:,} were measured"
    )
    return (remark(words, code="fewer_choices"),)


def _measure_overview(
    counts: TableCounts, classes: Histogram, policy: Policy, mask: Mask
) -> Overview:
    """Measure what drives the risk, unless class sizes are few records: then no report shows it."""
    dropped = counts.records - int(classes.records.sum())
    population = largest_population(counts.table)
    if mask.has_small_counts(classes, dropped):
        named = counts.table.quasi_identifiers if counts.table.nulls != "wildcard" else ()
        return Overview(
            tuple(
                ColumnSizes(each, classes, classes if len(named) > 1 else None) for each in named
            ),
            population,
        )
    # a histogram by their smallest class is no sample of them
    people = counts.table.entity is not None
    return Overview(
        _measure_columns(counts),
        population,
        _estimate_population(counts, population, policy.seed),
        None if people else _forecast(classes, population),
    )


def _measure_columns(counts: TableCounts) -> tuple[ColumnSizes, ...]:
    """Count the class sizes by each quasi-identifier, and by the others; not where NULL may be any value."""
    named = counts.table.quasi_identifiers if counts.table.nulls != "wildcard" else ()
    sizes = []
    for column in named:
        rest = [each for each in named if each != column]
        without = counts.histogram(rest) if rest else None
        sizes.append(ColumnSizes(column, counts.histogram([column]), without))
    return tuple(sizes)


def _estimate_population(
    counts: TableCounts, population: float | None, seed: int
) -> PopulationEstimate | None:
    """Estimate the risk in a population that is larger than the table, where a check asks for it.

    The fit takes most of the time of a policy that counts the rest.
    """
    if population is None or population <= counts.records:
        return None
    # the check that a policy would write for it, so that its answer is asked for once
    measure = MEASURES[POPULATION_MEASURE]
    defaults = {name: each.default for name, each in measure.parameters.items()}
    check = Check(
        measure=measure,
        parameters=defaults | {"population": population, "seed": seed},
        quasi_identifiers=counts.table.quasi_identifiers,
        sensitive=None,
        limit=None,
        no_worse=False,
        by=(),
        judge_by="interval",
    )
    k = check.parameters["k"]
    if not counts.table.asks_for_population:
        return PopulationEstimate(population, k, None, STATUS_NOT_ASKED.format(plain(population)))
    row = counts.attempt(lambda: counts.answer(check)[0], sentence)
    if isinstance(row, str):
        return PopulationEstimate(population, k, None, row)
    return PopulationEstimate(row["population"], k, row, row["status"])


def _forecast(classes: Histogram, population: float | None) -> Forecast | None:
    """Forecast right matches up to the population, with the measured curve."""
    records = int(classes.records.sum())
    if population is None or population <= records:
        return None
    sizes = [records * (population / records) ** (step / POINTS) for step in range(POINTS)] + [
        population
    ]
    try:
        curve = [(point.n, point.correctness) for point in rarefy(classes, None)]
        rows = [asdict(row) for row in forecast_pitman_yor(classes, sizes, k=1)]  # no k is shown
    except ReidError as error:
        return Forecast(status=str(error))
    return Forecast(curve, rows, rows[-1]["status"])
