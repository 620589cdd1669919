"""Two releases of one table: their classes, and the people who are in both."""

from dataclasses import dataclass
from typing import Final

from reid_sql.errors import OutOfDomainError
from reid_sql.models.comparison.repeated_releases import ReleaseClasses
from reid_sql.parameters import QUASI_IDENTIFIERS, TABLE, Columns, Key, fold_case
from reid_sql.reduction import (
    DROPPABLE_NULLS,
    ENTITY,
    KEY,
    Argument,
    Reduction,
    refuse_entity,
    refuse_key,
    refuse_key_with_entity,
)

RELEASES: Final = "first and second"
# What a class's sensitive values have in common in both releases.
VALUE_CELLS: Final = (
    *("overlap", "common_values", "first_values", "second_values", "gained_values", "lost_values"),
)
LINE_CELLS: Final = (
    *("kind", "first_size", "second_size", "people", *VALUE_CELLS, "is_common_first", "is_common_second"),
    *("is_followed_first", "is_followed_second", "link_size"),
)


@dataclass(frozen=True)
class SensitiveColumn(Key):
    """The name of the column of which nobody must learn a person's value, or NULL."""


RELEASE_CLASSES: Final = Reduction(
    __name__,
    name="release_classes",
    words="the classes of two releases, by their sizes and sensitive values in both, and the people who are "
    "in both",
    arguments=(
        Argument("first", TABLE),
        Argument("second", TABLE),
        Argument("qi", QUASI_IDENTIFIERS),
        KEY,
        ENTITY,
        Argument("sensitive", SensitiveColumn(), optional=True),
        DROPPABLE_NULLS,
    ),
    columns=dict.fromkeys(
        (*LINE_CELLS, "number", "is_keyed", "has_sensitive"),
        "BIGINT",
    ),
    arrays=ReleaseClasses,
    reasons={"by": "it compares two releases as a whole"},
    distinct=True,
)


def columns_label(key: str | None, entity: str | None, sensitive: str | None) -> Columns:
    """What a refusal calls the columns that are asked for.

    >>> columns_label("id", None, "diagnosis").words
    'quasi-identifiers, sensitive and key'
    """
    more = ["sensitive"] * (sensitive is not None) + ["key"] * (key is not None)
    more += ["entity"] * (entity is not None)
    listed = ", ".join(["quasi-identifiers", *more[:-1]])
    return Columns(f"{listed} and {more[-1]}" if more else listed)


def refuse_roles(
    columns: list[str], key: str | None, entity: str | None, sensitive: str | None, nulls: str
) -> None:
    """Refuse a column that is given two roles, and a key where people are counted."""
    if entity is not None:
        refuse_key_with_entity(key)
    refuse_key(columns, key)
    refuse_entity(columns, entity, nulls)
    person = key if entity is None else entity
    if sensitive is None:
        return
    taken = [fold_case(each) for each in (*columns, *([] if person is None else [person]))]
    if fold_case(sensitive) in taken:
        rule = f"sensitive must be a column of its own, got '{sensitive}', which has another role"
        raise OutOfDomainError(f"{rule}; name the column whose values nobody must learn")
