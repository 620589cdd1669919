"""A release as SQL, a view for each table, in any of several dialects; or as Python with Polars."""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from reid_sql.check.duckdb_table import DuckDBTableCounts
from reid_sql.check.policy_model import TablePolicy
from reid_sql.check.report import seal
from reid_sql.errors import ReidError, UnavailableError
from reid_sql.hierarchies.steps import ALL, Common, DatePart, Grouped, Prefix
from reid_sql.models.generalization.criteria import SIZE
from reid_sql.parameters import Choice, quoted, sql_text
from reid_sql.prepare.local import LocalTransformation, rows_of_values
from reid_sql.prepare.transformation import LEAST, RESCUED, SMALL
from reid_sql.sources.files import DATABASES, check_source
from reid_sql.sources.reading import escape_letters, escape_pattern, is_read_by_sql, select_from
from reid_sql.terminal.control_characters import escape_control_characters

if TYPE_CHECKING:
    from reid_sql.prepare.transformation import Release, ReleasedForm, Transformation

FIRST: Final = "-- A release by reid-sql"
NUMBER: Final = "reid_number"
FIRST_PYTHON: Final = '"""A release by reid-sql'
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


def source_sql(original: DuckDBTableCounts) -> str:
    """Write the source as a query reads it: the reading that was measured, or a name.

    A database's table has its own name; files of a pattern have the table's, as has a file that DuckDB cannot
    read. A path that the policy gives relative to its folder is relative to the working directory.
    """
    source = original.table.source
    if source.parts:
        return quoted(original.table.name)
    kind = check_source(f"the file of {original.table.name}", str(source.path))
    if kind in DATABASES:
        return source_name(original.table)
    if not is_read_by_sql(kind, source.form):
        return quoted(original.table.name)
    select, text, _ = select_from(original.engine.con, "the file", source.path, kind, source.form)
    if text is not None and text.breaks_in_header:
        return quoted(original.table.name)
    if not Path(source.location).is_absolute():
        here = os.path.relpath(source.path.resolve(), Path.cwd().resolve())
        select = select.replace(
            sql_text(escape_pattern(source.path)), sql_text(escape_letters(here))
        )
    return f"({select})"


def source_name(table: TablePolicy) -> str:
    """Return the table's quoted name, in the schema that the policy names."""
    return ".".join(quoted(part) for part in (table.source.table or table.name).split(".", 1))


def sql_file(release: "Release", dialect: str = DUCKDB) -> str:
    """Write the views of all tables in a dialect; all but DuckDB's read the table by its name."""
    _refuse_failed(release)
    DIALECT.check("--dialect", dialect)
    return write_views(release, dialect)


def _refuse_failed(release: "Release") -> None:
    if not release.passed:
        raise ReidError(
            f"a release must pass the policy to be written, got {release.verdict}; change the policy"
        )


def write_views(release: "Release", dialect: str = DUCKDB) -> str:
    """Write a view for each table, whatever the verdict, which is in its first lines."""
    return (
        "\n".join(line for table in release.tables for line in _view(release, table, dialect))
        + "\n"
    )


def _view(release: "Release", table: "ReleasedForm", dialect: str) -> Iterator[str]:
    form = table.released
    yield f"{FIRST}: {_comment(table.table.name)}, by the policy {_comment(release.policy.name)}"
    yield f"-- (sha256 {release.policy.sha256}); the gate's verdict: {release.verdict}."
    yield from (f"--   {_comment(line)}" for line in _words(form))
    yield from (f"-- {_comment(line)}" for line in describe_columns(table))
    source = table.source if dialect == DUCKDB else source_name(table.table)
    if source.startswith("("):
        yield "-- Paths are relative to the folder in which the release was prepared."
    else:
        yield f"-- The table is read by its name, {_comment(source)}."
    if isinstance(form, LocalTransformation) and dialect != DUCKDB:
        select = form.select(table.shipped, source, rows_of_values)
    else:
        select = form.select(table.shipped, source)
    kind = "CREATE OR REPLACE VIEW"
    if table.numbered is not None:  # a view would draw other numbers for each reader
        kind = "CREATE OR REPLACE TABLE" if dialect == DUCKDB else "CREATE TABLE"
    numbered = number_people(select, table, source)
    view = f"{kind} {quoted(f'{table.table.name}_released')} AS\n{numbered}"
    yield f"{view if dialect == DUCKDB else translate(view, table, dialect)};"


