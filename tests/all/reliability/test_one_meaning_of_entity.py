"""One meaning of `entity`: the attacker knows the worst row of a person, and a class counts its people.

At a population of as many people as the table has, every function answers as a loop over the people does.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl
import pytest

import reid_sql.polars as rp
from reid_sql_udfs import declared
from tests.all.reliability.test_entities import by_smallest, people_of, visits
from tests.cells import each_cell
from tests.tables import by_duckdb, by_polars

QI = ["age", "sex", "zip"]
SEEDS = range(5)
ENGINES = {"duckdb": by_duckdb, "polars": by_polars}
ANY: Any = rp


@dataclass(frozen=True)
class Truth:
    """What a loop counts: people, and the size of each person's smallest class."""

    sizes: Mapping[Any, int]

    @property
    def people(self) -> int:
        return len(self.sizes)

    def share(self, below: int) -> float:
        return sum(size < below for size in self.sizes.values()) / self.people

    @property
    def correctness(self) -> float:
        return sum(1 / size for size in self.sizes.values()) / self.people


def truth(frame: pl.DataFrame, qi: list[str] | None = None) -> Truth:
    return Truth(by_smallest(people_of(frame, QI if qi is None else qi)))


def ask(
    engine: str, name: str, frame: pl.DataFrame, *values: Any, **options: Any
) -> list[dict[str, Any]]:
    """Ask with people counted."""
    if engine == "polars":
        return by_polars(name, frame, QI, *values, entity="person", **options)
    given = ", ".join(["t", str(QI), *(str(value) for value in values)])
    more = "".join(f", {option} := {value!r}" for option, value in options.items())
    return by_duckdb(f"FROM {name}({given}, entity := 'person'{more})", t=frame)


@each_cell("engine", ENGINES)
@each_cell("seed", SEEDS)
def test_at_the_tables_own_people_every_function_counts(engine: str, seed: int) -> None:
    frame = visits(seed)
    own = truth(frame)
    summary = ask(engine, "risk_summary", frame)[0]
    assert (summary["records"], summary["uniqueness"]) == (own.people, pytest.approx(own.share(2)))
    assert summary["average_risk"] == pytest.approx(own.correctness)
    one = ask(engine, "population_risk", frame, [float(own.people)], 3)[0]
    assert one["uniqueness"] == pytest.approx(own.share(2))
    assert one["correctness"] == pytest.approx(own.correctness)
    assert one["below_k"] == pytest.approx(own.share(3))
    point = ask(engine, "correctness_curve", frame, [own.people])[0]
    assert point["uniqueness"] == pytest.approx(own.share(2))
    assert point["correctness"] == pytest.approx(own.correctness)
    forecast = ask(engine, "pyc_forecast", frame, [float(own.people)], 3)[0]
    assert forecast["uniqueness"] == pytest.approx(own.share(2))
    assert forecast["correctness"] == pytest.approx(own.correctness)
    assert forecast["k_violation"] == pytest.approx(own.share(3))
    assert ask(engine, "pyc_fit", frame)[0]["records"] == own.people
    for row in ask(engine, "population_uniqueness", frame, float(own.people)):
        assert row["uniqueness"] == pytest.approx(own.share(2)), row["method"]


@each_cell("engine", ENGINES)
@each_cell("seed", SEEDS)
def test_each_person_has_the_risk_of_their_smallest_class(engine: str, seed: int) -> None:
    frame = visits(seed)
    own = truth(frame)
    rows = ask(engine, "individual_risk", frame)
    assert {row["record"]: row["class_size"] for row in rows} == dict(own.sizes)
    assert all(row["risk"] == pytest.approx(1 / row["class_size"]) for row in rows)
    assert rows[0]["expected_reidentifications"] == pytest.approx(own.correctness * own.people)
    scored = ask(engine, "loglinear_risk", frame, 1.0)
    assert {row["record"]: row["class_size"] for row in scored} == dict(own.sizes)
    alone = sum(size == 1 for size in own.sizes.values())
    assert (scored[0]["tau1"], scored[0]["tau2"]) == (pytest.approx(alone), pytest.approx(alone))
    assert all(row["correctness"] == pytest.approx(1 / row["class_size"]) for row in scored)


