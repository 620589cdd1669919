"""Parameters that are tables."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from reid_sql.errors import OutOfDomainError
from reid_sql.parameters.domain import Domain

MAX_TABLES: Final = 64


@dataclass(frozen=True)
class Table(Domain):
    """A relation: in SQL a name or a path, in Polars a LazyFrame or DataFrame, on Spark a DataFrame."""

    is_table = True
    is_required_table = True

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
    """A relation, or NULL; the reduction holds it against the columns that it must have."""

    is_table = True
    is_in_checks = False

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
