"""The codes of cautions: those of the gate itself, and of each status that a function returns."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from reid_sql import models
from reid_sql.errors import UnknownNameError, suggestion

OF_THE_GATE: Final = (
    *("blank_records", "columns_not_covered", "fewer_choices", "met_by_any_table", "missing_codes"),
    *("missing_sensitive", "nobody", "other_policy", "population_of_groups", "records_dropped"),
    *(
        "repeated_identifier",
        "repeated_rows",
        "small_groups",
        "small_population",
        "uncounted_identifier",
        "unclear_name",
        "view",
        "written_alike",
    ),
)
CODE: Final = re.compile(r"((?:by )?[a-z][a-z0-9_]*): ")


def refuse_unknown_code(where: str, code: str) -> None:
    """Refuse a code that no caution has: a policy would accept nothing by it."""
    known = OF_THE_GATE if code in OF_THE_GATE else codes_of_cautions()
    if code not in known:
        rule = f"{where} must be codes of cautions, got '{code}'"
        raise UnknownNameError(f"{rule}; {suggestion(code, known, 'codes')}")


def without_codes(text: str) -> str:
    """Leave out the codes before sentences: the person who decides reads no words of programs."""
    return CODE.sub(lambda part: "" if part[1] in codes_of_cautions() else part[0], text)


@cache
def codes_of_cautions() -> tuple[str, ...]:
    """All codes that a caution may have."""
    return tuple(sorted({*OF_THE_GATE, *_codes_of_statuses()}))


def _codes_of_statuses() -> Iterator[str]:
    """Yield the code of each constant of the models that is a status."""
    for _, name, _ in pkgutil.walk_packages(models.__path__, f"{models.__name__}."):
        for constant, value in vars(importlib.import_module(name)).items():
            if constant.startswith("STATUS_") and isinstance(value, str) and (match := CODE.match(value)):
                yield match[1]
