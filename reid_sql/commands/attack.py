"""Attacks on a file, on a synthetic table and on published tables; tables of aggregates that are safe."""

import json
from argparse import Namespace
from functools import partial
from pathlib import Path
from typing import Any, Final

from rich.console import Group

from reid_sql.charts.estimate_charts import attacks, audited_cells
from reid_sql.charts.svg import save
from reid_sql.commands.options import (
    PASSED,
    all_names,
    numbers,
    passed_options,
    refuse_unread,
)
from reid_sql.commands.output import notes_of_rows, print_answer
from reid_sql.commands.published import PUBLISHED, publish, read_published
from reid_sql.commands.tables import (
    attach_numbered,
    call,
    describe_people,
    function_options,
    open_file,
    open_file_table,
    text_format,
    unmeasured_columns,
)
from reid_sql.errors import OutOfDomainError, ReidError
from reid_sql.parameters import Arguments, Columns, Rows
from reid_sql.reductions.tables import OUTPUT_WORDS, PROTECTING, PUBLISHABLE, SAFE_CELLS
from reid_sql.scenarios import scenario
from reid_sql.serve.log import is_log, read_log, summarize_clients
from reid_sql.sources.acro import read_risk_appetite
from reid_sql.sources.files import attach_checked
from reid_sql.terminal import pages
from reid_sql.terminal.attacks import audit_page
from reid_sql.terminal.cells import audited_cells_page, cells_page, describe_publication
from reid_sql.terminal.console import Text, number, words_table

MODEL: Final = "attacked"  # name of the model that is fitted to the file
POPULATION: Final = "reid_population"
SYNTHETIC: Final = "reid_synthetic"
HOLDOUT: Final = "reid_holdout"


def run_scenario(options: Namespace) -> int:
    """Print what the attacker of the scenario can do."""
    read = ("threshold", "nulls", "entity", "tolerance")
    of_attacker = ("scenario", "sensitivity", "population_file", "model")
    refuse_unread(options, "--scenario", *read, *of_attacker)
    threshold = function_options(options, "adversary_summary", "threshold")
    entity = passed_options(options, "entity")
    how = function_options(options, "adversary_summary", "nulls", "tolerance") | entity
    con, table = open_file(options)
    try:
        attacker = scenario(options.scenario)
    # its population is a number of people, so rows that are none matter already
    except ReidError as error:
        people = describe_people(options.entity, con, [table], [])
        raise OutOfDomainError(f"{error}. {people}" if people else str(error)) from None
    if options.model:
        call(con, f"fit_{options.model}", [MODEL, table, attacker.columns], "the model", **entity)
        how["model"] = MODEL
    if options.population_file:
        form = text_format(options)
        attach_checked(con, POPULATION, "--population-file", options.population_file, form)
        how["population_tbl"] = POPULATION
    arguments = [table, attacker.text()]
    rows = call(con, "adversary_summary", arguments, "summary", **threshold, **how).records()
    page = {"scenario": json.loads(attacker.text()), "summary": rows}
    settings = None
    if options.sensitivity:
        output = {"output": "sensitivity"}
        settings = call(con, "adversary_summary", arguments, "sensitivity", **how, **output)
        page["sensitivity"] = settings.records()
    name = attacker.name or options.scenario
    population = [POPULATION] if options.population_file else []
    people = describe_people(options.entity, con, [table], attacker.columns, population)
    print_answer(
        options,
        page,
        page.get("sensitivity", rows),
        lambda: pages.adversary_page(name, attacker.assumptions, rows, settings),
        people,
        head="scenario",
    )
    return PASSED


def run_audit(options: Namespace) -> int:
    """Audit a synthetic table, whose quasi-identifiers are named, published tables of counts, or a log."""
    if options.columns:
        return _audit_synthetic(options)
    return _audit_log(options) if is_log(options.file) else _audit_tables(options)


def _audit_log(options: Namespace) -> int:
    """Print what the clients of `serve` asked for, and who came near a hidden group."""
    refuse_unread(options, "a log of serve")
    with Path(options.file).open(encoding="utf-8") as file:
        lines = read_log(file)
    rows = summarize_clients(lines)
    last = lines[-1]["digest"]
    whole = Text(f"The log is whole: {len(lines):,} lines. Its last digest is {last}.")
    columns = [name.replace("_", " ") for name in rows[0]]
    cells = [[number(cell) for cell in row.values()] for row in rows]
    print_answer(
        options,
        {"clients": rows, "lines": len(lines), "digest": last},
        rows,
        lambda: Group(words_table(columns, cells), whole),
        head="log",
    )
    return PASSED


