"""Pictures of the documents: drawn by the block above them, the same each time, and small."""

import re
from pathlib import Path

import pytest

from tools.documents import DOCUMENTS, ROOT
from tools.figures import FIGURES

IMAGES = ROOT / "docs" / "images"
LINK = re.compile(r"!\[[^\]]+\]\((?:docs/)?(images/plot_\w+\.svg)\)")


def test_each_picture_of_the_documents_is_drawn_by_one_of_them() -> None:
    named = {
        IMAGES / Path(link).name
        for document in DOCUMENTS
        for link in LINK.findall(document.read_text(encoding="utf-8"))
    }
    assert named == FIGURES.keys() == set(IMAGES.glob("plot_*.svg"))
    assert len(named) >= 7


@pytest.mark.parametrize("path", FIGURES, ids=lambda path: path.stem)
def test_a_picture_is_small_and_tells_neither_when_nor_by_what_it_was_made(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.encode()) < 60_000
    assert not re.search(r"20\d\d-\d\d", text)
    assert str(ROOT) not in text
