"""Parameters that name columns, one or several."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from reid_sql.errors import OutOfDomainError, UnknownNameError, WrongTypeError, suggestion
from reid_sql.parameters.domain import (
    NULL_TOO,
    POPULATION_TABLE,
    Domain,
    Role,
    describe_value,
    fold_case,
    list_text,
)

MAX_COLUMNS: Final = 64


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
            raise OutOfDomainError(
                f"{label} must be distinct, got '{column}' twice; name each column once"
            )
    return names


@dataclass(frozen=True)
class Columns(Domain):
    """A list of 1 to 64 distinct column names, or if `optional` NULL for all; sentences call them `words`.

    `table` is what a sentence calls their table, where there are several.
    """

    role = "counted"
    is_in_checks = False

    words: str
    optional: bool = False
    table: str = "the table"

    def check(self, names: Sequence[str], table_columns: Sequence[str]) -> list[str]:
        """Give the names as a list, or refuse: not a list, empty, too many, repeated, or not in the table."""
        return self.known(list_columns(self.words, names), table_columns)

    def known(self, names: Sequence[str], table_columns: Sequence[str]) -> list[str]:
        """Give the names as a list, or refuse the first that is not in the table."""
        for name in names:
            if name not in table_columns:
                raise UnknownNameError(
                    f"{self.words} must be columns of {self.table}, got '{name}'; {suggestion(name, table_columns)}"
                )
        return list(names)

    def read_sql(self, name: str, value: Any) -> list[str] | None:  # noqa: ANN401, ARG002 - as SQL gave it
        """Read the names; the query checks them in the table."""
        return (
            None if value is None and self.optional else list_columns(self.words, value, fold_case)
        )

    def from_python(self, name: str, value: Any) -> Any:  # noqa: ANN401, ARG002 - as it may be
        """Make a list of a single name; the reduction checks it."""
        return [value] if isinstance(value, str) else value

    def columns_in(self, value: Any, table: str) -> Sequence[str] | None:  # noqa: ANN401, ARG002
        """The columns, or all; refuses what is no list of names, whose names the table is asked for."""
        return None if value is None else _as_names(self.words, value)

    @property
    def label(self) -> str:
        """How many names."""
        return f"a list of 1 to {MAX_COLUMNS} column names" + NULL_TOO * self.optional

    @property
    def hint(self) -> str:
        """Names."""
        return "Sequence[str]" + " | None" * self.optional


@dataclass(frozen=True)
class Groups(Domain):
    """A list of columns by whose values a table is divided, each group answered for itself, or NULL."""

    role = "groups"
    is_in_checks = False
    label = f"a list of 1 to {MAX_COLUMNS} column names, or NULL"
    hint = "Sequence[str] | None"

    def read_sql(self, name: str, value: Any) -> list[str] | None:  # noqa: ANN401 - as SQL gave it
        """Read the names, or NULL for no groups; the query checks them in the table."""
        return None if value is None else list_columns(name, value, fold_case)

    def from_python(self, name: str, value: Any) -> Any:  # noqa: ANN401, ARG002 - as it may be
        """Make a list of a single name; the reduction checks it."""
        return [value] if isinstance(value, str) else value

    def columns_in(self, value: Any, table: str) -> Sequence[str]:  # noqa: ANN401, ARG002 - as the base
        """The columns, if there are groups."""
        return () if value is None else _as_names("by", value)


@dataclass(frozen=True)
class Named(Domain):
    """The name of one column."""

    def read_sql(self, name: str, value: Any) -> str | None:  # noqa: ANN401, ARG002 - as SQL gave it
        """Read the name, which the query checks, or NULL."""
        return None if value is None else str(value)

    def from_python(self, name: str, value: Any) -> str | None:  # noqa: ANN401 - as it may be
        """Check that it is a name."""
        if not isinstance(value, str):
            raise WrongTypeError(
                f"{name} must be the name of a column, got {describe_value(value)}; write it as a text, such as 'age'"
            )
        return value

    def columns_in(self, value: Any, table: str) -> Sequence[str]:  # noqa: ANN401 - a checked argument
        """The column, which a population lacks."""
        return () if value is None or table == POPULATION_TABLE else (value,)


@dataclass(frozen=True)
class Column(Named):
    """One column name; `words` is what the sentences call the columns that are named one by one."""

    role = "column"
    label = "the name of a column"
    hint = "str"

    words: str


@dataclass(frozen=True)
class Key(Named):
    """The name of a column that identifies the answer's records, or NULL; the reduction checks it."""

    role: ClassVar[Role] = "key"
    is_in_checks = False
    label = "the name of a column, or NULL"
    hint = "str | None"

    def from_python(self, name: str, value: Any) -> str | None:  # noqa: ANN401 - as it may be
        """Check that it is a name, or None."""
        return None if value is None else super().from_python(name, value)


@dataclass(frozen=True)
class Household(Key):
    """The name of the column that identifies a record's household, or NULL."""

    role = "household"


@dataclass(frozen=True)
class Values(Domain):
    """Values of any type, one array a column."""

    is_record_value = True
    spark_type = "DOUBLE"
    label = "a number or a value of any type, one column each"
    hint = "_Value"


@dataclass(frozen=True)
class Entity(Values):
    """The column that identifies people, not its name: one array, without NULL."""

    is_record_value = False
    role = "key"
    label = "the column that identifies people, of any type"


def _as_names(words: str, value: Any) -> list[str]:  # noqa: ANN401 - a list of names, or what is none
    is_list = isinstance(value, Sequence) and all(isinstance(name, str) for name in value)
    return (
        list(value) if is_list and not isinstance(value, str) else Columns(words).check(value, [])
    )