def _audit_synthetic(options: Namespace) -> int:
    """Print what attacks on a synthetic table get right, and draw it if asked."""
    read = ("columns", "other_table", "holdout", "holdout_table", "sensitive", "entity")
    refuse_unread(options, "--qi", *read, "targets", "seed", "plot")
    if len(options.others) != 1:
        raise OutOfDomainError(
            f"--qi must come with one synthetic table, got {len(options.others)} beside the original; for tables of counts omit --qi"
        )
    how = function_options(options, "audit_synthetic", "targets", "seed")
    how |= passed_options(options, "entity")
    original = open_file_table(options)
    con, qi = original.con, original.columns
    sensitive = all_names("the sensitive columns", options.sensitive)
    how |= {"sensitive": list(dict.fromkeys(sensitive))} if sensitive else {}
    form = text_format(options)
    attach_checked(con, SYNTHETIC, "OTHER", options.others[0], form, options.other_table)
    if options.holdout:
        attach_checked(con, HOLDOUT, "--holdout", options.holdout, form, options.holdout_table)
        how["holdout"] = HOLDOUT
    rows = call(con, "audit_synthetic", [original.name, SYNTHETIC, qi], "attacks", **how).records()
    tables = [original.name, SYNTHETIC, *([HOLDOUT] if options.holdout else [])]
    people = describe_people(options.entity, con, tables, [*qi, *sensitive])
    if options.plot:
        title = f"Attacks on the synthetic table by {', '.join(qi)}"
        save(attacks(rows), title, options.plot, people)
    unmeasured = unmeasured_columns(
        con, SYNTHETIC, [*qi, *sensitive], "the synthetic table", entity=options.entity
    )
    notes = unmeasured["sentences"]
    print_answer(
        options,
        {"attacks": rows, "columns_not_measured": unmeasured},
        rows,
        lambda: Group(
            audit_page(rows, counts_people=options.entity is not None), *map(Text, notes)
        ),
        notes_of_rows(options, people, notes),
    )
    return PASSED


BY: Final = Columns("columns of by")
COUNTED: Final = ("k", "totals", "suppress", "protection", "base", "zeros", "nulls")
TEXTS: Final = ("count", "total", "not_total", "status", "value", "largest")
AUDIT_WITHOUT_QI: Final = "published tables, which have no --qi"
AUDITED: Final = ("k", "people", "lowest", "highest", "base", "p_percent", "within", "rule")


def run_safe(options: Namespace) -> int:
    """Print the cells of a table of aggregates."""
    how, appetite = _parameters_of_cells(options)
    table = open_file_table(options, BY)
    if options.published:
        form = text_format(options, of_people=False)
        how["published"] = attach_numbered(
            table.con, form, "--published", options.published, PUBLISHED
        )
    cells = partial(table.call, "safe_table", words="cells", query="FROM CALL ORDER BY ALL", **how)
    rows = cells()
    people = describe_people(options.entity, table.con, [table.name], table.columns)
    notes = [people, appetite]
    shown = rows
    if options.format != "table":
        is_publishable = _is_publishable(options, how)
        shown = cells(output=PUBLISHABLE) if is_publishable else rows
        notes += describe_publication(rows, is_publishable=is_publishable)
    elif options.output is not None:
        raise OutOfDomainError(
            f"--output must be given with --format csv or json, got '{options.output}' without; the page for a terminal shows all"
        )
    if options.publish is not None:
        _refuse_unprotected("--publish", how)
        notes.append(publish(options, cells(output=PUBLISHABLE), how))
    print_answer(
        options,
        {"cells": shown},
        shown,
        lambda: cells_page(rows, list(SAFE_CELLS.columns)),
        " ".join(filter(None, notes)),
    )
    return PASSED


def _parameters_of_cells(options: Namespace) -> tuple[dict[str, Any], str]:
    """Return the parameters of the cells, and what was read of a risk appetite; options go first."""
    how = function_options(options, "safe_table", *COUNTED)
    how |= passed_options(options, "entity", "value")
    sentence = ""
    if options.risk_appetite is not None:
        appetite = read_risk_appetite(options.risk_appetite)
        passed = passed_options(options, *COUNTED)
        how |= {name: each for name, each in appetite.parameters.items() if name not in passed}
        sentence = appetite.summary()
    return how | passed_options(options, "levels", "tables"), sentence


def _is_publishable(options: Namespace, how: Arguments) -> bool:
    """Whether only what may be published is written: CSV of cells that are hidden, or what is asked.

    Where nothing is hidden, or what is hidden can be computed, no choice of columns makes it so.
    """
    if options.output is None:
        return options.format == "csv" and how["suppress"] in PROTECTING
    is_publishable: bool = OUTPUT_WORDS.check("output", options.output) == PUBLISHABLE
    if is_publishable:
        _refuse_unprotected("--output publishable", how)
    return is_publishable


def _refuse_unprotected(option: str, how: Arguments) -> None:
    if how["suppress"] not in PROTECTING:
        raise OutOfDomainError(
            f"{option} must be given with --suppress secondary or rounding, got '{how['suppress']}'; pass one of them"
        )


def _audit_tables(options: Namespace) -> int:
    """Print what published tables give away, and draw it if asked."""
    refuse_unread(options, AUDIT_WITHOUT_QI, "categories", "dominance", "plot", *AUDITED, *TEXTS)
    how = function_options(options, "audit_tables", *AUDITED)
    how |= passed_options(options, *TEXTS)
    if options.dominance is not None:
        how["dominance"] = numbers("--dominance", options.dominance.split(","))
    columns = all_names("the columns", options.categories)
    form = text_format(options, of_people=False)
    con, first = open_file(options, form)
    views = [first, *attach_numbered(con, form, "OTHER", options.others, PUBLISHED)]
    readings = [read_published(con, view, columns, options.count) for view in views]
    tables = [each.view for each in readings]
    notes = dict.fromkeys(note for each in readings for note in each.notes)
    if columns:
        headers = filter(None, (each.header for each in readings))
        how["columns"] = [*dict.fromkeys([*columns, *headers])]
    rows: Rows = call(con, "audit_tables", [tables], "audit", **how).records()
    if options.plot:
        save(audited_cells(rows), "Hidden cells of published tables", options.plot, "")
    nothing = Text("No cell is hidden, and none is below k.", style="bold")
    print_answer(
        options,
        {"cells": rows},
        rows,
        lambda: audited_cells_page(rows) if rows else nothing,
        " ".join(notes),
        head="tables",
    )
    return PASSED
