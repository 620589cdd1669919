"""Measure a file: its columns, its risk, that of larger populations, the error of each method."""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from functools import partial
from math import prod
from typing import Any, Final

import duckdb

from reid_sql.charts.estimate_charts import model_check, unicity, validation
from reid_sql.charts.risk_charts import forecast
from reid_sql.charts.spec import Chart
from reid_sql.charts.svg import save
from reid_sql.commands.attack import run_scenario
from reid_sql.commands.options import (
    PASSED,
    all_names,
    number,
    numbers,
    passed_options,
    refuse_unread,
    require,
)
from reid_sql.commands.output import print_answer
from reid_sql.commands.proposals import find_intervals, profile_columns, propose
from reid_sql.commands.tables import (
    COUNTED_PEOPLE,
    SourceTable,
    call,
    counted_noun,
    function_options,
    open_file,
    open_file_table,
    open_table,
)
from reid_sql.errors import OutOfDomainError
from reid_sql.models.classes.class_keys import BYTES_PER_MB
from reid_sql.models.classes.disclosure import OK
from reid_sql.models.classes.identifying_sets import STATUS_GREEDY, STATUS_NO_SET, bytes_of_search
from reid_sql.models.classes.repeats import COPIES, count_copies
from reid_sql.models.columns.column_profile import (
    CONSTANT,
    EMPTY,
    IDENTIFIER,
    REPEATED_IDENTIFIER,
    WEIGHT,
)
from reid_sql.models.columns.identifiers import hint, likely, repeating
from reid_sql.models.people.diagnostics import Check, predictive_checks
from reid_sql.models.people.fit import cache_fits
from reid_sql.models.people.model import PeopleModel
from reid_sql.parameters import COLUMNS, MAX_COLUMNS, SHOWN, Arguments, Row, Rows
from reid_sql.sources.equal_rows import count_unique
from reid_sql.sources.remote import is_connection
from reid_sql.terminal import pages
from reid_sql.terminal.answers import describe_smallest_set, profile_page
from reid_sql.terminal.console import ONE_ROW_ONE_PERSON
from reid_sql.terminal.hints import write_list
from reid_sql.terminal.runner import run, sentence

PEOPLE: Final = "people of the population"  # shown while they are estimated
WITHIN_TOLERANCE: Final = "Values match within {}."
PLOTTED_MODEL: Final = "drawn"  # name of the model whose fit is shown
CURVE_POINTS: Final = 20
SHARES_SINGLED_OUT: Final = (
    0.05,
    0.5,
)  # of the records, by the sets of columns that a profile names
MAX_RECORDS_READ: Final = (
    100_000_000  # for these sets; a set of columns reads each record at most once
)
MAX_BYTES: Final = 1024 * BYTES_PER_MB  # of memory for a search of all sets
STATUS_FEW_SETS: Final = (
    "the columns of most values do not reach it together; name those that an attacker may know"
)
STATUS_MANY_COLUMNS: Final = (
    f"a search takes at most {MAX_COLUMNS} columns, name those that an attacker may know"
)
NO_QUASI_IDENTIFIER: Final = (IDENTIFIER, REPEATED_IDENTIFIER, WEIGHT, CONSTANT, EMPTY)


def run_profile(options: Namespace) -> int:
    """Print a line for each column, and a sentence."""
    columns = all_names("the columns", options.columns)
    if options.columns:
        COLUMNS.check(columns, columns)
    con, table = open_file(options, keep=True)
    rows = profile_columns(con, table, columns)
    sets = describe_smallest_sets(con, table, rows)
    # the page has them above the columns
    below = "" if options.format == "table" else " ".join(sets)
    people = _join(below, describe_profile(rows))
    print_answer(options, rows, rows, lambda: profile_page(rows, sets), people)
    return PASSED


