"""Find the release that meets a policy at the least loss, and write it as SQL or Python."""

import shlex
import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from rich.console import Group

from reid_sql.charts.risk_charts import frontier
from reid_sql.charts.svg import save
from reid_sql.check.html import Additions, render_html
from reid_sql.check.policy import read_policy
from reid_sql.check.report import to_json, write_report
from reid_sql.commands.gate import print_document, protect_inputs, report_files
from reid_sql.commands.options import PASSED, printed
from reid_sql.errors import UnavailableError
from reid_sql.models.generalization.partition import METHOD
from reid_sql.prepare.choices import render_choices
from reid_sql.prepare.files import refuse_dialect
from reid_sql.prepare.page import release_rows
from reid_sql.prepare.preparation import Prepared, prepare
from reid_sql.prepare.problem import propose_hierarchies
from reid_sql.prepare.sentences import release_page, steps
from reid_sql.terminal import progress
from reid_sql.terminal.console import Text

HIERARCHIES: Final = "write_hierarchies"
FILES: Final = ("release", "sql", "polars", "json_report", "html")  # options that name a file


def run_prepare(options: Namespace) -> int:
    """Search for the release, write the files, print what is lost, return the verdict's exit code."""
    refuse_dialect(options.dialect)
    files = report_files(options, (*FILES, HIERARCHIES))
    policy = read_policy(options.policy)
    release = files.pop("release", None)
    protected = files if release is None or release.is_dir() else {**files, "release": release}
    protect_inputs(protected, policy)
    if HIERARCHIES in files:
        return _write_hierarchies(options, files)
    method = METHOD.check("--method", options.method or policy.preparing.method)
    if options.polars is not None and method != "global":
        raise UnavailableError(
            f"--polars must come with method = 'global', got '{method}'; write the release as SQL, or pass --method global"
        )
    prepared = prepare(
        options.policy,
        memory_limit=options.memory_limit,
        target=options.target,
        method=options.method,
        choices=options.format == "json" or "html" in files,
        release=release,
        tell=progress.report,
    )
    _write_release(prepared, files, options.dialect)
    if release is not None and not prepared.passed:
        _say_not_written(release)
    if options.plot is not None:
        title = f"{prepared.page['policy']}: {prepared.page['verdict']}"
        save(frontier(prepared.page), title, options.plot)
    page = dict(prepared.page)
    rows = release_rows(page)  # a table has at least one column
    print_document(
        options,
        page,
        lambda: (list(rows[0]), rows),
        lambda width: Group(release_page(page, width), *_where_to(options, prepared, release)),
    )
    return prepared.exit_code


def _where_to(options: Namespace, prepared: Prepared, release: Path | None) -> list[Text]:
    """Say where the release is, or which command writes it; nothing where no release passes."""
    if not prepared.passed:
        return []
    if release is not None:
        return [Text(f"{release}: written, and read again: it has the rows that were checked.")]
    names = [table.table.name for table in prepared.tables]
    target = f"{names[0]}_released.parquet" if len(names) == 1 else "released"
    command = shlex.join(["reid-sql", "prepare", options.policy, "--release", target])
    return [Text(f"{command} writes this release.")]


def _write_hierarchies(options: Namespace, files: Mapping[str, Path]) -> int:
    """Write the hierarchies alone; nothing is searched, so no other file could be written."""
    more = [name for name in FILES if name in files]
    if more:
        raise UnavailableError(
            f"--write-hierarchies must be the only file to write, as nothing is searched, got --{more[0].replace('_', '-')}; run prepare again for it"
        )
    hierarchies = propose_hierarchies(
        options.policy, memory_limit=options.memory_limit, tell=progress.report
    )
    write_report(files[HIERARCHIES], hierarchies)
    return PASSED


def _write_release(prepared: Prepared, files: Mapping[str, Path], dialect: str) -> None:
    """Write the files; without a release, say which are not written."""
    for name, file in files.items():
        if name == "json_report" and prepared.report is not None:
            write_report(file, to_json(dict(prepared.report)))
        elif name == "html" and prepared.report is not None:
            page = dict(prepared.page)
            choices = render_choices(page["tables"])
            additions = Additions(steps(page), after_checks=choices)
            write_report(file, render_html(prepared.report, additions))
        elif prepared.passed:
            write_report(file, prepared.sql_in(dialect) if name == "sql" else prepared.python)
        else:
            _say_not_written(file)


def _say_not_written(file: Path) -> None:
    words = f"reid-sql: '{file}' is not written, as no release was found that meets the policy"
    printed(words + "\n", sys.stderr)  # one line, never wrapped
