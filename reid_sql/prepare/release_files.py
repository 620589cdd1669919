"""The rows of a release in files: written, read again, and compared with the rows that were checked.

The rows are in the order of their values: in that of the source, whoever has it would know whose is whose.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import duckdb

from reid_sql.check.duckdb_table import DuckDBTableCounts
from reid_sql.check.report import refuse_to_overwrite
from reid_sql.errors import OutOfDomainError, UnavailableError
from reid_sql.parameters import sql_text
from reid_sql.prepare.files import hash_rows, number_people

if TYPE_CHECKING:
    from reid_sql.prepare.transformation import Release, ReleasedForm

OPTION: Final = "--release"
PARQUET, CSV = ".parquet", ".csv"
# as they are written: '' and no value are two, and nothing is guessed
CSV_FORM: Final = (
    "header = true, auto_detect = false, delim = ',', quote = '\"', escape = '\"', "
    "nullstr = '', allow_quoted_nulls = false"
)


def files_of_release(
    target: Path, tables: Sequence[str], inputs: Sequence[Path]
) -> dict[str, Path]:
    """The file of each table: the target, or files within it where it is a folder.

    Refuses a file that exists: whoever has an earlier release would not know which one it is.

    >>> files_of_release(Path("safe.csv"), ["people"], [])
    {'people': PosixPath('safe.csv')}
    """
    if target.suffix.lower() not in {PARQUET, CSV}:
        return _files_in_folder(target, tables, inputs)
    if len(tables) > 1:
        raise OutOfDomainError(
            f"{OPTION} must be a folder for {len(tables)} tables, got '{target}'; write it without {target.suffix}"
        )
    refuse_to_overwrite({OPTION: target}, inputs)
    return {tables[0]: target}


def _files_in_folder(
    folder: Path, tables: Sequence[str], inputs: Sequence[Path]
) -> dict[str, Path]:
    """The file of each table in a folder, which is made where it does not exist."""
    if folder.is_file() or (folder.suffix and not folder.is_dir()):
        raise OutOfDomainError(
            f"{OPTION} must end in .parquet or .csv, or be a folder, got '{folder}'; write it like safe.parquet"
        )
    files = {name: folder / f"{name}{PARQUET}" for name in tables}
    strange = next((name for name, file in files.items() if file.parent != folder), None)
    if strange is not None:
        raise OutOfDomainError(
            f"{OPTION} must be given for tables whose names can be names of files, got '{strange}'; rename it in the policy"
        )
    for file in files.values() if folder.exists() else (folder,):  # whether it can be made
        refuse_to_overwrite({OPTION: file}, inputs)
    return files


def unfinished(file: Path) -> Path:
    """The file beside a file, of this process, that takes its place once it is whole."""
    return file.absolute().with_name(f".{file.name[:64]}.{os.getpid()}")


def write_releases(
    release: "Release", originals: Sequence[DuckDBTableCounts], files: Mapping[str, Path]
) -> None:
    """Write the rows of each table to its file, once a second reading has the rows that were checked.

    No file is in its place before all are written.
    """
    pages = () if release.report is None else release.report["tables"]
    with _beside(files) as written:
        for page, original, table in zip(pages, originals, release.tables, strict=True):
            file, place = files[table.table.name], written[table.table.name]
            _copy(original, table, place, file)
            columns = [name for name in table.shipped if name != table.numbered]
            read = hash_rows(original, _read(table, place, file), columns)
            if read != page["release"]["rows_sha256"]:
                raise UnavailableError(
                    f"{OPTION} must have the rows that were checked once it is read again, got others in '{file}'; write it as .parquet"
                )


@contextmanager
def _beside(files: Mapping[str, Path]) -> Iterator[dict[str, Path]]:
    """Give a file beside each, which takes its place at the end; none is left where something fails."""
    folders = {file.parent for file in files.values() if not file.parent.exists()}
    for folder in folders:
        folder.mkdir()
    written = {name: unfinished(file) for name, file in files.items()}
    try:
        yield written
        for name, file in files.items():
            written[name].replace(file)
    except BaseException:
        for place in written.values():
            place.unlink(missing_ok=True)
        for folder in folders:
            folder.rmdir()
        raise


def _copy(original: DuckDBTableCounts, table: "ReleasedForm", place: Path, file: Path) -> None:
    """Write the rows of a table in the order of their values."""
    source = original.engine.whole
    select = number_people(table.released.select(table.shipped, source), table, source)
    form = "format parquet" if _is_parquet(file) else "format csv, header"
    try:
        original.engine.con.execute(
            f"COPY (FROM ({select}) ORDER BY ALL) TO {sql_text(str(place))} ({form})"
        )
    except duckdb.IOException:
        raise UnavailableError(
            f"{OPTION} must be a file that can be written, got '{file}'; free space, or name a file elsewhere"
        ) from None


def _read(table: "ReleasedForm", place: Path, file: Path) -> str:
    """Write the relation that reads the rows again, each column as text where the file has none but texts."""
    path = sql_text(str(place))
    if _is_parquet(file):
        return f"FROM read_parquet({path})"
    columns = ", ".join(f"{sql_text(name)}: 'VARCHAR'" for name in table.shipped)
    return f"FROM read_csv({path}, columns = {{{columns}}}, {CSV_FORM})"


def _is_parquet(file: Path) -> bool:
    return file.suffix.lower() == PARQUET
