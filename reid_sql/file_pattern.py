"""The files of a pattern, each with what the names of its folders say: read as one where somebody asks so."""

from collections.abc import Mapping
from glob import glob
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from reid_sql.errors import UnknownNameError

MOST_FILES: Final = 10_000
NO_VALUE: Final = "__HIVE_DEFAULT_PARTITION__"
Parts = tuple[tuple[Path, Mapping[str, str | None]], ...]


def matching(words: str, pattern: str, folder: Path) -> Parts:
    """Find the files of a pattern; folders' names like zip=0123 below its fixed part are values, as text.

    `words` is what a refusal calls the pattern, which is seen from the folder.
    """
    names = glob(str(folder / pattern), recursive=True)  # noqa: PTH207 - an absolute pattern
    found = sorted(Path(name) for name in names if Path(name).is_file())
    if not 1 <= len(found) <= MOST_FILES:
        rule = f"{words} must match 1 to {MOST_FILES} files, got {len(found)} for '{pattern}'"
        raise UnknownNameError(f'{rule}; write it like "people/*.parquet"')
    return tuple((each, _values(folder, pattern, each)) for each in found)


def _values(folder: Path, pattern: str, file: Path) -> dict[str, str | None]:
    fixed = 0
    parts = (folder / pattern).parts
    while fixed < len(parts) and not set(parts[fixed]) & set("*?["):
        fixed += 1
    named = [part.partition("=") for part in file.parts[fixed:-1] if "=" in part]
    return {unquote(name): None if value == NO_VALUE else unquote(value) for name, _, value in named}
