"""One page for one file: its columns, proposed quasi-identifiers, their risk, and what to do next."""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Final

import duckdb
from rich.console import Group, RenderableType

from reid_sql.charts.svg import escape
from reid_sql.check import gate
from reid_sql.check.html import render_first_report
from reid_sql.check.html_parts import render_lines
from reid_sql.check.masking import ReportPage
from reid_sql.check.next_steps import (
    STEP_CAUTIONS,
    STEP_RELEASE,
    describe_columns_that_help,
    describe_people_alone,
    unit_of_rows,
)
from reid_sql.check.policy import read_policy_text
from reid_sql.check.report import write_report
from reid_sql.check.sentences import find_table_cautions
from reid_sql.check.sources import ReadTable, Stamp, file_stamp
from reid_sql.check.terminal import facts_page
from reid_sql.commands.html import NOT_MASKED, check_file, page_blocks
from reid_sql.commands.measure import describe_profile, describe_smallest_sets
from reid_sql.commands.options import PASSED, number
from reid_sql.commands.output import print_answer
from reid_sql.commands.proposals import propose
from reid_sql.commands.starter import Starter, source_of
from reid_sql.commands.tables import open_file
from reid_sql.errors import OutOfDomainError
from reid_sql.parameters import POPULATION, Rows
from reid_sql.sources.files import KEPT, open_source
from reid_sql.sources.notes import take_notes
from reid_sql.terminal import progress
from reid_sql.terminal.answers import advice_by_kind, columns_table
from reid_sql.terminal.console import Text, heading
from reid_sql.terminal.pages import class_size_bars

STEP_OMIT: Final = "Leave out of the release: {} (identifiers, names, contacts or free text)."
SENSITIVE: Final = "sensitive, as {}; a quasi-identifier if others can know it."
SHOWN: Final = {"quasi_identifier": "quasi-identifier", "identifier": "leave out"}  # roles
STEP_POLICY: Final = (
    "{} writes a starter policy. Review its columns: only you know what others know."
)


@dataclass(frozen=True)
class FirstReport:
    """What a file's first report contains; `page` is the gate's, with small counts masked."""

    starter: Starter
    smallest_sets: Sequence[str]
    page: ReportPage
    inputs: tuple[Path, ...] = field(default=(), repr=False)  # which no report may overwrite

    @property
    def profile(self) -> Rows:
        """A row for each column; its counts are exact."""
        return list(self.starter.rows)

    @property
    def policy(self) -> str:
        """The starter policy, as `reid-sql init` writes it."""
        return self.starter.policy("policy.toml")

    @property
    def steps(self) -> list[str]:
        """What to do next: what to leave out, and the columns that help most if they are coarser."""
        table = self.page["tables"][0]
        omitted = (
            [STEP_OMIT.format(", ".join(self.starter.omitted))] if self.starter.omitted else []
        )
        cautions = find_table_cautions(self.page, table["name"])
        settled = [STEP_CAUTIONS.format(table["name"])] if cautions.accepted else []
        return [*settled, *omitted, *describe_columns_that_help(self.page), *self._commands]

    @property
    def _commands(self) -> list[str]:
        init, prepare = self.starter.commands
        return [STEP_POLICY.format(init), STEP_RELEASE.format(prepare)]

    @property
    def answer(self) -> str:
        """How many people are the only one with what others can know of them."""
        return describe_people_alone(self.page)

    def html(self, path: str | PathLike[str]) -> Path:
        """Write the report as one HTML file for people, and give its path."""
        file = Path(path)
        check_file(file, self.inputs)
        write_report(file, self._repr_html_())
        return file

    def _repr_html_(self) -> str:
        """Show the report in a notebook."""
        columns = f"<h2>Columns</h2>{page_blocks(self._columns())}<p class=soft>{NOT_MASKED}</p>"
        policy = f"<h2>The starter policy</h2><p>{escape(self._commands[0])}</p>{render_lines(self.policy.splitlines())}"
        return render_first_report(self.page, self.answer, self.steps, columns, policy)

    def _columns(self) -> RenderableType:
        roles = {name: SHOWN.get(each.word, each.word) for name, each in self.starter.roles.items()}
        sensitive = self.starter.sensitive
        rest = [row for row in self.starter.rows if row["column_name"] not in sensitive]
        reasons = [Text(f"{names}: {advice}") for names, advice in advice_by_kind(rest)]
        for reason, names in self.starter.reasons("sensitive").items():
            reasons.append(Text(f"{', '.join(names)}: {SENSITIVE.format(reason)}"))
        sets = map(Text, self.smallest_sets)
        return Group(*sets, columns_table(self.starter.rows, roles), *reasons)

    def rendered(self) -> RenderableType:
        """Show the report on a terminal."""
        steps = [heading("What to do next"), *(Text(f"- {step}") for step in self.steps)]
        sizes = self.page["tables"][0]["class_sizes"]
        return Group(
            heading(self.answer),
            *([class_size_bars(sizes, noun=unit_of_rows(self.page))] if sizes else []),
            *steps,
            "",
            facts_page(self.page),
            "",
            self._columns(),
        )

    def __str__(self) -> str:
        """How many people are the only one with what others can know of them."""
        return self.answer


