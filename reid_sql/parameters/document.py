"""Read a document that people write; a refusal names the place of the value."""

import csv
import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from reid_sql.errors import OutOfDomainError, ReidError, UnknownNameError, suggestion
from reid_sql.parameters import Domain

KINDS: Final = (".toml", ".json")
BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")


def toml_text(text: str) -> str:
    """Write a TOML string: JSON's, but that TOML also escapes DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_key(name: str) -> str:
    """Write a key of TOML.

    >>> toml_key("date_died"), toml_key("date of death")
    ('date_died', '"date of death"')
    """
    return name if BARE_KEY.fullmatch(name) else toml_text(name)


def toml_texts(texts: Iterable[str]) -> str:
    """Write a list of TOML strings."""
    return f"[{', '.join(map(toml_text, texts))}]"


@dataclass(frozen=True)
class Place:
    """A table of a document, and its place in it."""

    where: str
    values: Mapping[str, Any]

    def at(self, key: str) -> str:
        """Return the path of the key, as a message names it."""
        return f"{self.where}{'' if self.where.endswith(' ') else '.'}{key}"

    def only(self, keys: Sequence[str], of_checks: Iterable[str] = ()) -> None:
        """Refuse an unknown key; `of_checks` are those that a check has instead, looked at only then."""
        for key in self.values:
            if key not in keys:
                remedy = (
                    "write it in a check"
                    if key in of_checks
                    else suggestion(str(key), keys, "keys")
                )
                raise UnknownNameError(
                    f"{self.where.strip()} must have only known keys, got '{key}'; {remedy}"
                )

    def number(self, key: str, domain: Domain, default: float | None = None) -> float:
        """Return the number at the key, or refuse it by its domain."""
        value = self.values.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise OutOfDomainError(domain.sentence(self.at(key), shown(value)))
        return float(domain.from_python(self.at(key), value))

    def text(self, key: str, default: str | None = None) -> str:
        """Return the text at the key."""
        value = self.values.get(key, default)
        if not isinstance(value, str):
            raise OutOfDomainError(
                f'{self.at(key)} must be a text, got {shown(value)}; write it in quotes, like "age"'
            )
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return the list of texts at the key; empty if the key is missing."""
        value = self.values.get(key, [])
        if (
            isinstance(value, str)
            or not isinstance(value, Sequence)
            or not all(isinstance(each, str) for each in value)
        ):
            raise OutOfDomainError(
                f'{self.at(key)} must be a list of texts, got {shown(value)}; write it like ["age", "sex"]'
            )
        return tuple(value)

    def flag(self, key: str) -> bool:
        """Return true or false at the key; false if the key is missing."""
        value = self.values.get(key, False)
        if not isinstance(value, bool):
            raise OutOfDomainError(
                f"{self.at(key)} must be true or false, got {shown(value)}; write it without quotes"
            )
        return value

    def table(self, key: str) -> "Place":
        """Return the table at the key; empty if the key is missing."""
        return Place(self.at(key), self._mapping(self.at(key), self.values.get(key, {})))

    def tables(self, key: str) -> list["Place"]:
        """Return the list of tables at the key, numbered from 1."""
        value = self.values.get(key, [])
        if isinstance(value, str | Mapping) or not isinstance(value, Sequence):
            raise OutOfDomainError(
                f"{self.at(key)} must be a list of tables, got {shown(value)}; write [[{key}]] before each"
            )
        named = [(f"{self.at(key)}[{number}]", each) for number, each in enumerate(value, 1)]
        return [Place(where, self._mapping(where, each)) for where, each in named]

    @staticmethod
    def _mapping(where: str, value: Any) -> Mapping[str, Any]:  # noqa: ANN401 - whatever the document contains
        if not isinstance(value, Mapping):
            raise OutOfDomainError(
                f"{where} must be a table of keys and values, got {shown(value)}; write key = value lines"
            )
        # null is as good as absent
        return {key: each for key, each in value.items() if each is not None}


def shown(value: Any) -> str:  # noqa: ANN401 - whatever the document contains
    """Show a value of a document as a sentence may."""
    return "nothing" if value is None else repr(value) if isinstance(value, str) else str(value)


