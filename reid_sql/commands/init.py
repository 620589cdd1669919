"""Write a starter policy for all tables of a file, a folder, a pattern of files or a connection."""

import shlex
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb

from reid_sql.commands.measure import describe_profile
from reid_sql.commands.options import PASSED
from reid_sql.commands.output import print_answer
from reid_sql.commands.proposals import (
    MAX_VALUES_READ,
    find_texts,
    judge_values,
    propose,
    repeat_identifiers,
)
from reid_sql.commands.starter import (
    LOOKS,
    PATTERN,
    UNMEASURED,
    Starter,
    group_names,
    source_of,
    stem_of,
    write_policy,
)
from reid_sql.commands.tables import connect_warehouse, open_file
from reid_sql.errors import OutOfDomainError, ReidError, UnknownNameError
from reid_sql.sources.column_roles import ROLES, UNKNOWN, find_labels, read_catalogue
from reid_sql.sources.files import BESIDE_DATABASES, kind_of, kind_of_folder, list_tables
from reid_sql.sources.remote import is_connection
from reid_sql.terminal import progress
from reid_sql.terminal.console import Text
from reid_sql.terminal.runner import sentence

if TYPE_CHECKING:
    from reid_sql.sources.warehouse import Warehouse

NO_KIND: Final = "of no kind that can be read"
Refused: Final = (ReidError, duckdb.Error, OSError, UnicodeError)
Listed = tuple[
    Mapping[str, str], Callable[[], Starter]
]  # keys of a policy, and what profiles the table


def run_init(options: Namespace) -> int:
    """Write the documents into the current folder; refuse to replace a file."""
    if is_connection(options.file):
        with connect_warehouse(options) as opened:
            tables = opened.tables() if options.table is None else [options.table]
            return _write(
                options,
                [
                    (
                        {"url": options.file, "table": name},
                        partial(_profile_in_warehouse, options, opened, name),
                    )
                    for name in tables
                ],
            )
    path = Path(options.file)
    is_pattern = bool(PATTERN & {*options.file}) and not path.exists()
    if options.files or is_pattern:
        return _write(options, [_in_file(options, options.file, files=True)])
    listed = (
        _tables_of_folder(options, path)
        if path.is_dir()
        else _tables_of_file(options, options.file)
    )
    return _write(options, list(listed))


def _write(options: Namespace, tables: Sequence[Listed]) -> int:
    """Profile the tables, and write what is proposed for them: a scenario too, where a file is one table."""
    stem = stem_of(options.file)
    is_one_file = len(tables) == 1 and bool({*tables[0][0]} & {"file", "files"})
    kinds = ("policy", "scenario") if is_one_file else ("policy",)
    targets = {kind: Path(f"{stem}.{kind}.toml") for kind in kinds}
    for path in targets.values():
        if path.exists():
            raise OutOfDomainError(
                f"init must not replace a file, got '{path}', which exists; move it away, or run init in another folder"
            )
    starters, unread = _profile(options, tables, is_alone=len(tables) == 1)
    page: dict[str, Any] = {kind: str(path) for kind, path in targets.items()}
    texts = {"policy": write_policy(page["policy"], starters, unread)}
    if is_one_file:
        texts["scenario"] = starters[0].scenario(page["scenario"])
    for kind, path in targets.items():
        path.write_text(texts[kind], encoding="utf-8")
    if not is_one_file:
        page |= {"tables": [each.name for each in starters], "not_read": unread}
    count = f"{len(starters)} table{'' if len(starters) == 1 else 's'}"
    words = [
        f"Wrote {' and '.join(map(str, targets.values()))}{'' if is_one_file else f', of {count}'}.",
        *_describe_tables(starters, unread, _locate(tables, unread) - {options.file}),
        f"Review {'them' if is_one_file else 'it'}, then: reid-sql check {page['policy']}",
    ]
    people = " ".join(_name_tables(starters, _describe_people))
    print_answer(options, page, [page], lambda: Text(" ".join(words)), people)
    return PASSED


def _locate(tables: Sequence[Listed], names: Collection[str]) -> set[str]:
    """Return the files of the tables of these names."""
    sources = [source for source, _ in tables if _describe_source(source) in names]
    return {file for each in sources if (file := each.get("file") or each.get("files"))}


def _describe_tables(
    starters: Sequence[Starter], unread: Mapping[str, str], other_files: Collection[str]
) -> Iterator[str]:
    """Say what is proposed otherwise than people wrote, and which tables the policy lacks.

    Some of these are in other files than the one that was named: a policy of each can be written.
    """
    yield from _name_tables(starters, _describe_roles)
    for why, names in group_names(unread).items():
        yield f"Not in the policy: {', '.join(names)} ({why})."
    if other_files:
        init = shlex.join(["reid-sql", "init", min(other_files)])
        yield f"{init} writes a policy of that file alone; reid-sql check takes several policies."


def _name_tables(
    starters: Sequence[Starter], describe: Callable[[Starter], Iterator[str]]
) -> Iterator[str]:
    """Describe each table; of several, each sentence begins with its name."""
    for each in starters:
        for words in describe(each):
            yield f"{each.name}: {words}" if len(starters) > 1 else words


def _describe_people(starter: Starter) -> Iterator[str]:
    """Say which columns may identify people, and repeat."""
    if words := describe_profile(list(starter.rows), "entity ="):
        yield words