def number_people(select: str, table: "ReleasedForm", source: str) -> str:
    """Write a random number in place of each person's identifier, if any: the same in all their rows.

    The numbers are the places of the people in an order that is drawn when the query runs. They are no
    function of the identifiers, and nothing is written from which the order follows.
    """
    if table.numbered is None:
        return select
    name = quoted(table.numbered)
    listed = ", ".join(
        f"reid_person.reid_number AS {name}"
        if each == table.numbered
        else f"reid_row.{quoted(each)}"
        for each in table.shipped
    )
    return f"""WITH reid_person AS (
  SELECT {name}, row_number() OVER (ORDER BY reid_draw) AS reid_number
  FROM (
    SELECT {name}, uuid() AS reid_draw
    FROM (SELECT DISTINCT {name} FROM {source}) AS reid_distinct
  ) AS reid_drawn
)
SELECT {listed}
FROM (
{select}
) AS reid_row
LEFT JOIN reid_person ON reid_row.{name} = reid_person.{name}"""


def _words(form: "Transformation | LocalTransformation") -> Iterator[str]:
    """Describe what is done to the columns and records."""
    if isinstance(form, LocalTransformation):
        yield "local recoding: each class shows its own ranges and levels"
        for each, parted in zip(form.hierarchies, form.columns, strict=True):
            levels = "; ".join(f"level {at}: {each.words(at)}" for at in range(each.levels))
            yield f"{each.column} in ranges" if parted.ordered else levels
        return
    for hierarchy, level in zip(form.hierarchies, form.node, strict=True):
        yield hierarchy.words(level)
    for stage in form.stages:
        yield f"{', '.join(stage)} blank in records of rare combinations that then equal enough others"
    if form.person is not None:
        yield f"without people, by {form.person}, of a combination that fewer than {form.cut} people share"
    elif form.cut > 1:
        yield f"without records of a combination that fewer than {form.cut} records share"
    for column, rule in form.rules:
        yield f"without records of a combination {rule.label} of {column}"


def describe_columns(table: "ReleasedForm") -> Iterator[str]:
    """Name the columns of the source that the release lacks, and what replaces people's identifier."""
    if table.omitted:
        yield f"Left out of the release: {', '.join(table.omitted)}."
    if table.blank:
        yield f"Left out, as each record would show '*': {', '.join(table.blank)}."
    if table.numbered is not None:
        yield f"{table.numbered}: random numbers, one for each person, drawn when this runs; no key leads back."


def _comment(words: str) -> str:
    """Return the text on one line, with control characters escaped."""
    return escape_control_characters(words.replace("\n", " ").replace("\r", " "))


def python_file(release: "Release") -> str:
    """Write a function for each table, named `released_` and the table's name."""
    _refuse_failed(release)
    for table in release.tables:
        if isinstance(table.form, LocalTransformation):
            raise UnavailableError(
                f"a release in Polars must be by global recoding, got local recoding of {table.table.name}; write it as SQL, or pass --method global"
            )
    name = (
        escape_control_characters(release.policy.name.replace("\n", " "))
        .replace('"', "'")
        .replace("\\", "/")
    )
    head = [f'{FIRST_PYTHON}, by the policy {name}."""', "", "import polars as pl"]
    functions = [line for table in release.tables for line in ("", "", *_function(table))]
    return "\n".join([*head, *functions]) + "\n"


def _stage_lines(form: "Transformation", stage: Sequence[str]) -> Iterator[str]:
    """Blank columns in records of small classes that then equal enough others of them."""
    small, rescued = f"pl.len().over({form.names!r}) < {form.cut}", f"pl.col({RESCUED!r})"
    remaining = [SMALL, *(name for name in form.names if name not in stage)]
    rescuable = f"pl.col({SMALL!r}) & (pl.len().over({remaining!r}) >= {form.cut})"
    yield f"    made = made.with_columns(({small}).alias({SMALL!r}))"
    yield f"    made = made.with_columns(({rescuable}).alias({RESCUED!r}))"
    for name in stage:
        text = f"pl.col({name!r}).cast(pl.String)"
        blank = f"pl.when({rescued}).then(pl.lit({ALL!r})).otherwise({text}).alias({name!r})"
        yield f"    made = made.with_columns({blank})"
    yield f"    made = made.drop({SMALL!r}, {RESCUED!r})"


