"""What a parameter may be: one rule and one sentence, checked the same in Python and in SQL."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal

import numpy as np
import numpy.typing as npt

from reid_sql.errors import OTHER_VALUE, OutOfDomainError, UnknownNameError, suggestion

TextColumn = npt.NDArray[np.str_]  # a text each
NameLists = npt.NDArray[np.object_]  # a list of names each
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
MAX_COLUMNS: Final = 64
MAX_TABLES: Final = 64
ASCII_LOWER: Final = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
MAX_PEOPLE: Final = 1e15
MAX_TEXT_LENGTH: Final = 200


def plain(value: float) -> str:
    """Text of a number as SQL shows it, without a trailing .0.

    >>> plain(1000.0), plain(0.2)
    ('1000', '0.2')
    """
    return repr(float(value)).removesuffix(".0")


def fold_case(column: str) -> str:
    """Fold ASCII upper case alone, by which column names are the same in DuckDB.

    >>> fold_case("ÄGE")
    'Äge'
    """
    return column.translate(ASCII_LOWER)


def sql_text(text: str) -> str:
    """The text as an SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def quoted(name: str) -> str:
    """The name as SQL quotes one."""
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True)
class Number:
    """Numbers from `low` to `high`, both included, finite and not NaN; `remedy` says what to pass instead."""

    rule: str
    remedy: str
    low: float
    high: float
    whole: bool = False

    def check(self, name: str, values: npt.ArrayLike, *, of_column: bool = False) -> Floats:
        """Give the values as doubles, or refuse the first one outside the domain; never repeat a column's."""
        try:
            array = np.asarray(values, dtype=np.float64)
        except OverflowError:
            raise OutOfDomainError(self.sentence(name, "a number of more than 308 digits")) from None
        outside = ~((array >= self.low) & (array <= self.high))
        if self.whole:
            outside |= array != np.floor(array)
        if outside.any():
            got = OTHER_VALUE if of_column else plain(array[outside].flat[0])
            raise OutOfDomainError(self.sentence(name, got))
        return array

    def sentence(self, name: str, got: str) -> str:
        """Rule, value, remedy."""
        return f"{name} must be {self.rule}, got {got}; {self.remedy}"

    def check_one(self, name: str, value: float) -> float:
        """Give the number, or refuse it."""
        if not self.low <= value <= self.high or (self.whole and value != int(value)):
            raise OutOfDomainError(self.sentence(name, plain(value)))
        return value

    def sql(self, name: str) -> str:
        """Write the SQL expression that is the number of a record, or the refusal, which names a column."""
        value = f"TRY_CAST({name} AS DOUBLE)"
        head, tail = self.sentence(name, "\0").split("\0")
        got = rf"regexp_replace(alias({name}), '^CAST\((.*) AS [^)]*\)$|[.]0$', '\1')"
        whole = f" AND {value} = floor({value})" if self.whole else ""
        inside = f"({value} BETWEEN {self.low!r} AND {self.high!r}{whole})"
        refusal = f"error(({sql_text(head)} || {got} || {sql_text(tail)})::VARCHAR)::DOUBLE"
        checked = f"CASE WHEN {name} IS NULL OR {inside} THEN {value} ELSE {refusal} END"
        return f"({checked})::BIGINT" if self.whole else checked

    def from_sql(self, name: str, value: Any) -> float:  # noqa: ANN401 - as SQL gave it
        """Read the number, whole where it must be, or refuse it."""
        try:
            number = float(value)
        except OverflowError:
            raise OutOfDomainError(self.sentence(name, "a number of more than 308 digits")) from None
        except (TypeError, ValueError):
            raise OutOfDomainError(self.sentence(name, list_text(value))) from None
        checked = self.check_one(name, number)
        return int(checked) if self.whole else checked


