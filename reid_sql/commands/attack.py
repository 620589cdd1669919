"""Attacks on a file, on a synthetic table and on published tables; tables of aggregates that are safe."""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from rich.console import Group

from reid_sql.charts.estimate_charts import attacks, audited_cells
from reid_sql.charts.picture import save
from reid_sql.commands.options import PASSED, names, numbers, refuse_unread
from reid_sql.commands.output import notes_of_rows, print_answer
from reid_sql.commands.published import HEADER, publish, read_published
from reid_sql.commands.tables import (
    Rows,
    call,
    describe_people,
    function_options,
    given_entity,
    open_file,
    open_file_table,
    text_format,
)
from reid_sql.commands.unmeasured import unmeasured_columns
from reid_sql.errors import OutOfDomainError, ReidError
from reid_sql.parameters import Columns
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


def run_scenario(options: argparse.Namespace) -> int:
    """Print what the attacker of the scenario can do."""
    read = ("threshold", "nulls", "entity", "tolerance")
    own = ("scenario", "sensitivity", "population_file", "model")
    refuse_unread(options, "--scenario", *read, *own)
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
        settings = call(con, "adversary_summary", given, "sensitivity", **how, output="sensitivity")
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
        head="scenario",
    )
    return PASSED


def run_audit(options: argparse.Namespace) -> int:
    """Audit a synthetic table, whose quasi-identifiers are named, published tables of counts, or a log."""
    if options.columns:
        return _audit_synthetic(options)
    return _audit_log(options) if is_log(options.file) else _audit_tables(options)


def _audit_log(options: argparse.Namespace) -> int:
    """Print what the clients of `serve` asked for, and who came near a hidden group."""
    refuse_unread(options, "a log of serve")
    with Path(options.file).open(encoding="utf-8") as lines:
        read = read_log(lines)
    rows = summarize_clients(read)
    last = read[-1]["digest"]
    whole = Text(f"The log is whole: {len(read):,} lines. Its last digest is {last}.")
    columns = [name.replace("_", " ") for name in rows[0]]
    cells = [[number(cell) for cell in row.values()] for row in rows]
    print_answer(
        options,
        {"clients": rows, "lines": len(read), "digest": last},
        rows,
        lambda: Group(words_table(columns, cells), whole),
        head="log",
    )
    return PASSED


def _audit_synthetic(options: argparse.Namespace) -> int:
    """Print what attacks on a synthetic table get right, and draw it if asked."""
    read = ("columns", "other_table", "holdout", "holdout_table", "sensitive", "entity")
    refuse_unread(options, "--qi", *read, "targets", "seed", "plot")
    if len(options.others) != 1:
        raise OutOfDomainError(
            f"--qi must come with one synthetic table, got {len(options.others)} beside the original; for tables of counts omit --qi"
        )
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
        "OTHER",
        options.others[0],
        text_format(options),
        options.other_table,
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
    for place, file in enumerate(options.published, 1):
        how.setdefault("published", []).append(f"reid_published_{place}")
        attach_checked(
            table.con,
            f"reid_published_{place}",
            f"--published {place}",
            file,
            text_format(options),
        )
    rows = table.call("safe_table", words="cells", query="FROM CALL ORDER BY ALL", **how)
    people = describe_people(options.entity, table.con, [table.name], table.columns)
    notes = [*([people] if people else []), *([] if appetite is None else [appetite.summary()])]
    shown, is_publishable = rows, False
    if options.format != "table":
        is_publishable = _is_publishable(options, how)
        if is_publishable:
            query = "FROM CALL ORDER BY ALL"
            shown = table.call("safe_table", words="cells", query=query, output=PUBLISHABLE, **how)
        notes += describe_publication(rows, is_publishable=is_publishable)
    elif options.output is not None:
        raise OutOfDomainError(
            f"--output must be given with --format csv or json, got '{options.output}' without; the page for a terminal shows all"
        )
    if options.publish is not None:
        if how["suppress"] not in PROTECTING:
            raise OutOfDomainError(
                f"--publish must be given with --suppress secondary or rounding, got '{how['suppress']}'; pass one of them"
            )
        query = "FROM CALL ORDER BY ALL"
        cells = table.call("safe_table", words="cells", query=query, output=PUBLISHABLE, **how)
        notes.append(publish(options, cells, how))
    page = {"cells": shown}
    print_answer(
        options, page, shown, lambda: cells_page(rows, list(SAFE_CELLS.columns)), " ".join(notes)
    )
    return PASSED


def _is_publishable(options: argparse.Namespace, how: Mapping[str, Any]) -> bool:
    """Whether only what may be published is written: CSV of cells that are hidden, or what is asked.

    Where nothing is hidden, or what is hidden can be computed, no choice of columns makes it so.
    """
    is_protected = how["suppress"] in PROTECTING
    if options.output is None:
        return options.format == "csv" and is_protected
    output = OUTPUT_WORDS.check("output", options.output)
    if output == PUBLISHABLE and not is_protected:
        raise OutOfDomainError(
            f"--output publishable must be given with --suppress secondary or rounding, got '{how['suppress']}'; pass one of them"
        )
    return bool(output == PUBLISHABLE)


def _audit_tables(options: argparse.Namespace) -> int:
    """Print what published tables give away, and draw it if asked."""
    refuse_unread(options, AUDIT_WITHOUT_QI, "categories", "dominance", "plot", *AUDITED, *TEXTS)
    how = function_options(options, "audit_tables", *AUDITED)
    how |= {name: getattr(options, name) for name in TEXTS if getattr(options, name) is not None}
    if options.dominance is not None:
        how["dominance"] = numbers("--dominance", options.dominance.split(","))
    columns = [name for text in options.categories for name in names("the columns", text)]
    if columns:
        how["columns"] = list(dict.fromkeys(columns))
    con, first = open_file(options)
    views = [first]
    for place, file in enumerate(options.others, 1):
        views.append(f"reid_published_{place}")
        attach_checked(con, views[-1], f"OTHER {place}", file, text_format(options))
    read = [read_published(con, view, columns, options.count) for view in views]
    tables = [view for view, _ in read]
    notes = list(dict.fromkeys(each for _, words in read for each in words))
    if columns and tables != views:
        how["columns"] = [*how["columns"], HEADER]
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
