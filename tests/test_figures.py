"""Pictures of the documents: drawn by the block above them, the same each time, and small."""

import re
from pathlib import Path

import pytest

from tests.processes import python
from tools.documents import DOCUMENTS, ROOT
from tools.figures import FIGURES, shown

IMAGES = ROOT / "docs" / "images"
LINK = re.compile(r"!\[[^\]]+\]\((?:docs/)?(images/plot_\w+\.svg)\)")
PAGE = """# A page

```python
>>> from reid_sql import plot
>>> figure = plot.class_sizes([{{"class_size": 1, "classes": {alone}, "records": {alone}}}])
>>> 1 / 0
Traceback (most recent call last):
ZeroDivisionError: division by zero

```

![Who is alone](images/town.svg)
"""
DRAW = """
from pathlib import Path
from tools import figures
page = Path({page!r})
figures.FIGURES.update(dict.fromkeys(figures.shown(page), page))
print(figures.figure(page.parent / "images" / "town.svg"), end="")
"""


def drawn(folder: Path, alone: int) -> str:
    page = folder / f"{alone}.md"
    page.write_text(PAGE.format(alone=alone), encoding="utf-8")
    assert shown(page) == [folder / "images" / "town.svg"]
    return python(DRAW.format(page=str(page)))


@pytest.mark.slow
def test_a_picture_is_what_the_block_above_it_draws(tmp_path: Path) -> None:
    first = drawn(tmp_path, 1234)
    assert ">1,234 (100.0 %)</text>" in first
    assert drawn(tmp_path, 1234) == first
    other = drawn(tmp_path, 4321)
    assert other != first
    assert ">4,321 (100.0 %)</text>" in other


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
    assert not re.search(r"20\d\d-\d\d|Matplotlib v", text)
    assert str(ROOT) not in text
