"""What classes give away of people: shares over people, each person by the worst of their classes.

The oracle goes through the people of each class, and knows no SQL.
"""

import math
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import duckdb
import polars as pl
import pytest

import reid_sql.polars as rp
from reid_sql.errors import OutOfDomainError
from tests.cells import each_cell
from tests.sensitive import call_of
from tests.tables import by_duckdb, by_polars

QI = ["age", "zip"]
SEEDS = range(3)
ANY: Any = rp
Classes = Mapping[tuple[Any, ...], Mapping[Any, Any]]  # the people of each class, with their value


def visits(seed: int, *, repeated: bool = True) -> pl.DataFrame:
    """Visits of people who have one diagnosis each, and one person of none; some visits are alike."""
    rng = random.Random(seed)  # noqa: S311 - tables, no secrets
    people = range(rng.randint(3, 14))
    diagnosis = {person: rng.choice([1, 1, 2, 5]) for person in people}
    rows = []
    for person in people:
        rows += [
            (
                person,
                rng.choice([None, 1, 2]),
                rng.choice("AB"),
                rng.choice("FM"),
                diagnosis[person],
            )
            for _ in range(rng.randint(1, 4) if repeated else 1)
        ]
    schema = {
        "person": pl.Int64,
        "age": pl.Int64,
        "zip": pl.String,
        "sex": pl.String,
        "dx": pl.Int64,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def classes_of(frame: pl.DataFrame, nulls: str = "value") -> Classes:
    found: dict[tuple[Any, ...], dict[Any, Any]] = defaultdict(dict)
    for person, value, *keys in frame.select("person", "dx", *QI).rows():
        if nulls == "value" or None not in (*keys, value):
            found[tuple(keys)][person] = value
    return dict(found)


def shares(values: Sequence[Any]) -> dict[Any, float]:
    return {value: count / len(values) for value, count in Counter(values).items()}


def measure(name: str, variant: str, values: Sequence[Any], table: Mapping[Any, float]) -> float:
    """A class's value, by the definition, from the values of its people and the shares of all people."""
    own = shares(values)
    if name == "alpha_k_anonymity":
        return max(own.values())
    if name == "l_diversity":
        entropy = -sum(share * math.log(share) for share in own.values())
        return float(len(own)) if variant == "distinct" else math.exp(entropy)
    if name == "beta_likeness":
        return max(max(0.0, (share - table[value]) / table[value]) for value, share in own.items())
    if name == "delta_disclosure":
        return max(abs(math.log(share / table[value])) for value, share in own.items())
    return distance(variant, own, table)


def distance(variant: str, own: Mapping[Any, float], table: Mapping[Any, float]) -> float:
    order = sorted(table)
    if variant == "equal":
        return sum(abs(own.get(value, 0) - table[value]) for value in order) / 2
    if len(order) > 1:
        steps = [1 / (len(order) - 1)] * (len(order) - 1)
        if variant == "numeric":
            steps = [(b - a) / (order[-1] - order[0]) for a, b in pairwise(order)]
        beyond = [
            sum(own.get(v, 0) - table[v] for v in order[: n + 1]) for n in range(len(order) - 1)
        ]
        return sum(step * abs(gap) for step, gap in zip(steps, beyond, strict=True))
    return 0.0


def truth(
    name: str, variant: str, frame: pl.DataFrame, threshold: float, nulls: str
) -> dict[str, Any]:
    classes = classes_of(frame, nulls)
    people = {person: value for members in classes.values() for person, value in members.items()}
    table = shares(list(people.values()))
    values = {
        key: measure(name, variant, list(members.values()), table)
        for key, members in classes.items()
    }
    lowest = name == "l_diversity"
    slack = 1e-9 * threshold
    offends = {
        key: value < threshold - slack if lowest else value > threshold + slack
        for key, value in values.items()
    }
    exposed = {person for key, members in classes.items() if offends[key] for person in members}
    return {
        "value": pytest.approx((min if lowest else max)(values.values()), abs=1e-9),
        "records": len(people),
        "classes": len(classes),
        "k": min(len(members) for members in classes.values()),
        "offending_classes": sum(offends.values()),
        "offending_records": len(exposed),
        "offending_share": pytest.approx(len(exposed) / len(people)),
    }


ASKED = {
    ("l_diversity", "distinct"): ("l", 2),
    ("l_diversity", "entropy"): ("l", 1.7),
    ("alpha_k_anonymity", ""): ("threshold", 0.6),
    ("t_closeness", "equal"): ("t", 0.3),
    ("t_closeness", "ordered"): ("t", 0.3),
    ("t_closeness", "numeric"): ("t", 0.3),
    ("beta_likeness", "basic"): ("threshold", 0.8),
    ("delta_disclosure", "present"): ("threshold", 0.7),
}


def ask(
    engine: str, name: str, frame: pl.DataFrame, options: Mapping[str, Any]
) -> list[dict[str, Any]]:
    name, preset = call_of(name)
    options = {**preset, **options}
    if engine == "polars":
        return by_polars(name, frame, QI, "dx", **options)
    given = "".join(f", {option} := {value!r}" for option, value in options.items())
    return by_duckdb(f"FROM {name}(t, {QI}, 'dx'{given})", t=frame)


@each_cell("nulls", ["value", "drop"])
@each_cell("engine", ["duckdb", "polars"])
@each_cell("asked", ASKED)
def test_people_are_counted_as_by_a_loop(asked: tuple[str, str], engine: str, nulls: str) -> None:
    (name, variant), (threshold, at) = asked, ASKED[asked]
    options = {"entity": "person", "nulls": nulls, threshold: at} | (
        {"variant": variant} if variant else {}
    )
    options |= {"k": 1} if name == "alpha_k_anonymity" else {}
    for seed in SEEDS:
        frame = visits(seed)
        expected = truth(name, variant, frame, at, nulls)
        found = ask(engine, name, frame, options)[0]
        assert {key: found[key] for key in expected} == expected, seed
        shared = {key: options[key] for key in options if key != threshold} | {"threshold": at}
        listed = ask(engine, "disclosing_classes", frame, {"measure": name} | shared)
        assert len(listed) == expected["offending_classes"], seed


@each_cell("engine", ["duckdb", "polars"])
@each_cell("asked", ASKED)
def test_every_group_is_a_table_of_its_own(asked: tuple[str, str], engine: str) -> None:
    (name, variant), (threshold, at) = asked, ASKED[asked]
    options = {"entity": "person", threshold: at, "by": ["sex"]} | (
        {"variant": variant} if variant else {}
    )
    options |= {"k": 1} if name == "alpha_k_anonymity" else {}
    for seed in SEEDS:
        frame = visits(seed)
        parts = frame.partition_by("sex", as_dict=True)
        for found in ask(engine, name, frame, options):
            expected = truth(name, variant, parts[found["sex"],], at, "value")
            assert {key: found[key] for key in expected} == expected, seed


@pytest.mark.parametrize("variant", ["distinct", "entropy", "recursive"])
def test_one_row_of_each_person_is_a_table_of_records(variant: str) -> None:
    for seed in SEEDS:
        frame = visits(seed, repeated=False)
        for engine in ("duckdb", "polars"):
            alone, people = (
                ask(engine, "l_diversity", frame, {"variant": variant} | more)
                for more in ({}, {"entity": "person"})
            )
            assert alone == people


@pytest.mark.parametrize("name", ["t_closeness", "beta_likeness", "delta_disclosure"])
def test_a_person_of_two_values_has_no_share(name: str) -> None:
    frame = pl.DataFrame({"person": [1, 1, 2], "age": [1, 2, 2], "zip": ["A"] * 3, "dx": [1, 2, 2]})
    sentence = (
        "sensitive must have one value for each person where a class is compared with the table"
    )
    for function, options in ((name, {}), ("disclosing_classes", {"measure": name})):
        with pytest.raises(duckdb.Error, match=sentence):
            ask("duckdb", function, frame, {"entity": "person"} | options)
        with pytest.raises(OutOfDomainError, match=sentence):
            ask("polars", function, frame, {"entity": "person"} | options)
    parts = frame.with_columns(sex=pl.Series(["F", "M", "M"]))
    assert len(ask("duckdb", name, parts, {"entity": "person", "by": ["sex"]})) == 2
    assert len(ask("polars", name, parts, {"entity": "person", "by": ["sex"]})) == 2


def test_one_patient_of_fifty_wards_is_one_of_fifty_one_people() -> None:
    wards = range(50)
    frame = pl.DataFrame(
        {
            "person": [0] * 50 + [1 + ward for ward in wards],
            "age": [*wards] * 2,
            "zip": ["A"] * 100,
            "dx": [9] * 50 + [1] * 50,
        }
    )
    for engine in ("duckdb", "polars"):
        found = ask(engine, "t_closeness", frame, {"entity": "person"})[0]
        assert (found["value"], found["records"]) == (pytest.approx(0.5 - 1 / 51), 51)
        assert ask(engine, "beta_likeness", frame, {"entity": "person"})[0][
            "value"
        ] == pytest.approx(24.5)
        found = ask(engine, "delta_disclosure", frame, {"entity": "person"})[0]
        assert found["value"] == pytest.approx(math.log(25.5))
