"""Files that Spark reads as DuckDB reads them: text as text, every record, no pattern in a path.

Spark alone reads paths as patterns, folders as numbers, line breaks in quotes as ends, bad bytes as U+FFFD.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any, Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as all of Spark's users have it
from pyspark.sql.types import StructType

from reid_sql.errors import OutOfDomainError, UnavailableError
from reid_sql.sources.files import Parts
from reid_sql.sources.formats import TextFile, count_slowly, inspect_text
from reid_sql.sources.json_files import MAX_DEPTH, MAX_KEYS
from reid_sql.sources.text_content import TABBED, TEXTS, TextFormat, nonblank_lines

LINES: Final = (".ndjson", ".jsonl")
KINDS: Final = (*TEXTS, ".parquet", ".orc", ".json", *LINES)
PACKED: Final = (".gz", ".zst", ".bz2")
COUNTED: Final = ("", ".gz", ".zst")  # packed so that the lines of a file can be counted here
INFERENCE: Final = "spark.sql.sources.partitionColumnTypeInference.enabled"
TIMES: Final = "spark.sql.session.timeZone"
CHARSETS: Final = {"latin-1": "ISO-8859-1"}  # where Spark has another name
UNREADABLE: Final = "\ufffd"
PATTERN: Final = "\\{}[]*?"
KINDS_MIXED: Final = re.compile(r"(: |<)VARIANT(, |>|$)")  # as Spark writes the type of such a key


@contextmanager
def configure_reading(spark: SparkSession) -> Iterator[None]:
    """Read the names of folders as texts, and times in UTC, as long as the tables are open."""
    before = {name: spark.conf.get(name, None) for name in (INFERENCE, TIMES)}
    spark.conf.set(INFERENCE, "false")
    spark.conf.set(TIMES, "UTC")
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, value)


def file_kind(path: str) -> str:
    """Return the ending that shows how a file is written, whatever it is packed with."""
    name = Path(path)
    return name.with_suffix("").suffix if name.suffix in PACKED else name.suffix


def read_files(spark: SparkSession, parts: Parts, form: TextFormat, where: str) -> DataFrame:
    """Read the files of a pattern, each with the values in the names of its folders, as text."""
    frames = []
    for path, values in parts:
        frame = read_file(spark, str(path.absolute()), form, where)
        twice = {name.lower() for name in values} & {name.lower() for name in frame.columns}
        if twice:
            raise OutOfDomainError(
                f"{where} must not name a column by a folder and in a file, got {sorted(twice)}; rename one"
            )
        for name, value in values.items():
            frame = frame.withColumn(name, F.lit(value).cast("string"))
        frames.append(frame)
    if any(frame.dtypes != frames[0].dtypes for frame in frames):
        raise OutOfDomainError(
            f"{where} must have the same columns in every file, got others in some; mend them"
        )
    return reduce(DataFrame.union, frames)


def read_file(spark: SparkSession, path: str, form: TextFormat, where: str) -> DataFrame:
    """Read one file, or a folder of them, by its ending."""
    kind, plain = file_kind(path), path
    if "://" not in path:  # no character of a path here is a pattern
        plain = "".join(f"\\{letter}" if letter in PATTERN else letter for letter in path)
    if kind in TEXTS:
        return _read_text(spark, path, plain, form, where)
    if kind in {".parquet", ".orc"}:
        frame = spark.read.format(kind[1:]).load(plain)
        return frame.select(*_list_columns(frame.schema))
    how: dict[str, bool | str] = {
        "multiLine": kind == ".json" and _is_array(path),
        "mode": "FAILFAST",
    }
    # Spark reads 1 as "1": of the values of a key, at any depth, all or none are texts
    values = spark.read.options(singleVariantColumn="reid_value", **how).json(plain)
    [[kinds]] = values.agg(F.schema_of_variant_agg(values[0])).collect()
    if KINDS_MIXED.search(re.sub("`[^`]*`", "key", kinds)):
        raise OutOfDomainError(
            f'{where} must contain values of one kind under each key, got several, such as 1 and "1"'
            "; write them alike, or leave --engine spark away"
        )
    frame = spark.read.options(primitivesAsString=True, **how).json(plain)
    if kind in LINES and _is_here(path):
        _refuse_other_count(where, frame.count(), nonblank_lines(Path(path)))
    return frame.select(*_list_columns(frame.schema))


def _list_columns(objects: StructType, parents: tuple[str, ...] = ()) -> list[Column]:
    """List the columns of objects or structs, and of those within them, as they are read without Spark."""
    columns = []
    for field in objects.fields:
        path = (*parents, field.name)
        within = field.dataType
        divided = []
        if isinstance(within, StructType) and len(path) <= MAX_DEPTH:
            divided = _list_columns(within, path) if len(within.fields) <= MAX_KEYS else []
        column = F.col(".".join(map(_quote_name, path))).alias(".".join(path))
        columns += divided or [column]
    return columns


def _is_array(path: str) -> bool:
    """Whether a file is one JSON document over several lines rather than one on each."""
    if not _is_here(path) or Path(path).suffix in PACKED:
        return False
    with Path(path).open(encoding="utf-8") as content:
        return content.read(1024).lstrip().startswith("[")


def _is_here(path: str) -> bool:
    return "://" not in path and Path(path).is_file()


def _read_text(
    spark: SparkSession, path: str, plain: str, form: TextFormat, where: str
) -> DataFrame:
    """Read text as text: quotes span lines, a row of the wrong number of fields is refused, empty is NULL."""
    if any(form.skip):
        raise UnavailableError(
            f"{where} must begin with its header or a record on Spark, got skip = {list(form.skip)}; remove the lines, or check it with engine = 'duckdb'"
        )
    here = _is_here(path) and Path(path).suffix in {*TEXTS, *COUNTED}
    text = inspect_text(where, Path(path), form) if here else None
    delimiter = (
        text.delimiter if text else form.delimiter or ("\t" if file_kind(path) in TABBED else ",")
    )
    how: dict[str, Any] = {
        "sep": delimiter,
        "header": form.has_header,
        "encoding": CHARSETS.get(form.encoding, form.encoding),
        "quote": form.quote,
        "escape": form.quote or "\\",
        "multiLine": True,
        "mode": "FAILFAST",
        "comment": "",
        "enforceSchema": True,
    }
    reader = spark.read.options(**{name: str(value) for name, value in how.items()}).option(
        "columnPruning", "false"
    )
    frame = reader.csv(plain)
    names = text.names if text else tuple(frame.columns)
    frame = frame.toDF(*names).select(
        *(F.nullif(F.col(_quote_name(name)), F.lit("")).alias(name) for name in names)
    )
    frame = frame.localCheckpoint() if text is None else frame
    _refuse_misread(frame, text, path, form, where)
    return frame


def _refuse_misread(
    frame: DataFrame, text: TextFile | None, path: str, form: TextFormat, where: str
) -> None:
    """Refuse what Spark read in another way than it is written; of a file that is not here, what shows it."""
    names = frame.columns
    if not frame.filter(F.col(_quote_name(names[-1])).endswith("\r")).isEmpty():
        raise OutOfDomainError(
            f"{where} must end all its lines alike, got some with a carriage return and some without; mend them"
        )
    if text is not None:
        if (read := frame.count()) != text.records:
            _refuse_other_count(where, read, count_slowly(Path(path), text.delimiter, form))
        return
    unreadable = (F.col(_quote_name(name)).contains(UNREADABLE) for name in names)
    if not frame.filter(reduce(or_, unreadable)).isEmpty():
        raise OutOfDomainError(
            f"{where} must be written in {form.encoding} throughout, got bytes that are not; say its encoding"
        )


def _quote_name(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _refuse_other_count(where: str, read_: int, records: int) -> None:
    if read_ != records:
        raise OutOfDomainError(
            f"{where} must be read to its last record, got {read_} of {records}; mend its quotes and line breaks, or leave --engine spark away"
        )
