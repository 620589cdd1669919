"""Parameters that are tables."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from reid_sql.errors import OutOfDomainError
from reid_sql.parameters.domain import Domain

MAX_TABLES: Final = 64


@dataclass(frozen=True)
class Table(Domain):
    """A relation: in SQL a name or a path, in Polars a LazyFrame or DataFrame, on Spark a DataFrame.

    `describes_columns` is true where a column that repeats itself is no caution but a result.
    """

    is_table = True
    is_required_table = True
    describes_columns: bool = False

    def has_people(self, *, by_entity: bool) -> bool:
        """Whether each row is counted for a person: the entity identifies people of the table."""
        return not by_entity and not self.describes_columns

    def convert_tables(self, name: str, value: Any, convert: Callable[[Any], Any]) -> Any:  # noqa: ANN401, ARG002
        """Convert the relation."""
        return convert(value)

    @property
    def label(self) -> str:
        """What the relation may be."""
        return "a table, view, CTE or file; in Polars and Spark a frame"

    @property
    def hint(self) -> str:
        """A frame."""
        return "_Frame"


@dataclass(frozen=True)
class OptionalTable(Domain):
    """A relation, or NULL; the reduction checks that it has the columns that it must have.

    `has_entity` is true where the entity identifies its people too.
    """

    is_table = True
    is_in_checks = False
    has_entity: bool = False

    def has_people(self, *, by_entity: bool) -> bool:
        """Whether each row is counted for a person: an entity identifies people of the first table alone."""
        return not (by_entity and self.has_entity)

    def convert_tables(self, name: str, value: Any, convert: Callable[[Any], Any]) -> Any:  # noqa: ANN401, ARG002
        """Convert the relation, if there is one."""
        return None if value is None else convert(value)

    @property
    def label(self) -> str:
        """What the relation may be."""
        return "a table, view, CTE or file, or NULL"

    @property
    def hint(self) -> str:
        """A frame, or none."""
        return "_Frame | None"


@dataclass(frozen=True)
class Tables(Domain):
    """A list of 1 to 64 relations, or one of them; each as a parameter of the domain Table."""

    def check(self, name: str, values: Any) -> list[Any]:  # noqa: ANN401 - names, or frames of an engine
        """Give the relations as a list, or refuse what is none."""
        listed = list(values) if isinstance(values, list | tuple) else [values]
        if not 1 <= len(listed) <= MAX_TABLES or any(each is None for each in listed):
            rule = f"{name} must be a list of 1 to {MAX_TABLES} tables, got {len(listed)}"
            raise OutOfDomainError(f"{rule}; write ['first', 'second'], none NULL")
        return listed

    def convert_tables(self, name: str, value: Any, convert: Callable[[Any], Any]) -> Any:  # noqa: ANN401 - as the base
        """Convert each relation."""
        return [convert(each) for each in self.check(name, value)]

    @property
    def label(self) -> str:
        """What the relations may be."""
        return "a list of tables, views, CTEs or files, by their names; in Polars of frames"

    @property
    def hint(self) -> str:
        """A frame or a list of frames."""
        return "_Frame | Sequence[_Frame]"
