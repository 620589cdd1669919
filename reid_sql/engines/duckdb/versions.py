"""What tells one set of macros from another, without writing them where that is not needed."""

import hashlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from reid_sql.function import Function

PACKAGES: Final = ("reid_sql", "reid_sql_udfs")
WRITES: Final = (".py", ".sql")  # what the macros are written from, and by


def version_of(functions: Mapping[str, Function], text: Callable[[], str]) -> str:
    """Name the macros of the functions: by the files they are written from, else by their text.

    Reading the files takes a hundredth of the time that writing the macros does. A function from elsewhere
    than our own folder may hang on anything, and files that changed since this process loaded them, as a new
    version does that is installed meanwhile, say nothing of what runs: there only the text will do.
    """
    own = all(declared.body.__module__.startswith(f"{PACKAGES[1]}.") for declared in functions.values())
    folders = [_folder(package) for package in PACKAGES]
    if not own or not all(folder and folder.is_dir() for folder in folders):
        return _short(hashlib.sha256(text().encode()))
    files = [file for folder in folders for file in _files(str(folder))]
    digest = hashlib.sha256(repr(sorted(functions)).encode())
    for file in files:
        with open(file, "rb", buffering=0) as held:  # noqa: PTH123 - paths of pathlib take longer than reading
            digest.update(held.read())
    if any(_changed(path) for path in [*files, *map(str, folders)]):
        return _short(hashlib.sha256(text().encode()))
    return _short(digest)


def _short(digest: Any) -> str:  # noqa: ANN401 - hashlib names no class of its digests
    found: str = digest.hexdigest()[:16]
    return found


def _changed(path: str) -> bool:
    """Whether it was written, or put in its place, after this process began to load the package."""
    found = os.stat(path)  # noqa: PTH116
    imported_at: int = sys.modules[PACKAGES[0]].IMPORTED_AT
    return max(found.st_mtime_ns, found.st_ctime_ns) > imported_at


def _folder(package: str) -> Path | None:
    file = getattr(sys.modules.get(package), "__file__", None)
    return Path(file).parent if file else None


def _files(folder: str) -> Iterator[str]:
    for place, folders, files in os.walk(folder):
        folders.sort()
        yield from (os.path.join(place, file) for file in sorted(files) if file.endswith(WRITES))  # noqa: PTH118
