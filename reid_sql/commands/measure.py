"""Measure a file: its columns, its risk, that of larger populations, every method's error, extreme risk."""

import argparse
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import duckdb

from reid_sql.charts import column_charts
from reid_sql.charts.estimate_charts import model_check, unicity, validation
from reid_sql.charts.picture import save
from reid_sql.charts.risk_charts import forecast
from reid_sql.commands.options import PASSED, names, number, numbers, require
from reid_sql.commands.output import print_answer
from reid_sql.commands.tables import (
    COUNTED_PEOPLE,
    FileTable,
    Rows,
    SourceTable,
    call,
    counted_noun,
    describe_people,
    function_options,
    given_entity,
    open_file,
    open_file_table,
    open_table,
)
from reid_sql.errors import OutOfDomainError, ReidError
from reid_sql.models.classes.disclosure import OK
from reid_sql.models.classes.repeats import COPIES, count_copies
from reid_sql.models.columns.column_profile import (
    CONSTANT,
    EMPTY,
    IDENTIFIER,
    REPEATED_IDENTIFIER,
    WEIGHT,
)
from reid_sql.models.columns.identifiers import hint, likely, repeating
from reid_sql.models.extreme.removal_path import BY, REMOVE
from reid_sql.models.people.diagnostics import Check, predictive_checks
from reid_sql.models.people.fit import cache_fits
from reid_sql.models.people.model import PeopleModel
from reid_sql.parameters import COLUMNS, MAX_COLUMNS, SHOWN
from reid_sql.sources.remote import is_connection
from reid_sql.terminal import pages
from reid_sql.terminal.answers import describe_smallest_set, profile_page
from reid_sql.terminal.console import ONE_ROW_ONE_PERSON
from reid_sql.terminal.runner import sentence

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
NO_QUASI_IDENTIFIER: Final = (IDENTIFIER, REPEATED_IDENTIFIER, WEIGHT, CONSTANT, EMPTY)


def run_profile(options: argparse.Namespace) -> int:
    """Print a line for each column, and a sentence."""
    columns = [name for text in options.columns for name in names("the columns", text)]
    if options.columns:
        COLUMNS.check(columns, columns)
    con, table = open_file(options)
    rows = profile_columns(con, table, columns)
    found = describe_smallest_sets(con, table, rows)
    # the page has them above the columns
    below = "" if options.format == "table" else " ".join(found)
    people = " ".join(filter(None, [below, describe_profile(rows)]))
    print_answer(options, rows, rows, lambda: profile_page(rows, found), people)
    return PASSED


def profile_columns(
    con: duckdb.DuckDBPyConnection, table: str, columns: list[str]
) -> list[dict[str, Any]]:
    """Profile these columns of the table, or all if none is named."""
    every = [row[0] for row in con.execute("DESCRIBE FROM query_table(?)", [table]).fetchall()]
    # Columns that are named are counted one by one; without names, the function counts all of them.
    named = columns or (every if len(every) <= MAX_COLUMNS else None)
    return call(con, "profile", [table, named], "columns").records()


