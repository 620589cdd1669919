"""Parameters that are words, texts and documents."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, ClassVar, Final

from reid_sql.errors import OutOfDomainError, UnknownNameError, WrongTypeError, suggestion
from reid_sql.parameters.domain import (
    NULL_TOO,
    POPULATION_TABLE,
    Domain,
    Form,
    describe_value,
    is_listed,
    list_text,
    sql_text,
)

MAX_TEXT_LENGTH: Final = 200
TABLE_OF_TEXTS: Final = "tbl"  # the table whose columns a document names as texts
NAMES_SCHEMA: Final[dict[str, Any]] = {
    "type": "array",
    "items": {"type": "string"},
    "uniqueItems": True,
}
LABELS_SCHEMA: Final[dict[str, Any]] = {"anyOf": [{"type": "string"}, NAMES_SCHEMA]}
DECIMAL_COMMA: Final = r"\s*[+-]?[0-9.]*,[0-9]+\s*"  # of a text that is a number elsewhere
REFUSAL_DECIMAL_COMMAS: Final = (
    "weight must be a number for every record, got text with decimal commas; "
    "write numbers with a decimal point, replace(weight, ',', '.')::DOUBLE in a view"
)


@dataclass(frozen=True)
class Choice(Domain):
    """One of a few words; `refused` are words that others know, and `reason` says why this one does not."""

    form = "word"

    words: tuple[str, ...]
    refused: tuple[str, ...] = ()
    reason: str = ""
    optional: bool = False  # whether it may be NULL

    def check(self, name: str, value: str) -> str:
        """Give the word back, or refuse it and offer the nearest."""
        if value in self.refused:
            raise OutOfDomainError(f"{self._rule(name)}{value}': {self.reason}; pass one of these")
        if value not in self.words:
            nearest = suggestion(str(value), self.words, "choices")
            raise UnknownNameError(f"{self._rule(name)}{value}'; {nearest}")
        return value

    def _rule(self, name: str) -> str:
        return f"{name} must be one of {self._listed()}, got '"

    def _listed(self) -> str:
        return ", ".join(map(sql_text, self.words))

    def read_sql(self, name: str, value: Any) -> str | None:  # noqa: ANN401 - as SQL gave it
        """Read the word, or refuse it."""
        return None if value is None and self.optional else self.check(name, list_text(value))

    def may_be_text(self, text: str) -> bool:
        """Whether it is one of the words, or one that is refused with a reason."""
        return text in {*self.words, *self.refused}

    def from_python(self, name: str, value: Any) -> str | None:  # noqa: ANN401 - as it may be
        """Check the word."""
        return None if value is None and self.optional else self.check(name, value)

    @property
    def label(self) -> str:
        """The words."""
        return (
            "one of "
            + ", ".join(f"`{sql_text(word)}`" for word in self.words)
            + NULL_TOO * self.optional
        )

    @property
    def hint(self) -> str:
        """The words."""
        words = ", ".join(f'"{word}"' for word in self.words)
        return f"Literal[{words}]" + " | None" * self.optional

    @property
    def schema(self) -> dict[str, Any]:
        """The words."""
        return {"enum": list(self.words)}


@dataclass(frozen=True)
class Text(Domain):
    """A text of 1 to 200 characters; `optional` lets it be NULL."""

    rule: str
    remedy: str
    optional: bool = False

    def check(self, name: str, value: str | None) -> str | None:
        """Give the text back, or refuse what is none."""
        if value is None and self.optional:
            return None
        if not isinstance(value, str) or not 1 <= len(value) <= MAX_TEXT_LENGTH:
            raise OutOfDomainError(self.sentence(name, "NULL" if value is None else str(value)))
        return value

    def sentence(self, name: str, got: str) -> str:
        """Rule, value, remedy."""
        return f"{name} must be {self.rule}, got '{got}'; {self.remedy}"

    read_sql = from_python = check

    @property
    def label(self) -> str:
        """What the text may be."""
        return self.rule + NULL_TOO * self.optional

    @property
    def hint(self) -> str:
        """A text."""
        return "str" + " | None" * self.optional


@dataclass(frozen=True)
class ModelName(Text):
    """The name of a fitted model; in Python the model itself too."""

    @property
    def hint(self) -> str:
        """A name or a model."""
        return "str | FittedModel" + " | None" * self.optional


@dataclass(frozen=True)
class Weight(Text):
    """The name of a column of weights, or NULL."""

    role = "column"

    def columns_in(self, value: Any, table: str) -> Sequence[str]:  # noqa: ANN401 - a checked argument
        """The column, which a population lacks."""
        return () if value is None or table == POPULATION_TABLE else (value,)


@dataclass(frozen=True)
class Texts(Domain):
    """A list of names, which may be empty or NULL, or one name; `of_record`, a record's values, or NULLs."""

    form: ClassVar[Form] = "names"
    sql_type = "VARCHAR[]"
    schema = NAMES_SCHEMA

    of_record: bool = False

    def check(self, name: str, value: Any) -> list[Any]:  # noqa: ANN401 - as SQL gave it
        """Give the texts as a list, or refuse what is none."""
        listed = value
        if not self.of_record:
            listed = [value] if isinstance(value, str) else () if value is None else value
        is_list = isinstance(listed, Sequence) and not isinstance(listed, str)
        if is_list and all(
            isinstance(each, str) or (each is None and self.of_record) for each in listed
        ):
            return list(listed)
        raise OutOfDomainError(self.sentence(name, list_text(value)))

    def sentence(self, name: str, got: str) -> str:
        """Rule, value, remedy."""
        if self.of_record:
            return f"{name} must be a list of texts, got {got}; write a person's values like ['34', 'F', NULL]"
        return (
            f"{name} must be a name or a list of names, got {got}; write it like ['age', 'income']"
        )

    read_sql = check

    def from_python(self, name: str, value: Any) -> list[Any]:  # noqa: ANN401 - as it may be
        """Check the names, or a record's values."""
        if value is None or (isinstance(value, str) and not self.of_record):
            return self.check(name, value)
        if not is_listed(value):
            raise WrongTypeError(self.sentence(name, describe_value(value)))
        return self.check(name, list(value))

    def write_sql(self, value: Any) -> str:  # noqa: ANN401 - a checked value
        """Write the list with its type."""
        return f"[{', '.join('NULL' if each is None else sql_text(each) for each in value)}]::{self.sql_type}"

    @property
    def label(self) -> str:
        """What the texts may be."""
        return (
            "a list of texts, a value for each column"
            if self.of_record
            else "a name or a list of names, or NULL"
        )

    @property
    def hint(self) -> str:
        """Names, or a record's values."""
        return "Sequence[str | None]" if self.of_record else "Sequence[str] | None"


