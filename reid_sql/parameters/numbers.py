"""Parameters that are numbers, and lists of numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from reid_sql.errors import OTHER_VALUE, OutOfDomainError, WrongTypeError
from reid_sql.parameters.domain import (
    NULL_TOO,
    REFUSAL_BOOLEAN,
    Domain,
    describe_value,
    is_listed,
    is_number,
    list_text,
    plain,
    sql_text,
)

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Number(Domain):
    """Numbers from `low` to `high`, both included, finite and not NaN; `remedy` says what to pass instead."""

    form = "number"
    spark_type = "DOUBLE"
    hint = "_Value"

    rule: str
    remedy: str
    low: float
    high: float
    whole: bool = False
    optional: bool = False  # whether it may be NULL

    def check(self, name: str, values: npt.ArrayLike, *, of_column: bool = False) -> Floats:
        """Give the values as doubles, or refuse the first one outside the domain; never repeat a column's."""
        try:
            array = np.asarray(values, dtype=np.float64)
        except OverflowError:
            raise OutOfDomainError(
                self.sentence(name, "a number of more than 308 digits")
            ) from None
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

    def cell(self, column: str) -> str:
        """Write the SQL expression that is the number of a record, or the refusal, which names a column."""
        value = f"TRY_CAST({column} AS DOUBLE)"
        head, tail = self.sentence(column, "\0").split("\0")
        got = rf"regexp_replace(alias({column}), '^CAST\((.*) AS [^)]*\)$|[.]0$', '\1')"
        whole = f" AND {value} = floor({value})" if self.whole else ""
        inside = f"({value} BETWEEN {self.low!r} AND {self.high!r}{whole})"
        refusal = f"error(({sql_text(head)} || {got} || {sql_text(tail)})::VARCHAR)::DOUBLE"
        boolean = sql_text(REFUSAL_BOOLEAN.format(column))
        comparison = f"WHEN typeof({column}) = 'BOOLEAN' THEN error({boolean})::DOUBLE"
        checked = (
            f"CASE {comparison} WHEN {column} IS NULL OR {inside} THEN {value} ELSE {refusal} END"
        )
        return f"({checked})::BIGINT" if self.whole else checked

    def read_sql(self, name: str, value: Any) -> float | None:  # noqa: ANN401 - as SQL gave it
        """Read the number, whole where it must be, or refuse it."""
        if value is None and self.optional:
            return None
        try:
            number = float(value)
        except OverflowError:
            raise OutOfDomainError(
                self.sentence(name, "a number of more than 308 digits")
            ) from None
        except (TypeError, ValueError):
            raise OutOfDomainError(self.sentence(name, list_text(value))) from None
        checked = self.check_one(name, number)
        return int(checked) if self.whole else checked

    def may_be_text(self, text: str) -> bool:  # noqa: ARG002 - none is a number
        """No text is a number."""
        return False

    def from_python(self, name: str, value: Any) -> float | None:  # noqa: ANN401 - an option, as it may be
        """Check the number, whole where it must be."""
        if value is None and self.optional:
            return None
        if not is_number(value):
            raise WrongTypeError(self.sentence(name, describe_value(value)))
        number = float(self.check(name, value))
        return int(value) if self.whole else number

    def conditions(self, cell: str) -> list[str]:
        """Write the range as a condition."""
        return [f"{cell} BETWEEN {self.low!r} AND {self.high!r}"]

    def check_numbers(self, name: str, values: Any, *, of_column: bool) -> Any:  # noqa: ANN401 - as the base
        """Check the numbers of a column, or the one that is passed in place of a column."""
        return self.check(name, values, of_column=of_column)

    def refusal_of_cells(self, name: str) -> str:
        """The refusal of a column whose values are no numbers; it repeats none."""
        return self.sentence(name, OTHER_VALUE)

    def write_sql(self, value: Any) -> str:  # noqa: ANN401 - a checked value
        """Write the number with its type."""
        return f"{value!r}::{self.sql_type}"

    @property
    def sql_type(self) -> str:
        """The type by which it reaches a Python body in DuckDB."""
        return "BIGINT" if self.whole else "DOUBLE"

    @property
    def label(self) -> str:
        """What the number may be."""
        return self.rule + NULL_TOO * self.optional

    @property
    def hint_of_option(self) -> str:
        """One number."""
        return ("int" if self.whole else "float") + " | None" * self.optional

    @property
    def schema(self) -> dict[str, Any]:
        """The range."""
        kind = "integer" if self.whole else "number"
        return {"type": kind, "minimum": self.low, "maximum": self.high, "description": self.rule}


