"""What a person chooses for a table, and the policy that asks for it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from reid_sql.errors import OutOfDomainError
from reid_sql.hierarchies.hierarchy import Hierarchy
from reid_sql.hierarchies.limits import hierarchies_toml
from reid_sql.hierarchies.steps import Grouped
from reid_sql.parameters import Number
from reid_sql.parameters.document import toml_text, toml_texts

KNOWN: Final = "others can know it"
PRIVATE: Final = "nobody outside can know it"
SENSITIVE: Final = "sensitive"
PERSON: Final = "identifies the person"
OMITTED: Final = "left out of the release"
ROLES: Final = (KNOWN, PRIVATE, SENSITIVE, PERSON, OMITTED)
SMALLEST_GROUP: Final = Number(
    "a whole number from 1 to 1000", "write it like 5", 1.0, 1000.0, whole=True
)
HEAD: Final = """# Written by reid-sql explore from a person's choices. Check the release: reid-sql check policy.toml
# Only you know what others can know. Nobody outside can know, and no check measures: {private}
cautions = "refuse"     # a result that comes with a caution is not judged
mask_below = {mask}
accept = {accepted}

[[tables]]
{source}
quasi_identifiers = {known}
sensitive = {sensitive}
released = {released}
"""
SIZE_CHECK: Final = """
[[tables.checks]]
measure = "k"
at_least = {}
"""
DIVERSITY_CHECK: Final = """
[[tables.checks]]
measure = "l_diversity"
sensitive = {}
at_least = 2            # whoever finds the group of a person does not learn this
"""
POPULATION_CHECK: Final = """
[[tables.checks]]
measure = "population_correctness"   # the chance that a match names the right person
at_most = 0.05
"""


@dataclass(frozen=True)
class Choice:
    """A role for each column, how coarse those are that others know, and what is asked of the release."""

    columns: tuple[str, ...]
    roles: tuple[str, ...]
    levels: tuple[int, ...]  # of the steps of each column; 0 is as it is
    groups: tuple[str, ...]  # a person's own groups of values of each column; "" for none
    smallest_group: int = 5
    leaves_out: bool = (
        False  # the people of smaller groups, or of groups that reveal what is sensitive
    )
    population: int | None = None
    accepted: tuple[str, ...] = ()  # the codes of cautions that were settled
    counts_all: bool = False  # of a large table also what needs all rows
    shows_people: bool = False  # lists values of the people who are easiest to find

    def of_role(self, *roles: str) -> list[str]:
        """The columns of these roles."""
        return [name for name, role in zip(self.columns, self.roles, strict=True) if role in roles]

    @property
    def roles_alone(self) -> "Choice":
        """The choice of the roles, with every column as it is."""
        return Choice(self.columns, self.roles, (0,) * len(self.columns), self.groups, 1)

    @property
    def person(self) -> str | None:
        """The column that identifies the person, if there is one."""
        return next(iter(self.of_role(PERSON)), None)

    def level_of(self, column: str) -> int:
        """How coarse a column is chosen to be."""
        return self.levels[self.columns.index(column)]

    @property
    def own_groups(self) -> Mapping[str, Grouped]:
        """The groups that a person wrote, by column."""
        written = zip(self.columns, self.roles, self.groups, strict=True)
        return {
            name: read_groups(name, text) for name, role, text in written if text and role == KNOWN
        }

    def refuse_unmeasurable(self) -> None:
        """Refuse a choice of which nothing can be counted."""
        if not self.of_role(KNOWN):
            raise OutOfDomainError(
                f"a column must be one of which '{KNOWN}' is chosen, got none; choose at least one"
            )
        if len(self.of_role(PERSON)) > 1:
            raise OutOfDomainError(
                f"one column at most must be one that '{PERSON}', got {len(self.of_role(PERSON))}; choose another role for the others"
            )

    def policy(self, source: str, mask_below: int) -> str:
        """Write the policy of the choice; `source` are its lines on where the table is."""
        head = HEAD.format(
            private=toml_texts(self.of_role(PRIVATE)),
            mask=mask_below,
            accepted=toml_texts(self.accepted),
            source=source,
            known=toml_texts(self.of_role(KNOWN)),
            sensitive=toml_texts(self.of_role(SENSITIVE)),
            released=toml_texts(self.of_role(KNOWN, PRIVATE, SENSITIVE, PERSON)),
        )
        entity = "" if self.person is None else f"entity = {toml_text(self.person)}\n"
        people = "" if self.population is None else f"population = {self.population:_}\n"
        checks = [
            SIZE_CHECK.format(self.smallest_group),
            *(DIVERSITY_CHECK.format(toml_text(each)) for each in self.of_role(SENSITIVE)),
            *([] if self.population is None else [POPULATION_CHECK]),
        ]
        return "".join([head, entity, people, *checks])

    def problem(self, source: str, mask_below: int) -> str:
        """Write the policy for a search: `prepare` leaves out few people, as it does, or nobody."""
        share = "" if self.leaves_out else "suppression = 0\n"
        own = [Hierarchy(name, (groups,)) for name, groups in self.own_groups.items()]
        return f"{self.policy(source, mask_below)}\n[prepare]\n{share}\n{hierarchies_toml(own)}"


def read_groups(column: str, text: str) -> Grouped:
    """Read groups of values as a person writes them; values in none stay as they are.

    >>> read_groups("region", "north: a, b; south: c").pairs
    (('a', 'north'), ('b', 'north'), ('c', 'south'))
    """
    pairs: dict[str, str] = {}
    for part in re.split(r"[;\n]", text):
        group, colon, members = map(str.strip, part.partition(":"))
        values = list(filter(None, map(str.strip, members.split(","))))
        if not colon and not group:
            continue
        if not group or not values or pairs.keys() & {*values}:
            raise OutOfDomainError(
                f"the groups of {column} must each have a name and values that no other one has; write them like north: a, b; south: c"
            )
        pairs |= dict.fromkeys(values, group)
    if not pairs:
        raise OutOfDomainError(f"the groups of {column} must be at least one, got none; write one")
    return Grouped(tuple(pairs.items()))


def first_choice(columns: Sequence[str], roles: Sequence[str], population: int | None) -> Choice:
    """Propose the roles, with every column as it is."""
    none = ("",) * len(columns)
    return Choice(tuple(columns), tuple(roles), (0,) * len(columns), none, population=population)
