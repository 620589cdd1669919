"""What stands for a file that was measured: its hash, and by what it can be seen that it stayed the same."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from reid_sql.check.policy.policy import TablePolicy
from reid_sql.check.policy.source import Source

CHANGED: Final = "the file changed while it was measured"
Stamp = tuple[int, int, int, int, int]


@dataclass(frozen=True)
class Evidence:
    """The hash of a table's file and of its population's, each None if there is no single file.

    So it is where many files or a catalogue stand behind it.
    """

    sha256: str | None
    population_sha256: str | None
    stamps: tuple[Stamp, ...]


def evidence(table: TablePolicy) -> Evidence:
    """Hash the files of a table."""
    population = table.population_source
    files = [*files_of(table.source), *(files_of(population) if population else [])]
    return Evidence(
        _hash(table.source), _hash(population) if population else None, tuple(_stamp(each) for each in files)
    )


def files_of(source: Source) -> list[Path]:
    """Give the files that are read: a database's write-ahead log holds records, too."""
    found = [each for each in source.paths if each.is_file()]
    logs = [each.with_name(f"{each.name}.wal") for each in found]
    return [*found, *(each for each in logs if each.is_file())]


def _hash(source: Source) -> str | None:
    """Give the hash of one file; of several, that of their hashes and names as `sha256sum` lists them."""
    files = files_of(source)
    if len(files) == 1:
        return _of_file(files[0])
    return hashlib.sha256(_listed(files).encode()).hexdigest() if files else None


def _listed(files: Sequence[Path]) -> str:
    shared = files[0].parent
    while any(shared not in each.parents for each in files):
        shared = shared.parent
    return "".join(f"{_of_file(each)}  {each.relative_to(shared).as_posix()}\n" for each in files)


def _of_file(path: Path) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _stamp(path: Path) -> Stamp:
    """What the file system says of a file: one that was put in its place and taken away leaves a trace."""
    found = path.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
