"""The file or table that Spark measures: that very file, as it stands, as DuckDB reads it.

Spark by itself takes a path for a pattern, a folder's name for a number, a line break within quotes for the
end of a record, and a byte that it cannot read for U+FFFD; it cuts fields that are too many.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as all of Spark's users have it

from reid_sql.check.sources import Source
from reid_sql.errors import OutOfDomainError, UnavailableError, UnknownNameError
from reid_sql.sources.formats import TextFormat, count_slowly, inspect_text, nonblank_lines

TEXTS: Final = (".csv", ".tsv", ".txt")
LINES: Final = (".ndjson", ".jsonl")
KINDS: Final = (*TEXTS, ".parquet", ".orc", ".json", *LINES)
PACKED: Final = (".gz", ".zst", ".bz2")
COUNTED: Final = ("", ".gz", ".zst")  # packed so that the lines of a file can be counted here
INFERENCE: Final = "spark.sql.sources.partitionColumnTypeInference.enabled"
TIMES: Final = "spark.sql.session.timeZone"
MISSING: Final = ("ClassNotFoundException", "No FileSystem for scheme", "NoClassDefFoundError")
CHARSETS: Final = {"latin-1": "ISO-8859-1"}  # where Spark has another name
UNREADABLE: Final = "\ufffd"
PATTERN: Final = "\\{}[]*?"
KINDS_MIXED: Final = re.compile(r"(: |<)VARIANT(, |>|$)")  # as Spark writes the type of such a key


@contextmanager
def as_written(spark: SparkSession) -> Iterator[None]:
    """Let the names of folders be texts, and times be told in UTC, for as long as the tables are open."""
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


def read(spark: SparkSession, source: Source, where: str) -> DataFrame:
    """Read a path by its ending, text as text, or else a table by its name."""
    if source.table is not None:
        rule = (
            f"{where} must be a table or path of Spark where Spark checks, "
            f"got table '{source.table}' of a database file"
        )
        raise OutOfDomainError(f'{rule}; write file = "catalog.schema.table" and leave table out')
    try:
        if source.parts:
            return _parts(spark, source, where)
        given = source.given
        if _kind(given) not in KINDS:
            return spark.table(given)
        return _file(spark, given if "://" in given else str(source.path.absolute()), source.form, where)
    except Py4JJavaError as error:  # its words may quote a record
        if any(words in str(error) for words in MISSING):
            rule = (
                f"{where} must be in a store whose package Spark has, "
                f"got '{source.given}' and no class for it"
            )
            raise UnavailableError(f"{rule}; name it in PYSPARK_SUBMIT_ARGS by --packages") from None
        rule = (
            f"{where} must have as many fields in every record as in the header, "
            f"got others in '{source.given}'"
        )
        raise OutOfDomainError(f"{rule}; mend its quotes and line breaks") from None
    except PySparkException as error:
        rule = (
            f"{where} must be a table of Spark's catalogue, or a path that ends "
            f"in {', '.join(KINDS)}, got '{source.given}'"
        )
        raise UnknownNameError(f"{rule}: {first_sentence(error)}") from None


def _kind(given: str) -> str:
    name = Path(given)
    return name.with_suffix("").suffix if name.suffix in PACKED else name.suffix


def _parts(spark: SparkSession, source: Source, where: str) -> DataFrame:
    """Read the files of a pattern, each with what the names of its folders say, as text."""
    frames = []
    for path, values in source.parts:
        frame = _file(spark, str(path.absolute()), source.form, where)
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


def _file(spark: SparkSession, path: str, form: TextFormat, where: str) -> DataFrame:
    kind, plain = _kind(path), path if "://" in path else _plain(path)
    if kind in TEXTS:
        return _texts(spark, path, plain, form, where)
    if kind in {".parquet", ".orc"}:
        return spark.read.format(kind[1:]).load(plain)
    how: dict[str, bool | str] = {"multiLine": kind == ".json" and _is_array(path), "mode": "FAILFAST"}
    _refuse_kinds(spark.read.options(singleVariantColumn="reid_value", **how).json(plain), where)
    frame = spark.read.options(primitivesAsString=True, **how).json(plain)
    if kind in LINES and _is_here(path):
        _hold(where, frame.count(), nonblank_lines(Path(path)))
    return frame


def _refuse_kinds(values: DataFrame, where: str) -> None:
    """Refuse a key, at any depth, of whose values some are texts and others are not: Spark reads 1 as "1"."""
    told: str = values.agg(F.schema_of_variant_agg(values[0])).collect()[0][0]
    if KINDS_MIXED.search(re.sub("`[^`]*`", "key", told)):
        rule = f'{where} must hold values of one kind under each key, got several, such as 1 and "1"'
        raise OutOfDomainError(f"{rule}; write them alike, or leave --engine spark away")


def _is_array(path: str) -> bool:
    """Whether a file holds one JSON document over several lines rather than one on each."""
    if not _is_here(path) or Path(path).suffix in PACKED:
        return False
    with Path(path).open(encoding="utf-8") as content:
        return content.read(1024).lstrip().startswith("[")


def _plain(path: str) -> str:
    """Spell a path so that no character of it is a pattern."""
    return "".join(f"\\{letter}" if letter in PATTERN else letter for letter in path)


def _is_here(path: str) -> bool:
    return "://" not in path and Path(path).is_file()


def _texts(spark: SparkSession, path: str, plain: str, form: TextFormat, where: str) -> DataFrame:
    """Read text as text: quotes span lines, a row of the wrong number of fields is refused, empty is NULL."""
    here = _is_here(path) and Path(path).suffix in {*TEXTS, *COUNTED}
    found = inspect_text(where, Path(path), form) if here else None
    delimiter = found.delimiter if found else form.delimiter or ("\t" if _kind(path) == ".tsv" else ",")
    how: dict[str, Any] = {
        "sep": delimiter,
        "header": form.header,
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
    names = found.names if found else tuple(frame.columns)
    frame = frame.toDF(*names).select(
        *(F.nullif(F.col(_quoted(name)), F.lit("")).alias(name) for name in names)
    )
    frame = frame.localCheckpoint() if found is None else frame
    if not frame.filter(F.col(_quoted(names[-1])).endswith("\r")).isEmpty():
        rule = f"{where} must end all its lines alike, got some with a carriage return and some without"
        raise OutOfDomainError(f"{rule}; mend them")
    if found is not None and (read := frame.count()) != found.records:
        _hold(where, read, count_slowly(Path(path), found.delimiter, form))
    if (
        found is None
        and not frame.filter(reduce(lambda one, other: one | other, _unreadable(names))).isEmpty()
    ):
        raise OutOfDomainError(
            f"{where} must be written in {form.encoding} throughout, got bytes that are not; say its encoding"
        )
    return frame


def _unreadable(names: tuple[str, ...]) -> list[Any]:
    return [F.col(_quoted(name)).contains(UNREADABLE) for name in names]


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _hold(where: str, read_: int, records: int) -> None:
    if read_ != records:
        rule = f"{where} must be read to its last record, got {read_} of {records}"
        raise OutOfDomainError(f"{rule}; mend its quotes and line breaks, or leave --engine spark away")


def first_sentence(error: PySparkException) -> str:
    """The first sentence of Spark's error."""
    return str(error).split("\n", maxsplit=1)[0].split(" SQLSTATE", maxsplit=1)[0].rstrip(".")
