"""Comments and docstrings: names in backticks exist, and formulas are in one piece."""

import ast
import re
from functools import cache
from pathlib import Path

from tests.outputs import outputs
from tests.test_architecture import ROOT, SOURCES

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
BACKTICKS = re.compile(r"`([^`\n]+)`")
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
# What begins, or ends, a line of prose, though a formula would go on there.
ENDS_WITHIN_FORMULA = re.compile(r"(?:[=+−·/≤≥<>(\[ΣΠ∫∈≈×^*]|\s-)$")
BEGINS_WITHIN_FORMULA = re.compile(r"[=+−·/≤≥<>)\]≈×∈^]")
DISPLAY = re.compile(r" {4}|>>>|\.\.\.|- ")  # what is indented, examples, items of a list
# What must exist; commands and expressions need not
NAME = re.compile(r"(?:…?_)?[A-Za-z]\w*(?:\.[A-Za-z_]\w*)*")
ANSWER = re.compile(r"[a-z]\w*(?=: |$)")  # a text in an answer, or the code before a sentence
ELSEWHERE = {
    "to_numpy": "of pyarrow",
    "sha256sum": "a command of GNU",
    "citext": "a type of PostgreSQL",
}


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


@cache
def prose(path: Path) -> list[tuple[int, str]]:
    """Every line of a docstring, or of a comment of its own, with its number; without its indentation."""
    lines = [
        (number, line.lstrip()[1:].removeprefix(" "))
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if line.lstrip().startswith("#")
    ]
    for node in ast.walk(parsed(path)):
        document = ast.get_docstring(node) if isinstance(node, DOCUMENTED) else None
        if isinstance(node, DOCUMENTED) and document is not None:
            text, _, _ = document.partition(">>>")
            lines += [
                (node.body[0].lineno + place, line) for place, line in enumerate(text.splitlines())
            ]
    return lines


def broken(line: str) -> bool:
    """Whether a line of prose begins or ends within a formula, or has the gap of a display that was joined.

    >>> broken("of the M riskiest, at least M − K +"), broken("at M          u ≥ 1"), broken("    u ≥ 1 +")
    (True, True, False)
    """
    text = line.strip()
    if not text or DISPLAY.match(line):
        return False
    joined = re.search(r"\S {2,}[^\s#]", text) is not None
    return joined or bool(ENDS_WITHIN_FORMULA.search(text) or BEGINS_WITHIN_FORMULA.match(text))


def test_formulas_are_in_one_piece() -> None:
    """A formula of more than a line is a display, which no tool joins: indented, one formula a line."""
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line}"
        for path in SOURCES
        for number, line in prose(path)
        if broken(line)
    ]
    assert not found, "\n".join(found)
    bound = "    u ≥ (Σ_{r=K…M} H_(r) − C_M(S)) / ((M − K + 1) (L − S))"
    path = ROOT / "reid_sql" / "models" / "extreme" / "removal_path.py"
    assert bound in [line for _, line in prose(path)]  # the proof of a published bound


@cache
def names_in(path: Path) -> frozenset[str]:
    """The names of a file's code and of its texts, without those of its docstrings and comments."""
    nodes = list(ast.walk(parsed(path)))
    documents = {
        id(node.body[0]) for node in nodes if isinstance(node, DOCUMENTED) and documented(node)
    }
    within = {id(each) for node in nodes if id(node) in documents for each in ast.walk(node)}
    names: set[str] = set()
    for node in nodes:
        if id(node) in within:
            continue
        for _, value in ast.iter_fields(node):
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, str):
                    names.update(IDENTIFIER.findall(each))
    return frozenset(names)


def documented(node: ast.AST) -> bool:
    return ast.get_docstring(node, clean=False) is not None  # type: ignore[arg-type] # a module, class or function


@cache
def public_names() -> frozenset[str]:
    """What any file may mention: modules, their own definitions, SQL's names, and the words of answers."""
    names = {name for path in SOURCES for name in (path.stem, path.parent.name)}
    for path in SOURCES:
        tree = parsed(path)
        for each in tree.body:
            targets = (
                each.targets if isinstance(each, ast.Assign) else [getattr(each, "target", None)]
            )
            names.update(target.id for target in targets if isinstance(target, ast.Name))
            names.update({each.name} if isinstance(each, DOCUMENTED[1:]) else ())
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                word = ANSWER.match(node.value)
                names.update({word[0]} if word else ())
    for key, function in outputs().items():
        columns = function.reduction.columns if function.reduction else {}
        names |= {key, function.name, *function.columns, *columns}
        names |= {each.name for each in function.parameters}
    return frozenset(names)


def exists(name: str, path: Path) -> bool:
    """Whether the file's own code has the name, or it is public: all, or a part, as `…_low` or `q_1`."""
    part = re.sub(r"^…?_|_\d*$", "", name)
    if part != name:
        known = names_in(path) | public_names()
        return any(each.endswith(part) or each.startswith(part) for each in known)
    is_file = any(each.name == name for each in SOURCES)
    parts = name.split(".")
    return (
        is_file
        or name in ELSEWHERE
        or all(each in names_in(path) or each in public_names() for each in parts)
    )


def test_names_in_backticks_exist() -> None:
    missing = [
        f"{path.relative_to(ROOT)}:{number}: `{name}` of: {line}"
        for path in SOURCES
        for number, line in prose(path)
        for name in BACKTICKS.findall(line)
        if NAME.fullmatch(name) and not exists(name, path)
    ]
    assert not missing, "\n".join(missing)
    assert not exists("nowhere_at_all", SOURCES[0])