def _describe_roles(starter: Starter) -> Iterator[str]:
    """Say where a table is not what people wrote about it, and what no check measures."""
    for why, names in starter.reasons(*ROLES).items():
        if LOOKS in why:
            yield f"{', '.join(names)}: {why}."
    for why, names in starter.reasons(UNMEASURED, UNKNOWN).items():
        yield f"Not measured: {', '.join(names)} ({why})."


def _profile(
    options: Namespace, tables: Sequence[Listed], *, is_alone: bool
) -> tuple[list[Starter], dict[str, str]]:
    """Profile each table; among several, one that cannot be read, or that nobody could know, is named."""
    starters: list[Starter] = []
    unread: dict[str, str] = {}
    catalogue = None if options.catalogue is None else read_catalogue(Path(options.catalogue))
    for source, profile in tables:
        name = _describe_source(source)
        progress.report(f"{name}: columns")
        try:
            starter = profile()
            if catalogue is not None:
                labels = find_labels(catalogue, starter.name, is_alone=is_alone)
                starter = replace(starter, labels=[*starter.labels, *labels])
            starter.refuse_unknown()
        except duckdb.InterruptException:
            raise
        except Refused as error:
            if is_alone:
                raise
            is_known = kind_of(Path(source.get("file", ""))) is not None or "file" not in source
            unread[name] = sentence(error) if is_known else NO_KIND
        else:
            starters.append(starter)
    if not starters:
        why = "; ".join(f"{name}: {each}" for name, each in unread.items())
        got = (
            f"{len(unread)} that cannot: {why}" if why else f"none in '{options.file}'; name a file"
        )
        raise UnknownNameError(f"FILE must have a table that can be read, got {got}")
    return _name_apart(starters), unread


def _name_apart(starters: Sequence[Starter]) -> list[Starter]:
    """Give tables that have one name the names of their sources."""
    names = Counter(each.name for each in starters)
    return [
        replace(each, source={**each.source, "name": _describe_source(each.source)})
        if names[each.name] > 1
        else each
        for each in starters
    ]


def _describe_source(source: Mapping[str, str]) -> str:
    """Name a table by where it lies."""
    file = source.get("file") or source.get("files")
    return " ".join(filter(None, [file, source.get("table")]))


# Tables in files.


def _tables_of_folder(options: Namespace, folder: Path) -> Iterator[Listed]:
    """List the tables of a folder; one that is divided by folders like year=2020 is one table."""
    visible = sorted(each for each in folder.iterdir() if not each.name.startswith((".", "_")))
    if any(each.is_dir() and "=" in each.name for each in visible):
        yield _in_file(options, f"{folder}/**/*{kind_of_folder(folder)}", files=True)
        return
    for each in visible:
        if each.is_dir():
            yield from _tables_of_folder(options, each)
        elif not each.name.endswith(BESIDE_DATABASES):
            yield from _tables_of_file(options, str(each))


def _tables_of_file(options: Namespace, file: str) -> Iterator[Listed]:
    """List the tables of a database or the sheets of a workbook, or the file as a table."""
    tables: list[str] = []
    if options.table is None and Path(file).is_file():
        try:
            tables = list_tables("FILE", file)
        except Refused:  # which is said when it is profiled
            tables = []
    for table in tables if len(tables) > 1 else [options.table]:
        yield _in_file(options, file, table)


def _in_file(
    options: Namespace, file: str, table: str | None = None, *, files: bool = False
) -> Listed:
    place = {"file": file, "table": table, "files": files}
    options_of_table = Namespace(**vars(options) | place)
    source = source_of(options_of_table)

    def profile() -> Starter:
        return propose(*open_file(options_of_table, keep=True), source)

    return source, profile


# Tables of a warehouse.


def _profile_in_warehouse(options: Namespace, opened: "Warehouse", name: str) -> Starter:
    """Profile the columns whose distinct values may come to the client, and name the others."""
    from reid_sql.client.calls import profile_columns as profile_here  # noqa: PLC0415 - Ibis is optional
    from reid_sql.engines.ibis import adapter  # noqa: PLC0415 - the same
    from reid_sql.sources.warehouse import run_query  # noqa: PLC0415 - the same

    table = opened.table("--table", name)
    columns = list(table.columns)
    rows = profile_here(table, columns, run_query, {}, adapter)
    if not rows:
        opened.rows(lambda: table.limit(1), "the columns")  # which says why nothing is read

    people = adapter.find_panels(
        table, lambda rows: run_query(lambda: adapter.collected(rows(), "a draw of rows"))
    )
    rows = repeat_identifiers(rows, people)
    sensitive = {}
    for each in find_texts(rows):
        frequent = opened.rows(lambda each=each: _most_frequent(table, each), "values")  # type: ignore[misc]
        if reason := judge_values([row["v"] for row in frequent]):
            sensitive[each] = reason
    profiled = {row["column_name"] for row in rows}
    source = {"url": options.file, "table": name}
    return Starter(
        rows, source, None, sensitive, tuple(each for each in columns if each not in profiled)
    )


def _most_frequent(table: Any, name: str) -> Any:  # noqa: ANN401 - tables of Ibis
    """Return the most frequent values of a column of texts."""
    texts = table.select(v=table[name].cast("string"))
    counted = texts.filter(texts.v.notnull()).group_by("v").agg(n=lambda each: each.count())
    return counted.order_by(counted.n.desc(), counted.v).limit(MAX_VALUES_READ).select("v")
