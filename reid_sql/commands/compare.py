"""Two tables of the same people: a release and its original, releases of one table, a join."""

from argparse import Namespace
from collections.abc import Iterable, Sequence
from typing import Any, Final

import duckdb
from rich.console import Group

from reid_sql.charts.estimate_charts import comparison, losses
from reid_sql.charts.svg import save
from reid_sql.commands.options import PASSED, names, passed_options, refuse_unread
from reid_sql.commands.output import notes_of_rows, print_answer
from reid_sql.commands.tables import (
    attach_numbered,
    call,
    describe_copies_in,
    describe_entity,
    describe_people,
    function_options,
    open_file_table,
    table_columns,
    table_item,
    text_format,
    unmeasured_columns,
)
from reid_sql.errors import OutOfDomainError
from reid_sql.models.columns.identifiers import RepeatedColumn, hint
from reid_sql.parameters import MAX_COLUMNS, Arguments, ColumnNames, Row, fold_case, quoted
from reid_sql.sources.files import attach_checked
from reid_sql.sources.identifiers import repeated
from reid_sql.sources.missing_value_codes import describe_codes_in
from reid_sql.terminal.answers import (
    comparison_page,
    describe_links,
    join_page,
    releases_page,
)
from reid_sql.terminal.console import Text
from reid_sql.terminal.runner import sentence

RELEASE: Final = "reid_release"
LATER: Final = "reid_later_release"
JOINED: Final = "reid_joined_table"


def run_compare(options: Namespace) -> int:
    """Compare a table with what the other one is: its release, a later release, or joined to it."""
    compare = {"release": _compare_release, "later": _compare_later, "join": _compare_join}
    return compare[options.role](options)


def _other(options: Namespace) -> str:
    """Return the one other table."""
    if len(options.others) > 1:
        raise OutOfDomainError(
            f"OTHER must be one table, got {len(options.others)}; pass one, or --as later for releases in their order"
        )
    return str(options.others[0])


def _compare_release(options: Namespace) -> int:
    """Print both tables' risk, and draw it if asked."""
    read = ("columns", "role", "other_table", "key", "threshold", "tolerance")
    refuse_unread(options, "--as release", *read, "targets", "seed", "plot")
    how = function_options(options, "compare", "threshold", "targets", "seed", "tolerance")
    original = open_file_table(options)
    con, qi = original.con, original.columns
    attach_checked(
        con, RELEASE, "OTHER", _other(options), text_format(options), options.other_table
    )
    tables = _with_like_keys(con, [original.name, RELEASE], [(options.key, options.key)])
    arguments = [*tables, qi]
    measures = call(con, "compare", arguments, "comparison", key=options.key, **how).records()
    by_column = {"key": options.key, "output": "columns"}
    columns = call(con, "compare", arguments, "columns", **by_column).records()
    # No function of both tables counts people: one row of each person would have to be matched.
    identifiers: list[RepeatedColumn] = []
    copies = []
    for table, label in ((original.name, "the original: "), (RELEASE, "the release: ")):
        identifiers += repeated(con, table, qi, [options.key] if options.key else [])
        copies.append(describe_copies_in(con, table, label))
    people = " ".join(filter(None, [hint(list(dict.fromkeys(identifiers)), None), *copies]))
    if options.plot:
        title = f"Original and release by {', '.join(qi)}"
        save([comparison(measures), losses(columns)], title, options.plot, people)
    unmeasured = unmeasured_columns(con, RELEASE, qi, "the release", key=options.key)
    whole = _compare_all_columns(con, arguments, options.key, how)
    headline = [describe_links(measures, qi), *_describe_all_columns(whole, qi)]
    page: dict[str, Any] = {
        "compare": measures,
        "compare_columns": columns,
        "headline": " ".join(headline),
        "all_columns": whole,
        "columns_not_measured": unmeasured,
    }
    notes = [*headline, *unmeasured["sentences"]]
    print_answer(
        options,
        page,
        measures,
        lambda: comparison_page(measures, columns, headline, unmeasured["sentences"]),
        notes_of_rows(options, people, notes),
    )
    return PASSED


def _compare_all_columns(
    con: duckdb.DuckDBPyConnection,
    arguments: Sequence[Any],
    key: str | None,
    how: Arguments,
) -> Row:
    """Compare by every column of the release that the original has, as an attacker may know all of them."""
    original, released, _ = arguments
    of_original = {fold_case(name) for name in table_columns(con, original)}
    of_original -= {fold_case(key or "")}
    shared = [name for name in table_columns(con, released) if fold_case(name) in of_original]
    columns, rows, status = shared[:MAX_COLUMNS], [], ""
    try:
        words = "comparison by all columns"
        rows = call(con, "compare", [original, released, columns], words, key=key, **how).records()
    except duckdb.InterruptException:
        raise
    except duckdb.Error as error:  # such as of a column whose values cannot be compared
        status = sentence(error)
    return {"columns": columns, "of": len(shared), "compare": rows, "status": status}