@dataclass(frozen=True)
class Numbers:
    """A list of numbers, each in its own domain; perhaps NULL (`optional`), or one number without a list."""

    each: Number
    optional: bool = False
    is_one_enough: bool = False
    example: str = "[1000, 1e6]"

    def check(self, name: str, values: npt.ArrayLike | None) -> Floats | None:
        """Give the numbers as doubles, or refuse: not a list, empty, or one outside the domain."""
        if values is None and self.optional:
            return None
        array = np.array([] if isinstance(values, str) else values, dtype=object, ndmin=self.is_one_enough)
        if array.ndim != 1 or not len(array) or any(value is None for value in array):
            raise OutOfDomainError(self.sentence(name, "NULL" if values is None else str(values)))
        return self.each.check(name, array.astype(np.float64))

    def sentence(self, name: str, got: str) -> str:
        """Rule, value, remedy."""
        one = "a number or " if self.is_one_enough else ""
        return f"{name} must be {one}a list of one or more numbers, got {got}; write it like {self.example}"

    def from_sql(self, name: str, value: Any) -> list[float] | None:  # noqa: ANN401 - as SQL gave it
        """Read the numbers, or refuse what is no list of them."""
        if value is None and self.optional:
            return None
        value = [value] if self.is_one_enough and not isinstance(value, list | tuple | str | None) else value
        if not isinstance(value, list | tuple) or not value or any(each is None for each in value):
            raise OutOfDomainError(self.sentence(name, list_text(value)))
        return [self.each.from_sql(name, each) for each in value]


@dataclass(frozen=True)
class Choice:
    """One of a few words; `refused` are words that others know, and `reason` says why this one does not."""

    words: tuple[str, ...]
    refused: tuple[str, ...] = ()
    reason: str = ""

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

    def from_sql(self, name: str, value: Any) -> str:  # noqa: ANN401 - as SQL gave it
        """Read the word, or refuse it; NULL is none."""
        return self.check(name, list_text(value))


@dataclass(frozen=True)
class Text:
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

    def from_sql(self, name: str, value: Any) -> Any:  # noqa: ANN401 - as SQL gave it
        """Read what SQL gave, or refuse it."""
        return self.check(name, value)


@dataclass(frozen=True)
class Texts:
    """A list of names, which may be empty or NULL, or one name; `of_record`, a record's values, or NULLs."""

    of_record: bool = False

    def check(self, name: str, values: Sequence[str | None] | None) -> list[Any]:
        """Give the texts as a list, or refuse what is none."""
        given = () if values is None and not self.of_record else values
        given = [given] if isinstance(given, str) and not self.of_record else given
        none = None if self.of_record else ""
        if isinstance(given, Sequence) and not isinstance(given, str):
            listed = list(given)
            if all(isinstance(value, str) or value is none for value in listed):
                return listed
        raise OutOfDomainError(self.sentence(name, list_text(values)))

    def sentence(self, name: str, got: str) -> str:
        """Rule, value, remedy."""
        if self.of_record:
            return (
                f"{name} must be a list of texts, got {got}; write a person's values like ['34', 'F', NULL]"
            )
        return f"{name} must be a name or a list of names, got {got}; write it like ['age', 'income']"

    def from_sql(self, name: str, value: Any) -> Any:  # noqa: ANN401 - as SQL gave it
        """Read what SQL gave, or refuse it."""
        return self.check(name, value)


@dataclass(frozen=True)
class Table:
    """A relation: in SQL a name or a path, in Polars a LazyFrame or DataFrame, on Spark a DataFrame."""


@dataclass(frozen=True)
class OptionalTable:
    """A relation, or NULL; the reduction holds it against the columns that it must have."""

    def from_sql(self, name: str, value: Any) -> str | None:  # noqa: ANN401, ARG002 - as SQL gave it
        """Read the name, which the query checks, or NULL."""
        return None if value is None else str(value)


@dataclass(frozen=True)
class Tables:
    """A list of 1 to 64 relations, or one of them; each as a parameter of the domain Table."""

    def check(self, name: str, values: Any) -> list[Any]:  # noqa: ANN401 - names, or frames of an engine
        """Give the relations as a list, or refuse what is none."""
        listed = list(values) if isinstance(values, list | tuple) else [values]
        if not 1 <= len(listed) <= MAX_TABLES or any(each is None for each in listed):
            rule = f"{name} must be a list of 1 to {MAX_TABLES} tables, got {len(listed)}"
            raise OutOfDomainError(f"{rule}; write ['first', 'second'], none NULL")
        return listed


