"""Limits on how coarse a column may become: a level, a width of bands; hierarchies as TOML, to be edited."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

from reid_sql.errors import OutOfDomainError
from reid_sql.hierarchies.hierarchy import WIDTH, Facts, Hierarchy
from reid_sql.hierarchies.steps import Bands, Common, DatePart, Drop, Grouped, Prefix, Step, written
from reid_sql.parameters import Number
from reid_sql.parameters.document import Place, toml_key, toml_text, toml_texts

LEVEL: Final = Number(
    "a whole number from 0 to 1000",
    "write the coarsest level, such as 2 for the second step",
    0.0,
    1000.0,
    whole=True,
)


@dataclass(frozen=True)
class Limit:
    """The coarsest form of a column: a level of its hierarchy, bands of a width, or any but left out.

    >>> Limit(level=0).words, Limit(level=2).words, Limit(width=10).words, Limit().words
    ('as it is', 'at level 2 at most', 'in bands of at most 10', 'never left out')
    """

    level: int | None = None
    width: float | None = None

    @property
    def words(self) -> str:
        """Describe the limit, to follow the column's name."""
        if self.width is not None:
            return f"in bands of at most {written(self.width)}"
        if self.level is None:
            return "never left out"
        return f"at level {self.level} at most" if self.level else "as it is"

    def coarsest(self, hierarchy: Hierarchy) -> int:
        """Return the coarsest level that the limit allows.

        >>> from reid_sql.hierarchies.steps import Drop
        >>> age = Hierarchy("age", (Bands(5), Bands(10), Bands(20), Drop()))
        >>> Limit(width=10).coarsest(age), Limit(width=4).coarsest(age), Limit().coarsest(age)
        (2, 0, 3)
        """
        if self.width is not None:
            # those beyond an end of bands have no width
            within = [
                at
                for at, step in enumerate(hierarchy.steps, 1)
                if isinstance(step, Bands)
                and step.below is None
                and step.above is None
                and step.width is not None
                and step.width <= self.width
            ]
            return max(within, default=0)
        return len(hierarchy.steps) - 1 if self.level is None else self.level

    def refuse(self, hierarchy: Hierarchy, facts: Facts) -> None:
        """Refuse a level that the hierarchy lacks, or a width of what is no number."""
        name = hierarchy.column
        if self.level is not None and self.level > len(hierarchy.steps):
            raise OutOfDomainError(
                f"prepare.max_level.{name} must be a level of the column's hierarchy, got {self.level}; write at most {len(hierarchy.steps)}, which leaves it out"
            )
        if self.width is not None and not facts.numbers:
            raise OutOfDomainError(
                f"prepare.at_most must name columns of numbers, got '{name}'; write max_level for other columns"
            )


LIMIT_KEYS: Final = ("fixed", "never_left_out", "max_level", "at_most")


def read_limits(place: Place) -> Mapping[str, Limit]:
    """Read the limits of the table `prepare`; a column has at most one."""
    levels, widths = place.table("max_level"), place.table("at_most")
    named = [
        *((name, Limit(level=0)) for name in place.texts("fixed")),
        *((name, Limit()) for name in place.texts("never_left_out")),
        *((name, Limit(level=int(levels.number(name, LEVEL)))) for name in levels.values),
        *((name, Limit(width=widths.number(name, WIDTH))) for name in widths.values),
    ]
    limits = dict(named)
    if len(limits) < len(named):
        names = [name for name, _ in named]
        twice = next(name for name in names if names.count(name) > 1)
        raise OutOfDomainError(
            f"{place.where} must limit each column once, by one of {', '.join(LIMIT_KEYS)}, got '{twice}' twice; remove one of them"
        )
    return limits


TABLE: Final = "prepare.hierarchies"
MIN_RARE: Final = 2


def hierarchies_toml(hierarchies: Sequence[Hierarchy]) -> str:
    """Write the hierarchies as a table of a policy; leaving a column out is no step that is written.

    >>> print(hierarchies_toml([Hierarchy("age", (Bands(5), Bands(10, above=80), Drop()))]))
    [prepare.hierarchies]
    age = [{ bands = 5 }, { bands = 10, above = 80 }]
    <BLANKLINE>
    """
    grouped = [
        each for each in hierarchies if any(isinstance(step, Grouped) for step in each.steps)
    ]
    lines = [f"[{TABLE}]"]
    for each in hierarchies:
        if each not in grouped:
            steps = ", ".join(f"{{ {_step(step)} }}" for step in _written(each))
            lines.append(f"{toml_key(each.column)} = [{steps}]")
    for each in grouped:
        lines += _tables(each)
    return "\n".join(lines) + "\n"


def _written(hierarchy: Hierarchy) -> Sequence[Step]:
    return [step for step in hierarchy.steps if not isinstance(step, Drop)]


def _tables(hierarchy: Hierarchy) -> Iterator[str]:
    """Write a table for each step, and a line for each group; a group names those of the step before."""
    before: dict[str, str] = {}
    for step in _written(hierarchy):
        yield f"\n[[{TABLE}.{toml_key(hierarchy.column)}]]"
        if not isinstance(step, Grouped):
            yield _step(step)
            continue
        members: dict[str, dict[str, None]] = {}
        for value, group in step.pairs:
            members.setdefault(group, {})[before.get(value, value)] = None
        for group, names in members.items():
            yield f"groups.{toml_key(group)} = {toml_texts(names)}"
        before = dict(step.pairs)


def _step(step: Step) -> str:
    """Write a step that is no list of groups."""
    if isinstance(step, Bands):
        numbers = {"bands": step.width, "below": step.below, "above": step.above}
        return ", ".join(
            f"{key} = {written(value)}" for key, value in numbers.items() if value is not None
        )
    if isinstance(step, DatePart):
        return f"date = {toml_text(step.part)}" + (
            f", form = {toml_text(step.form)}" if step.form else ""
        )
    if isinstance(step, Prefix):
        return f"prefix = {step.length}"
    if isinstance(step, Common):
        return f"rare = {max(MIN_RARE, ceil(step.least))}"
    raise TypeError(step.words)