@dataclass(frozen=True)
class Numbers(Domain):
    """A list of numbers, each in its own domain; perhaps NULL (`optional`), or one number without a list."""

    form = "numbers"
    is_in_checks = False
    spark_type = "ARRAY<DOUBLE>"
    sql_type = "DOUBLE[]"

    each: Number
    optional: bool = False
    is_one_enough: bool = False
    example: str = "[1000, 1e6]"

    def check(self, name: str, values: npt.ArrayLike | None) -> Floats | None:
        """Give the numbers as doubles, or refuse: not a list, empty, or one outside the domain."""
        if values is None and self.optional:
            return None
        array = np.array(
            [] if isinstance(values, str) else values, dtype=object, ndmin=self.is_one_enough
        )
        if array.ndim != 1 or not len(array) or any(value is None for value in array):
            raise OutOfDomainError(self.sentence(name, "NULL" if values is None else str(values)))
        return self.each.check(name, array.astype(np.float64))

    def sentence(self, name: str, got: str) -> str:
        """Rule, value, remedy."""
        one = "a number or " if self.is_one_enough else ""
        return f"{name} must be {one}a list of one or more numbers, got {got}; write it like {self.example}"

    def read_sql(self, name: str, value: Any) -> list[float] | None:  # noqa: ANN401 - as SQL gave it
        """Read the numbers, or refuse what is no list of them."""
        if value is None and self.optional:
            return None
        value = (
            [value]
            if self.is_one_enough and not isinstance(value, list | tuple | str | None)
            else value
        )
        if not isinstance(value, list | tuple) or not value or any(each is None for each in value):
            raise OutOfDomainError(self.sentence(name, list_text(value)))
        return [self.each.from_sql(name, each) for each in value]

    def may_be_text(self, text: str) -> bool:  # noqa: ARG002 - none is a number
        """No text is a number."""
        return False

    def from_python(self, name: str, value: Any) -> list[float] | None:  # noqa: ANN401 - as it may be
        """Check the list, or refuse what is none and what contains anything but numbers."""
        if value is None and self.optional:
            return None
        listed = [value] if self.is_one_enough and is_number(value) else value
        items = list(listed) if is_listed(listed) else []
        if not items or not all(map(is_number, items)):
            raise WrongTypeError(self.sentence(name, describe_value(value)))
        numbers = self.check(name, list(map(float, items)))
        return None if numbers is None else numbers.tolist()

    def write_sql(self, value: Any) -> str:  # noqa: ANN401 - a checked value
        """Write the list with its type."""
        return f"[{', '.join(map(repr, value))}]::{self.sql_type}"

    @property
    def label(self) -> str:
        """What the numbers may be."""
        one = f"{self.each.rule}, or a list of them" if self.is_one_enough else ""
        return (one or f"a list, each of it {self.each.rule}") + NULL_TOO * self.optional

    @property
    def hint(self) -> str:
        """A list, or one number where one is enough."""
        return "float | " * self.is_one_enough + "Sequence[float]" + " | None" * self.optional

    @property
    def schema(self) -> dict[str, Any]:
        """A list of numbers in their range."""
        return {"type": "array", "items": self.each.schema, "minItems": 1}
