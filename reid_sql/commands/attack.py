"""Attacks on a file, releases, a synthetic table and a join; tables of aggregates, safe or audited."""

import argparse
import json
from collections.abc import Iterable, Sequence
from typing import Final

import duckdb
from rich.text import Text

from reid_sql.charts.estimate_charts import attacks, audited_cells, comparison, losses
from reid_sql.charts.figure import save
from reid_sql.commands.options import PASSED, names, numbers
from reid_sql.commands.output import print_answer
from reid_sql.commands.tables import (
    Rows,
    call,
    describe_copies_in,
    describe_entity,
    describe_people,
    function_options,
    given_entity,
    open_file,
    open_file_table,
    text_format,
)
from reid_sql.errors import OutOfDomainError, ReidError
from reid_sql.models.columns.identifiers import hint
from reid_sql.parameters import Columns, quoted, sql_literal, sql_text
from reid_sql.reductions.tables import SAFE_CELLS
from reid_sql.scenarios import scenario
from reid_sql.sources.acro import read_risk_appetite, shows_unsafe, write_results
from reid_sql.sources.files import attach_checked, open_source
from reid_sql.sources.identifiers import repeated
from reid_sql.sources.missing_value_codes import describe_codes_in
from reid_sql.terminal import pages
from reid_sql.terminal.answers import (
    audit_page,
    audited_cells_page,
    cells_page,
    comparison_page,
    join_page,
    releases_page,
)

MODEL: Final = "attacked"  # name of the model that is fitted to the file
POPULATION: Final = "reid_population"
RELEASE: Final = "reid_release"
SYNTHETIC: Final = "reid_synthetic"
HOLDOUT: Final = "reid_holdout"
SECOND: Final = "reid_second"
JOINED: Final = "reid_joined_table"


def run_adversary(options: argparse.Namespace) -> int:
    """Print what the attacker of the scenario can do."""
    threshold = function_options(options, "adversary_summary", "threshold")
    how = function_options(options, "adversary_summary", "nulls", "tolerance") | given_entity(
        options
    )
    con, table = open_file(options)
    try:
        known = scenario(options.scenario)
    # its population is a number of people, so rows that are none matter already
    except ReidError as error:
        people = describe_people(options.entity, con, [table], [])
        raise OutOfDomainError(f"{error}. {people}" if people else str(error)) from None
    if options.model:
        counted = given_entity(options)
        call(con, f"fit_{options.model}", [MODEL, table, known.columns], "the model", **counted)
        how["model"] = MODEL
    if options.population_file:
        attach_checked(
            con, POPULATION, "--population-file", options.population_file, text_format(options)
        )
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
        options,
        page,
        rows,
        lambda: pages.adversary_page(name, known.assumptions, summary, settings),
        people,
    )
    return PASSED


def run_compare(options: argparse.Namespace) -> int:
    """Print both tables' risk, and draw it if asked."""
    how = function_options(options, "compare", "threshold", "targets", "seed", "tolerance")
    original = open_file_table(options)
    con, qi = original.con, original.columns
    attach_checked(
        con, RELEASE, "RELEASED", options.released, text_format(options), options.released_table
    )
    given = [*_with_like_keys(con, [original.name, RELEASE], [(options.key, options.key)]), qi]
    measures = call(con, "compare", given, "comparison", key=options.key, **how).records()
    columns = call(con, "compare_columns", given, "columns", key=options.key).records()
    # No function of both tables counts people: one row of each person would have to be matched.
    named = [options.key] if options.key else []
    identifiers = [
        each for name in (original.name, RELEASE) for each in repeated(con, name, qi, named)
    ]
    copies = [
        describe_copies_in(con, name, label)
        for name, label in ((original.name, "the original: "), (RELEASE, "the release: "))
    ]
    people = " ".join(filter(None, [hint(list(dict.fromkeys(identifiers)), None), *copies]))
    if options.plot:
        title = f"Original and release by {', '.join(qi)}"
        save([comparison(measures), losses(columns)], title, options.plot, people)
    page = {"compare": measures, "compare_columns": columns}
    print_answer(options, page, measures, lambda: comparison_page(measures, columns), people)
    return PASSED


