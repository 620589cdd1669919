"""The facts of a declared function, for the command and for the documents."""

import inspect
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from functools import cache
from pathlib import Path
from typing import Final, get_args, get_origin, get_type_hints

from reid_sql.function import REQUIRED, Answer, Function, Parameter, Question
from reid_sql.parameters import sql_literal
from reid_sql_udfs import declared

HERE: Final = Path(__file__).parent
PACKAGE: Final = HERE.parent
SCRIPTS: Final = (
    PACKAGE / "sql_examples",
    PACKAGE.parent / "sql_examples",
)  # where installed, and in a clone
BY_KEY: Final = "BIGINT, or the type of `key`"
BY_PERSON: Final = "the type of `entity`"  # where each row is a person


def counts_in_a_window(function: Function) -> bool:
    """Whether it is an expression over all records, and takes columns alone."""
    return function.answer is Answer.WINDOW


def named(function: Function) -> list[str]:
    """The parameters that have a name in SQL: all but the record's values."""
    return [p.name for p in function.parameters if not (counts_in_a_window(function) and p.name == "columns")]


def details(function: Function) -> str:
    """The docstring beyond its first sentence, as Markdown: without its example, `code` where it is SQL."""
    doc = inspect.getdoc(function.body) or ""
    return doc.partition(">>>")[0].partition("\n\n")[2].strip().removesuffix(":").strip()


def result_columns(function: Function) -> Iterator[tuple[str, str]]:
    """Name and SQL type of each column of the answer that has a fixed name."""
    has_key = any(each.name == "key" for each in function.parameters)
    for name, kind in function.answer_columns.items():
        yield name, kind if name != "record" else BY_KEY if has_key else BY_PERSON


def field_words(function: Function) -> dict[str, str]:
    """Return the comments of the fields of the answer's dataclass, without shapes."""
    answer = get_type_hints(function.body)["return"]
    row = get_args(answer)[0] if get_origin(answer) is list else answer
    source = inspect.getsource(row) if is_dataclass(row) and isinstance(row, type) else ""
    return dict(re.findall(r"^    (\w+):[^#\n]*#\s*([^(\s].*)$", source, re.MULTILINE))


def columns_beside(function: Function) -> str:
    """Describe the columns before those with fixed names; empty if there are none."""
    if function.answer is Answer.SCORED_TABLE:
        return "the table's own columns"
    if function.answer is Answer.SAMPLE:
        return "the model's columns, as text"
    names = dict(result_columns(function))
    of_classes = function.answer is Answer.REDUCTION and "class_size" in names and "classes" not in names
    if "total_over" in names:
        return "the columns of `by`"
    return "the quasi-identifiers" if of_classes else ""


def default_words(parameter: Parameter) -> str:
    """Return the default as text."""
    return "required" if parameter.default is REQUIRED else f"`{sql_literal(parameter.default)}`"


def calls(text: str, name: str) -> bool:
    """Whether the SQL calls the function, comments aside."""
    statements_ = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
    return re.search(rf"\b{name}\(", statements_) is not None


def meaning(function: Function, column: str) -> str:
    """Return the meaning of the column in this function's answer."""
    bare, _, end = column.rpartition("_")
    words = meanings()
    if own := words.get(function.name, {}).get(column):
        return own
    if bare and end in {"low", "high"}:
        return f"{'lower' if end == 'low' else 'upper'} end of the 95 % interval of `{bare}`"
    return words["every"].get(column) or field_words(function).get(column, "")


@cache
def meanings() -> Mapping[str, Mapping[str, str]]:
    """The meanings of result columns, for every function and for one alone."""
    return tomllib.loads((HERE / "result_columns.toml").read_text(encoding="utf-8"))


def statements(script: str) -> list[str]:
    r"""The statements of a script, each with the words before and the result after it.

    >>> statements("-- One.\nSELECT 1;\n-- | 1 |\n\nSELECT 2;\n")
    ['-- One.\nSELECT 1;\n-- | 1 |', 'SELECT 2;']
    """
    cut = re.sub(r"^((?!--).*;\n(?:-- \|.*\n)*)", "\\1\0", script, flags=re.MULTILINE)
    return [part.strip() for part in cut.split("\0") if part.strip()]


def example(name: str) -> tuple[Path, str] | None:
    """The first statement of the examples that calls the function, with its words and its result."""
    folder = next((each for each in SCRIPTS if each.is_dir()), HERE)
    for script in sorted(folder.glob("*.sql")):
        for statement in statements(script.read_text(encoding="utf-8")):
            if calls(statement, name):
                return script, statement
    return None


# What each user asks first.
USERS: Final[Mapping[str, tuple[str, ...]]] = {
    "analyst": ("profile", "risk_summary", "equivalence_class_size", "suda_scores", "quasi_identifiers"),
    "pipeline": ("risk_summary", "class_size_histogram", "equivalence_class_size", "compare"),
    "officer": ("population_risk", "risk_summary", "t_closeness", "adversary_summary", "validate_risk"),
}
STOP_WORDS: Final = frozenset(
    ["the", "table", "and", "are", "who", "what", "how", "does", "this", "that", "with", "which", "for"]
)
MIN_STEM: Final = 4
MAX_STEM: Final = 6  # anonymity and anonymous share these


def group_by_question(names: Iterable[str]) -> dict[str, list[str]]:
    """Group functions by the question that they answer, in the order of the questions.

    >>> group_by_question(["compare", "profile"])
    {'What is each column like?': ['profile'], 'What does a release still reveal?': ['compare']}
    """
    functions = declared()
    groups: dict[str, list[str]] = {question.value: [] for question in Question}
    for name in names:
        groups[functions[name].question.value].append(name)
    return {question: group for question, group in groups.items() if group}


def answer_question(text: str, names: Iterable[str]) -> list[str]:
    """Name the functions for a user, or for the question that shares most words with the text.

    >>> answer_question("who stands out", ["profile", "suda_scores"])
    ['suda_scores']
    >>> answer_question("officer", ["profile", "risk_summary"])
    ['risk_summary']
    """
    known = list(names)
    if text.lower() in USERS:
        return [name for name in USERS[text.lower()] if name in known]
    asked = _stems(text)
    groups = group_by_question(known)
    shared = {question: len(asked & _stems(question)) for question in groups}
    best = max(shared.values(), default=0)
    return [name for question, own in groups.items() if best and shared[question] == best for name in own]


def _stems(text: str) -> set[str]:
    """Words without endings and without those that every question has."""
    words = set(re.findall(r"\w{3,}", text.lower())) - STOP_WORDS
    return {word[: min(MAX_STEM, max(MIN_STEM, len(word) - 2))] for word in words}