@dataclass(frozen=True)
class Labels(Texts):
    """A value of a column, or a list of values; an empty text is one."""

    form: ClassVar[Form] = "texts"
    label = "a text or a list of texts, or NULL"
    hint = "str | Sequence[str] | None"
    schema = LABELS_SCHEMA

    def sentence(self, name: str, got: str) -> str:
        """Rule, value, remedy."""
        return (
            f"{name} must be a text or a list of texts, got {got}; write it like ['Total', 'All']"
        )


@dataclass(frozen=True)
class Document(Domain):
    """A document: a path, a text or, in Python, a mapping; `read` gives it as checked text, or refuses.

    `sealed` does the same where the connection may read no file: of a text that says all itself.
    """

    form = "document"
    hint = "_Document"

    kind: str
    read: Callable[[Any], str] = field(repr=False)
    sealed: Callable[[Any], str] = field(repr=False)

    def from_python(self, name: str, value: Any) -> str:  # noqa: ANN401, ARG002 - it says itself what is wrong
        """Give the document as text, or refuse it."""
        return self.read(value)

    def without_files(self) -> "Document":
        """The document where the connection may read no file: of a text that says all itself."""
        return replace(self, read=self.sealed)

    def read_sql(self, name: str, value: Any) -> str:  # noqa: ANN401, ARG002 - as SQL gave it
        """Read the document; a STRUCT is JSON."""
        return self.read(
            json.dumps(value, default=_plain_json) if isinstance(value, dict) else value
        )

    def columns_in(self, value: Any, table: str) -> Sequence[str]:  # noqa: ANN401 - the checked text
        """The columns that the document names; those of texts belong to the table itself."""
        document = json.loads(value)
        return [
            *document["columns"],
            *(document["text_columns"] if table == TABLE_OF_TEXTS else []),
        ]

    @property
    def label(self) -> str:
        """What the document may be."""
        return f"a {self.kind}: the path of a file, its text, or a STRUCT"

    @property
    def schema(self) -> dict[str, Any]:
        """A path, or the document itself."""
        shown = "a TOML or JSON file, a shipped name, or the document itself"
        return {"type": ["string", "object"], "description": shown}


def _plain_json(value: Any) -> Any:  # noqa: ANN401 - what JSON has no type for
    return float(value) if isinstance(value, Decimal) else str(value)
