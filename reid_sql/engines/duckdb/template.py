"""Plans as SQL text with holes, compiled to macros: expressions that write the query where it is called.

A file holds statements, each ended by a `;` at the end of a line, and lines of comment:

    MACRO name(arguments) AS expression;

    PLAN name(arguments) AS
    SQL text with {{ expression }} for a text,
    {% for item, place in list join ', ' %} text for each item {% endfor %},
    {% if condition %} text {% elif condition %} text {% else %} text {% endif %},
    {% set name = expression %} for what the text after it needs more than once,
    {% call macro(arguments) %} the text that the macro takes last {% endcall %}
    ;

Expressions are DuckDB's own, so that a query is written from tables and columns given as data without Python.
`${NAME}` is a constant of the file's room, spelled as SQL.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from reid_sql.engines.duckdb.qualify import qualified
from reid_sql.parameters import sql_text

STATEMENT: Final = re.compile(
    r"(?P<kind>MACRO|PLAN) (?P<name>\w+)\((?P<arguments>[^)]*)\) AS\s+(?P<body>.*?)\s*;[ \t]*(?:\n|$)",
    re.DOTALL,
)
COMMENT: Final = re.compile(r"^[ \t]*--.*\n?", re.MULTILINE)
CONSTANT: Final = re.compile(r"\$\{([\w.]+)\}")
HOLE: Final = re.compile(r"(\{\{.*?\}\}|\{%.*?%\})", re.DOTALL)
FOR: Final = re.compile(r"for (\w+)(?:, (\w+))? in (.*?)(?: join ('(?:[^']|'')*'))?", re.DOTALL)
SET: Final = re.compile(r"set (\w+) = (.*)", re.DOTALL)
CALL: Final = re.compile(r"call (\w+)\((.*)\)", re.DOTALL)
WORD: Final = re.compile(r"""('(?:[^']|'')*'|"(?:[^"]|"")*")|(?<![\w.'"])([A-Za-z_]\w*)(?!\w|\s*\()""")


class TemplateError(ValueError):
    """A template that cannot be compiled; says which and why."""


def compile_file(text: str, constants: Mapping[str, Any]) -> dict[str, str]:
    """Give every macro of a file by name: its arguments and its expression, as CREATE MACRO takes them."""
    bare = COMMENT.sub("", text)
    rendered = CONSTANT.sub(lambda found: _constant(found[1], constants), bare)
    macros, end = {}, 0
    for found in STATEMENT.finditer(rendered):
        _refuse(rendered[end : found.start()])
        end = found.end()
        plan = found["kind"] == "PLAN"
        body = compile_text(found["body"], found["name"], qualified) if plan else found["body"]
        macros[found["name"]] = f"({found['arguments']}) AS {qualified(body)}"
    _refuse(rendered[end:])
    return macros


def compile_text(text: str, name: str = "reid", finish: Callable[[str], str] = str) -> str:
    """Turn SQL text with holes into the expression that writes it; `name` tells its variables apart.

    It tells them from those of others. `finish` is what is made of the text between the holes.

    >>> compile_text("SELECT {{ reid_name(column) }} FROM t")
    "'SELECT ' || reid_name(column) || ' FROM t'"
    >>> compile_text("a{% if n > 1 %}, b{% endif %}")
    "'a' || CASE WHEN n > 1 THEN ', b' ELSE '' END"
    >>> compile_text("{% for c, i in names join ', ' %}q{{ i }}{% endfor %}", "p")
    "reid_join(list_transform(names, lambda p_c, p_i: 'q' || p_i), ', ')"
    """
    parts = [part for part in HOLE.split(text) if part]
    return _Parts(parts, name, finish).sequence({}, ())


