"""Sessions that help() shows, held to what the engine says."""

import doctest
import importlib
import inspect
import re
from functools import cache
from typing import Any

from reid_sql import registry
from tools.answers import alike
from tools.faces import Face


class Shown(doctest.OutputChecker):
    """Numbers by their value, lines that end with three dots by their beginning."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:  # noqa: ARG002 - as it is called
        return alike(want, got)


def helped(face: Face, name: str) -> str:
    """The example that help() shows of the face's function; nothing where it shows none."""
    module = "reid_sql" if face.first else f"reid_sql.{face.engine}"
    function = getattr(importlib.import_module(module), name)
    _, begun, session = (inspect.getdoc(function) or "").partition(">>>")
    return begun + session


def try_session(session: str) -> None:
    """Run the session where no model is known yet; what opens the demo table runs once a process."""
    opening = re.match(r"(?s).*?^>>> people = .*?\n(?=>>> )", session, re.MULTILINE)
    begun = opening.group() if opening else ""
    names = dict(opened(begun)) if begun else {}
    with registry.within(session):
        run(session.removeprefix(begun), names)


@cache
def opened(session: str) -> dict[str, Any]:
    """The names that a session has after it ran, such as a connection and the demo table in it."""
    return run(session, {})


def run(session: str, names: dict[str, Any]) -> dict[str, Any]:
    test = doctest.DocTestParser().get_doctest(session, names, "a session", None, None)
    tried = doctest.DocTestRunner(checker=Shown()).run(test, clear_globs=False)
    assert tried.attempted
    assert tried.failed == 0
    return test.globs
