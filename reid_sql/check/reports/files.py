"""Where reports go: never over data, a policy or one another, and never half of one."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from reid_sql.check.measures.evidence import files_of
from reid_sql.check.policy.policy import Policy
from reid_sql.errors import OutOfDomainError, UnknownNameError

# How a report begins: what begins otherwise is something else, and is not written over.
BEGINNINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "--json-report": ('{\n  "format": "reid-sql report',),
    "--junit": ('<?xml version="1.0" encoding="utf-8"?>\n<testsuites',),
    "--html": ("<!doctype html>",),
    "--sql": ("-- A release by reid-sql",),
    "--polars": ('"""A release by reid-sql',),
}
HEAD: Final = 64  # bytes that tell


def spared(policy: Policy, baseline: Path | None) -> list[Path]:
    """Give the files that a run reads: the policy and what it points to, the data, the baseline."""
    sources = [each for table in policy.tables for each in (table.source, table.population_source) if each]
    data = [file for source in sources for file in (*source.paths, *files_of(source))]
    logs = [file.with_name(f"{file.name}.wal") for file in data]
    return [*policy.files, *data, *logs, *(each for each in (baseline, policy.baseline) if each)]


def refuse_to_overwrite(wanted: Mapping[str, Path], kept: Sequence[Path]) -> None:
    """Refuse, before any counting, a report that could not be written, or only over something else."""
    taken: list[tuple[str, Path]] = []
    for option, file in wanted.items():
        _refuse_unwritable(option, file)
        for other in kept:
            if _same(file, other):
                rule = f"{option} must not be a file that the run reads, got '{file}'"
                raise OutOfDomainError(f"{rule}; name another file")
        for name, other in taken:
            if _same(file, other):
                raise OutOfDomainError(
                    f"{option} must be another file than {name}, got '{file}' for both; name two files"
                )
        if file.is_file() and not _is_report(option, file):
            rule = (
                f"{option} must be a new file or an earlier report of its kind, "
                f"got '{file}', which is something else"
            )
            raise OutOfDomainError(f"{rule}; name another file, or remove that one")
        taken.append((option, file))


def _same(one: Path, other: Path) -> bool:
    """Whether two paths are one file, whatever the links."""
    with suppress(OSError):
        if one.samefile(other):
            return True
    return os.path.normcase(one.resolve()) == os.path.normcase(other.resolve())


def _is_report(option: str, file: Path) -> bool:
    with file.open("rb") as content:
        head = content.read(HEAD)
    return not head or any(head.startswith(each.encode()) for each in BEGINNINGS[option])


def _refuse_unwritable(option: str, file: Path) -> None:
    """Refuse a report that has no place."""
    if not file.parent.is_dir():
        raise UnknownNameError(
            f"{option} must be in an existing folder, got '{file}'; make the folder '{file.parent}' first"
        )
    if file.is_dir():
        raise OutOfDomainError(f"{option} must be a file, got the folder '{file}'; name a file in it")


def write_report(file: Path, text: str) -> None:
    """Write a report as a whole or not at all; what is no plain file, such as a pipe, is written to."""
    if file.exists() and not file.is_file():
        file.write_text(text, encoding="utf-8", newline="\n")
        return
    place = file.resolve()
    handle, name = tempfile.mkstemp(prefix=f".{place.name[:64]}.", dir=place.parent)
    written = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as content:
            content.write(text)
            content.flush()
            os.fsync(content.fileno())
        written.chmod(place.stat().st_mode & 0o777 if place.exists() else 0o666 & ~_umask())
        written.replace(place)
    except BaseException:
        written.unlink(missing_ok=True)
        raise


def _umask() -> int:
    found = os.umask(0)
    os.umask(found)
    return found
