"""What a parameter may be: the questions that engines, pages and schemas ask of every kind."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any, ClassVar, Final, Literal

from reid_sql.errors import OutOfDomainError

ASCII_LOWER: Final = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
NULL_TOO: Final = ", or NULL"
POPULATION_TABLE: Final = "population_tbl"  # which has the quasi-identifiers alone
MAX_SHOWN_LENGTH: Final = 80  # characters of a value that fit a sentence
# In a call, SQL reads `entity = 'pid'` as a comparison, whose BOOLEAN becomes the next parameter's value.
REFUSAL_BOOLEAN: Final = (
    "{} must not be true or false, got a BOOLEAN, as = makes by comparing; to set an option, "
    "write entity := 'pid'"
)
Role = Literal["counted", "groups", "column", "household", "key", "tolerance"]
Form = Literal["number", "numbers", "word", "names", "texts", "document", "mapping", "text"]

MAX_TABLES: Final = 64


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


def rename_columns(value: Any, names: Mapping[str, str]) -> Any:  # noqa: ANN401 - a name, or names
    """The columns by other names: one, a list, or pairs of two tables.

    >>> rename_columns({"id": "pid"}, {"pid": "person"})
    {'id': 'person'}
    """
    if isinstance(value, list | tuple):
        return [names.get(each, each) if isinstance(each, str) else each for each in value]
    if isinstance(value, Mapping):
        return {names.get(key, key): rename_columns(other, names) for key, other in value.items()}
    return names.get(value, value)


def order_by_name(columns: Sequence[str]) -> list[int]:
    """Places of the columns in the order of their names, so that the order of a call moves no figure.

    >>> order_by_name(["sex", "Age", "city"])
    [1, 2, 0]
    """
    return sorted(
        range(len(columns)), key=lambda place: (fold_case(columns[place]), columns[place])
    )


def sql_text(text: str) -> str:
    """The text as an SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def number_replacements(marks: str) -> list[tuple[str, str]]:
    r"""List what is replaced in a text of a number, and by what, to write it as SQL has it.

    The marks are between thousands, and before the fraction; behind them may be a unit.

    >>> number_replacements(".,"), number_replacements(",.$")
    ([('.', ''), (',', '.')], [(',', ''), ('$', ''), (' ', ''), ('\xa0', ''), ('\u202f', '')])
    """
    between, before, unit = marks[0], marks[1], marks[2:]
    removed = dict.fromkeys([between, *([unit, *" \u00a0\u202f"] if unit else [])])
    return [*((each, "") for each in removed), *([(before, ".")] if before != "." else [])]


def plain_number(value: str, marks: str) -> str:
    """Write a text of a number as SQL has it; its marks are between thousands, and before its fraction.

    >>> plain_number("amount", ".,"), plain_number("amount", ",.")
    ("replace(replace(amount, '.', ''), ',', '.')", "replace(amount, ',', '')")
    """
    for old, new in number_replacements(marks):
        value = f"replace({value}, {sql_text(old)}, {sql_text(new)})"
    return value


def sql_literal(value: Any) -> str:  # noqa: ANN401 - a default may be anything that SQL can spell
    """Spell a default as SQL."""
    if value is None:
        return "NULL"
    if isinstance(value, list | tuple):
        return f"[{', '.join(sql_literal(each) for each in value)}]"
    return sql_text(value) if isinstance(value, str) else str(value)


def quoted(name: str) -> str:
    """The name as SQL quotes one."""
    return '"' + name.replace('"', '""') + '"'


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


def is_number(value: Any) -> bool:  # noqa: ANN401 - anything
    """Whether the value is one number; a truth value and a text of digits are none."""
    return isinstance(value, Real | Decimal) and not isinstance(value, bool)


def is_listed(value: Any) -> bool:  # noqa: ANN401 - anything
    """Whether the value has items, and is no text or mapping."""
    return hasattr(value, "__iter__") and not isinstance(value, str | bytes | Mapping)