def describe_smallest_sets(con: duckdb.DuckDBPyConnection, table: str, rows: Rows) -> list[str]:
    """Name the smallest sets of columns that single out 5 % and 50 % of the records, in bounded work.

    Columns that identify people by themselves would be the answer of every table, and are left out.
    """
    intervals = find_intervals(con, table)
    rows = [
        row
        for row in rows
        if row["looks_like"] not in NO_QUASI_IDENTIFIER and row["column_name"] not in intervals
    ]
    if not rows:
        return []
    named = [row["column_name"] for row in rows]
    records = rows[0]["records"]
    distinct = min(records, prod(row["distinct_values"] + 1 for row in rows))  # with NULL
    is_large = bytes_of_search(distinct, len(named), len(named)) > MAX_BYTES
    is_large &= len(named) <= MAX_COLUMNS
    lines: list[str] = []
    sets: Rows = []
    for share in SHARES_SINGLED_OUT:
        # What reaches this share reaches the lower one, too: it is among the smallest sets found for that.
        reaching = [
            each
            for each in sets
            if each["status"] in {OK, STATUS_GREEDY} and each["share_unique"] >= share
        ]
        # Where no set that was searched reaches a share, none reaches a higher one, in the same search.
        if not reaching and (not sets or any(each["columns"] for each in sets)):
            sets = (
                _add_columns(con, table, rows, share, [len(each["columns"]) for each in sets])
                if is_large
                else _search_sets(con, table, named, share, records)
            )
        lines.append(describe_smallest_set(share, reaching or sets))
    return lines


