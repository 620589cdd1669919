"""Hierarchies as a policy writes them: a list of steps for a column, each a table of one kind."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from reid_sql.document import Place, shown
from reid_sql.errors import OutOfDomainError
from reid_sql.hierarchies.hierarchy import Hierarchy, hierarchy
from reid_sql.hierarchies.proposed import Facts, common
from reid_sql.hierarchies.step import DATE_PARTS, Bands, DatePart, Grouped, Prefix, Step
from reid_sql.parameters import Choice, Number

WIDTH: Final = Number("a number from 1e-9 to 1e15", "write the width of the bands, such as 5", 1e-9, 1e15)
END: Final = Number("a number from -1e15 to 1e15", "write where the end begins, such as 90", -1e15, 1e15)
LENGTH: Final = Number(
    "a whole number from 1 to 1000", "write how many characters stay, such as 3", 1.0, 1000.0, whole=True
)
LEAST: Final = Number(
    "a whole number from 2 to 1e15", "write how many records keep a value, such as 100", 2.0, 1e15, whole=True
)
PART: Final = Choice(DATE_PARTS)
KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "bands": ("below", "above"),
    "date": ("form",),
    "prefix": (),
    "rare": (),
    "groups": (),
    "above": ("below",),
    "below": (),
}


@dataclass(frozen=True)
class Rare:
    """Values of fewer records together: which they are hangs on the table."""

    least: float


@dataclass(frozen=True)
class Written:
    """A hierarchy as it is written, before the table is known."""

    column: str
    steps: tuple[Step | Rare, ...]

    def of(self, facts: Facts) -> Hierarchy:
        """Give the hierarchy for the table."""
        return hierarchy(self.column, [_resolved(step, facts) for step in self.steps])


def written(place: Place, column: str) -> Written:
    """Read the list of steps at the column's name; leaving the column out is added as the last step."""
    steps: list[Step | Rare] = []
    for each in place.tables(column):
        steps.append(_step(each, steps))
    return Written(column, tuple(steps))


def _step(place: Place, before: Sequence[Step | Rare]) -> Step | Rare:
    kind = next((kind for kind in KINDS if kind in place.values), None)
    if kind is None:
        rule = f"{place.where} must be a step of one of the kinds {', '.join(KINDS)}"
        got = ", ".join(place.values) or "none"
        raise OutOfDomainError(f"{rule}, got {got}; write it like {{ bands = 5 }}")
    place.only((kind, *KINDS[kind]))
    if kind == "date":
        form = place.text("form") if "form" in place.values else None
        return DatePart(PART.check(place.at("date"), place.text("date")), form)
    if kind == "prefix":
        return Prefix(int(place.number("prefix", LENGTH)))
    if kind == "rare":
        return Rare(place.number("rare", LEAST))
    return _grouped(place, before) if kind == "groups" else _bands(place)


def _bands(place: Place) -> Bands:
    width = place.number("bands", WIDTH) if "bands" in place.values else None
    ends = {key: place.number(key, END) for key in ("below", "above") if key in place.values}
    for key, end in ends.items():
        if width is not None and abs(end / width - round(end / width)) > 1e-9:  # noqa: PLR2004 - rounding
            rule = f"{place.at(key)} must be a multiple of the width of the bands, {shown(width)}"
            raise OutOfDomainError(f"{rule}, got {shown(end)}; write another end")
    if len(ends) > 1 and ends["below"] > ends["above"]:
        rule = f"{place.at('below')} must not lie above {shown(ends['above'])}, where the upper end begins"
        raise OutOfDomainError(f"{rule}, got {shown(ends['below'])}; write a lower one")
    return Bands(width, ends.get("below"), ends.get("above"))


def _grouped(place: Place, before: Sequence[Step | Rare]) -> Grouped:
    """Read groups; their members are values, or groups of the step before, whose members then they hold."""
    groups = place.table("groups")
    known = before[-1].pairs if before and isinstance(before[-1], Grouped) else ()
    pairs: dict[str, str] = {}
    for group in groups.values:
        for member in groups.texts(group):
            for value in [value for value, of in known if of == member] or [member]:
                if value in pairs:
                    rule = f"{groups.where} must hold each value once, got '{value}' twice"
                    raise OutOfDomainError(f"{rule}; leave it in one group")
                pairs[value] = group
    if not pairs:
        rule = f"{groups.where} must hold at least one group with a value, got none"
        raise OutOfDomainError(f'{rule}; write it like groups = {{ Europe = ["DE", "FR"] }}')
    return Grouped((*pairs.items(), *((value, of) for value, of in known if value not in pairs)))


def _resolved(step: Step | Rare, facts: Facts) -> Step:
    if isinstance(step, Rare):
        return common(facts, step.least)
    return replace(step, whole=facts.whole) if isinstance(step, Bands) else step
