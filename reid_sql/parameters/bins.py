"""Resolutions of columns, each coarser than the one before: bins of times and numbers, or other columns."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, Final

from reid_sql.errors import OutOfDomainError
from reid_sql.parameters.domain import NULL_TOO, Domain, is_listed, is_number, list_text

Level = str | float
Levels = Mapping[str, Sequence[Level]]
INTERVAL: Final = re.compile(r"[1-9]\d{0,8} (second|minute|hour|day|week|month|year)s?")
MAX_RESOLUTIONS: Final = 64
REMEDY: Final = (
    "write {'time': ['1 hour', '1 day'], 'income': [100, 1000], 'place': ['place', 'district']}"
)


@dataclass(frozen=True)
class Bins(Domain):
    """For a column its resolutions: an interval of time, the width of a bin, or a column; or NULL."""

    is_in_checks = False
    label = "resolutions by column: times such as `'1 day'`, widths of bins, or columns" + NULL_TOO
    hint = "Mapping[str, Sequence[str | float]] | None"

    def read_sql(self, name: str, value: Any) -> dict[str, list[Level]] | None:  # noqa: ANN401 - as SQL gave it
        """Read a STRUCT, a MAP or a mapping of lists."""
        if value is None:
            return None
        mapping = dict(value) if isinstance(value, Mapping) else {}
        levels = {
            column: list(each) if is_listed(each) else [each] for column, each in mapping.items()
        }
        combinations = prod(map(len, levels.values()))
        is_read = all(isinstance(column, str) for column in levels) and all(
            _is_level(level) for each in levels.values() for level in each
        )
        if not levels or not is_read or not 1 <= combinations <= MAX_RESOLUTIONS:
            rule = (
                f"{name} must be resolutions by column, in at most {MAX_RESOLUTIONS} combinations"
            )
            raise OutOfDomainError(f"{rule}, got {list_text(value)}; {REMEDY}")
        return {
            key: [each if isinstance(each, str) else float(each) for each in listed]
            for key, listed in levels.items()
        }

    from_python = read_sql

    def columns_in(self, value: Any, table: str) -> Sequence[str]:  # noqa: ANN401, ARG002 - a checked argument
        """The coarser columns."""
        levels = [level for each in (value or {}).values() for level in each]
        return [
            level for level in levels if isinstance(level, str) and not INTERVAL.fullmatch(level)
        ]


def _is_level(level: Any) -> bool:  # noqa: ANN401 - as it may be
    return bool(level) if isinstance(level, str) else is_number(level) and 0 < level < float("inf")


def list_resolutions(bins: Levels) -> list[tuple[str, dict[str, Level]]]:
    """Combine the resolutions of all columns, each with its name.

    >>> [name for name, _ in list_resolutions({"day": ["1 day", "7 days"], "place": ["district"]})]
    ['day: 1 day, place: district', 'day: 7 days, place: district']
    """
    chosen = [dict(zip(bins, each, strict=True)) for each in product(*bins.values())]
    return [
        (", ".join(f"{key}: {_shown(level)}" for key, level in each.items()), each)
        for each in chosen
    ]


def _shown(level: Level) -> str:
    return level if isinstance(level, str) else f"{level:.15g}"