def report(
    file: str | PathLike[str], *, table: str | None = None, population: float | None = None
) -> FirstReport:
    """Report on a file: its columns, the risk by those that others can know, and a starter policy.

    The file is CSV, Parquet, JSON or a database of DuckDB, whose `table` is named. `population` is the number
    of people that the table is a sample of: it adds the risk there.
    """
    before = _stamp_of(str(file))
    con, name = open_source(str(file), table, keep=True)
    source = {"file": str(file)} | ({} if table is None else {"table": table})
    people = None if population is None else float(POPULATION.check("population", population))
    return measure(con, name, source, people, before=before)


def _stamp_of(file: str) -> Stamp | None:
    """What the file system says of a file before it is read; nothing of one that is not there."""
    return file_stamp(Path(file)) if Path(file).is_file() else None


def measure(
    con: duckdb.DuckDBPyConnection,
    name: str,
    source: Mapping[str, str],
    population: float | None,
    *,
    before: Stamp | None,
    memory_limit: str | None = None,
) -> FirstReport:
    """Profile the table, and check it against the starter policy; a file of text is read once."""
    file = next(iter(source.values()))
    if file == "-":
        raise OutOfDomainError(
            "FILE must be a file, got standard input, which can be read once; write it to a file"
        )
    starter = propose(con, name, source, population)
    starter.refuse_unknown()
    sets = describe_smallest_sets(con, name, starter.rows)
    is_read = name == KEPT
    if not is_read:
        con.close()  # a database of DuckDB is opened once more
    inputs = (Path(file),)
    policy = read_policy_text(starter.policy("policy.toml"))
    policy = replace(policy, name=f"First report on {inputs[0].name}")
    opened = (
        gate.open_read_table(policy, ReadTable(con, name, starter.rows, before), progress.report)
        if is_read
        else gate.open_with_engine(None, policy, memory_limit, progress.report)
    )
    with opened as releases:
        page = gate.measure_policy(policy, releases, None, show_progress=progress.report)
    return FirstReport(starter, sets, page, inputs)


def run_report(options: Namespace) -> int:
    """Print the report and write its page; the verdict of a policy that nobody wrote is no error."""
    population = None
    if options.population is not None:
        value = number("--population", options.population.replace(",", ""))
        population = float(POPULATION.check("--population", value))
    before = _stamp_of(options.file)
    con, table = open_file(options, keep=True)
    first_report = measure(
        con, table, source_of(options), population, before=before, memory_limit=options.memory_limit
    )
    if options.html is not None:
        first_report.html(options.html)
        options.html = None  # which is written
    document = {
        "profile": first_report.profile,
        "policy": first_report.policy,
        "report": dict(first_report.page),
    }
    document |= {"smallest_sets": first_report.smallest_sets, "next_steps": first_report.steps}
    people = describe_profile(first_report.profile)
    take_notes()  # which are cautions of the page
    print_answer(options, document, first_report.profile, first_report.rendered, people)
    return PASSED
