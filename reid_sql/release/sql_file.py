"""A release as a SQL file: a view for each table, which counts classes where it runs and lists no record."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from reid_sql.check.duckdb_table import DuckDBRelease
from reid_sql.check.policy import TablePolicy
from reid_sql.control_characters import escape_control_characters
from reid_sql.errors import ReidError
from reid_sql.parameters import quoted
from reid_sql.release.dialects import DIALECT, DUCKDB, translated
from reid_sql.sources.files import DATABASES, check_source, select_from

if TYPE_CHECKING:
    from reid_sql.release.sought import Sought, TableForm

FIRST: Final = "-- A release by reid-sql"
NO_FORM: Final = "no form of the table meets the policy"


def source_sql(release: DuckDBRelease) -> str:
    """Spell the source as a query reads it: the very reading that is measured, or a name to be given.

    A database's table has its own name; files of a pattern have the table's.
    """
    source = release.table.source
    if source.parts:
        return quoted(release.table.name)
    kind = check_source(f"the file of {release.table.name}", str(source.path))
    if kind in DATABASES:
        return named(release.table)
    select, _ = select_from(release.engine.con, "the file", source.path, kind, source.form)
    return f"({select})"


def named(table: TablePolicy) -> str:
    """Spell the table by its name, in the schema that the policy tells."""
    return ".".join(quoted(part) for part in (table.source.table or table.name).split(".", 1))


def sql_file(made: "Sought", dialect: str = DUCKDB) -> str:
    """Write the views of all tables in a dialect; all but DuckDB's read the table by its name."""
    if not made.passed:
        raise ReidError(
            f"a release must pass the policy to be written, got {made.verdict}; change the policy"
        )
    DIALECT.check("--dialect", dialect)
    return "\n".join(line for table in made.tables for line in _view(made, table, dialect)) + "\n"


def _view(made: "Sought", table: "TableForm", dialect: str) -> Iterator[str]:
    if table.form is None:
        raise ReidError(NO_FORM)
    yield f"{FIRST}: {_comment(table.table.name)}, by the policy {_comment(made.policy.name)}"
    yield f"-- (sha256 {made.policy.sha256}); the gate says: {made.verdict}."
    for hierarchy, level in zip(table.hierarchies, table.form.node, strict=True):
        yield f"--   {_comment(hierarchy.words(level))}"
    for stage in table.form.stages:
        listed = _comment(", ".join(stage))
        yield f"--   {listed} blank in records of rare combinations that are then alike with enough others"
    if table.form.cut > 1:
        yield f"--   without records of a combination that fewer than {table.form.cut} records have"
    for column, rule in table.form.rules:
        yield f"--   without records of a combination {_comment(rule.words)} of {_comment(column)}"
    source = table.source if dialect == DUCKDB else named(table.table)
    select = table.form.select(table.shipped(made.policy.preparing.keep), source)
    view = f"CREATE OR REPLACE VIEW {quoted(f'{table.table.name}_released')} AS\n{select}"
    yield f"{view if dialect == DUCKDB else translated(view, table, dialect)};"


def _comment(words: str) -> str:
    """Words that stay on their line."""
    return escape_control_characters(words.replace("\n", " ").replace("\r", " "))
