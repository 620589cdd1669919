"""What a parameter may be: one rule and one sentence, checked the same in Python and in SQL."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal

import numpy as np
import numpy.typing as npt

from reid_sql.errors import OutOfDomainError, UnknownNameError
from reid_sql.suggestion import suggestion

TextColumn = npt.NDArray[np.str_]  # a text each
NameLists = npt.NDArray[np.object_]  # a list of names each
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
MAX_COLUMNS: Final = 64
MOST_PEOPLE: Final = 1e15
LONGEST_TEXT: Final = 200


def plain(value: float) -> str:
    """Text of a number as SQL shows it, without a trailing .0.

    >>> plain(1000.0), plain(0.2)
    ('1000', '0.2')
    """
    return repr(float(value)).removesuffix(".0")


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

    def check(self, name: str, values: npt.ArrayLike) -> Floats:
        """Give the values as doubles, or refuse the first one outside the domain."""
        try:
            array = np.asarray(values, dtype=np.float64)
        except OverflowError:
            raise OutOfDomainError(self.sentence(name, "a number of more than 308 digits")) from None
        outside = ~((array >= self.low) & (array <= self.high))
        if self.whole:
            outside |= array != np.floor(array)
        if outside.any():
            raise OutOfDomainError(self.sentence(name, plain(array[outside].flat[0])))
        return array

    def sentence(self, name: str, got: str) -> str:
        """Rule, value, remedy."""
        return f"{name} must be {self.rule}, got {got}; {self.remedy}"

    def sql(self, name: str, *, null: bool = False, value: str | None = None) -> str:
        """Spell the SQL expression that is the number, or the refusal; `null` lets NULL stay NULL.

        `value` is the expression to check where it is not the parameter itself.
        """
        value = f"({value or name})::DOUBLE"
        head, tail = self.sentence(name, "\0").split("\0")
        got = f"regexp_replace({value}::VARCHAR, '[.]0$', '')"
        whole = f" AND {value} = floor({value})" if self.whole else ""
        inside = f"({value} BETWEEN {self.low!r} AND {self.high!r}{whole})"
        refusal = f"error({sql_text(head)} || coalesce({got}, 'NULL') || {sql_text(tail)})::DOUBLE"
        kept = f"{name} IS NULL OR {value} IS NULL OR " if null else ""
        checked = f"CASE WHEN {kept}{inside} THEN {value} ELSE {refusal} END"
        return f"({checked})::BIGINT" if self.whole else checked


@dataclass(frozen=True)
class Numbers:
    """A list of at least one number, each of them in its own domain; `optional` lets it be NULL."""

    each: Number
    optional: bool = False

    def check(self, name: str, values: npt.ArrayLike | None) -> Floats | None:
        """Give the numbers as doubles, or refuse: not a list, empty, or one outside the domain."""
        if values is None and self.optional:
            return None
        array = np.asarray([] if values is None or isinstance(values, str) else values, dtype=object)
        if array.ndim != 1 or not len(array) or any(value is None for value in array):
            raise OutOfDomainError(self.sentence(name, "NULL" if values is None else str(values)))
        return self.each.check(name, array.astype(np.float64))

    def sentence(self, name: str, got: str) -> str:
        """Rule, value, remedy."""
        return f"{name} must be a list of one or more numbers, got {got}; write it like [1000, 1e6]"

    def sql(self, name: str) -> str:
        """Spell the SQL expression that is the list of doubles, or the refusal."""
        listed = f"try_cast({name} AS DOUBLE[])"
        head, tail = self.sentence(name, "\0").split("\0")
        refusal = (
            f"error({sql_text(head)} || coalesce({name}::VARCHAR, 'NULL') || {sql_text(tail)})::DOUBLE[]"
        )
        bad = f"coalesce(list_aggregate({listed}, 'count') < greatest(len({listed}), 1), true)"
        checked = f"list_transform({listed}, lambda v: {self.each.sql(name, value='v')})"
        missing = f"WHEN {name} IS NULL THEN NULL " if self.optional else ""
        return f"CASE {missing}WHEN {bad} THEN {refusal} ELSE {checked} END"


@dataclass(frozen=True)
class Choice:
    """One of a few words."""

    words: tuple[str, ...]

    def check(self, name: str, value: str) -> str:
        """Give the word back, or refuse it and offer the nearest."""
        if value not in self.words:
            nearest = suggestion(str(value), self.words, "choices")
            raise UnknownNameError(f"{self._rule(name)}{value}'; {nearest}")
        return value

    def _rule(self, name: str) -> str:
        return f"{name} must be one of {self._listed()}, got '"

    def _listed(self) -> str:
        return ", ".join(map(sql_text, self.words))

    def sql(self, name: str) -> str:
        """Spell the SQL expression that is the word, or the refusal (also of NULL)."""
        value = f'"{name}"::VARCHAR'  # quoted, as `by` is a word of SQL
        refusal = self.refusal(name, f"coalesce({value}, 'NULL')")
        return f"CASE WHEN {self.met(name)} THEN {value} ELSE {refusal} END"

    def met(self, name: str) -> str:
        """Spell the SQL condition that the parameter is one of the words."""
        return f"coalesce(\"{name}\"::VARCHAR, '') IN ({self._listed()})"

    def refusal(self, name: str, got: str) -> str:
        """Spell the SQL expression that refuses, where `got` is that of the text that was given."""
        return f"reid_no_choice({sql_text(self._rule(name))}, {got}, [{self._listed()}])"


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
        if not isinstance(value, str) or not 1 <= len(value) <= LONGEST_TEXT:
            raise OutOfDomainError(self.sentence(name, "NULL" if value is None else str(value)))
        return value

    def sentence(self, name: str, got: str) -> str:
        """Rule, value, remedy."""
        return f"{name} must be {self.rule}, got '{got}'; {self.remedy}"

    def sql(self, name: str) -> str:
        """Spell the SQL expression that is the text, or the refusal."""
        head, tail = self.sentence(name, "\0").split("\0")
        refusal = f"error({sql_text(head)} || coalesce({name}::VARCHAR, 'NULL') || {sql_text(tail)})::VARCHAR"
        missing = f"WHEN {name} IS NULL THEN NULL " if self.optional else ""
        return (
            f"CASE {missing}WHEN length({name}::VARCHAR) BETWEEN 1 AND {LONGEST_TEXT} "
            f"THEN {name}::VARCHAR ELSE {refusal} END"
        )


@dataclass(frozen=True)
class Texts:
    """A list of names, which may be empty or NULL; `of_record`, the values of a record, any of them NULL."""

    of_record: bool = False

    def check(self, name: str, values: Sequence[str | None] | None) -> list[Any]:
        """Give the texts as a list, or refuse what is none."""
        told = () if values is None and not self.of_record else values
        none = None if self.of_record else ""
        if isinstance(told, Sequence) and not isinstance(told, str):
            listed = list(told)
            if all(isinstance(value, str) or value is none for value in listed):
                return listed
        raise OutOfDomainError(self.sentence(name, str(values)))

    def sentence(self, name: str, got: str) -> str:
        """Rule, value, remedy."""
        if self.of_record:
            return (
                f"{name} must be a list of texts, got {got}; write a person's values like ['34', 'F', NULL]"
            )
        return f"{name} must be a list of names, got {got}; write it like ['age', 'income']"

    def sql(self, name: str) -> str:
        """Spell the SQL expression that is the list, or the refusal."""
        listed = f"try_cast({name} AS VARCHAR[])"
        head, tail = self.sentence(name, "\0").split("\0")
        got = f"coalesce({name}::VARCHAR, 'NULL')"
        refusal = f"error({sql_text(head)} || {got} || {sql_text(tail)})::VARCHAR[]"
        if self.of_record:
            return f"CASE WHEN {listed} IS NULL THEN {refusal} ELSE {listed} END"
        bad = (
            f"{listed} IS NULL OR list_contains(list_transform({listed}, "
            "lambda reid_text: reid_text IS NULL), true)"
        )
        return f"CASE WHEN {name} IS NULL THEN []::VARCHAR[] WHEN {bad} THEN {refusal} ELSE {listed} END"


@dataclass(frozen=True)
class Table:
    """A relation: in SQL a name or a path, in Polars a LazyFrame or DataFrame, on Spark a DataFrame."""


@dataclass(frozen=True)
class OptionalTable:
    """A relation, or NULL; the reduction holds it against the columns that it must have."""


@dataclass(frozen=True)
class Columns:
    """A list of 1 to 64 distinct column names, or if `optional` NULL for all; sentences call them `words`."""

    words: str
    optional: bool = False

    def check(self, names: Sequence[str], known: Sequence[str]) -> list[str]:
        """Give the names as a list, or refuse: not a list, empty, too many, repeated, or not in the table."""
        if (
            isinstance(names, str)
            or not isinstance(names, Sequence)
            or not all(isinstance(name, str) for name in names)
        ):
            raise OutOfDomainError(
                f"{self.words} must be a list of column names, got {names}; write ['age', 'sex']"
            )
        if not 1 <= len(names) <= MAX_COLUMNS:
            got = f"{self.words} must name 1 to {MAX_COLUMNS} columns, got {len(names)}"
            raise OutOfDomainError(
                f"{got}; pass the columns by which people can be told apart, such as ['age', 'sex']"
            )
        for position, name in enumerate(names):
            if name in names[:position]:
                raise OutOfDomainError(
                    f"{self.words} must be distinct, got '{name}' twice; name each column once"
                )
        return self.known(names, known)

    def known(self, names: Sequence[str], known: Sequence[str]) -> list[str]:
        """Give the names as a list, or refuse the first that is not in the table."""
        for name in names:
            if name not in known:
                message = (
                    f"{self.words} must be columns of the table, got '{name}'; {suggestion(name, known)}"
                )
                raise UnknownNameError(message)
        return list(names)


@dataclass(frozen=True)
class Groups:
    """A list of columns by whose values a table is divided, each group answered for itself, or NULL."""


@dataclass(frozen=True)
class Column:
    """One column name; `words` is what the sentences call the columns that are named one by one."""

    words: str


@dataclass(frozen=True)
class Key:
    """The name of a column by which the answer tells records, or NULL.

    The reduction holds it against the table.
    """


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

    def sql(self, name: str) -> str:
        """Spell the SQL expression that is the text, or the refusal; a STRUCT is as good as JSON."""
        text = (
            f"CASE WHEN typeof({name}) LIKE 'STRUCT%' THEN to_json({name})::VARCHAR ELSE {name}::VARCHAR END"
        )
        files = "current_setting('enable_external_access')::BOOLEAN"
        return f"""list_extract(list_transform([reid_read_{self.kind}({text}, {files})], lambda reid_found:
            CASE WHEN reid_found['refusal'] IS NULL THEN reid_found['text']
            ELSE error(reid_found['refusal']) END), 1)"""


@dataclass(frozen=True)
class Values:
    """Values of any type, one array a column."""


PROBABILITY: Final = Number("a probability between 0 and 1", "pass a share, such as 0.01 for 1 %", 0.0, 1.0)
COUNT: Final = Number(
    "a number of people of at least 1 and at most 1e+15",
    "pass the size of the population that the record is looked for in",
    1.0,
    1e15,
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
SAMPLES: Final = Number(
    "a whole number of draws from 2 to 1e+8",
    "pass how many targets to draw, such as 10000",
    2.0,
    1e8,
    whole=True,
)
COMBINATIONS: Final = Number(
    "a whole number of combinations from 0 to 1e+12",
    "pass up to how many combinations of items to count exactly, such as 1000000",
    0.0,
    1e12,
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
VALUE_OR_DROP: Final = Choice(("value", "drop"))
QUASI_IDENTIFIERS: Final = Columns("quasi-identifiers")
COLUMNS: Final = Columns("columns")
COLUMNS_AND_KEY: Final = Columns("columns and key")
PERSON_OR_ITEM: Final = Column("person and item")
TABLE: Final = Table()
OPTIONAL_TABLE: Final = OptionalTable()
MODEL: Final = Text("the name of a fitted model", "see copula_models() for those there are")
NEW_MODEL: Final = Text("a name of 1 to 200 characters", "choose one by which the model will be known")
WEIGHT: Final = Text("the name of a column of survey weights", "write weight := 'column'", optional=True)
ORDERED: Final = Texts()
RECORD: Final = Texts(of_record=True)

Probability = Annotated[npt.ArrayLike, PROBABILITY]
Count = Annotated[npt.ArrayLike, COUNT]
Counts = Annotated[npt.ArrayLike, Numbers(COUNT)]
Threshold = Annotated[float, THRESHOLD]
SubsetSize = Annotated[int, SUBSET_SIZE]
Model = Annotated[str, MODEL]
NewModel = Annotated[str, NEW_MODEL]
Names = Annotated[list[str] | None, ORDERED]
RecordValues = Annotated[list[str | None], RECORD]
Seed = Annotated[int, SEED]
NullPolicy = Annotated[NullWord, NULLS]

Checked = Number | Numbers | Choice | Text | Texts
Domain = Checked | Columns | Groups | Column | Table | OptionalTable | Key | Document | Values
