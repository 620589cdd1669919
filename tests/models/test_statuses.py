"""Every status has a code and a short sentence, and the page of statuses lists the code with its remedy."""

import importlib
import pkgutil
import re
from pathlib import Path
from typing import Final

from reid_sql import models

ROOT = Path(__file__).parents[2]
MAX_WORDS: Final = 15
PLACEHOLDER: Final = re.compile(r"\{[^}]*\}")


def statuses() -> dict[str, str]:
    """Each constant of the models that is a status, by module and name."""
    modules = [
        importlib.import_module(name)
        for _, name, _ in pkgutil.walk_packages(models.__path__, f"{models.__name__}.")
    ]
    return {
        f"{module.__name__}.{name}": value
        for module in modules
        for name, value in vars(module).items()
        if name.startswith("STATUS_") and isinstance(value, str)
    }


def page() -> dict[str, str]:
    """The codes that the page lists, each with the rest of its line."""
    text = (ROOT / "docs" / "statuses.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^\| `([\w ]+)` \| (.*) \|$", text, re.MULTILINE))


def test_a_status_is_a_code_and_a_short_sentence() -> None:
    assert len(statuses()) > 100
    for name, status in statuses().items():
        code, separator, sentence = status.partition(": ")
        assert separator, name
        assert re.fullmatch(r"(by )?[a-z][a-z0-9_]*", code), name
        assert len(PLACEHOLDER.sub("x", sentence).split()) <= MAX_WORDS, name
        assert "; " not in sentence, name  # it separates the statuses of a row
        assert not sentence.endswith("."), name


def test_the_page_lists_exactly_the_codes_that_functions_return() -> None:
    codes = {status.partition(": ")[0] for status in statuses().values()}
    assert set(page()) == codes | {"ok"}


def test_each_code_has_a_sentence_and_a_remedy() -> None:
    for code, line in page().items():
        sentence, remedy = line.split(" | ")
        assert sentence, code
        assert remedy, code


def test_no_status_is_written_where_it_is_returned() -> None:
    """A status in place of its constant would escape the tests above."""
    for path in (ROOT / "reid_sql" / "models").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.findall(r"status=f?\"(?!ok\")\w", text), path
        assert not re.findall(r"(?:notes|problems|reasons)\.append\(f?\"", text), path
