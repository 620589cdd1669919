"""Attacks on a file, releases, a synthetic table and a join; tables of aggregates, safe or audited."""

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import duckdb
from rich.console import Group

from reid_sql.charts.estimate_charts import attacks, audited_cells, comparison, losses
from reid_sql.charts.picture import save
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
from reid_sql.commands.unmeasured import table_columns, unmeasured_columns
from reid_sql.errors import OutOfDomainError, ReidError
from reid_sql.models.columns.identifiers import hint
from reid_sql.parameters import MAX_COLUMNS, Columns, fold_case, quoted, sql_text
from reid_sql.reductions.tables import OUTPUT_WORDS, PROTECTING, PUBLISHABLE, SAFE_CELLS
from reid_sql.scenarios import scenario
from reid_sql.sources.acro import read_risk_appetite
from reid_sql.sources.files import attach_checked, open_source
from reid_sql.sources.identifiers import repeated
from reid_sql.sources.missing_value_codes import describe_codes_in
from reid_sql.terminal import pages
from reid_sql.terminal.answers import (
    audit_page,
    comparison_page,
    describe_links,
    join_page,
    releases_page,
)
from reid_sql.terminal.cells import audited_cells_page, cells_page, describe_publication
from reid_sql.terminal.console import Text
from reid_sql.terminal.runner import sentence

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
    unmeasured = unmeasured_columns(con, RELEASE, qi, "the release", key=options.key)
    whole = _compare_all_columns(con, given, options.key, how)
    headline = [describe_links(measures, qi), *_describe_all_columns(whole, qi)]
    page: dict[str, Any] = {
        "compare": measures,
        "compare_columns": columns,
        "headline": " ".join(headline),
    }
    page |= {"all_columns": whole, "columns_not_measured": unmeasured}
    notes = [*headline, *unmeasured["sentences"]]
    print_answer(
        options,
        page,
        measures,
        lambda: comparison_page(measures, columns, headline, unmeasured["sentences"]),
        _for_rows(options, people, notes),
    )
    return PASSED


def _for_rows(options: argparse.Namespace, people: str, notes: Sequence[str]) -> str:
    """Return what is said besides the answer: with rows alone, what other forms have in the page."""
    return " ".join(filter(None, [people, *(notes if options.format == "csv" else [])]))


def _compare_all_columns(
    con: duckdb.DuckDBPyConnection,
    given: Sequence[Any],
    key: str | None,
    how: dict[str, Any],
) -> dict[str, Any]:
    """Compare by every column of the release that the original has, as an attacker may know all of them."""
    original, released, _ = given
    known = {fold_case(name) for name in table_columns(con, original)} - {fold_case(key or "")}
    every = [name for name in table_columns(con, released) if fold_case(name) in known]
    columns, rows, status = every[:MAX_COLUMNS], [], ""
    try:
        words = "comparison by all columns"
        rows = call(con, "compare", [original, released, columns], words, key=key, **how).records()
    except duckdb.InterruptException:
        raise
    except duckdb.Error as error:  # such as of a column whose values cannot be compared
        status = sentence(error)
    return {"columns": columns, "of": len(every), "compare": rows, "status": status}


def _describe_all_columns(whole: dict[str, Any], qi: Sequence[str]) -> list[str]:
    """State the attack by every column of the release; nothing where the figures are by all of them."""
    named = {fold_case(name) for name in qi}
    columns = whole["columns"]
    more = [name for name in columns if fold_case(name) not in named]
    if not more:
        return []
    many = (
        f"all {whole['of']:,}"
        if whole["of"] == len(columns)
        else f"{len(columns)} of {whole['of']:,}"
    )
    by = f"{many} columns that the release and the original have ({', '.join(more)} too)"
    if whole["status"]:
        return [f"By {by}, the attack is not measured: {whole['status']}."]
    return [describe_links(whole["compare"], [by])]


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
        _for_rows(options, people, notes),
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
    unmeasured = [
        unmeasured_columns(
            con,
            view,
            [*qi, *named.values()],
            f"release {number}",
            entity=options.entity,
            key=options.key,
        )
        for number, view in enumerate(views, 1)
    ]
    notes = [words for each in unmeasured for words in each["sentences"]]
    print_answer(
        options,
        {"releases": rows, "columns_not_measured": unmeasured},
        rows,
        lambda: Group(releases_page(rows, counts_people=counts_people), *map(Text, notes)),
        _for_rows(options, people, notes),
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
    shown, is_publishable = rows, False
    if options.format != "table":
        is_publishable = _is_publishable(options, how)
        if is_publishable:
            query = "FROM CALL ORDER BY ALL"
            shown = table.call("safe_table", words="cells", query=query, output=PUBLISHABLE, **how)
        notes += describe_publication(rows, is_publishable=is_publishable)
    elif options.output is not None:
        rule = f"--output must be given with --format csv or json, got '{options.output}' without"
        raise OutOfDomainError(f"{rule}; the page for a terminal shows all")
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
        rule = "--output publishable must be given with --suppress secondary or rounding"
        raise OutOfDomainError(f"{rule}, got '{how['suppress']}'; pass one of them")
    return bool(output == PUBLISHABLE)


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
