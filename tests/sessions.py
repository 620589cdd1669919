"""Sessions that a function's page shows, run to the end of what they ask."""

import re
from functools import cache
from pathlib import Path
from typing import Any

from reid_sql.engines import registry
from tools.faces import Face

PAGES = Path(__file__).parents[1] / "docs" / "functions"
# What makes an engine compute an answer, which most give as a question that nobody has asked yet.
COMPUTE = {
    "polars": lambda answer: answer.lazy().collect(),
    "duckdb": lambda answer: answer.fetchall(),
    "ibis": lambda answer: answer.to_pyarrow(),
    "spark": lambda answer: answer.collect(),
}


def shown_on_page(face: Face, name: str) -> str:
    """The example of the function in the language of the face; nothing where the page has none."""
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    found = re.search(
        rf"^## {re.escape(face.title)}\n\n```python\n(.*?)\n```", text, re.DOTALL | re.MULTILINE
    )
    return found[1] if found else ""


def try_session(face: Face, session: str) -> None:
    """Run the session where no model is known yet; what opens the demo table runs once a process."""
    lines = [line.removeprefix(">>> ") for line in session.splitlines()]
    opening = next(
        (place for place, line in enumerate(lines, 1) if line.startswith("people = ")), 0
    )
    with registry.within(session):
        names = dict(opened(tuple(lines[:opening])))
        for line in lines[opening:]:
            exec(line, names)  # noqa: S102 - a page of this project
        assert COMPUTE[face.engine](names["answer"]) is not None


@cache
def opened(lines: tuple[str, ...]) -> dict[str, Any]:
    """The names that a session has after these lines, such as a connection and the demo table in it."""
    names: dict[str, Any] = {}
    for line in lines:
        exec(line, names)  # noqa: S102 - a page of this project
    return names
