"""What a column of an answer is, by its declaration in figures.toml: so a mask knows how it may be shown."""

import tomllib
from collections.abc import Mapping
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Final

FILE: Final = Path(__file__).with_suffix(".toml")
ENDS: Final = ("_low", "_high")  # of an interval: its bounds are declared with the figure


class Kind(Enum):
    """What a figure counts, or what it is computed from; the values are the keys of the file."""

    LABEL = "label"
    SETTING = "setting"
    STATUS = "status"
    COUNT = "count"
    SHARE = "share"
    CLASS_SIZES = "class_sizes"
    CLASS_MEAN = "class_mean"
    SINGLE = "single"
    DISTRIBUTION = "distribution"
    CELLS = "cells"
    CELL_SUM = "cell_sum"


PART_OF_WHOLE: Final = frozenset(
    {Kind.COUNT, Kind.SHARE}
)  # what remains of the whole is a count, too


def kind_of(function: str, column: str) -> Kind | None:
    """Return what a column of the function's answer is; None if nobody declared it, so that it is not shown.

    >>> kind_of("risk_summary", "uniqueness"), kind_of("pyc_forecast", "uniqueness_high")
    (<Kind.SHARE: 'share'>, <Kind.CLASS_SIZES: 'class_sizes'>)
    >>> kind_of("risk_summary", "a_new_column")
    """
    kinds, _ = _declared()
    bare = next((column.removesuffix(end) for end in ENDS if column.endswith(end)), column)
    names = (f"{function}.{column}", f"{function}.{bare}", column, bare)
    return next((kinds[name] for name in names if name in kinds), None)


def whole_of(function: str) -> str:
    """Return the column of the answer that has all of its records or people; empty if it has none.

    >>> whole_of("risk_summary"), whole_of("household_risk")
    ('records', 'households')
    """
    _, wholes = _declared()
    return wholes.get(function, "records")


def declared_columns() -> Mapping[str, Kind]:
    """Return every name that the file declares, with or without a function."""
    return _declared()[0]


@cache
def _declared() -> tuple[Mapping[str, Kind], Mapping[str, str]]:
    """Read the file; a name is declared once."""
    written = tomllib.loads(FILE.read_text(encoding="utf-8"))
    wholes = written.pop("whole")
    kinds: dict[str, Kind] = {}
    for key, names in written.items():
        for name in names.split():
            if name in kinds:
                raise ValueError(f"{FILE.name} must declare a column once, got '{name}' twice")
            kinds[name] = Kind(key)
    return kinds, wholes