def _round_lines(form: "Transformation") -> Iterator[str]:
    """Suppress the classes that are small or break a rule, or people of small ones."""
    if form.person is not None:
        # Leave out people with a record in a class of too few people.
        people = f"pl.col({form.person!r}).n_unique().over({form.names!r}).alias({SIZE!r})"
        least = f"pl.col({SIZE!r}).min().over([{form.person!r}]).alias({LEAST!r})"
        yield f"    made = made.with_columns({people}).with_columns({least})"
        yield f"    made = made.filter(pl.col({LEAST!r}) >= {form.cut}).drop([{SIZE!r}, {LEAST!r}])"
        return
    counts = {SIZE: form.names, **form.counts}
    for name, parts in counts.items():
        counted = f"pl.len().over({parts!r})" if parts else "pl.len()"
        yield f"    made = made.with_columns({counted}.alias({name!r}))"
    small = [f"(pl.col({SIZE!r}) >= {form.cut})"] if form.cut > 1 else []
    conditions = [f"({rule.polars(repr(form.names), at)})" for at, rule in form.numbered]
    yield f"    made = made.filter({' & '.join([*small, *conditions])}).drop({list(counts)!r})"


def _function(table: "ReleasedForm") -> Iterator[str]:
    form, shipped, person = table.transformation, table.shipped, table.numbered
    if form is None:
        raise ReidError("no transformation of the table meets the policy")
    called = f"released_{re.sub(r'[^0-9A-Za-z_]', '_', table.table.name)}"
    yield f"def {called}(frame: pl.LazyFrame) -> pl.LazyFrame:"
    carried = list(dict.fromkeys([*shipped, *form.names_read]))
    yield from (f"    # {_comment(line)}" for line in describe_columns(table))
    # a selection of constants alone would be one record
    yield "    made = frame.lazy().with_columns(["
    for name in carried:
        hierarchy, level = form.levels.get(name, (None, 0))
        yield f"        {hierarchy.python(level) if hierarchy else f'pl.col({name!r})'},"
    yield f"    ]).select({carried!r})"
    for stage in form.stages:
        yield from _stage_lines(form, stage)
    condition = ""
    if form.has_rounds:
        for _ in range(form.rounds):
            yield from _round_lines(form)
    elif form.cut > 1:
        condition = f".filter(pl.len().over({form.names!r}) >= {form.cut})"
    if person is not None:  # random numbers in place of people's identifiers
        drawn = f"(pl.int_range(pl.len()) + 1).shuffle().alias({NUMBER!r})"
        yield f"    people = frame.lazy().select({person!r}).unique().with_columns({drawn})"
        yield f"    made = made.join(people, on={person!r}, how='left', maintain_order='left')"
        yield f"    made = made.drop({person!r}).rename({{{NUMBER!r}: {person!r}}})"
    yield f"    return made{condition}.select({shipped!r})"


def refuse_dialect(dialect: str) -> None:
    """Refuse an unknown dialect, or one that cannot be written without sqlglot."""
    if DIALECT.check("--dialect", dialect) != DUCKDB and find_spec("sqlglot") is None:
        raise UnavailableError(
            f"--dialect {dialect} must have sqlglot, got none; pip install 'reid-sql[ibis]', or write DuckDB's SQL"
        )


def translate(view: str, table: "ReleasedForm", dialect: str) -> str:
    """Translate the view; refuse a step that another database would compute differently."""
    refuse_dialect(dialect)
    refuse_read_otherwise(table)
    import sqlglot  # noqa: PLC0415 - an optional extra

    tree = sqlglot.parse_one(view, read=DUCKDB)
    for window in list(tree.find_all(sqlglot.exp.Window)):
        parts = [_compared(part, table, dialect) for part in window.args.get("partition_by") or []]
        window.set("partition_by", parts)
    try:
        return tree.sql(
            dialect,
            pretty=True,
            identify=True,
            unsupported_level=sqlglot.ErrorLevel.RAISE,
            comments=False,
        )
    except sqlglot.UnsupportedError as error:
        raise UnavailableError(
            f"a release in {dialect} must be of steps that it has, got one that sqlglot refuses: {error}; choose other hierarchies"
        ) from None


