"""Each parameter that a measure of the gate accepts changes its figure, or is refused, or is declared."""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from reid_sql.check import gate
from reid_sql.check.catalogue import MEASURES
from reid_sql.errors import ReidError
from tests.cells import each_cell

# What may leave a figure as it is, with the reason; all others must change it on some table below.
DECLARED: Mapping[str, str] = {
    "seed": "draws other people, rows or samples",
    "trials": "how many draws an average is taken over",
    "samples": "how many draws an average is taken over",
    "exact_up_to": "whether all choices are counted, or draws of them",
    "targets": "how many people all attacks of one audit are tried on",
    "max_sets": "how many sets are counted before the search is given up",
}
GROUPS = [
    {"columns": ["age", "sex"], "probability": 0.7},
    {"columns": ["town"], "probability": 0.4},
]
SCENARIO = {"population": 5000, "presence_disclosed": 0.5, "groups": GROUPS}
# what a check of the measure needs, besides its limit
NEEDED: Mapping[str, Any] = {
    "population": 5000,
    "scenario": "scenario.json",
    "household": "home",
    "person": "id",
    "item": "town",
    "value": "pay",
    "on": ["id"],
    "right_qi": ["job"],
}
# other values of a parameter, of which one must change the figure or be refused; of some measures, their own
OTHERS: Mapping[str, list[Any]] = {
    "tolerance": [{"age": 1}, {"age": 45}],
    "threshold": [0.001, 0.9],
    "max_size": [1, 2],
    "share_unique": [0.3],
    "k": [2, 9, 30],
    "population": [200, 90_000],
    "prior": ["flat"],
    "weight": ["pay"],
    "ordered": [["birth"]],
    "nominal": [["age"]],
    "p": [1, 2],
    "alpha": [0.3, 0.9],
    "tail": [0.5, 0.9],
    "sample": [1, "ignored"],
    "method": ["pitman", "calibrated"],
    "scenario": ["other.json"],
    "risk": ["prosecutor", "marketer", "journalist"],
    "variant": ["entropy", "numeric", "enhanced", "all"],
    "c": [1.0, 9.0],
    "l": [3, 4],
    "t": [0.01, 0.9],
    "beta": [0.1, 9.0],
    "delta": [0.1, 3.0],
    "points": [1],
    "household": ["job"],
    "min_precision": [0.55],
    "totals": ["margins"],
    "levels": [["district > town"]],
    "published": [["districts.csv"]],
    "p_percent": [2.0],
    "value": ["age"],
    "dominance": [[2, 0.99], [1, 0.01]],
    "count": ["n"],
    "total": ["All", "town"],
    "not_total": ["town"],
    "columns": [["town", "sex", "n"]],
    "people": ["nested", "different"],
    "lowest": [0, 3],
    "highest": [4, 6],
    "base": [3],
    "status": ["shown"],
    "within": [5],
    "rule": ["opensafely"],
    "on": [["home"]],
    "right_qi": [["job", "sport"]],
}
# what a parameter changes only together with another
TOGETHER: Mapping[tuple[str, str], dict[str, Any]] = {
    **{(name, "c"): {"variant": "recursive"} for name in ("l_diversity", "l_diversity_offending")},
    ("cells_below_k", "totals"): {"k": 30},
    ("cells_below_k", "levels"): {"k": 30, "totals": "margins"},
    **{("dominated_cells", name): {"dominance": [1, 0.2]} for name in ("value", "totals")},
    ("dominated_cells", "totals"): {"dominance": [1, 0.05]},
    ("dominated_cells", "levels"): {"dominance": [1, 0.05], "totals": "margins"},
    ("keys", "max_size"): {"share_unique": 0.02},
    **{(name, "population"): {"threshold": 0.3} for name in ("xi_share", "kappa_share")},
    **{("recoverable_cells", name): {"k": 9} for name in ("lowest", "highest")},
}
QUASI_IDENTIFIERS: Mapping[str, list[str]] = {
    "household_risk": ["sex"],
    "population_risk": ["age", "birth", "sex"],
    "qar_risk": ["sex", "town", "job", "sport", "dx", "code", "district", "birth"],
    "inference_risk": ["age", "sex", "town", "job", "sport"],
    "safe_table": ["district", "town", "sex"],
}


