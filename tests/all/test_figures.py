"""What the first tier leaves of tests/test_figures.py."""

from pathlib import Path

from tests.processes import python
from tools.figures import shown

PAGE = """# A page

```python
>>> from reid_sql import plot
>>> picture = plot.class_sizes([{{"class_size": 1, "classes": {alone}, "records": {alone}}}])
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


def test_a_picture_is_what_the_block_above_it_draws(tmp_path: Path) -> None:
    first = drawn(tmp_path, 1234)
    assert ">1,234 (100.0 %)</text>" in first
    assert drawn(tmp_path, 1234) == first
    other = drawn(tmp_path, 4321)
    assert other != first
    assert ">4,321 (100.0 %)</text>" in other
