"""A release in the SQL of other databases: what DuckDB runs, translated by sqlglot."""

from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from reid_sql.errors import ReidError, UnavailableError
from reid_sql.hierarchies.step import Common, DatePart, Grouped, Prefix, Step
from reid_sql.parameters import Choice

if TYPE_CHECKING:
    from reid_sql.release.sought import TableForm

DUCKDB: Final = "duckdb"
NAMES: Final[Mapping[str, str]] = {  # as sqlglot names their classes
    DUCKDB: "DuckDB",
    "postgres": "Postgres",
    "snowflake": "Snowflake",
    "bigquery": "BigQuery",
    "databricks": "Databricks",
    "spark": "Spark",
    "trino": "Trino",
}
DIALECT: Final = Choice(tuple(NAMES))
TEXTS: Final = ("VARCHAR", "ENUM", "UUID")
# Types of which every database writes a value in the same letters.
ALIKE: Final = (
    *TEXTS,
    "DATE",
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "UTINYINT",
    "USMALLINT",
)
UNSIGNED: Final = ("UINTEGER", "UBIGINT", "UHUGEINT")
FLOATING: Final = ("FLOAT", "DOUBLE")


def refuse_dialect(dialect: str) -> None:
    """Refuse a dialect that is not known, or that cannot be written here."""
    if DIALECT.check("--dialect", dialect) != DUCKDB and find_spec("sqlglot") is None:
        rule = f"--dialect {dialect} must have sqlglot, got none"
        raise UnavailableError(f"{rule}; pip install 'reid-sql[ibis]', or write DuckDB's SQL")


def translated(view: str, table: "TableForm", dialect: str) -> str:
    """Translate the view; refuses a step that another database would read otherwise."""
    refuse_dialect(dialect)
    refuse_read_otherwise(table)
    import sqlglot  # noqa: PLC0415 - an optional extra

    tree = sqlglot.parse_one(view, read=DUCKDB)
    for window in list(tree.find_all(sqlglot.exp.Window)):
        parts = [_compared(part, table, dialect) for part in window.args.get("partition_by") or []]
        window.set("partition_by", parts)
    try:
        return tree.sql(
            dialect, pretty=True, identify=True, unsupported_level=sqlglot.ErrorLevel.RAISE, comments=False
        )
    except sqlglot.UnsupportedError as error:
        rule = f"a release in {dialect} must be of steps that it has"
        raise UnavailableError(
            f"{rule}, got one that sqlglot refuses: {error}; choose other hierarchies"
        ) from None


def refuse_read_otherwise(table: "TableForm") -> None:
    """Refuse a step that hangs on how DuckDB writes a value, or reads a date."""
    if table.form is None:
        raise ReidError("no form of the table meets the policy")
    for hierarchy, level in zip(table.hierarchies, table.form.node, strict=True):
        step = hierarchy.steps[level - 1] if level else None
        kind = table.kinds[hierarchy.column]
        if step is not None and (why := _otherwise(step, kind)):
            rule = f"a release in another dialect must not hang on {why}"
            got = f"'{hierarchy.words(level)}', of {kind}"
            raise UnavailableError(f"{rule}, got {got}; cast the column to text or a date in the table first")


def _otherwise(step: Step, kind: str) -> str | None:
    """Say what another database may do otherwise."""
    if isinstance(step, Prefix | Common | Grouped) and not kind.startswith((*ALIKE, *UNSIGNED)):
        return "how a value is written as text"
    if isinstance(step, DatePart) and step.form is not None:
        return "how a date is read"
    return None


def _compared(part: Any, table: "TableForm", dialect: str) -> Any:  # noqa: ANN401 - trees of sqlglot
    """Compare texts by their bytes, and floats by their value, whatever the column's collation."""
    import sqlglot  # noqa: PLC0415 - an optional extra

    from reid_sql.engines.ibis.alike import BY_BYTES, FLOATS, X  # noqa: PLC0415 - the same

    kind = _kind(part.name, table)
    words = BY_BYTES if kind.startswith(TEXTS) else FLOATS if kind in FLOATING else {}
    if NAMES[dialect] not in words:
        return part
    value = sqlglot.exp.cast(part.copy(), "VARCHAR", dialect=DUCKDB) if kind.startswith(TEXTS) else part
    template = sqlglot.parse_one(words[NAMES[dialect]][0], read=dialect)
    return template.transform(lambda node: value.copy() if _is_place(node, X) else node)


def _is_place(node: Any, name: str) -> bool:  # noqa: ANN401 - the same
    import sqlglot  # noqa: PLC0415 - an optional extra

    return isinstance(node, sqlglot.exp.Column) and node.name == name


def _kind(column: str, table: "TableForm") -> str:
    """Give the type of a column in the release; what a step makes is text."""
    if table.form is None or column not in table.kinds:
        return ""
    _, level = table.form.levels.get(column, (None, 0))
    blanked = any(column in stage for stage in table.form.stages)
    return "VARCHAR" if level or blanked else table.kinds[column]
