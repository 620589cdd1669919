"""The words of a face's functions, as help() shows them: those that an editor shows, from the face's stub.

They hold the example in the face's own language; the body's docstring has the model's.
"""

import inspect
import re
from functools import cache
from pathlib import Path

from reid_sql.function import Function


def documented(module: str, declared: Function) -> str:
    """The words of a function of the public module, with its example there."""
    engine = module.rpartition(".")[2]
    stub = Path(__file__).parents[1] / f"{engine}.pyi"
    text = of_stub(stub, declared.name) or without_example(declared)
    reason = declared.absence(engine)
    return f"{text}\n\nNot on {engine.capitalize()}: {reason}." if reason else text


def of_stub(stub: Path, name: str) -> str | None:
    """What the stub says of the function; None where it is not in it, as one that was dropped in."""
    return of_text(_text(stub), name)


def of_text(stub: str, name: str) -> str | None:
    """The same of a stub's text."""
    match = re.search(rf'^def {name}\(.*?"""(.*?)"""', stub, re.DOTALL | re.MULTILINE)
    return inspect.cleandoc(match[1]) if match else None


def without_example(declared: Function) -> str:
    """What the body's docstring says, and the source; the example there is the model's."""
    text = (inspect.getdoc(declared.body) or declared.words).partition(">>>")[0].strip()
    return f"{text}\n\nSource: {declared.source}."


@cache
def _text(stub: Path) -> str:
    return stub.read_text(encoding="utf-8") if stub.exists() else ""
