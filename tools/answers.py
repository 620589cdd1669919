"""What the examples of the faces print: asked of the engine, and kept in the stubs beside the calls.

python -m tools.answers
"""

import doctest
import math
import os
import re
import shutil
from contextlib import redirect_stdout
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Final

from reid_sql import registry
from reid_sql.engines import public_api
from reid_sql_udfs import declared
from tools import stubs
from tools.faces import FACES, Face, statements

NUMBER: Final = re.compile(r"(?<![\w'.])-?\d+\.\d+(?:[eE][-+]?\d+)?(?![\w'])")
LONG: Final = 110  # a longer line of an answer ends with three dots
CLOSE: Final = 1e-4  # numbers are shown to six digits, and fits end in others on another processor
TINY: Final = 1e-9


def told(text: str) -> str:
    """The printed text as it is shown: numbers to six digits, no line longer than a page is wide.

    >>> told("| 0.5766666666666667 | '04102' |  ")
    "| 0.576667 | '04102' |"
    """
    lines = [
        NUMBER.sub(lambda number: f"{float(number[0]):.6g}", line).rstrip() for line in text.splitlines()
    ]
    return "\n".join(line if len(line) <= LONG else f"{line[: LONG - 3]}..." for line in lines).strip("\n")


def alike(want: str, got: str) -> bool:
    """Whether an answer is the one that is shown, numbers by their value.

    >>> alike("a  0.576667", "a 0.5766666")
    True
    >>> alike("a 0.57", "a 0.58")
    False
    """
    wanted, printed = told(want).splitlines(), told(got).splitlines()
    return len(wanted) == len(printed) and all(map(_alike, wanted, printed))


def _alike(want: str, got: str) -> bool:
    if want.endswith("..."):  # where the line is cut hangs on the digits before
        want, _, _ = want.removesuffix("...").rpartition(" ")
        return _alike(want, " ".join(got.split()[: len(want.split())]))
    words, found = want.split(), got.split()
    return len(words) == len(found) and all(map(_equal, words, found))


def _equal(word: str, found: str) -> bool:
    bare, other = word.strip(",[]()"), found.strip(",[]()")
    try:
        return math.isclose(float(bare), float(other), rel_tol=CLOSE, abs_tol=TINY)
    except ValueError:
        return word == found


def kept(face: Face) -> dict[str, str]:
    """The answers that the face's stub holds now: it may just have been written."""
    stub = face.stub.read_text(encoding="utf-8") if face.stub.exists() else ""
    texts = (public_api.of_text(stub, name) for name in declared())
    examples = (doctest.DocTestParser().get_examples(text or "") for text in texts)
    return {
        statements([each.source.rstrip("\n") for each in session]): session[-1].want.rstrip("\n")
        for session in examples
        if session
    }


def asked(face: Face, *, again: bool) -> dict[str, str]:
    """The answers as they are; those that did not change in their shown digits stand as they were.

    Asked of those that have none, or of all again.
    """
    before, found = kept(face), {}
    for function in declared().values():
        lines = face.example(function) if face.has(function) else []
        if not lines or (statements(lines) in before and not again):
            continue
        answer, old = told(printed(lines)), before.get(statements(lines), "")
        found[statements(lines)] = old if alike(old, answer) else answer
    return before | found


def printed(lines: list[str]) -> str:
    """What the statements print, where no model is known yet."""
    text = StringIO()
    with registry.within(statements(lines)), redirect_stdout(text):
        known: dict[str, object] = {}
        for line in lines:  # as in a session, which prints the last one's value
            exec(compile(line, "an example", "single"), known)  # noqa: S102 - spelled in tools/faces.py
    return text.getvalue()


def renew(*, again_on_spark: bool = False) -> None:
    """Write every stub with the answers of its engine.

    Spark takes minutes, so its answers stand where the calls do: tests hold them to what Spark says.
    """
    for face in FACES:
        on_spark = face.engine == "spark"
        if on_spark:
            ready = _spark_is_ready()
            answers = asked(face, again=again_on_spark) if ready else kept(face)
        else:
            answers = asked(face, again=True)
        face.stub.write_text(stubs.stub(face, answers), encoding="utf-8")


def _spark_is_ready() -> bool:
    """Begin a session where Java is; say so where it is not."""
    java = shutil.which("java") or (Path(os.environ.get("JAVA_HOME", "/nowhere")) / "bin" / "java").exists()
    if not java or find_spec("pyspark") is None:
        print("no Java 17 or no pyspark: the examples on Spark keep their answers")  # noqa: T201 - to its reader
        return False
    from tests.spark_session import local  # noqa: PLC0415 - only where there is Spark

    local()
    return True


if __name__ == "__main__":
    renew(again_on_spark=True)