def describe_value(value: Any) -> str:  # noqa: ANN401 - anything
    """What was got, in few words: texts as they are, NULL for None, lists by items, else the type's name."""
    if value is None:
        return "NULL"
    can_be_shown = isinstance(value, str | list | tuple | Real | Decimal)
    return (
        str(value) if can_be_shown and len(str(value)) <= MAX_SHOWN_LENGTH else type(value).__name__
    )


@dataclass(frozen=True)
class Domain(ABC):
    """What a parameter may be: one rule and one sentence, in SQL, in Python and on the command line.

    Each kind of parameters is a subclass. Whatever differs by kind is its method or its attribute, so that
    nothing else asks of which kind a parameter is.
    """

    is_table: ClassVar[bool] = False  # one relation, which may be optional
    is_required_table: ClassVar[bool] = False
    role: ClassVar[Role | None] = None  # how the function uses the columns that it names
    form: ClassVar[Form] = "text"  # what people write for it in a policy or on the command line
    # columns of values, after the options of a function of records
    is_record_value: ClassVar[bool] = False
    is_in_checks: ClassVar[bool] = True  # whether a check of the release gate may set it
    spark_type: ClassVar[str] = "STRING"

    @property
    def sql_type(self) -> str:
        """The type by which it reaches a Python body in DuckDB."""
        return "VARCHAR"

    @property
    @abstractmethod
    def label(self) -> str:
        """What the parameter may be, as pages describe it."""

    @property
    @abstractmethod
    def hint(self) -> str:
        """The type in Python, as stubs have it."""

    @property
    def hint_of_option(self) -> str:
        """The type in Python where a default follows."""
        return self.hint

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the parameter in a policy."""
        return {"type": "string"}

    def sentence(self, name: str, got: str) -> str:
        """Rule and value; kinds that have one add the remedy."""
        return f"{name} must be {self.label}, got {got}"

    def from_sql(self, name: str, value: Any) -> Any:  # noqa: ANN401 - as SQL gave it
        """Read what SQL gave, or refuse it; a truth value comes from a comparison, and is never right."""
        if isinstance(value, bool):
            raise OutOfDomainError(REFUSAL_BOOLEAN.format(name))
        return self.read_sql(name, value)

    def read_sql(self, name: str, value: Any) -> Any:  # noqa: ANN401, ARG002 - as SQL gave it
        """Read what SQL gave, which is no truth value."""
        return value

    def may_be_text(self, text: str) -> bool:  # noqa: ARG002 - such as any name of a column
        """Whether the text can be right."""
        return True

    def from_python(self, name: str, value: Any) -> Any:  # noqa: ANN401, ARG002 - an option, as it may be
        """Check an option of Python; tables and columns are checked where they are used."""
        return value

    def without_files(self) -> "Domain":
        """The domain where the connection may read no file."""
        return self

    def literal(self, value: Any) -> str:  # noqa: ANN401 - a checked value
        """Write a checked value as SQL, with its type."""
        return f"NULL::{self.sql_type}" if value is None else self.write_sql(value)

    def write_sql(self, value: Any) -> str:  # noqa: ANN401 - a checked value
        """Write a checked value, which is not NULL, as SQL."""
        return sql_text(str(value))

    def cell(self, column: str) -> str:
        """Write the SQL expression that is the value of a record, or the refusal."""
        return column

    def conditions(self, cell: str) -> list[str]:  # noqa: ARG002 - there are none
        """Write the conditions in SQL that a record's number fulfils."""
        return []

    def check_numbers(self, name: str, values: Any, *, of_column: bool) -> Any:  # noqa: ANN401, ARG002
        """Check the numbers of a column, or the one that is passed in place of a column."""
        return values

    def refusal_of_cells(self, name: str) -> str:
        """The refusal of a column whose values are no numbers."""
        return f"{name} must be a number"

    def convert_tables(self, name: str, value: Any, convert: Callable[[Any], Any]) -> Any:  # noqa: ANN401, ARG002
        """Convert each relation of the argument; another argument stays as it is."""
        return value

    def has_people(self, *, by_entity: bool) -> bool:  # noqa: ARG002 - only a table has
        """Whether each row of the table is counted for a person, where an entity is given or not."""
        return False

    @property
    def lists_people(self) -> bool:
        """Whether the argument is one table of people, or a list of them, whom a column may identify."""
        return self.is_table

    def has_codes(self) -> bool:
        """Whether a code for "missing" in the table would count as a value of people."""
        return self.has_people(by_entity=False)

    def columns_in(self, value: Any, table: str) -> Sequence[str] | None:  # noqa: ANN401, ARG002
        """The columns of a table that a checked argument names; None for all of the table."""
        return ()