def read_document(
    words: str,
    source: Any,  # noqa: ANN401 - whatever a person passes
    folder: Path | None,
    shipped: Mapping[str, Path],
) -> tuple[Place, Path]:
    """Read a mapping, JSON text, a path or a shipped name: the document, and its folder.

    A path is one to a TOML or JSON file.
    """
    here = folder or Path()
    if isinstance(source, Mapping):
        return Place(f"{words} ", source), here
    if not isinstance(source, str | Path) or not str(source).strip():
        raise OutOfDomainError(
            f"{words} must be a path, JSON text or a mapping, got {shown(source)}; pass a .toml or .json file"
        )
    if str(source).lstrip().startswith("{"):
        return Place(f"{words} ", parsed(words, ".json", str(source))), here
    path = shipped.get(str(source), Path(source))
    if not path.is_file():
        hint = suggestion(path.name, [*shipped, *_files(path.parent)], "names and files")
        raise UnknownNameError(
            f"{words} must be an existing file, JSON text or a shipped name, got '{source}'; {hint}"
        )
    if path.suffix not in KINDS:
        raise OutOfDomainError(
            f"{words} must be a .toml or .json file, got '{source}'; rename or convert it"
        )
    return Place(f"{words} ", parsed(words, path.suffix, _text(words, path))), path.parent


def _text(words: str, path: Path) -> str:
    """Return the file's text, without a byte-order mark."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise OutOfDomainError(
            f"{words} must be written in UTF-8, got '{path.name}' with a byte that is not: {error.reason}; save it in UTF-8"
        ) from None


def _files(folder: Path, kinds: Sequence[str] = KINDS) -> list[str]:
    return sorted(file.name for kind in kinds for file in folder.glob(f"*{kind}"))


def parsed(words: str, kind: str, text: str) -> Mapping[str, Any]:
    """Read TOML or JSON text, by its kind; refuses what is no table of keys and values."""
    try:
        document = (
            tomllib.loads(text)
            if kind == ".toml"
            else json.loads(
                text, parse_constant=partial(_no_number, words), object_pairs_hook=_once
            )
        )
    except ReidError:
        raise
    # what is no such text, and numbers of thousands of digits
    except (ValueError, RecursionError) as error:
        reason = str(error).splitlines()[0]
        raise OutOfDomainError(
            f"{words} must be valid {kind[1:].upper()}, got an error: {reason}; correct that place"
        ) from None
    if not isinstance(document, Mapping):
        raise OutOfDomainError(
            f"{words} must be a table of keys and values, got {shown(document)}; write key = value lines"
        )
    return document


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object, or refuse a repeated key: readers differ in which value they use."""
    table: dict[str, Any] = {}
    for key, value in pairs:
        if key in table:
            raise OutOfDomainError(
                f"a JSON document must name each key once, got '{key}' twice; leave one of them"
            )
        table[key] = value
    return table


def _no_number(words: str, text: str) -> float:
    raise OutOfDomainError(
        f"{words} must contain finite numbers, got {text}; write the number with digits"
    )


def read_pairs(where: str, file: str, folder: Path) -> dict[str, Any]:
    """Read a CSV file with the columns value and probability, as text and number."""
    path = folder / file
    if not path.is_file():
        hint = suggestion(path.name, _files(path.parent, (".csv",)), "files beside it")
        raise UnknownNameError(f"{where} must be an existing file, got '{file}'; {hint}")
    with path.open(newline="", encoding="utf-8-sig") as lines:
        rows = list(csv.reader(lines))
    head, pairs = rows[:1], list(filter(None, rows[1:]))
    if head != [["value", "probability"]] or {*map(len, pairs)} - {2}:
        got = ",".join(*head) if head else "an empty file"
        raise OutOfDomainError(
            f"{where} must be a CSV file of two columns, value and probability, got {got}; name them so"
        )
    for position, (value, _) in enumerate(pairs):
        if value in [other for other, _ in pairs[:position]]:
            raise OutOfDomainError(
                f"{where} must name each value once, got '{value}' twice; leave one line"
            )
    numbers: dict[str, float | str] = {}
    for value, probability in pairs:
        try:
            numbers[value] = float(probability)
        except ValueError:
            numbers[value] = probability
    return numbers
