"""Measures of a sensitive column that several checks ask of a warehouse, from one statement."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from ibis.expr.types import Table

from reid_sql.check.measure import Row, argument_of
from reid_sql.check.policy_model import Check, TablePolicy
from reid_sql.engines.arrow import answer_rows, arrays_of
from reid_sql.engines.ibis.frames import collected
from reid_sql.errors import ReidError
from reid_sql.function import Function
from reid_sql.reduction import NULL_REPORT_COLUMNS
from reid_sql.reductions.disclosure import MEASURES
from reid_sql.reductions.disclosure.ibis import Recipe, recipe_of, several_kinds, value_names

WORDS: Final = "what a check is judged by"
Ask = Callable[[Callable[[], pa.Table]], pa.Table]
Asked = tuple[str, tuple[tuple[str, Any], ...]]  # the measure and its options
Place = tuple[tuple[str, ...], str]  # quasi-identifiers and the sensitive column


class SensitiveMeasures:
    """How many classes have each size and value of a measure; the cells of the classes are counted once."""

    def __init__(self, table: TablePolicy, frame: Table) -> None:
        """Remember which measures the checks of the table ask for."""
        self._table, self._frame = table, frame
        self._counts: dict[tuple[Place, Asked], pa.Table] = {}
        self._joined: set[Place] = set()  # that were asked together, whether they were answered or not

    def has(self, function: Function, given: Mapping[str, Any]) -> bool:
        """Whether the function is such a measure of the whole table, and the database can answer it."""
        plain = given.get("nulls") != "wildcard" and not given.get("entity")
        return function.reduction in MEASURES and plain and not given.get("by")

    def call(self, function: Function, qi: Sequence[str], given: Mapping[str, Any], ask: Ask) -> list[Row]:
        """Answer one measure; the others of the same columns are counted with it."""
        place, asked = (tuple(qi), given["sensitive"]), _asked(function, given)
        if (place, asked) not in self._counts:
            self._count(place, asked, ask)
        counts = self._counts[place, asked]
        own = {each.name: argument_of(each, given) for each in function.own_parameters}
        inputs = list(function.reduction.inputs) if function.reduction else []
        treated = {name: pc.max(counts[name]).as_py() for name in NULL_REPORT_COLUMNS}
        return [row | treated for row in answer_rows(function, arrays_of(counts.select(inputs)), own)]

    def _count(self, place: Place, asked: Asked, ask: Ask) -> None:
        """Count this one with the others; alone if that was tried, as the others may be what is refused."""
        recipe = recipe_of(self._frame, asked[0], dict(asked[1]))
        others = self._others(place, asked) if place not in self._joined else {}
        self._joined.add(place)
        if others:
            try:
                self._fetch(place, {asked: recipe, **others}, ask)
            except ReidError:
                self._fetch(place, {asked: recipe}, ask)
        else:
            self._fetch(place, {asked: recipe}, ask)

    def _others(self, place: Place, asked: Asked) -> dict[Asked, Recipe]:
        """Return another measure of each function that the checks ask of the same columns."""
        found: dict[str, tuple[Asked, Recipe]] = {asked[0]: (asked, Recipe(lambda each: each["parts"]))}
        for check in self._table.checks:
            function = check.measure.declared
            same = (check.quasi_identifiers, check.sensitive) == place and not check.by
            if not same or function.reduction not in MEASURES or function.reduction.name in found:
                continue
            try:
                other = _asked(function, _given(check))
                found[other[0]] = (other, recipe_of(self._frame, other[0], dict(other[1])))
            except ReidError:  # the check itself says so
                continue
        return {each: recipe for each, recipe in found.values() if each != asked}

    def _fetch(self, place: Place, recipes: Mapping[Asked, Recipe], ask: Ask) -> None:
        qi, sensitive = place
        nulls = self._table.nulls
        joint = ask(
            lambda: collected(several_kinds(self._frame, qi, sensitive, nulls, *recipes.values()), WORDS)
        )
        for each, name in zip(recipes, value_names(len(recipes)), strict=True):
            self._counts[place, each] = _of_one(joint, name)


def _of_one(joint: pa.Table, value: str) -> pa.Table:
    """Add up the classes of each size and value of one measure."""
    keys = ["class_size", value, *NULL_REPORT_COLUMNS]
    sums = [("classes", "sum"), ("records", "sum")]
    summed = joint.group_by(keys).aggregate(sums)
    renamed = {value: "value", "classes_sum": "classes", "records_sum": "records"}
    named = summed.rename_columns([renamed.get(name, name) for name in summed.column_names])
    return named.sort_by("class_size")


def _asked(function: Function, given: Mapping[str, Any]) -> Asked:
    reduction = function.reduction
    names = [] if reduction is None else [each.name for each in reduction.arguments]
    options = [name for name in ("variant", "c") if name in names]
    return (str(reduction and reduction.name), tuple((name, given[name]) for name in options))


def _given(check: Check) -> dict[str, Any]:
    return {each.name: argument_of(each, check.parameters) for each in check.measure.declared.parameters}