def list_columns(label: str, value: Any, fold: Callable[[str], str] = str) -> list[str]:  # noqa: ANN401
    """Read a list of 1 to 64 different column names, or a single name.

    `fold` maps names that an engine takes for the same to one.
    """
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, Sequence) or any(column is None for column in listed):
        raise OutOfDomainError(
            f"{label} must be a list of column names, got {list_text(value)}; write ['age', 'sex']"
        )
    names = [str(column) for column in listed]
    if not 1 <= len(names) <= MAX_COLUMNS:
        raise OutOfDomainError(
            f"{label} must name 1 to {MAX_COLUMNS} columns, got {len(names)}; pass the columns by which "
            "people can be distinguished, such as ['age', 'sex']"
        )
    folded = [fold(column) for column in names]
    for place, column in enumerate(names):
        if folded[place] in folded[:place]:
            raise OutOfDomainError(f"{label} must be distinct, got '{column}' twice; name each column once")
    return names


def list_text(value: Any) -> str:  # noqa: ANN401 - anything
    """The value as SQL shows it.

    >>> list_text(["age", None])
    '[age, NULL]'
    """
    if isinstance(value, list | tuple):
        return f"[{', '.join(list_text(each) for each in value)}]"
    if value is None or isinstance(value, bool):
        return {None: "NULL", True: "true", False: "false"}[value]
    return str(value)


@dataclass(frozen=True)
class Columns:
    """A list of 1 to 64 distinct column names, or if `optional` NULL for all; sentences call them `words`."""

    words: str
    optional: bool = False

    def check(self, names: Sequence[str], known: Sequence[str]) -> list[str]:
        """Give the names as a list, or refuse: not a list, empty, too many, repeated, or not in the table."""
        return self.known(list_columns(self.words, names), known)

    def known(self, names: Sequence[str], known: Sequence[str]) -> list[str]:
        """Give the names as a list, or refuse the first that is not in the table."""
        for name in names:
            if name not in known:
                message = (
                    f"{self.words} must be columns of the table, got '{name}'; {suggestion(name, known)}"
                )
                raise UnknownNameError(message)
        return list(names)

    def from_sql(self, name: str, value: Any) -> list[str] | None:  # noqa: ANN401, ARG002 - as SQL gave it
        """Read the names; the query checks them in the table."""
        return None if value is None and self.optional else list_columns(self.words, value, fold_case)


@dataclass(frozen=True)
class Groups:
    """A list of columns by whose values a table is divided, each group answered for itself, or NULL."""

    def from_sql(self, name: str, value: Any) -> list[str] | None:  # noqa: ANN401 - as SQL gave it
        """Read the names, or NULL for no groups; the query checks them in the table."""
        return None if value is None else list_columns(name, value, fold_case)


@dataclass(frozen=True)
class Column:
    """One column name; `words` is what the sentences call the columns that are named one by one."""

    words: str

    def from_sql(self, name: str, value: Any) -> str | None:  # noqa: ANN401, ARG002 - as SQL gave it
        """Read the name, which the query checks, or NULL."""
        return None if value is None else str(value)


@dataclass(frozen=True)
class Key:
    """The name of a column that identifies the answer's records, or NULL; the reduction checks it."""

    def from_sql(self, name: str, value: Any) -> str | None:  # noqa: ANN401, ARG002 - as SQL gave it
        """Read the name, which the query checks, or NULL."""
        return None if value is None else str(value)


@dataclass(frozen=True)
class Document:
    """A document: a path, a text or, in Python, a mapping; `read` gives it as checked text, or refuses.

    `sealed` does the same where the connection may read no file: of a text that says all itself.
    """

    kind: str
    read: Callable[[Any], str] = field(repr=False)
    sealed: Callable[[Any], str] = field(repr=False)

    def check(self, name: str, source: Any) -> str:  # noqa: ANN401, ARG002 - it says itself what is wrong
        """Give the document as text, or refuse it."""
        return self.read(source)


