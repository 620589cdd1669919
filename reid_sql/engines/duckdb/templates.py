"""A plan for any number of columns as an expression of DuckDB, from the plans that Python writes.

Python plans a call for one and for two columns. What the second plan has more, and how it repeats what stands
before it, shows what the plan repeats for each column. The plans of three and of five columns must follow.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from reid_sql.sql.text import text

COLUMN: Final = "reidcolumn"  # the names of the columns, by their numbers
ALIAS: Final = "q"
AFTER: Final = "reidafter"  # the alias of a column that follows them
TOKEN: Final = re.compile(r"\w+|\s+|.", re.DOTALL)
INDEXED: Final = re.compile(rf"({COLUMN}|\b{ALIAS})(\d+)\b")
NUMBERS_TRIED: Final = (3, 5)
TOKENS_COMPARED: Final = 5  # by which two plans are known to go on alike


class Repeat(NamedTuple):
    """Tokens of the first column, which are written for each column, with what separates them."""

    each: tuple[str, ...]
    separator: str


Part = str | Repeat


def pieces(write: Callable[[Sequence[str]], str], named: Mapping[str, str]) -> list[str]:
    """Write the texts and expressions that are the plan over the columns `names`, one after the other.

    `write` plans for columns; `named` are the expressions of words in it that stand for other arguments.
    """
    one, two = (_tokens(write(_columns(number)), number) for number in (1, 2))
    parts = _align(one, two)
    for number in NUMBERS_TRIED:
        plan = _tokens(write(_columns(number)), number)
        if _fill(parts, number) != "".join(plan):
            raise ValueError(f"a plan of {number} columns does not follow from those of 1 and 2")
    return _render(parts, named)


def _columns(number: int) -> list[str]:
    return [f"{COLUMN}{place}" for place in range(1, number + 1)]


def _tokens(plan: str, number: int) -> list[str]:
    """The tokens; the aliases after those of the columns have names of their own."""
    tokens = TOKEN.findall(" ".join(plan.split()))
    after = {f"{ALIAS}{number + place}": f"{AFTER}{place}" for place in (1, 2, 3)}
    return [after.get(token, token) for token in tokens]


def _first(tokens: Sequence[str], number: int) -> list[str]:
    """The tokens of one column as those of the first."""
    return [
        f"{m[1]}1" if (m := INDEXED.fullmatch(t)) and int(m[2]) == number else t for t in tokens
    ]


def _align(one: Sequence[str], two: Sequence[str]) -> list[Part]:
    """What two plans share, and what the second repeats."""
    parts: list[Part] = []
    at = other = 0
    while at < len(one) or other < len(two):
        if at < len(one) and one[at] == two[other]:
            parts.append(one[at])
            at, other = at + 1, other + 1
            continue
        length = next(
            (
                length
                for length in range(1, len(two) - other + 1)
                if two[other + length : other + length + TOKENS_COMPARED]
                == one[at : at + TOKENS_COMPARED]
                and _repeated(parts, two[other : other + length])
            ),
            0,
        )
        if not length:
            raise ValueError("a plan of two columns repeats nothing of that of one")
        more = two[other : other + length]
        size = _repeated(parts, more)
        each = tuple(str(part) for part in parts[-size:])
        parts[-size:] = [Repeat(each, "".join(more[: length - size]))]
        other += length
    return parts


def _repeated(parts: Sequence[Part], more: Sequence[str]) -> int:
    """How many of the last tokens are repeated for the second column, and have one of its names."""
    tokens, size = _first(more, 2), 0
    while size < min(len(tokens), len(parts)) and parts[-size - 1] == tokens[-size - 1]:
        size += 1
    return size if any(map(INDEXED.fullmatch, more[len(more) - size :])) else 0


def _fill(parts: Sequence[Part], number: int) -> str:
    """The plan of so many columns."""
    made = []
    for part in parts:
        if isinstance(part, str):
            made.append(part)
            continue
        each = ["".join(_numbered(part.each, place)) for place in range(1, number + 1)]
        made.append(part.separator.join(each))
    return "".join(made)


def _numbered(tokens: Sequence[str], place: int) -> list[str]:
    return [f"{m[1]}{place}" if (m := INDEXED.fullmatch(token)) else token for token in tokens]


def _render(parts: Sequence[Part], named: Mapping[str, str]) -> list[str]:
    """Write the parts as texts and expressions; within quotes a name has its quotes twice."""
    made: list[str] = []
    tokens: list[str] = []  # since the last part that is repeated
    before = ""
    for part in [*parts, Repeat((), "")]:
        if isinstance(part, str):
            tokens.append(part)
            continue
        made += _render_tokens(tokens, before, named)
        before, tokens = (tokens or [before])[-1], []
        if part.each:
            each = " || ".join(_render_tokens(part.each, before, {}))
            listed = f"list_transform(names, lambda c, i: {each})"
            made.append(f"array_to_string({listed}, {text(part.separator)})")
            before = part.each[-1]
    return made


def _render_tokens(tokens: Sequence[str], before: str, named: Mapping[str, str]) -> list[str]:
    made: list[str] = []
    is_text = False  # whether the last piece is
    for token in tokens:
        if token in named or token.startswith((COLUMN, AFTER)) or INDEXED.fullmatch(token):
            made.append(_render_word(token, before, named))
            is_text = False
        elif is_text:
            made[-1] = made[-1][:-1] + text(token)[1:]
        else:
            made.append(text(token))
            is_text = True
        before = token
    return made


def _render_word(token: str, before: str, named: Mapping[str, str]) -> str:
    """Write the expression of a word that stands for something."""
    quote = '"' if before == '"' else "'"
    doubled = f"replace({{}}, {text(quote)}, {text(quote * 2)})"
    if token.startswith(AFTER):
        return f"('{ALIAS}' || (len(names) + {token.removeprefix(AFTER)}))"
    if token in named:
        return doubled.format(named[token]) if token.startswith(COLUMN) else named[token]
    return doubled.format("c") if token.startswith(COLUMN) else f"('{ALIAS}' || i)"
