"""How much a query spills: the size of a folder, watched while the query runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Final

EVERY: Final = 0.02  # seconds
SPILLED: Final = "spilled_mb"  # beside the answer: what may differ between two sides that agree


@contextmanager
def watched(folder: str | None) -> Iterator[dict[str, int]]:
    """Fill in the largest size seen, under that name; stays empty without a folder."""
    found: dict[str, int] = {}
    if folder is None:
        yield found
        return
    over, sizes = Event(), [0]
    watcher = Thread(target=_watch, args=(Path(folder), over, sizes))
    watcher.start()
    try:
        yield found
    finally:
        over.set()
        watcher.join()
        found[SPILLED] = round(max(sizes) / 1e6)


def _watch(folder: Path, over: Event, sizes: list[int]) -> None:
    while not over.wait(EVERY):
        sizes.append(sum(_size(file) for file in folder.glob("*")))


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:  # gone since it was listed
        return 0