@dataclass(frozen=True)
class Values:
    """Values of any type, one array a column."""

    def from_sql(self, name: str, value: Any) -> Any:  # noqa: ANN401, ARG002 - as SQL gave it
        """Pass the values on."""
        return value


PROBABILITY: Final = Number("a probability between 0 and 1", "pass a share, such as 0.01 for 1 %", 0.0, 1.0)
COUNT: Final = Number(
    "a number of people of at least 1 and at most 1e+15",
    "pass the size of the population that the record is looked for in",
    1.0,
    1e15,
)
WORLD_POPULATION: Final = 8.3e9  # United Nations, World Population Prospects 2024, rounded up
POPULATION: Final = Number(  # of a document, which is about people of today
    "a number of people from 1 to 8.3e9, as many as live",
    "write how many people the table is a sample of, such as 67e6",
    1.0,
    WORLD_POPULATION,
)
THRESHOLD: Final = Number(
    "a risk between 0 and 1",
    "pass the risk above which a record counts as at risk, such as 0.2 for classes of fewer than 5",
    0.0,
    1.0,
)
SUBSET_SIZE: Final = Number(
    "a whole number of columns from 1 to 64",
    "pass how many columns to combine at most",
    1.0,
    MAX_COLUMNS,
    whole=True,
)
POINTS: Final = Number(
    "a whole number of known items from 1 to 16",
    "pass how many items of a person an attacker knows",
    1.0,
    16.0,
    whole=True,
)
SEED: Final = Number(
    "a whole number from 0 to 2147483646", "pass any such number", 0.0, 2147483646.0, whole=True
)
NullWord = Literal["value", "wildcard", "drop"]
NULL_WORDS: Final[tuple[NullWord, ...]] = ("value", "wildcard", "drop")
NULLS: Final = Choice(NULL_WORDS)
DRAWN: Final = Number(
    "a whole number of records from 0 to 1e+12",
    "pass how many to draw, such as 1000000",
    0.0,
    1e12,
    whole=True,
)
SHOWN: Final = Number(
    "a whole number from 0 to 1000000", "pass how many to show, such as 20", 0.0, 1e6, whole=True
)
VALUE_OR_DROP: Final = Choice(
    ("value", "drop"),
    refused=("wildcard",),
    reason="a NULL that matches any value puts a record into several classes, and this function does not "
    "count classes that overlap",
)
QUASI_IDENTIFIERS: Final = Columns("quasi-identifiers")
COLUMNS: Final = Columns("columns")
COLUMNS_AND_KEY: Final = Columns("columns and key")
PERSON_OR_ITEM: Final = Column("person and item")
TABLE: Final = Table()
OPTIONAL_TABLE: Final = OptionalTable()
TABLES: Final = Tables()
MODEL: Final = Text("the name of a fitted model", "see copula_models() for those there are")
NEW_MODEL: Final = Text("a name of 1 to 200 characters", "choose one by which the model will be known")
WEIGHT: Final = Text("the name of a column of survey weights", "write weight := 'column'", optional=True)
ORDERED: Final = Texts()
RECORD: Final = Texts(of_record=True)

Probability = Annotated[npt.ArrayLike, PROBABILITY]
Count = Annotated[npt.ArrayLike, COUNT]
Populations = Annotated[npt.ArrayLike, Numbers(COUNT, is_one_enough=True, example="1e6 or [1000, 1e6]")]
Threshold = Annotated[float, THRESHOLD]
SubsetSize = Annotated[int, SUBSET_SIZE]
Model = Annotated[str, MODEL]
NewModel = Annotated[str, NEW_MODEL]
Names = Annotated[list[str] | None, ORDERED]
RecordValues = Annotated[list[str | None], RECORD]
Seed = Annotated[int, SEED]
NullPolicy = Annotated[NullWord, NULLS]

Checked = Number | Numbers | Choice | Text | Texts
Domain = Checked | Columns | Groups | Column | Table | OptionalTable | Tables | Key | Document | Values