@each_cell("engine", ENGINES)
@each_cell("seed", SEEDS)
def test_a_class_weighs_what_all_of_its_people_do(engine: str, seed: int) -> None:
    frame = visits(seed).with_columns((pl.int_range(pl.len()) * 7 % 11 + 2.5).alias("w"))
    least: dict[Any, float] = {}
    for person, weight in frame.select("person", "w").rows():
        least[person] = min(least.get(person, weight), weight)
    classes = people_of(frame, QI)
    weights = defaultdict(set)
    for people in classes.values():
        for person in people:
            weights[person, len(people)].add(round(sum(least[other] for other in people), 9))
    rows = ask(engine, "individual_risk", frame, weight="w")
    assert len(rows) == truth(frame).people
    for row in rows:
        of_class = round(row["population_class_size"], 9)
        assert of_class in weights[row["record"], truth(frame).sizes[row["record"]]]


@each_cell("engine", ENGINES)
@each_cell("seed", SEEDS)
def test_every_group_is_a_table_of_its_own(engine: str, seed: int) -> None:
    frame, qi = visits(seed), ["age", "zip"]
    parts = {
        key[0]: truth(part, qi) for key, part in frame.partition_by("sex", as_dict=True).items()
    }
    most = max(part.people for part in parts.values())
    for name, values in {"population_risk": [most], "population_uniqueness": most}.items():
        if engine == "polars":
            rows = by_polars(name, frame, qi, values, entity="person", by=["sex"])
        else:
            call = f"FROM {name}(t, {qi}, {values}, entity := 'person', by := ['sex'])"
            rows = by_duckdb(call, t=frame)
        for row in rows:
            part = parts[row["sex"]]
            if part.people == most:
                assert row["uniqueness"] == pytest.approx(part.share(2)), (name, row)


@pytest.mark.parametrize("seed", SEEDS)
def test_both_engines_forecast_alike(seed: int) -> None:
    frame = pl.concat(
        [visits(part).with_columns(pl.col("person") + 13 * part) for part in range(seed, seed + 9)]
    )
    for name, values in {"pyc_forecast": [1e3, 1e5], "population_uniqueness": 1e4}.items():
        found, other = (ask(engine, name, frame, values) for engine in ENGINES)
        for row, alike in zip(found, other, strict=True):
            for column, value in row.items():
                number = isinstance(value, float) and row.get("method") not in {"people", "copula"}
                assert not number or alike[column] == pytest.approx(value, rel=1e-6), (name, column)


def test_a_person_of_many_rows_is_one_in_a_model() -> None:
    """28 people whose wards are pairs of four: each class has 7 people or more, and no model is surer."""
    wards = [(a, b) for a in range(8) for b in range(a)]
    frame = pl.DataFrame(
        {"person": [i for i in range(28) for _ in "ab"], "ward": [w for p in wards for w in p]}
    )
    call = "FROM {}(t, ['ward'], {}, entity := 'person')"
    assert by_duckdb(call.format("population_risk", "[28]"), t=frame)[0][
        "correctness"
    ] == pytest.approx(1 / 7)
    assert by_duckdb(call.format("pyc_forecast", "[28]"), t=frame)[0]["uniqueness"] == 0


def test_every_function_of_people_is_held_against_the_loop() -> None:
    """A function that takes entity is in this file, in test_entities, test_people_of_columns or below."""
    here = {"risk_summary", "population_risk", "correctness_curve", "pyc_forecast", "pyc_fit"}
    here |= {"population_uniqueness", "individual_risk", "loglinear_risk"}
    models = {"fit_people", "fit_copula", "validate_risk"}  # of a table of one row per person
    takes = {
        name
        for name, each in declared().items()
        if any(p.name == "entity" for p in each.parameters)
    }
    of_one_row = {name for name in takes if declared()[name].one_row_per_person}
    sensitive = {
        name for name in takes if any(p.name == "sensitive" for p in declared()[name].parameters)
    }
    assert of_one_row - sensitive <= here | models
