"""What was decided while a file was read: a command prints it, and the gate has it as a caution."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple


class Note(NamedTuple):
    """A decision, by its code and in words without a value of the file."""

    code: str
    words: str


_NOTES: ContextVar[dict[Note, None] | None] = ContextVar("reid_notes", default=None)


@contextmanager
def collect_notes() -> Iterator[None]:
    """Collect the notes on every file that is opened within."""
    token = _NOTES.set({})
    try:
        yield
    finally:
        _NOTES.reset(token)


def add_notes(notes: Iterable[Note]) -> None:
    """Add notes, where somebody collects them."""
    collected = _NOTES.get()
    if collected is not None:
        collected |= dict.fromkeys(notes)


def list_notes() -> tuple[Note, ...]:
    """Return the notes that are collected so far."""
    return tuple(_NOTES.get() or ())


def take_notes() -> list[str]:
    """Return the notes as sentences, each once, and forget them."""
    collected = _NOTES.get() or {}
    sentences = [f"{note.words[:1].upper()}{note.words[1:]}." for note in collected]
    collected.clear()
    return sentences
