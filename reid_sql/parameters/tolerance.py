"""By how much two values may differ and still match: the parameter `tolerance`."""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from reid_sql.errors import OutOfDomainError
from reid_sql.parameters.domain import NULL_TOO, Domain, describe_value, fold_case, is_number

AMOUNT: Final = re.compile(
    r"\s*(\d{1,30}(?:\.\d{1,30})?)\s*(%|[a-z]*?)s?\s*", re.ASCII | re.IGNORECASE
)
SECONDS: Final = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}
MONTHS: Final = {"month": 1, "year": 12}
EDIT: Final = "edit"
PERCENT: Final = "%"
UNITS: Final = ("", PERCENT, EDIT, *SECONDS, *MONTHS)
MAX_AMOUNT: Final = Decimal(10**15)
PERCENT_PLACES: Final = 6
HUNDRED: Final = 100
RULE: Final = (
    "tolerance must give for each column a number above 0 and up to 1e+15, a percentage above 0 and below "
    "100 such as '5 %', a time such as '3 days' or '1 month', or '1 edit', got {}; write it like "
    "{{'age': 2, 'income': '5 %'}}, and leave out a column whose values must be equal"
)


@dataclass(frozen=True)
class Allowance:
    """By how much two values of a column may differ: an amount, and what it counts."""

    amount: Decimal
    unit: str = ""

    @property
    def is_of_text(self) -> bool:
        """Whether it counts edits of a text."""
        return self.unit == EDIT

    def text(self) -> str:
        """Write it as it is given.

        >>> Allowance(Decimal(3), "day").text(), Allowance(Decimal("0.5")).text()
        ('3 days', '0.5')
        """
        amount = f"{self.amount.normalize():f}"
        plural = "s" if self.unit not in {"", PERCENT} and self.amount != 1 else ""
        return f"{amount} {self.unit}{plural}".strip()


Allowances = Mapping[int, Allowance]  # by the place of the column


def read_allowance(value: Any) -> Allowance | None:  # noqa: ANN401 - as it may be
    """Read what a column's values may differ by; None if it is nothing of the kind.

    >>> read_allowance("3 days"), read_allowance(0), read_allowance("2 edits")
    (Allowance(amount=Decimal('3'), unit='day'), None, None)
    """
    if is_number(value):
        try:
            read = Allowance(Decimal(str(value)))
        except InvalidOperation:
            return None
    else:
        match = AMOUNT.fullmatch(value) if isinstance(value, str) else None
        if match is None or match[2].lower() not in UNITS:
            return None
        read = Allowance(Decimal(match[1]), match[2].lower())
    return read if _is_possible(read) else None


def _is_possible(read: Allowance) -> bool:
    if not read.amount.is_finite() or not 0 < read.amount <= MAX_AMOUNT:
        return False
    if read.unit == PERCENT:
        return read.amount < HUNDRED and read.amount == round(read.amount, PERCENT_PLACES)
    if read.unit == EDIT:
        return read.amount == 1
    return not read.unit or (read.amount == int(read.amount) and read.amount <= 10**6)


@dataclass(frozen=True)
class Tolerance(Domain):
    """By how much values of the quasi-identifiers may differ, by column, or NULL; checked, it is JSON."""

    role = "tolerance"
    form = "mapping"
    label = "a STRUCT of a number, a percentage, a time or `'1 edit'` for each column" + NULL_TOO
    hint = "Mapping[str, float | str] | None"

    def check(self, name: str, value: Any) -> str | None:  # noqa: ANN401, ARG002 - its rule says it
        """Give the allowances of a STRUCT, MAP, mapping or JSON text as JSON text, or refuse what is none."""
        if value is None:
            return None
        mapping = value
        if isinstance(value, str):
            with suppress(ValueError):
                mapping = json.loads(value)
        if not isinstance(mapping, Mapping) or not mapping:
            raise OutOfDomainError(RULE.format(describe_value(value)))
        allowances: dict[str, str] = {}
        for column, each in mapping.items():
            read = read_allowance(each)
            if read is None:
                raise OutOfDomainError(RULE.format(f"{describe_value(each)} for '{column}'"))
            if fold_case(str(column)) in map(fold_case, allowances):
                raise OutOfDomainError(RULE.format(f"'{column}' twice"))
            allowances[str(column)] = read.text()
        return json.dumps(allowances, ensure_ascii=False)

    read_sql = from_python = check

    @property
    def schema(self) -> dict[str, Any]:
        """A number or a text for each column."""
        each = {"type": ["number", "string"]}
        return {"type": "object", "minProperties": 1, "additionalProperties": each}


def allowances_of(tolerance: str | None, columns: Sequence[str]) -> dict[int, Allowance]:
    """Read checked allowances by the places of their columns, counted from 1; refuses any other column."""
    if tolerance is None:
        return {}
    folded = [fold_case(column) for column in columns]
    read: dict[int, Allowance] = {}
    for column, each in json.loads(tolerance).items():
        if fold_case(column) not in folded:
            raise OutOfDomainError(
                f"tolerance must name columns that are compared, got '{column}'; name it among the quasi-identifiers too, or leave it out here"
            )
        allowance = read_allowance(each)
        if allowance is not None:
            read[folded.index(fold_case(column)) + 1] = allowance
    return read
