"""Attacks: of a scenario on a file, on a release and its original, on a synthetic table, on two releases."""

import argparse
import json
from typing import Final

import duckdb

from reid_sql.charts.figure import check_plot_file, save
from reid_sql.charts.release_charts import attacks, comparison, losses
from reid_sql.commands.options import PASSED, names
from reid_sql.commands.output import print_answer
from reid_sql.commands.tables import (
    call,
    describe_people,
    function_options,
    given_entity,
    open_file,
    open_file_table,
    text_format,
)
from reid_sql.errors import OutOfDomainError, ReidError
from reid_sql.models.columns.identifiers import hint
from reid_sql.parameters import quoted
from reid_sql.scenarios import scenario
from reid_sql.sources.files import attach_source
from reid_sql.sources.formats import TextFormat
from reid_sql.sources.identifiers import repeated
from reid_sql.terminal import pages
from reid_sql.terminal.comparison import audit_page, comparison_page, releases_page

MODEL: Final = "attacked"  # name of the model that is fitted to the file
POPULATION: Final = "reid_population"
RELEASE: Final = "reid_release"
SYNTHETIC: Final = "reid_synthetic"
HOLDOUT: Final = "reid_holdout"
SECOND: Final = "reid_second"


def run_adversary(options: argparse.Namespace) -> int:
    """Print what the attacker of the scenario can do."""
    threshold = function_options(options, "adversary_summary", "threshold")
    how = function_options(options, "adversary_summary", "nulls") | given_entity(options)
    con, table = open_file(options)
    try:
        known = scenario(options.scenario)
    except ReidError as error:  # its population is a number of people, so rows that are none matter already
        people = describe_people(options.entity, con, [table], [])
        raise OutOfDomainError(f"{error}. {people}" if people else str(error)) from None
    if options.model:
        counted = given_entity(options)
        call(con, f"fit_{options.model}", [MODEL, table, known.columns], "the model", **counted)
        how["model"] = MODEL
    if options.population_file:
        _attach(con, POPULATION, "--population-file", options.population_file, text_format(options))
        how["population_tbl"] = POPULATION
    given = [table, known.text()]
    summary = call(con, "adversary_summary", given, "summary", **threshold, **how).records()
    page = {"scenario": json.loads(known.text()), "summary": summary}
    settings = None
    if options.sensitivity:
        settings = call(con, "adversary_sensitivity", given, "sensitivity", **how)
        page["sensitivity"] = settings.records()
    name = known.name or options.scenario
    rows = settings.records() if settings else summary
    population = [POPULATION] if options.population_file else []
    people = describe_people(options.entity, con, [table], known.columns, population)
    print_answer(
        options, page, rows, lambda: pages.adversary_page(name, known.assumptions, summary, settings), people
    )
    return PASSED


def _attach(  # noqa: PLR0917 - all of what names a file
    con: duckdb.DuckDBPyConnection,
    view: str,
    option: str,
    file: str,
    form: TextFormat,
    table: str | None = None,
) -> None:
    """Attach a second file as a view, and check that all of its records were read."""
    source = attach_source(con, view, option, file, table, form)
    if source.records is not None:
        source.refuse_missing_records(option, con.execute(f"SELECT count(*) FROM {view}").fetchall()[0][0])


def run_compare(options: argparse.Namespace) -> int:
    """Print both tables' risk, and draw it if asked."""
    how = function_options(options, "compare", "threshold", "targets", "seed")
    if options.plot:
        check_plot_file(options.plot)
    original = open_file_table(options)
    con, qi = original.con, original.columns
    _attach(con, RELEASE, "RELEASED", options.released, text_format(options), options.released_table)
    given = [*_with_like_keys(con, [original.name, RELEASE], options.key), qi]
    measures = call(con, "compare", given, "comparison", key=options.key, **how).records()
    columns = call(con, "compare_columns", given, "columns", key=options.key).records()
    # No function of both tables counts people: one row of each person would have to be matched.
    named = [options.key] if options.key else []
    identifiers = [each for name in (original.name, RELEASE) for each in repeated(con, name, qi, named)]
    people = hint(list(dict.fromkeys(identifiers)), None)
    if options.plot:
        title = f"Original and release by {', '.join(qi)}"
        save([comparison(measures), losses(columns)], title, options.plot, people)
    page = {"compare": measures, "compare_columns": columns}
    print_answer(options, page, measures, lambda: comparison_page(measures, columns), people)
    return PASSED


def run_audit(options: argparse.Namespace) -> int:
    """Print what attacks on a synthetic table get right, and draw it if asked."""
    how = function_options(options, "audit_synthetic", "targets", "seed") | given_entity(options)
    if options.plot:
        check_plot_file(options.plot)
    original = open_file_table(options)
    con, qi = original.con, original.columns
    sensitive = [name for text in options.sensitive for name in names("the sensitive columns", text)]
    if sensitive:
        how["sensitive"] = list(dict.fromkeys(sensitive))
    _attach(con, SYNTHETIC, "SYNTHETIC", options.synthetic, text_format(options), options.synthetic_table)
    if options.holdout:
        _attach(con, HOLDOUT, "--holdout", options.holdout, text_format(options), options.holdout_table)
        how["holdout"] = HOLDOUT
    rows = call(con, "audit_synthetic", [original.name, SYNTHETIC, qi], "attacks", **how).records()
    tables = [original.name, SYNTHETIC, *([HOLDOUT] if options.holdout else [])]
    people = describe_people(options.entity, con, tables, [*qi, *sensitive])
    if options.plot:
        save(attacks(rows), f"Attacks on the synthetic table by {', '.join(qi)}", options.plot, people)
    print_answer(
        options,
        {"attacks": rows},
        rows,
        lambda: audit_page(rows, counts_people=options.entity is not None),
        people,
    )
    return PASSED


def run_releases(options: argparse.Namespace) -> int:
    """Print who can be followed from one release to the next, who entered or left, and what both reveal."""
    how = function_options(options, "compare_releases", "nulls") | given_entity(options)
    named = {name: value for name in ("key", "sensitive") if (value := getattr(options, name)) is not None}
    first = open_file_table(options)
    con, qi = first.con, first.columns
    _attach(con, SECOND, "SECOND", options.second, text_format(options), options.second_table)
    tables = _with_like_keys(con, [first.name, SECOND], options.key or options.entity)
    rows = call(con, "compare_releases", [*tables, qi], "releases", **how, **named).records()
    people = describe_people(options.entity, con, [first.name, SECOND], [*qi, *named.values()])
    counts_people = options.entity is not None
    print_answer(
        options, {"releases": rows}, rows, lambda: releases_page(rows, counts_people=counts_people), people
    )
    return PASSED


def _with_like_keys(con: duckdb.DuckDBPyConnection, views: list[str], key: str | None) -> list[str]:
    """Return the tables, or views of them with the key as text: CSV and Parquet may type it differently."""
    columns = [con.execute(f"DESCRIBE {view}").fetchall() for view in views]
    kinds = [row[1] for rows in columns for row in rows if key is not None and row[0] == key]
    if key is None or len(kinds) < len(views) or kinds[0] == kinds[1]:
        return views
    for view in views:
        select = f"SELECT * REPLACE ({quoted(key)}::VARCHAR AS {quoted(key)}) FROM {view}"
        con.execute(f"CREATE TEMP VIEW {view}_keyed AS {select}")
    return [f"{view}_keyed" for view in views]