def describe_smallest_sets(
    con: duckdb.DuckDBPyConnection, table: str, rows: Sequence[dict[str, Any]]
) -> list[str]:
    """Name the smallest sets of columns that single out 5 % and 50 % of the records, in bounded work.

    Columns that identify people by themselves would be the answer of every table, and are left out.
    """
    named = [row["column_name"] for row in rows if row["looks_like"] not in NO_QUASI_IDENTIFIER]
    if len(named) > MAX_COLUMNS:
        status = (
            f"a search takes at most {MAX_COLUMNS} columns, name those that an attacker may know"
        )
        return [
            describe_smallest_set(share, [{"columns": [], "status": status}])
            for share in SHARES_SINGLED_OUT
        ]
    max_sets = max(len(named), MAX_RECORDS_READ // rows[0]["records"])
    lines: list[str] = []
    sets: list[dict[str, Any]] = []
    for share in SHARES_SINGLED_OUT if named else ():
        # What reaches this share reaches the lower one, too: it is among the smallest sets found for that.
        reaching = [each for each in sets if each["status"] == OK and each["share_unique"] >= share]
        if reaching:
            lines.append(describe_smallest_set(share, reaching))
            continue
        given = {"at_least": share, "max_sets": max_sets, "sets": "smallest"}
        try:
            sets = call(
                con, "quasi_identifiers", [table, named], "sets of columns", **given
            ).records()
        except duckdb.InterruptException:
            raise
        except (
            duckdb.Error
        ) as error:  # such as of too little memory, without which columns are profiled
            sets = [{"columns": [], "status": sentence(error)}]
        lines.append(describe_smallest_set(share, sets))
    return lines


def describe_profile(rows: list[dict[str, Any]]) -> str:
    """Say which of the profiled columns look like identifiers and repeat, by their counts."""
    counts = {
        row["column_name"]: (row["distinct_values"], row["records"], row["missing"]) for row in rows
    }
    identifiers = likely(list(counts), [])
    distinct = [counts[name][0] for name in identifiers]
    filled = [round(counts[name][1] * (1 - counts[name][2])) for name in identifiers]
    total = max((records for _, records, _ in counts.values()), default=0)
    of_nobody = {row["column_name"]: sum(row["sentinel_records"]) for row in rows}
    found = repeating(identifiers, distinct, filled, of_rows=total)
    return hint([each._replace(of_nobody=of_nobody[each.name]) for each in found], "--entity")


def _one_population(populations: list[float]) -> dict[str, Any]:
    """The population to which unicity is forecast, if one is named."""
    return {"population": populations[0]} if len(populations) == 1 else {}


def run_risk(options: argparse.Namespace) -> int:
    """Print how risky the file is."""
    threshold = function_options(options, "risk_summary", "threshold")
    count = int(SHOWN.check("--stand-out", number("--stand-out", options.stand_out)))
    how = function_options(options, "risk_summary", "nulls") | given_entity(options)
    within = how | function_options(options, "risk_summary", "tolerance")
    model = function_options(options, "population_risk", "k")
    require("--k", options.k, "--population", given=bool(options.population))
    populations = numbers("--population", options.population or [])
    points = _known_points(options)
    known = {name: within[name] for name in ("nulls", "tolerance")} | _one_population(populations)
    _refuse_combinations(options, bool(populations), count, bool(points))
    if not options.columns:
        refuse_without_columns(options)
    with open_table(options) as table:
        risk = table.call("risk_summary", words="summary", **threshold, **within)[0]
        sizes = table.call("class_size_histogram", words="class sizes", **within)
        exposed = table.most_exposed(count, **within) if count else None
        codes = table.missing_value_codes()
        people = _people(table, options.entity)
        copies = table.describe_copies() or _describe_copies(sizes)
        counted = _describe_counting(options, people, copies, codes)
        rows_known = table.known_rows(options.entity, points, **known) if points else []
        answer = []
        if populations:
            answer = table.call("population_risk", populations, words=PEOPLE, **model, **how)
    if options.plot:
        save(unicity(rows_known), f"By {', '.join(table.columns)}", options.plot, people)
    page = {"summary": risk, "histogram": sizes, "counted": counted, "sentinels": codes}
    page |= {"population_risk": answer} if answer else {}
    page |= {"stand_out": exposed.records()} if exposed else {}
    page |= {"unicity": rows_known} if rows_known else {}
    forecast = pages.answer_page(answer, model["k"]) if answer else None
    rows = answer or rows_known or (exposed.records() if exposed else [risk])
    columns = table.columns
    print_answer(
        options,
        page,
        rows,
        lambda: pages.risk_page(
            risk,
            sizes,
            exposed,
            columns,
            counted,
            noun=counted_noun(options),
            answer=forecast,
            known=rows_known,
        ),
        people if options.format == "csv" else "",  # the others have it in `counted`
    )
    return PASSED


def _describe_counting(
    options: argparse.Namespace, people: str, copies: str, codes: Mapping[str, str]
) -> str:
    """Say which values match, how people are counted, and which columns have missing-value codes."""
    matched = WITHIN_TOLERANCE.format(", ".join(options.tolerance)) if options.tolerance else ""
    copies = "" if options.entity or options.tolerance else copies
    assumed = [people] if options.entity else [ONE_ROW_ONE_PERSON, people, copies]
    return " ".join(filter(None, [matched, *assumed, *(f"{each}." for each in codes.values())]))


def refuse_without_columns(options: argparse.Namespace) -> None:
    """Refuse, with the columns that a report would propose as an option to copy."""
    from reid_sql.commands.starter import Starter  # noqa: PLC0415 - only where nobody named a column

    rule = "--qi must name the columns that others can know about a person, got none"
    if is_connection(options.file) or options.file == "-":
        raise OutOfDomainError(f"{rule}; write it like --qi age,sex,zip")
    known = Starter(profile_columns(*open_file(options), []), {}).known
    proposed = shlex.quote(",".join(f'"{name}"' if "," in name else name for name in known))
    remedy = f"leave out what nobody outside can know of: --qi {proposed}"
    raise OutOfDomainError(f"{rule}; {remedy if known else 'see reid-sql profile FILE'}")


def _known_points(options: argparse.Namespace) -> list[float]:
    """Read how many rows of a person the attacker knows; a chart of them needs them, and they a person."""
    points = numbers("--points", options.points or [])
    require(
        "--points", ",".join(options.points or []) or None, "--entity", given=bool(options.entity)
    )
    require("--plot", options.plot, "--points", given=bool(points))
    return points


def _refuse_combinations(
    options: argparse.Namespace,
    populations: bool,  # noqa: FBT001
    count: int,
    points: bool,  # noqa: FBT001
) -> None:
    if options.format == "csv" and points and (populations or count):
        rule = "--points must be given alone in csv, got --population or --stand-out with it"
        raise OutOfDomainError(f"{rule}; ask twice, or for --format json, which has all")
    if options.format == "csv" and populations and count:
        rule = f"--population must not be given with --stand-out in csv, got {count} to stand out"
        raise OutOfDomainError(f"{rule}; ask twice, or for --format json, which has both")


def _describe_copies(sizes: Sequence[Mapping[str, Any]]) -> str:
    """Say that each row may be in the table several times; nothing where the class sizes do not look so."""
    copies = count_copies(*([row[name] for row in sizes] for name in ("class_size", "classes")))
    return COPIES.format(copies) if copies > 1 else ""


def _people(table: SourceTable, entity: str | None) -> str:
    """Say how people are counted, or which column may identify them; nothing where no column does."""
    if entity:
        return " ".join(
            filter(None, [COUNTED_PEOPLE.format(entity), table.describe_nobodies(entity)])
        )
    return hint(table.repeated_identifiers(), "--entity")


def _people_and_codes(table: SourceTable, entity: str | None) -> str:
    """Say how people are counted, and which columns have missing-value codes."""
    codes = (f"{each}." for each in table.missing_value_codes().values())
    return " ".join(filter(None, [_people(table, entity), *codes]))


def run_forecast(options: argparse.Namespace) -> int:
    """Print the forecast, and draw it if asked."""
    populations = numbers("--population", options.population)
    how = function_options(options, "pyc_forecast", "k", "nulls") | given_entity(options)
    with open_table(options) as table:
        older = table.call("pyc_forecast", populations, words="forecast", **how)
        people = _people_and_codes(table, options.entity)
        if options.plot:
            rows = _forecast_with_plot(table, populations, options.plot, people, how)
        else:
            rows = table.call("population_risk", populations, words=PEOPLE, **how)
    page = [row | {"pyc_forecast": other} for row, other in zip(rows, older, strict=True)]
    print_answer(options, page, rows, lambda: pages.forecast_page(rows, older, how["k"]), people)
    return PASSED


def _forecast_with_plot(
    table: SourceTable, populations: list[float], plot: str, people: str, how: dict[str, Any]
) -> list[dict[str, Any]]:
    """Forecast to each population, and draw the curve and the fit of the model."""
    counting = {name: value for name, value in how.items() if name != "k"}
    measured = table.call("correctness_curve", words="curve", **counting)
    first, last = measured[-1]["n"], max(populations)
    # Evenly spaced on a logarithmic axis.
    sizes = [first * (last / first) ** (step / CURVE_POINTS) for step in range(CURVE_POINTS)] + [
        last
    ]
    with cache_fits():  # one fit for the figures and for the drawing of the fit
        answer = table.call("population_risk", [*populations, *sizes], words=PEOPLE, **how)
        checks = checks_of(table, **counting)
    older = table.call("pyc_forecast", sizes, words="forecast", **how)
    others = {"by an older method (Pitman–Yor)": older}
    curve = forecast(
        answer[len(populations) :], measured=measured, beside=others, share="correctness"
    )
    save([*curve, model_check(checks)], f"By {', '.join(table.columns)}", plot, people)
    return answer[: len(populations)]


def checks_of(table: SourceTable, **how: str) -> list[Check]:
    """Compare the class sizes that the model of people expects with the table's own."""
    model = table.fit_people(PLOTTED_MODEL, **how)
    return predictive_checks(model) if isinstance(model, PeopleModel) else []


def run_validate(options: argparse.Namespace) -> int:
    """Print the errors of the methods, and draw the estimates if asked."""
    how = function_options(
        options, "validate_risk", "fractions", "methods", "samples", "seed", "nulls"
    )
    how |= given_entity(options)
    table = open_file_table(options)
    rows = table.call("validate_risk", words="validation", **how)
    people = _people_and_codes(table, options.entity)
    if options.plot:
        save(validation(rows), f"Unique people by {', '.join(table.columns)}", options.plot, people)
    print_answer(options, rows, rows, lambda: pages.validation_page(rows), people)
    return PASSED


# The extreme risk of a file, and the effect of removing records.

REMOVED_SHARE: Final = 0.2  # of the records; a table is of little use without more
MAX_EXACT_STEPS: Final = (
    10**8
)  # records times removals of an exact elimination that nobody asked for
REFUSAL_NO_PLOT: Final = "--plot needs an extreme risk below 1 to remove records from, got none; {}"
RISKIEST_SHOWN: Final = 5  # riskiest choices
COUNTING: Final = ("p", "sample", "memory_mb", "nulls")


def run_qar(options: argparse.Namespace) -> int:
    """Print the extreme risk, and the effect of removing records if asked.

    What has no risk to draw is printed before the chart is refused.
    """
    how = function_options(options, "qar_risk", *COUNTING, "alpha", "tail") | given_entity(options)
    remove = int(REMOVE.check("remove", number("remove", options.remove))) if options.remove else 0
    orders = [BY.check("by", word.strip()) for word in options.by.split(",")] if options.by else []
    require("--by", options.by, "--remove or --plot", given=bool(options.remove or options.plot))
    require(
        "--without-contributions", options.without_contributions, "--plot", given=bool(options.plot)
    )
    table = open_file_table(options, COLUMNS)
    risk = table.call("qar_risk", words="extreme risk", **how)[0]
    counting = {name: how[name] for name in COUNTING} | given_entity(options)
    query = "FROM CALL" if options.plot else f"FROM CALL LIMIT {RISKIEST_SHOWN}"
    choices = table.call(
        "qar_quasi_identifiers", words="quasi-identifiers", query=query, **counting
    )
    has_risk = risk["risk"] is not None and risk["risk"] < 1
    if options.plot and has_risk:
        remove = remove or max(1, int(REMOVED_SHARE * risk["records"]))
    paths, remarks = _removals(table, how, remove, orders) if remove else ({}, [])
    people = describe_people(options.entity, table.con, [table.name], table.columns)
    if options.plot and has_risk:
        added, remark = ([], []) if options.without_contributions else _contributions(table, how)
        remarks += remark
        charts = [column_charts.choices(choices, [risk]), column_charts.elimination(paths)]
        if added:
            charts.insert(1, column_charts.contributions(added))
        save(charts, _title(options.file, how), options.plot, people)
    riskiest = choices[:RISKIEST_SHOWN]
    page = {"risk": risk, "riskiest": riskiest, "removals": paths, "remarks": remarks}
    removed = (
        [{"by": by} | row for by, path in paths.items() for row in path] if options.remove else []
    )
    noun = counted_noun(options)
    print_answer(
        options,
        page,
        removed or [risk],
        lambda: pages.qar_page(risk, riskiest, paths, remarks, noun),
        people,
    )
    if options.plot and not has_risk:
        raise ReidError(REFUSAL_NO_PLOT.format(risk["status"]))
    return PASSED


def _title(file: str, how: dict[str, Any]) -> str:
    attacker = f"an attacker who knows any {how['p']} columns"
    riskier = f"{100 * how['alpha']:g} % of the choices are riskier"
    return f"Extreme risk of {Path(file).name} for {attacker}: {riskier}"


def _contributions(table: FileTable, how: dict[str, Any]) -> tuple[Rows, list[str]]:
    """Return what each record adds to the extreme risk, or nothing and the reason."""
    query = "SELECT contribution FROM CALL WHERE contribution IS NOT NULL"
    try:
        return table.call(
            "qar_contributions", words="contributions of records", query=query, **how
        ), []
    except (duckdb.Error, ReidError) as error:
        return [], [f"the contributions of records are not drawn: {sentence(error)}"]


def _removals(
    table: FileTable, how: dict[str, Any], remove: int, orders: list[str]
) -> tuple[dict[str, Rows], list[str]]:
    """Remove records in each order; say which orders were skipped, unless they were asked for."""
    paths, remarks = {}, []
    for by in orders or BY.words:
        try:
            if by == "exact" and not orders:
                _refuse_long(table, remove)
            words = f"removals by {by}"
            paths[by] = table.call("qar_elimination", words=words, remove=remove, by=by, **how)
        except (duckdb.Error, ReidError) as error:
            if orders or (not paths and by != "exact"):
                raise
            remarks.append(f"{by} is left out: {sentence(error)}")
    return paths, remarks


def _refuse_long(table: FileTable, remove: int) -> None:
    records = table.con.execute("SELECT count(*) FROM query_table(?)", [table.name]).fetchall()[0][
        0
    ]
    if records * remove > MAX_EXACT_STEPS:
        rule = f"{remove} exact removals among {records} records take long"
        raise OutOfDomainError(f"{rule}; ask for them with --by exact")
