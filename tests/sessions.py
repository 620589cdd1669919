"""Sessions that help() shows, held to what the engine says."""

import doctest
import importlib
import inspect

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
    """Run the session where no model is known yet."""
    test = doctest.DocTestParser().get_doctest(session, {}, "a session", None, None)
    with registry.within(session):
        tried = doctest.DocTestRunner(checker=Shown()).run(test)
    assert tried.attempted
    assert tried.failed == 0