def run_audit(options: argparse.Namespace) -> int:
    """Print what attacks on a synthetic table get right, and draw it if asked."""
    how = function_options(options, "audit_synthetic", "targets", "seed") | given_entity(options)
    original = open_file_table(options)
    con, qi = original.con, original.columns
    sensitive = [
        name for text in options.sensitive for name in names("the sensitive columns", text)
    ]
    if sensitive:
        how["sensitive"] = list(dict.fromkeys(sensitive))
    attach_checked(
        con,
        SYNTHETIC,
        "SYNTHETIC",
        options.synthetic,
        text_format(options),
        options.synthetic_table,
    )
    if options.holdout:
        attach_checked(
            con, HOLDOUT, "--holdout", options.holdout, text_format(options), options.holdout_table
        )
        how["holdout"] = HOLDOUT
    rows = call(con, "audit_synthetic", [original.name, SYNTHETIC, qi], "attacks", **how).records()
    tables = [original.name, SYNTHETIC, *([HOLDOUT] if options.holdout else [])]
    people = describe_people(options.entity, con, tables, [*qi, *sensitive])
    if options.plot:
        save(
            attacks(rows),
            f"Attacks on the synthetic table by {', '.join(qi)}",
            options.plot,
            people,
        )
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
    how = function_options(options, "compare_releases", "nulls", "tolerance") | given_entity(
        options
    )
    named = {
        name: value
        for name in ("key", "sensitive")
        if (value := getattr(options, name)) is not None
    }
    first = open_file_table(options)
    con, qi = first.con, first.columns
    attach_checked(
        con, SECOND, "SECOND", options.second, text_format(options), options.second_table
    )
    views = [first.name, SECOND]
    for number, file in enumerate(options.more, 3):
        views.append(f"reid_release_{number}")
        attach_checked(con, views[-1], f"--more {number - 2}", file, text_format(options))
    person = options.key or options.entity
    one, two, *more = _with_like_keys(con, views, [(person,) * len(views)])
    rows = call(
        con, "compare_releases", [one, two, qi], "releases", more=more, **how, **named
    ).records()
    people = describe_people(options.entity, con, views, [*qi, *named.values()])
    counts_people = options.entity is not None
    print_answer(
        options,
        {"releases": rows},
        rows,
        lambda: releases_page(rows, counts_people=counts_people),
        people,
    )
    return PASSED


def run_join(options: argparse.Namespace) -> int:
    """Print whom a join singles out although neither table does alone, by column."""
    how = function_options(options, "join_risk", "k", "nulls") | given_entity(options)
    left = open_file_table(options)
    con, qi = left.con, left.columns
    form = text_format(options)
    attach_checked(con, JOINED, "RIGHT", options.right, form, options.right_table)
    right_qi = [name for text in options.right_qi for name in names("--right-qi", text)]
    pairs = [name.partition("=") for text in options.on for name in names("--on", text)]
    on = {own.strip(): (theirs if mark else own).strip() for own, mark, theirs in pairs}
    tables = _with_like_keys(con, [left.name, JOINED], on.items())
    rows = call(con, "join_risk", [*tables, on, qi, right_qi], "join", **how).records()
    notes = [describe_entity(con, [left.name], options.entity)] if options.entity else []
    for view, columns in ((left.name, qi), (JOINED, right_qi)):
        notes.append(describe_codes_in(con.sql, f"query_table({sql_text(view)})", columns))
    print_answer(
        options, {"join": rows}, rows, lambda: join_page(rows), " ".join(filter(None, notes))
    )
    return PASSED