def _search_sets(
    con: duckdb.DuckDBPyConnection, table: str, columns: list[str], share: float, records: int
) -> Rows:
    """Return the smallest sets of columns that single out a share, or a status of no set."""
    if len(columns) > MAX_COLUMNS:
        return [{"columns": [], "status": STATUS_MANY_COLUMNS}]
    max_sets = max(len(columns), MAX_RECORDS_READ // records)
    options: dict[str, Any] = {"at_least": share, "max_sets": max_sets, "sets": "smallest"}
    try:
        return call(
            con, "quasi_identifiers", [table, columns], "sets of columns", **options
        ).records()
    except duckdb.InterruptException:
        raise
    except (
        duckdb.Error
    ) as error:  # such as of too little memory, without which columns are profiled
        return [{"columns": [], "status": sentence(error)}]


def _add_columns(
    con: duckdb.DuckDBPyConnection,
    table: str,
    rows: Rows,
    share: float,
    sizes: Sequence[int],
) -> Rows:
    """Return the columns that single out a share, else those of most values that do together, if any do.

    Each figure is an exact count; the codes of a search of all sets would not fit into memory. Sets of
    `sizes` were counted, and do not reach it.
    """
    alone = [
        _describe_set([row["column_name"]], row["uniqueness"], OK)
        for row in sorted(rows, key=lambda row: (-row["uniqueness"], row["column_name"]))
        if row["uniqueness"] >= share
    ]
    if alone:
        return alone
    records = rows[0]["records"]
    ordered = sorted(rows, key=lambda row: (-row["distinct_values"], row["column_name"]))
    names = [row["column_name"] for row in ordered]
    most = min(len(names), max(2, MAX_RECORDS_READ // records))
    unique: int | None = 0  # of one column, too few
    for size in range(max([1, *sizes]) + 1, most + 1):
        ask = partial(run, con, words=f"the {size} columns of most values")
        [unique] = count_unique(lambda sql: ask(sql).rows, table, [names[:size]], records)  # noqa: B023
        if unique is not None and unique >= share * records:
            return [_describe_set(names[:size], unique / records, STATUS_GREEDY)]
    is_none = unique is not None and most == len(names)
    no_set = STATUS_NO_SET.format(f"{most} column{'s' * (most > 1)}")
    status = no_set if is_none else STATUS_FEW_SETS
    return [_describe_set([], None, status)]


def _describe_set(columns: list[str], share: float | None, status: str) -> Row:
    return {"columns": columns, "share_unique": share, "status": status}


def describe_profile(rows: Rows, option: str = "--entity") -> str:
    """Say which of the profiled columns look like identifiers and repeat, by their counts."""
    counts = {
        row["column_name"]: (row["distinct_values"], row["records"], row["missing"]) for row in rows
    }
    identifiers = likely(list(counts), [])
    distinct = [counts[name][0] for name in identifiers]
    filled = [round(counts[name][1] * (1 - counts[name][2])) for name in identifiers]
    total = max((records for _, records, _ in counts.values()), default=0)
    codes = {row["column_name"]: row["sentinel_records"] for row in rows}
    columns = [
        each._replace(of_nobody=sum(codes[each.name]))
        for each in repeating(identifiers, distinct, filled, of_rows=total)
        if each.filled - sum(codes[each.name]) > each.values - len(codes[each.name])
    ]
    return hint(columns, option)


def run_risk(options: Namespace) -> int:
    """Print how risky the file is, or what an attacker learns from it, or how methods err on it."""
    if options.scenario is not None:
        return run_scenario(options)
    for name in ("population_file", "model", "sensitivity"):
        value = getattr(options, name)
        require(f"--{name.replace('_', '-')}", value, "--scenario", is_passed=False)
    require("--methods", options.methods, "--validate", is_passed=options.fractions is not None)
    if not options.columns:
        refuse_without_columns(options)
    return _run_validation(options) if options.fractions else _run_summary(options)


def _run_summary(options: Namespace) -> int:
    """Print the summary and class sizes, and what else is asked for."""
    threshold = function_options(options, "risk_summary", "threshold")
    count = int(SHOWN.check("--stand-out", number("--stand-out", options.stand_out)))
    how = function_options(options, "risk_summary", "nulls") | passed_options(options, "entity")
    within = how | function_options(options, "risk_summary", "tolerance")
    model = function_options(options, "population_risk", "k")
    require("--k", options.k, "--population", is_passed=bool(options.population))
    populations = numbers("--population", options.population or [])
    points = _known_points(options)
    _refuse_combinations(options, bool(populations), count, bool(points))
    with open_table(options) as table:
        risk = table.call("risk_summary", words="summary", **threshold, **within)[0]
        sizes = table.call("class_size_histogram", words="class sizes", **within)
        exposed = table.most_exposed(count, **within) if count else None
        codes = table.missing_value_codes()
        people = _people(table, options.entity)
        copies = table.describe_copies() or _describe_copies(sizes)
        counted = _describe_counting(options, people, copies, codes)
        unicity_rows = _call_unicity(table, options.entity, points, populations, within)
        answer, charts = _forecast(table, populations, model, how, is_drawn=bool(options.plot))
    if options.plot:
        charts += [unicity(unicity_rows)] if unicity_rows else []
        notes = _join(people, *_sentences(codes))
        save(charts, f"By {', '.join(table.columns)}", options.plot, notes)
    page = {"summary": risk, "histogram": sizes, "counted": counted, "sentinels": codes}
    stand_out = None if exposed is None else exposed.records()
    parts = {
        "population_risk": answer or None,
        "stand_out": stand_out,
        "unicity": unicity_rows or None,
    }
    page |= {name: part for name, part in parts.items() if part is not None}
    render = partial(
        pages.risk_page,
        risk,
        sizes,
        exposed,
        table.columns,
        counted,
        noun=counted_noun(options),
        unit="people" if options.entity or not people else "records",
        answer=pages.answer_page(answer, model["k"]) if answer else None,
        unicity=unicity_rows,
    )
    print_answer(
        options,
        page,
        answer or unicity_rows or ([risk] if stand_out is None else stand_out),
        render,
        people if options.format == "csv" else "",  # the others have it in `counted`
    )
    return PASSED


def _call_unicity(
    table: SourceTable,
    entity: str,
    points: list[float],
    populations: list[float],
    within: Arguments,
) -> Rows:
    """Measure how many people some of their rows single out, and forecast it to one population."""
    if not points:
        return []
    options = {name: within[name] for name in ("nulls", "tolerance")}
    options |= {"population": populations[0]} if len(populations) == 1 else {}
    return table.known_rows(entity, points, **options)


def _sentences(codes: Mapping[str, str]) -> list[str]:
    return [f"{each}." for each in codes.values()]


def _join(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


def _describe_counting(
    options: Namespace, people: str, copies: str, codes: Mapping[str, str]
) -> str:
    """Say which values match, how people are counted, and which columns have missing-value codes."""
    matched = WITHIN_TOLERANCE.format(", ".join(options.tolerance)) if options.tolerance else ""
    assumed = [people] if options.entity else [ONE_ROW_ONE_PERSON, people]
    assumed += [] if options.entity or options.tolerance else [copies]
    return _join(matched, *assumed, *_sentences(codes))


def refuse_without_columns(options: Namespace) -> None:
    """Refuse, with the columns that a report would propose as an option to copy."""
    rule = "--qi must name the columns that others can know about a person, got none"
    if is_connection(options.file) or options.file == "-":
        raise OutOfDomainError(f"{rule}; write it like --qi age,sex,zip")
    names = propose(*open_file(options, keep=True), {}).quasi_identifiers
    remedy = f"leave out what nobody outside can know of: --qi {write_list(names)}"
    raise OutOfDomainError(f"{rule}; {remedy if names else 'see reid-sql profile FILE'}")


def _known_points(options: Namespace) -> list[float]:
    """Read how many rows of a person the attacker knows; they need a person, and a chart needs an answer."""
    points = numbers("--points", options.points or [])
    texts = ",".join(options.points or []) or None
    require("--points", texts, "--entity", is_passed=bool(options.entity))
    is_drawn = bool(points or options.population)
    require("--plot", options.plot, "--population, --points or --validate", is_passed=is_drawn)
    return points


def _refuse_combinations(
    options: Namespace,
    populations: bool,  # noqa: FBT001
    count: int,
    points: bool,  # noqa: FBT001
) -> None:
    if options.format == "csv" and points and (populations or count):
        raise OutOfDomainError(
            "--points must be given alone in csv, got --population or --stand-out with it; ask twice, or for --format json, which has all"
        )
    if options.format == "csv" and populations and count:
        raise OutOfDomainError(
            f"--population must not be given with --stand-out in csv, got {count} to stand out; ask twice, or for --format json, which has both"
        )


def _describe_copies(sizes: Rows) -> str:
    """Say that each row may be in the table several times; nothing where the class sizes do not look so."""
    copies = count_copies(*([row[name] for row in sizes] for name in ("class_size", "classes")))
    return COPIES.format(copies) if copies > 1 else ""


def _people(table: SourceTable, entity: str | None) -> str:
    """Say how people are counted, or which column may identify them; nothing where no column does."""
    if entity:
        return _join(COUNTED_PEOPLE.format(entity), table.describe_nobodies(entity))
    return hint(table.repeated_identifiers(), "--entity")


def _forecast(
    table: SourceTable,
    populations: list[float],
    model: Arguments,
    counting: Arguments,
    *,
    is_drawn: bool,
) -> tuple[Rows, list[Chart]]:
    """Forecast to each population; chart the curve up to the largest, and the fit of the model, if asked."""
    if not populations:
        return [], []
    if not is_drawn:
        return table.call("population_risk", populations, words=PEOPLE, **model, **counting), []
    measured = table.call("correctness_curve", words="curve", **counting)
    first, last = measured[-1]["n"], max(populations)
    # Evenly spaced on a logarithmic axis.
    steps = range(CURVE_POINTS)
    sizes = [*(first * (last / first) ** (step / CURVE_POINTS) for step in steps), last]
    with cache_fits():  # one fit for the figures and for the drawing of the fit
        answer = table.call(
            "population_risk", [*populations, *sizes], words=PEOPLE, **model, **counting
        )
        checks = checks_of(table, **counting)
    older = table.call("pyc_forecast", sizes, words="forecast", **model, **counting)
    beside = {"by an older method (Pitman–Yor)": older}
    curve = forecast(
        answer[len(populations) :], measured=measured, beside=beside, share="correctness"
    )
    return answer[: len(populations)], [*curve, model_check(checks)]


def checks_of(table: SourceTable, **how: str) -> list[Check]:
    """Compare the class sizes that the model of people expects with the table's own."""
    model = table.fit_people(PLOTTED_MODEL, **how)
    return predictive_checks(model) if isinstance(model, PeopleModel) else []


def _run_validation(options: Namespace) -> int:
    """Print the errors of the methods, and draw the estimates if asked."""
    refuse_unread(
        options, "--validate", "fractions", "methods", "columns", "nulls", "entity", "plot"
    )
    options.fractions = [text for text in options.fractions if text] or None  # else the function's
    how = function_options(options, "validate_risk", "fractions", "methods", "nulls")
    how |= passed_options(options, "entity")
    table = open_file_table(options)
    rows = table.call("validate_risk", words="validation", **how)
    people = _join(_people(table, options.entity), *_sentences(table.missing_value_codes()))
    if options.plot:
        save(validation(rows), f"Unique people by {', '.join(table.columns)}", options.plot, people)
    page = partial(pages.validation_page, rows)
    print_answer(options, rows, rows, page, people, head="validation")
    return PASSED
