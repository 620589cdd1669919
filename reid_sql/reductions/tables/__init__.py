"""The cells of a table of aggregates, and the rules by which one is unsafe."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from reid_sql.errors import OutOfDomainError
from reid_sql.models.tables.audit import LEAST_COUNT
from reid_sql.parameters import Choice, Columns, Key, Number, Numbers, fold_case, list_text
from reid_sql.reduction import (
    DROPPABLE_NULLS,
    ENTITY,
    NULL_REPORT_COLUMNS,
    TBL,
    Argument,
    Reduction,
    refuse_entity,
)


@dataclass(frozen=True)
class Value(Key):
    """The name of the column that is added up, or NULL."""


CELL_COLUMNS: Final = Columns("columns of by")
CELL_COLUMNS_AND_MORE: Final = Columns("columns of by, value and entity")
FEW_PEOPLE, DOMINANCE, P_PERCENT, ONE_CELL = "few_people", "dominance", "p_percent", "all_in_one_cell"
NOBODY: Final = "nobody"  # of a cell that is listed because each of its categories has people
HIDING: Final = (FEW_PEOPLE, DOMINANCE, P_PERCENT)  # what hiding a cell helps against
MAX_ZEROS: Final = 1_000_000  # cells of a set of totals, of which those of nobody are listed
MAX_CUBE: Final = 8  # columns of which every set of totals is counted
DOMINANCE_RULE: Final = Numbers(
    Number("a number from 0 to 100", "pass how many people and their share, such as [1, 0.5]", 0.0, 100.0),
    example="[1, 0.5]",
)
P_SHARE: Final = Number(
    "a share from 0 to 10", "pass how near an estimate may come, such as 0.1 for 10 %", 0.0, 10.0
)
TOTAL_WORDS: Final = Choice(("none", "margins", "rollup"))
SUPPRESS_WORDS: Final = Choice(("none", "primary", "secondary"))
ZERO_WORDS: Final = Choice(("omit", "list"))
PROTECTION: Final = Number(
    "a whole number of people from 0 to 1e+6",
    "pass how wide the interval of a hidden cell must be, or 0 for k",
    0.0,
    1e6,
    whole=True,
)
REFUSAL_VALUE: Final = (
    "value must be a column of finite numbers, got another value; "
    "cast it in a view, or leave it out to count people"
)
REFUSAL_ZEROS: Final = (
    f"the categories must make at most {MAX_ZEROS} cells where zeros are listed, got more; "
    "name fewer or coarser columns, or leave the zeros out"
)
FIGURES: Final = ("records", "people", "value_sum")  # what is hidden of a cell
SAFE_CELLS: Final = Reduction(
    __name__,
    name="safe_cells",
    words="the cells of a table of aggregates, each with the rules by which it is unsafe",
    arguments=(
        TBL,
        Argument("by", CELL_COLUMNS),
        Argument("value", Value(), optional=True),
        ENTITY,
        Argument("k", LEAST_COUNT, 5),
        Argument("dominance", DOMINANCE_RULE, (1.0, 0.5)),
        Argument("p_percent", P_SHARE, 0.1),
        Argument("totals", TOTAL_WORDS, "none"),
        Argument("suppress", SUPPRESS_WORDS, "none"),
        Argument("protection", PROTECTION, 0),
        Argument("zeros", ZERO_WORDS, "omit"),
        DROPPABLE_NULLS,
    ),
    columns={
        "total_over": "VARCHAR[]",
        "records": "BIGINT",
        "people": "BIGINT",
        "value_sum": "DOUBLE",
        "largest_share": "DOUBLE",
        "unsafe": "VARCHAR[]",
        "status": "VARCHAR",
        "loss": "DOUBLE",
    },
    distinct=True,
)


@dataclass(frozen=True)
class CellRules:
    """The rules by which a cell is unsafe, checked, and the sets of columns that are totalled."""

    contributors: int
    share: float
    totals: tuple[tuple[int, ...], ...]  # the places of `by` that are totalled, of each set that is listed
    margins: tuple[tuple[int, ...], ...]  # the same of the sets that only other cells are compared with

    @property
    def largest(self) -> int:
        """How many of the largest contributions are needed: the p % rule needs two."""
        return max(self.contributors, 2)


def check_cells(
    by: Sequence[str], value: str | None, entity: str | None, dominance: Sequence[float], totals: str
) -> CellRules:
    """Check what the columns and rules must be together."""
    refuse_entity(by, entity, "value")
    for column in by:
        if fold_case(column) in {*SAFE_CELLS.columns, *NULL_REPORT_COLUMNS}:
            rule = f"by must not name a column of the answer, got '{column}'"
            raise OutOfDomainError(f"{rule}; rename the column in a view")
    if value is not None and fold_case(value) in (
        fold_case(each) for each in [*by, *([entity] if entity else [])]
    ):
        rule = f"value must be no column of by and not the entity, got '{value}'"
        raise OutOfDomainError(f"{rule}; leave it out of one of them")
    contributors, share = _check_dominance(dominance)
    if totals == "margins" and len(by) > MAX_CUBE:
        rule = f"by must name at most {MAX_CUBE} columns with totals := 'margins', got {len(by)}"
        raise OutOfDomainError(f"{rule}; name fewer, or pass totals := 'rollup'")
    listed = _totalled(len(by), totals)
    margins = tuple((place,) for place in range(len(by)) if (place,) not in listed)
    return CellRules(contributors, share, listed, margins)


def _check_dominance(dominance: Sequence[float]) -> tuple[int, float]:
    number, share = (*dominance, 0.0, 0.0)[:2]
    if len(dominance) != 2 or number < 1 or number != int(number) or not 0 < share <= 1:  # noqa: PLR2004
        rule = "dominance must be a whole number of people and a share above 0 and at most 1"
        raise OutOfDomainError(f"{rule}, got {list_text(list(dominance))}; write it like [1, 0.5]")
    return int(number), float(share)


def _totalled(columns: int, totals: str) -> tuple[tuple[int, ...], ...]:
    """The places that are totalled in each set of cells, none first."""
    if totals == "rollup":
        return tuple(tuple(range(columns - size, columns)) for size in range(columns + 1))
    if totals == "margins":
        return tuple(each for size in range(columns + 1) for each in combinations(range(columns), size))
    return ((),)


def width_of(protection: int, k: int) -> int:
    """How wide the interval of a hidden cell must be: k, so that it reaches k, unless a width is given."""
    return int(protection) or int(k)