def refuse_read_otherwise(table: "ReleasedForm") -> None:
    """Refuse a step that depends on how DuckDB writes a value or reads a date."""
    for hierarchy, level in table.released.levels_read:
        step = hierarchy.steps[level - 1] if level else None
        kind = table.kinds[hierarchy.column]
        why = None  # what another database may do differently; without a step, a value is compared as text
        is_text = step is None or isinstance(step, Prefix | Common | Grouped)
        if is_text and not kind.startswith((*ALIKE, *UNSIGNED)):
            why = "how a value is written as text"
        elif isinstance(step, DatePart) and step.form is not None:
            why = "how a date is read"
        if why is not None:
            raise UnavailableError(
                f"a release in another dialect must not depend on {why}, got '{hierarchy.words(level)}', of {kind}; cast the column to text or a date in the table first"
            )


def _compared(part: Any, table: "ReleasedForm", dialect: str) -> Any:  # noqa: ANN401 - trees of sqlglot
    """Compare texts by their bytes and floats by their value, whatever the column's collation."""
    import sqlglot  # noqa: PLC0415 - an optional extra

    from reid_sql.engines.ibis.alike import BY_BYTES, FLOATS, X  # noqa: PLC0415 - the same

    kind = _kind(part.name, table)
    words = BY_BYTES if kind.startswith(TEXTS) else FLOATS if kind in FLOATING else {}
    if NAMES[dialect] not in words:
        return part
    value = (
        sqlglot.exp.cast(part.copy(), "VARCHAR", dialect=DUCKDB) if kind.startswith(TEXTS) else part
    )
    template = sqlglot.parse_one(words[NAMES[dialect]][0], read=dialect)

    def fill(node: Any) -> Any:  # noqa: ANN401 - the same
        return value.copy() if isinstance(node, sqlglot.exp.Column) and node.name == X else node

    return template.transform(fill)


def _kind(column: str, table: "ReleasedForm") -> str:
    """Return the type of a column in the release; steps return text."""
    if table.transformation is None or column not in table.kinds:
        return ""
    _, level = table.transformation.levels.get(column, (None, 0))
    blanked = any(column in stage for stage in table.transformation.stages)
    return "VARCHAR" if level or blanked else table.kinds[column]


# The report on a release names what was released: the hash of its SQL, and that of its rows.

BATCH: Final = 100_000  # rows that are fetched at once


def state_hashes(release: "Release", originals: Sequence[DuckDBTableCounts]) -> None:
    """Add the hashes to each table of the gate's report, beside that of the source, and seal it anew.

    The SQL is that of the file for DuckDB, which is written only for a release that passes.
    """
    if release.report is None:
        return
    sql = hashlib.sha256(sql_file(release).encode()).hexdigest() if release.passed else None
    for page, original, table in zip(
        release.report["tables"], originals, release.tables, strict=True
    ):
        if table.form is not None:
            # random numbers of people are others each time
            columns = [name for name in table.shipped if name != table.numbered]
            select = table.form.select(columns, original.engine.whole)
            rows = hash_rows(original, f"FROM ({select})", columns)
            page["release"] = {"sql_sha256": sql, "rows_sha256": rows}
    seal(release.report)


def hash_rows(original: DuckDBTableCounts, relation: str, columns: Sequence[str]) -> str:
    """Return the hash of rows whatever their order: that of the sorted hashes of each, one a line.

    A row is its values as text, each after its number of bytes and a colon, "-" for NULL, commas between.
    """
    texts = [f"{quoted(name)}::VARCHAR" for name in columns]
    values = [f"coalesce(strlen({text}) || ':' || {text}, '-')" for text in texts]
    row = " || ',' || ".join(values)
    hashes = original.engine.con.execute(f"SELECT sha256({row}) {relation} ORDER BY 1")
    whole = hashlib.sha256()
    while rows := hashes.fetchmany(BATCH):
        whole.update("".join(f"{row[0]}\n" for row in rows).encode())
    return whole.hexdigest()
