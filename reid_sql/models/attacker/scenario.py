"""A scenario: what an attacker may know of people, with which probability, and what that is worth.

Attributes are learnt in groups, each as a whole and independently of the others, with a probability that may
depend on the subject by the value of a column. Source: Xia et al. 2021, the external identified dataset and
Table 1.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final

from reid_sql.errors import OutOfDomainError
from reid_sql.parameters import MAX_COLUMNS, POPULATION, PROBABILITY
from reid_sql.parameters.document import Place, parsed, shown

PARAMETERS: Final = (
    "presence_disclosed",
    "presence_discovered",
    "uniqueness_confirmed",
    "link_confirmed",
)
SCENARIO_KEYS: Final = ("name", "assumptions", "population", *PARAMETERS, "groups", "hierarchies")
GROUP_KEYS: Final = (
    "columns",
    "probability",
    "by",
    "probabilities",
    "table",
    "otherwise",
    "values_may_be_absent",
)
REFUSAL_OVERLAP: Final = "scenario groups must not overlap, got '{}' in {}; {}"
REMEDY_ONE_GROUP: Final = "name each column in one group alone"
REMEDY_BY_SUBJECT: Final = (
    "where groups differ by subject, give all but one of them the probability 0 for each value"
)
ENGINE_KEYS: Final = ("columns", "text_columns")  # what the text of a scenario adds for engines
OMITTED_VALUES: Final[tuple[Any, ...]] = (None, {})  # what a group's text does without
TableReader = Callable[[str, str], Mapping[str, Any]]  # of where a file is named, and the file


@dataclass(frozen=True)
class Group:
    """Columns learnt together, with one probability or with one for each value of the column `by`."""

    columns: tuple[str, ...]
    probability: float | None = None
    by: str | None = None
    probabilities: Mapping[str, float] = field(default_factory=dict)
    otherwise: float | None = None
    values_may_be_absent: bool | None = None

    def of(self, value: str | None) -> float:
        """Probability for subjects of this value; 0 if none is given, as there may be no such subject."""
        probability = (
            self.probabilities.get(value, self.otherwise) if value is not None else self.otherwise
        )
        return probability or 0.0


@dataclass(frozen=True)
class Hierarchy:
    """Broader values that include a value, and values that include every value."""

    broader: Mapping[str, Sequence[str]] = field(default_factory=dict)
    includes_all: Sequence[str] = ()


@dataclass(frozen=True)
class Scenario:
    """What the attacker may know, and P_d, P_s, P_u and P_c of Table 1, the four probabilities.

    A probability is 1 where it is not given.
    """

    groups: tuple[Group, ...]
    population: float
    presence_disclosed: float = 1.0  # P_d: the subject's presence in the dataset is disclosed
    presence_discovered: float = 1.0  # P_s: the attacker finds that out, given that it is
    # P_u: the attacker confirms that a person is unique in the population
    uniqueness_confirmed: float = 1.0
    link_confirmed: float = 1.0  # P_c: the attacker can confirm that a link is right
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    name: str = ""
    assumptions: tuple[str, ...] = ()

    @property
    def parameters(self) -> list[float]:
        """P_d, P_s, P_u and P_c."""
        return [getattr(self, name) for name in PARAMETERS]

    @property
    def columns(self) -> list[str]:
        """Columns of all groups, in their order: which the attacker of the worst case knows."""
        return list(dict.fromkeys(column for group in self.groups for column in group.columns))

    @property
    def named_columns(self) -> list[str]:
        """Columns whose values the scenario names."""
        return list(
            dict.fromkeys([group.by for group in self.groups if group.by] + list(self.hierarchies))
        )

    def text(self) -> str:
        """The scenario as JSON, with what an engine must read of a table for it."""
        fields = {key: value for key, value in asdict(self).items() if key != "groups"}
        groups = [
            {key: value for key, value in vars(group).items() if value not in OMITTED_VALUES}
            for group in self.groups
        ]
        return json.dumps(
            {
                **fields,
                "groups": groups,
                "columns": self.columns,
                "text_columns": self.named_columns,
            },
            ensure_ascii=False,
        )


def scenario(source: Any) -> Scenario:  # noqa: ANN401 - what is none is refused
    """Read a scenario from a mapping or from JSON text; no file is looked at.

    Refuses, naming the place: what is not a probability, groups that overlap for one subject, unknown keys,
    and cyclic hierarchies. Columns and values are compared with the table later.

    >>> answer = scenario({"population": 1000, "groups": [{"columns": ["age", "sex"], "probability": 0.4}]})
    >>> answer.groups[0].probability, answer.link_confirmed
    (0.4, 1.0)
    """
    if isinstance(source, Scenario):
        return source
    if isinstance(source, str):
        source = parsed("scenario", ".json", source)
    if not isinstance(source, Mapping):
        raise OutOfDomainError(
            f"scenario must be JSON text or a mapping, got {shown(source)}; "
            "pass its contents, such as {'population': 1000, 'groups': […]}"
        )
    return parse_scenario(Place("scenario ", source), refuse_table)


def parse_scenario(document: Place, read_table: TableReader) -> Scenario:
    """Check a document as a scenario; `read_table` reads the probabilities of another file."""
    given = {
        key: value
        for key, value in document.values.items()
        if key not in ENGINE_KEYS and value is not None
    }
    document = Place(document.where, given)
    document.only(SCENARIO_KEYS)
    groups = tuple(_parse_group(place, read_table) for place in document.tables("groups"))
    _refuse_overlap(groups)
    hierarchies = document.table("hierarchies")
    chances = {name: document.number(name, PROBABILITY, 1.0) for name in PARAMETERS}
    return Scenario(
        groups,
        document.number("population", POPULATION),
        presence_disclosed=chances["presence_disclosed"],
        presence_discovered=chances["presence_discovered"],
        uniqueness_confirmed=chances["uniqueness_confirmed"],
        link_confirmed=chances["link_confirmed"],
        hierarchies={
            column: _parse_hierarchy(hierarchies.table(column)) for column in hierarchies.values
        },
        name=document.text("name", ""),
        assumptions=document.texts("assumptions"),
    )


def refuse_table(where: str, file: str) -> Mapping[str, Any]:
    """Refuse a file of probabilities: this reader opens none."""
    raise OutOfDomainError(
        f"{where} must have been read from its file, got '{file}'; "
        "write probabilities = { … }, or pass the scenario as a file"
    )


def _parse_group(place: Place, read_table: TableReader) -> Group:
    place.only(GROUP_KEYS)
    columns = place.texts("columns")
    if not columns:
        raise OutOfDomainError(
            f'{place.at("columns")} must name one or more columns, got nothing; write columns = ["age"]'
        )
    if ("probability" in place.values) == ("by" in place.values):
        got = "both" if "by" in place.values else "neither"
        raise OutOfDomainError(
            f"{place.where} must have a probability, or a column that determines it, "
            f"got {got}; give probability = 0.5, "
            'or by = "state" with probabilities'
        )
    if "by" not in place.values:
        for key in ("probabilities", "table", "otherwise", "values_may_be_absent"):
            if key in place.values:
                raise OutOfDomainError(
                    f'{place.at(key)} needs by, got no by; name the column, like by = "state"'
                )
        return Group(columns, place.number("probability", PROBABILITY))
    return Group(
        columns,
        by=place.text("by"),
        probabilities=_parse_probabilities(place, read_table),
        otherwise=place.number("otherwise", PROBABILITY) if "otherwise" in place.values else None,
        values_may_be_absent=place.flag("values_may_be_absent") or None,
    )


def _parse_probabilities(place: Place, read_table: TableReader) -> dict[str, float]:
    """Probability by value, inline or from a file; none is given for those whom `otherwise` covers."""
    if "otherwise" in place.values and not {"probabilities", "table"} & set(place.values):
        return {}
    if ("probabilities" in place.values) == ("table" in place.values):
        got = "both" if "table" in place.values else "neither"
        raise OutOfDomainError(
            f"{place.where} must give the probabilities by '{place.text('by')}' inline or in a file, got "
            f"{got}; "
            "give probabilities = { … }, or table = a CSV file of value and probability"
        )
    if "table" in place.values:
        where = place.at("table")
        listed = Place(where, read_table(where, place.text("table")))
    else:
        listed = place.table("probabilities")
    return {value: listed.number(value, PROBABILITY) for value in listed.values}


def _refuse_overlap(groups: Sequence[Group]) -> None:
    if not groups:
        raise OutOfDomainError(
            "scenario groups must contain at least one group, got none; write what the attacker may learn"
        )
    for number, group in enumerate(groups, 1):
        for column in group.columns:
            if group.columns.count(column) > 1:
                raise OutOfDomainError(
                    REFUSAL_OVERLAP.format(column, f"groups[{number}] twice", REMEDY_ONE_GROUP)
                )
            for before, other in enumerate(groups[: number - 1], 1):
                if column in other.columns and not _are_disjoint(other, group):
                    remedy = (
                        REMEDY_ONE_GROUP
                        if group.by is None or group.by != other.by
                        else REMEDY_BY_SUBJECT
                    )
                    where = f"groups[{before}] and groups[{number}]"
                    raise OutOfDomainError(REFUSAL_OVERLAP.format(column, where, remedy))
    columns = {column for group in groups for column in group.columns}
    if len(columns) > MAX_COLUMNS:
        raise OutOfDomainError(
            f"scenario groups must name 1 to {MAX_COLUMNS} columns, got {len(columns)}; leave some out"
        )


def _are_disjoint(one: Group, other: Group) -> bool:
    """Whether no subject has both groups: Xia et al. group each subject's attributes in a way of its own."""
    if one.by is None or one.by != other.by:
        return False
    named = {*one.probabilities, *other.probabilities, None}  # None: all others
    return not any(one.of(value) and other.of(value) for value in named)


def _parse_hierarchy(place: Place) -> Hierarchy:
    place.only(("broader", "includes_all"))
    listed = place.table("broader")
    broader = {value: listed.texts(value) for value in listed.values}
    try:
        TopologicalSorter(broader).prepare()
    except CycleError as error:
        steps = " → ".join(reversed(error.args[1]))
        where = place.at("broader")
        raise OutOfDomainError(
            f"{where} must not lead back to where it began, got {steps}; leave one step out"
        ) from None
    return Hierarchy(broader, place.texts("includes_all"))


def broader_values(hierarchy: Hierarchy, value: str) -> set[str]:
    """Every value that includes this one, itself left out, by any number of steps.

    >>> places = Hierarchy({"Bern": ["Mittelland"], "Mittelland": ["Switzerland"]}, ["*"])
    >>> sorted(broader_values(places, "Bern"))
    ['*', 'Mittelland', 'Switzerland']
    """
    values: set[str] = set()
    pending = [value, *hierarchy.includes_all]
    while pending:
        each = pending.pop()
        if each not in values:
            values.add(each)
            pending += hierarchy.broader.get(each, ())
    return values - {value}