class _Parts:
    """The parts of a text that are still to compile."""

    def __init__(self, parts: list[str], name: str, finish: Callable[[str], str]) -> None:
        self.parts = parts[::-1]
        self.name = name
        self.finish = finish
        self.tag = ""  # what ended the last sequence

    def sequence(self, known: Mapping[str, str], ends: tuple[str, ...]) -> str:
        """Compile up to one of the tags, or to the end of the text."""
        found: list[str] = []
        while self.parts:
            part = self.parts.pop()
            if not part.startswith(("{{", "{%")):
                found.append(sql_text(self.finish(_flat(part))))
                continue
            inner = part[2:-2].strip()
            word = inner.split(maxsplit=1)[0]
            if part.startswith("{%") and word in ends:
                self.tag = inner
                return " || ".join(found) or "''"
            if word == "set" and part.startswith("{%"):
                found.append(self._set(inner, known, ends))
                return " || ".join(found)
            found.append(self._tag(word, inner, known) if part.startswith("{%") else _operand(inner, known))
        if ends:
            raise TemplateError(f"{self.name} must close its blocks, got no {' or '.join(ends)}")
        return " || ".join(found) or "''"

    def _tag(self, word: str, inner: str, known: Mapping[str, str]) -> str:
        if word == "for":
            return self._for(inner, known)
        if word == "if":
            return self._if(inner, known)
        if word == "call":
            return self._call(inner, known)
        raise TemplateError(f"{self.name} must have no tag but for, if, set and call, got '{inner}'")

    def _for(self, inner: str, known: Mapping[str, str]) -> str:
        item, place, items, separator = self._read(FOR, inner)
        own = {word: f"{self.name}_{word}" for word in (item, place) if word}
        body = self.sequence({**known, **own}, ("endfor",))
        listed = f"list_transform({_renamed(items, known)}, lambda {', '.join(own.values())}: {body})"
        return f"reid_join({listed}, {separator or sql_text('')})"

    def _if(self, inner: str, known: Mapping[str, str]) -> str:
        cases, condition = "", inner.removeprefix("if ")
        while True:
            body = self.sequence(known, ("elif", "else", "endif"))
            cases += f" WHEN {_renamed(condition, known)} THEN {body}"
            if not self.tag.startswith("elif "):
                break
            condition = self.tag.removeprefix("elif ")
        other = self.sequence(known, ("endif",)) if self.tag == "else" else "''"
        return f"CASE{cases} ELSE {other} END"

    def _call(self, inner: str, known: Mapping[str, str]) -> str:
        macro, arguments = self._read(CALL, inner)
        return f"{macro}({_renamed(arguments, known)}, {self.sequence(known, ('endcall',))})"

    def _set(self, inner: str, known: Mapping[str, str], ends: tuple[str, ...]) -> str:
        """What is worked out once: an argument of a macro is written out wherever it stands."""
        word, value = self._read(SET, inner)
        own = f"{self.name}_{word}"
        body = self.sequence({**known, word: own}, ends)
        return f"list_extract(list_transform([{_renamed(value, known)}], lambda {own}: {body}), 1)"

    def _read(self, form: re.Pattern[str], inner: str) -> tuple[str, ...]:
        found = form.fullmatch(inner)
        if not found:
            raise TemplateError(f"{self.name} must spell its tags as they are documented, got '{inner}'")
        return found.groups()


def _operand(expression: str, known: Mapping[str, str]) -> str:
    """The expression as it may stand between two ||."""
    renamed = _renamed(expression, known)
    return renamed if re.fullmatch(r"\w+|\w+\((?:[^()]|\([^()]*\))*\)", renamed) else f"({renamed})"


def _renamed(expression: str, known: Mapping[str, str]) -> str:
    """The expression with the template's variables under names that no other lambda has."""
    return WORD.sub(lambda found: found[1] or known.get(found[2], found[2]), expression.strip())


def _flat(text: str) -> str:
    """The text on one line; what stands in quotes stays as it is."""
    parts = re.split(r"('(?:[^']|'')*'|\"(?:[^\"]|\"\")*\")", text)
    return "".join(part if place % 2 else re.sub(r"\s+", " ", part) for place, part in enumerate(parts))


def _constant(path: str, constants: Mapping[str, Any]) -> str:
    name, *inner = path.split(".")
    if name not in constants:
        raise TemplateError(f"a constant must be one of the file's room, got '{path}'")
    value: Any = constants[name]
    for part in inner:
        value = getattr(value, part)
    if isinstance(value, str):
        return sql_text(value)
    if isinstance(value, tuple | list):
        return f"({', '.join(sql_text(each) if isinstance(each, str) else str(each) for each in value)})"
    return str(value)


def _refuse(between: str) -> None:
    if between.strip():
        raise TemplateError(f"a file must hold MACRO and PLAN statements alone, got '{between.strip()[:60]}'")
