"""Hierarchies as TOML of a policy, which a person edits."""

from collections.abc import Iterator, Sequence
from math import ceil
from typing import Final

from reid_sql.hierarchies.hierarchy import Hierarchy
from reid_sql.hierarchies.steps import Bands, Common, DatePart, Drop, Grouped, Prefix, Step, written
from reid_sql.parameters.document import toml_key, toml_text, toml_texts

TABLE: Final = "prepare.hierarchies"
MIN_RARE: Final = 2


def hierarchies_toml(hierarchies: Sequence[Hierarchy]) -> str:
    """Write the hierarchies as a table of a policy; leaving a column out is no step that is written.

    >>> print(hierarchies_toml([Hierarchy("age", (Bands(5), Bands(10, above=80), Drop()))]))
    [prepare.hierarchies]
    age = [{ bands = 5 }, { bands = 10, above = 80 }]
    <BLANKLINE>
    """
    grouped = [each for each in hierarchies if any(isinstance(step, Grouped) for step in each.steps)]
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
        given = {"bands": step.width, "below": step.below, "above": step.above}
        return ", ".join(f"{key} = {written(value)}" for key, value in given.items() if value is not None)
    if isinstance(step, DatePart):
        return f"date = {toml_text(step.part)}" + (f", form = {toml_text(step.form)}" if step.form else "")
    if isinstance(step, Prefix):
        return f"prefix = {step.length}"
    if isinstance(step, Common):
        return f"rare = {max(MIN_RARE, ceil(step.least))}"
    raise TypeError(step.words)