def _describe_all_columns(whole: Row, qi: ColumnNames) -> list[str]:
    """State the attack by every column of the release; nothing where the figures are by all of them."""
    named = {fold_case(name) for name in qi}
    columns = whole["columns"]
    more = [name for name in columns if fold_case(name) not in named]
    if not more:
        return []
    is_all = whole["of"] == len(columns)
    many = f"all {whole['of']:,}" if is_all else f"{len(columns)} of {whole['of']:,}"
    by = f"{many} columns that the release and the original have ({', '.join(more)} too)"
    if whole["status"]:
        return [f"By {by}, the attack is not measured: {whole['status']}."]
    return [describe_links(whole["compare"], [by])]


def _compare_later(options: Namespace) -> int:
    """Print who can be followed from one release to the next, who entered or left, and what both reveal."""
    read = ("columns", "role", "other_table", "key", "entity", "sensitive", "nulls", "tolerance")
    refuse_unread(options, "--as later", *read)
    how = function_options(options, "compare_releases", "nulls", "tolerance")
    how |= passed_options(options, "entity")
    named = passed_options(options, "key", "sensitive")
    first = open_file_table(options)
    con, qi = first.con, first.columns
    form = text_format(options)
    later = attach_numbered(con, form, "OTHER", options.others, LATER, options.other_table)
    views = [first.name, *later]
    person = options.key or options.entity
    one, two, *more = _with_like_keys(con, views, [(person,) * len(views)])
    how |= {"more": more} | named
    rows = call(con, "compare_releases", [one, two, qi], "releases", **how).records()
    columns = [*qi, *named.values()]
    people = describe_people(options.entity, con, views, columns)
    counts_people = options.entity is not None
    holders = {"entity": options.entity, "key": options.key}
    unmeasured = [
        unmeasured_columns(con, view, columns, f"release {number}", **holders)
        for number, view in enumerate(views, 1)
    ]
    notes = [words for each in unmeasured for words in each["sentences"]]
    print_answer(
        options,
        {"releases": rows, "columns_not_measured": unmeasured},
        rows,
        lambda: Group(releases_page(rows, counts_people=counts_people), *map(Text, notes)),
        notes_of_rows(options, people, notes),
        head="later",
    )
    return PASSED


def _compare_join(options: Namespace) -> int:
    """Print whom a join singles out although neither table does alone, by column."""
    read = ("columns", "role", "other_table", "key", "right_qi", "entity", "k", "nulls")
    refuse_unread(options, "--as join", *read)
    if options.key is None or options.right_qi is None:
        raise OutOfDomainError(
            "--as join must come with --key and --other-qi, got not both; name what the tables are joined by, and the columns of OTHER"
        )
    how = function_options(options, "join_risk", "k", "nulls") | passed_options(options, "entity")
    table = open_file_table(options)
    con, qi = table.con, table.columns
    other = _other(options)
    attach_checked(con, JOINED, "OTHER", other, text_format(options), options.other_table)
    right_qi = names("--other-qi", options.right_qi)
    pairs = [name.partition("=") for name in names("--key", options.key)]
    on = {left.strip(): (right if sign else left).strip() for left, sign, right in pairs}
    tables = _with_like_keys(con, [table.name, JOINED], on.items())
    rows = call(con, "join_risk", [*tables, on, qi, right_qi], "join", **how).records()
    notes = [describe_entity(con, [table.name], options.entity)] if options.entity else []
    for view, columns in ((table.name, qi), (JOINED, right_qi)):
        notes.append(describe_codes_in(con.sql, table_item(view), columns))
    people = " ".join(filter(None, notes))
    print_answer(options, {"join": rows}, rows, lambda: join_page(rows), people, head="join")
    return PASSED


def _with_like_keys(
    con: duckdb.DuckDBPyConnection, views: list[str], keys: Iterable[Sequence[str | None]]
) -> list[str]:
    """Return the tables, or views of them with keys as text: CSV and Parquet may type them differently.

    A key has a name in each table.
    """
    types = [
        dict(con.execute(f"SELECT column_name, column_type FROM (DESCRIBE {view})").fetchall())
        for view in views
    ]
    unlike = []
    for names_of_key in keys:
        types_of_key = list(map(dict.get, types, names_of_key))
        if None not in types_of_key and len({*types_of_key}) > 1:
            unlike.append([quoted(str(name)) for name in names_of_key])
    if not unlike:
        return views
    for view, columns in zip(views, zip(*unlike, strict=True), strict=True):
        texts = ", ".join(f"{column}::VARCHAR AS {column}" for column in columns)
        con.execute(f"CREATE TEMP VIEW {view}_keyed AS SELECT * REPLACE ({texts}) FROM {view}")
    return [f"{view}_keyed" for view in views]
