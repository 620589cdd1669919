"""The pictures of the documents: each is what `picture` is after the Python block that it stands under."""

import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from doctest import DocTestParser
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any, Final

from tools.documents import DOCUMENTS

BLOCK: Final = re.compile(
    r"```python\n(.*?)```\n(?:\s*!\[[^\]]+\]\((images/\w+\.svg)\))?", re.DOTALL
)


def shown(document: Path) -> list[Path]:
    """The pictures of a document that stand under a block which draws them."""
    text = document.read_text(encoding="utf-8")
    return [document.parent / image for _, image in BLOCK.findall(text) if image]


def figure(path: Path) -> str:
    """Give the picture as its document draws it."""
    return _drawn(FIGURES[path])[path]


@cache
def _drawn(document: Path) -> dict[Path, str]:
    """Run the blocks of a document one after the other, and keep what stands under each."""
    known: dict[str, Any] = {}
    found = {}
    for code, image in BLOCK.findall(document.read_text(encoding="utf-8")):
        with redirect_stdout(StringIO()):  # its results are held against the document by the tests
            for example in DocTestParser().get_examples(code):
                _run(example.source, known, refused=example.exc_msg is not None)
        if image:
            found[document.parent / image] = known["picture"].svg()
    return found


def _run(source: str, known: dict[str, Any], *, refused: bool) -> None:
    try:
        exec(compile(source, "<document>", "single"), known)  # noqa: S102 - a page of this repository
    except Exception:
        if not refused:
            raise


def _places() -> Iterator[tuple[Path, Path]]:
    for document in DOCUMENTS:
        for path in shown(document):
            yield path, document


FIGURES: Final = dict(_places())  # the document of each