@dataclass(frozen=True)
class Table(Domain):
    """A relation: in SQL a name or a path, in Polars a LazyFrame or DataFrame, on Spark a DataFrame.

    `describes_columns` is true where a column that repeats itself is no caution but a result.
    """

    is_table = True
    is_required_table = True
    label = "a table, view, CTE or file; in Polars and Spark a frame"
    hint = "_Frame"
    describes_columns: bool = False

    def has_people(self, *, by_entity: bool) -> bool:
        """Whether each row is counted for a person: the entity identifies people of the table."""
        return not by_entity and not self.describes_columns

    def convert_tables(self, name: str, value: Any, convert: Callable[[Any], Any]) -> Any:  # noqa: ANN401, ARG002
        """Convert the relation."""
        return convert(value)


@dataclass(frozen=True)
class OptionalTable(Domain):
    """A relation, or NULL; the reduction checks that it has the columns that it must have.

    `has_entity` is true where the entity identifies its people too.
    """

    is_table = True
    is_in_checks = False
    label = "a table, view, CTE or file, or NULL"
    hint = "_Frame | None"
    has_entity: bool = False

    def has_people(self, *, by_entity: bool) -> bool:
        """Whether each row is counted for a person: an entity identifies people of the first table alone."""
        return not (by_entity and self.has_entity)

    def convert_tables(self, name: str, value: Any, convert: Callable[[Any], Any]) -> Any:  # noqa: ANN401, ARG002
        """Convert the relation, if there is one."""
        return None if value is None else convert(value)


@dataclass(frozen=True)
class Tables(Domain):
    """A list of 1 to 64 relations, or one of them; each as a parameter of the domain Table. Perhaps NULL.

    The relations contain aggregates, unless they are `of_people`.
    """

    optional: bool = False
    of_people: bool = False

    @property
    def lists_people(self) -> bool:
        """Whether the tables contain people."""
        return self.of_people

    def has_people(self, *, by_entity: bool) -> bool:
        """Whether each row of each table is counted for a person."""
        return self.of_people and not by_entity

    def check(self, name: str, values: Any) -> list[Any]:  # noqa: ANN401 - names, or frames of an engine
        """Give the relations as a list, or refuse what is none."""
        if self.optional and (values is None or (isinstance(values, list | tuple) and not values)):
            return []
        listed = list(values) if isinstance(values, list | tuple) else [values]
        if not 1 <= len(listed) <= MAX_TABLES or any(each is None for each in listed):
            raise OutOfDomainError(
                f"{name} must be a list of 1 to {MAX_TABLES} tables, got {len(listed)}; write ['first', 'second'], none NULL"
            )
        return listed

    def convert_tables(self, name: str, value: Any, convert: Callable[[Any], Any]) -> Any:  # noqa: ANN401 - as the base
        """Convert each relation."""
        return [convert(each) for each in self.check(name, value)]

    @property
    def label(self) -> str:
        """What the relations may be."""
        return "a list of tables, views, CTEs or files, by their names; in Polars of frames" + (
            NULL_TOO * self.optional
        )

    @property
    def hint(self) -> str:
        """A frame or a list of frames."""
        return "_Frame | Sequence[_Frame]" + " | None" * self.optional