def write_tables(folder: Path) -> None:
    """Write 150 people with visits, a release before it, a synthetic table, and published tables."""
    rng = random.Random(3)  # noqa: S311 - a test
    rows = []
    for person in range(150):
        age, sex, home, job = (
            rng.randrange(20, 60),
            rng.choice("FM"),
            person // 3,
            rng.randrange(6),
        )
        for _ in range(rng.choice((1, 1, 2, 3))):
            town = rng.choice("aaabbbcccdddeeefffg")
            district = "north" if town < "d" else "south"
            dx = rng.choice((1, 1, 1, 2, 3, 8)) if age > 30 else 1
            pay = rng.randrange(10, 90) ** 2
            sport = rng.randrange(4)
            code = "xyz"[(job + sport) % 3]
            # numbers, but for a third: in an order only if it is said to be
            birth = rng.choice(("old", str(age + rng.randrange(9)), str(age + rng.randrange(30))))
            rows.append((person, age, sex, home, job, town, district, dx, pay, sport, code, birth))
    names = [
        *("id", "age", "sex", "home", "job", "town", "district", "dx", "pay", "sport", "code"),
        "birth",
    ]
    visits = pl.DataFrame(rows, schema=names, orient="row")
    people = visits.unique("id", keep="first", maintain_order=True)
    visits.write_parquet(folder / "visits.parquet")
    people.write_parquet(folder / "people.parquet")
    people.with_columns(pl.col("age") + pl.col("id") % 3).write_parquet(folder / "before.parquet")
    other = people.with_columns(
        age=people["age"].reverse(), town=people["town"].shift(7, fill_value="a")
    )
    pl.concat([people, other]).write_parquet(folder / "population.parquet")
    pl.concat([people.head(80), other.tail(60)]).write_parquet(folder / "synthetic.parquet")
    other.sample(140, seed=1).write_parquet(folder / "holdout.parquet")
    people.select("id", "job", "sport", "home").write_parquet(folder / "jobs.parquet")
    counts = people.group_by("town", "sex").len("records").sort("town", "sex")
    hidden = counts.with_columns(
        records=pl.when(pl.col("records") < 9).then(None).otherwise(pl.col("records")),
        n=pl.col("records") + 1,
        shown=pl.lit("open"),
    )
    hidden.write_csv(folder / "first.csv")
    people.group_by("town").len("records").with_columns(
        n=pl.col("records"), shown=pl.lit("open")
    ).write_csv(folder / "second.csv")
    people.group_by("district").len("records").write_csv(folder / "districts.csv")
    (folder / "scenario.json").write_text(json.dumps(SCENARIO), encoding="utf-8")
    other_scenario = SCENARIO | {"groups": [GROUPS[0] | {"probability": 0.1}]}
    (folder / "other.json").write_text(json.dumps(other_scenario), encoding="utf-8")


def table_for(measure: str) -> dict[str, Any]:
    """The table that the measure is asked of: what it needs beside the quasi-identifiers."""
    function = MEASURES[measure].function
    table: dict[str, Any] = {"file": "people.parquet", "quasi_identifiers": ["age", "sex", "town"]}
    if function == "unicity":
        table |= {"file": "visits.parquet", "quasi_identifiers": ["age", "town"]}
        table["entity"] = "id"
    if function == "journalist_risk":
        table["population_file"] = "population.parquet"
    if function == "compare_releases":
        table["former_file"] = "before.parquet"
    if function == "audit_synthetic":
        table |= {"file": "synthetic.parquet", "original_file": "people.parquet"}
        table |= {"holdout_file": "holdout.parquet"}
    if function == "join_risk":
        table["joined_file"] = "jobs.parquet"
    table["quasi_identifiers"] = QUASI_IDENTIFIERS.get(function, table["quasi_identifiers"])
    if function == "audit_tables":
        table = {"file": "first.csv", "published_file": "second.csv"}
    elif MEASURES[measure].takes("sensitive"):
        table["sensitive"] = ["code" if function == "inference_risk" else "dx"]
    return table