def _with_like_keys(
    con: duckdb.DuckDBPyConnection, views: list[str], keys: Iterable[Sequence[str | None]]
) -> list[str]:
    """Return the tables, or views of them with keys as text: CSV and Parquet may type them differently.

    A key has a name in each table.
    """
    kinds = [
        {row[0]: row[1] for row in con.execute(f"DESCRIBE {view}").fetchall()} for view in views
    ]
    unlike = [
        pair
        for pair in keys
        if all(name in known for name, known in zip(pair, kinds, strict=True))
        and len({known[str(name)] for name, known in zip(pair, kinds, strict=True)}) > 1
    ]
    if not unlike:
        return views
    for place, view in enumerate(views):
        cells = [
            f"{quoted(str(pair[place]))}::VARCHAR AS {quoted(str(pair[place]))}" for pair in unlike
        ]
        con.execute(
            f"CREATE TEMP VIEW {view}_keyed AS SELECT * REPLACE ({', '.join(cells)}) FROM {view}"
        )
    return [f"{view}_keyed" for view in views]


BY: Final = Columns("columns of by")
COUNTED: Final = ("k", "totals", "suppress", "protection", "base", "zeros", "nulls")
TEXTS: Final = ("count", "total", "not_total", "status", "value", "largest")
AUDITED: Final = ("k", "people", "lowest", "highest", "base", "p_percent", "within")


def run_safe(options: argparse.Namespace) -> int:
    """Print the cells of a table of aggregates."""
    how = function_options(options, "safe_table", *COUNTED) | given_entity(options)
    if options.value is not None:
        how["value"] = options.value
    appetite = None if options.risk_appetite is None else read_risk_appetite(options.risk_appetite)
    if appetite is not None:
        given = {name for name in COUNTED if getattr(options, name) is not None}
        how |= {name: value for name, value in appetite.parameters.items() if name not in given}
    how |= {name: getattr(options, name) for name in ("levels", "tables") if getattr(options, name)}
    table = open_file_table(options, BY)
    for number, file in enumerate(options.published, 1):
        how.setdefault("published", []).append(f"reid_published_{number}")
        attach_checked(
            table.con,
            f"reid_published_{number}",
            f"--published {number}",
            file,
            text_format(options),
        )
    rows = table.call("safe_table", words="cells", query="FROM CALL ORDER BY ALL", **how)
    people = describe_people(options.entity, table.con, [table.name], table.columns)
    notes = [*([people] if people else []), *([] if appetite is None else [appetite.summary()])]
    if options.acro is not None:
        asked = ", ".join(f"{name} := {sql_literal(value)}" for name, value in how.items())
        call_text = f"safe_table(..., {sql_literal(table.columns)}, {asked})"
        written = write_results(options.acro, rows, table.columns, call_text)
        notes.append(f"Written for an output checker: {written}.")
        unsafe = shows_unsafe(rows)
        notes.append(
            "The CSV file shows unsafe cells." if unsafe else "Publish the CSV file alone."
        )
    page = {"cells": rows}
    print_answer(
        options, page, rows, lambda: cells_page(rows, list(SAFE_CELLS.columns)), " ".join(notes)
    )
    return PASSED


def run_audit_tables(options: argparse.Namespace) -> int:
    """Print what published tables give away, and draw it if asked."""
    how = function_options(options, "audit_tables", *AUDITED)
    how |= {name: getattr(options, name) for name in TEXTS if getattr(options, name) is not None}
    if options.dominance is not None:
        how["dominance"] = numbers("--dominance", options.dominance.split(","))
    columns = [name for text in options.columns for name in names("the columns", text)]
    if columns:
        how["columns"] = list(dict.fromkeys(columns))
    form = text_format(options)
    con, first = open_source(options.files[0], None, form=form)
    tables = [first]
    for number, file in enumerate(options.files[1:], 2):
        tables.append(f"reid_published_{number}")
        attach_checked(con, tables[-1], f"FILE {number}", file, form)
    rows: Rows = call(con, "audit_tables", [tables], "audit", **how).records()
    if options.plot:
        save(audited_cells(rows), "Hidden cells of published tables", options.plot, "")
    nothing = Text("No cell is hidden, and none is below k.", style="bold")
    print_answer(
        options, {"cells": rows}, rows, lambda: audited_cells_page(rows) if rows else nothing, ""
    )
    return PASSED