Question = tuple[str, str]  # a measure, and its parameters as JSON


def write_check(question: Question) -> dict[str, Any]:
    """A check of the measure, whatever the limit."""
    measure, parameters = question
    bound = MEASURES[measure].bound
    return {"measure": measure, bound: int(bound == "at_least"), **json.loads(parameters)}


def answer_together(folder: Path, questions: Sequence[Question]) -> dict[Question, Any]:
    """Ask questions of one table in one report; where it is refused, each half by itself.

    An answer is the figure with its interval and status, or that it is refused.
    """
    table = table_for(questions[0][0]) | {"checks": [*map(write_check, questions)]}
    policy = {"mask_below": 1, "cautions": "allow", "tables": [table]}
    (folder / "policy.json").write_text(json.dumps(policy), encoding="utf-8")
    try:
        reported = gate.check(folder / "policy.json")["checks"]
    except ReidError as error:
        if len(questions) == 1:
            return {questions[0]: f"refused: {error}"}
        half = len(questions) // 2
        first, second = (
            answer_together(folder, part) for part in (questions[:half], questions[half:])
        )
        return first | second
    figures = [
        (
            each["verdict"],
            [
                (group["value"], group["low"], group["high"], group["status"])
                for group in each["groups"]
            ],
        )
        for each in reported
    ]
    return dict(zip(questions, figures, strict=True))


# Figures that the tables of this walk do not move; tests/udfs has tables for audit_tables that do.
UNMOVED = {
    ("keys", "max_size"),
    ("own_record_inference", "min_precision"),
    ("cells_below_k", "published"),
    ("dominated_cells", "published"),
    *product(
        ("published_below_k", "recoverable_cells", "recovered_by_difference"),
        ("k", "total", "not_total", "lowest", "highest", "within"),
    ),
}
PAIRS = [
    (name, parameter)
    for name, measure in MEASURES.items()
    for parameter in measure.parameters
    if parameter not in DECLARED and (name, parameter) not in UNMOVED
]


def base_of(measure: str, parameter: str) -> dict[str, Any]:
    """The parameters of a check of which one is changed."""
    accepted = MEASURES[measure].parameters
    base = {name: value for name, value in NEEDED.items() if name in accepted}
    if measure == "population_uniqueness":
        base.pop("weight", None)
    return {**base, **TOGETHER.get((measure, parameter), {})}


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Mapping[str, Any]], Any]:
    """Answers a question; those of a table that are asked of each pair are answered in one report."""
    folder = tmp_path_factory.mktemp("tables")
    write_tables(folder)
    asked: dict[str, dict[Question, None]] = {}
    for measure, parameter in PAIRS:
        base = base_of(measure, parameter)
        for given in (base, base | {parameter: OTHERS[parameter][0]}):
            of_table = asked.setdefault(json.dumps(table_for(measure)), {})
            of_table[measure, json.dumps(given)] = None
    answers: dict[Question, Any] = {}
    for questions in asked.values():
        answers |= answer_together(folder, [*questions])

    def answer(measure: str, given: Mapping[str, Any]) -> Any:
        question = (measure, json.dumps(given))
        if question not in answers:
            answers.update(answer_together(folder, [question]))
        return answers[question]

    return answer


@each_cell("measure, parameter", PAIRS)
def test_a_parameter_changes_the_figure_or_is_refused(
    ask: Callable[[str, Mapping[str, Any]], Any], measure: str, parameter: str
) -> None:
    base = base_of(measure, parameter)
    first = ask(measure, base)
    assert not isinstance(first, str), first
    others: list[Any] = []
    for value in OTHERS[parameter]:
        others.append(ask(measure, base | {parameter: value}))
        # one of the values is no slip of this test, unless all are refused for what they are
        is_answered = any(not isinstance(other, str) for other in others)
        if is_answered and any(other != first for other in others):
            return
    assert any(other != first for other in others), (first, others)
    assert parameter in {"status", "total"}, others


def test_every_parameter_has_another_value_or_a_reason() -> None:
    named = {parameter for measure in MEASURES.values() for parameter in measure.parameters}
    assert named == {*OTHERS, *DECLARED}
