"""What a policy sets of a question, which shapes stand together, and what a log says of a question."""

from pathlib import Path
from typing import Any

import pytest

from reid_sql.check.policy import read_policy
from reid_sql.check.policy_model import TablePolicy
from reid_sql.errors import OutOfDomainError, ReidError
from reid_sql.serve.log import Words
from reid_sql.serve.record import Reveal, Shape
from reid_sql.serve.settings import set_by_policy
from reid_sql.serve.statement import Reader
from reid_sql_udfs import declared

POLICY = """mask_below = 10
[[tables]]
name = "people"
file = "people.csv"
quasi_identifiers = ["age", "sex", "zip"]
sensitive = ["hiv"]
[[tables.checks]]
measure = "l_diversity"
variant = "entropy"
at_least = 1
[[tables.checks]]
measure = "l_diversity"
variant = "recursive"
c = 4
at_least = 1
[[tables.checks]]
measure = "k"
at_least = 1
[[tables.checks]]
measure = "records_at_risk"
threshold = 0.1
by = ["zip"]
at_most = 1
"""


@pytest.fixture
def policy(tmp_path: Path) -> TablePolicy:
    (tmp_path / "people.csv").write_text("age,sex,zip,hiv\n1,1,1,1\n")
    (tmp_path / "policy.toml").write_text(POLICY)
    return read_policy(tmp_path / "policy.toml").tables[0]


@pytest.mark.parametrize(
    ("function", "given", "due"),
    [
        ("risk_summary", {"qi": ["sex"]}, {"qi": ["sex"], "threshold": 0.1, "nulls": "value"}),
        ("risk_summary", {"qi": "SEX", "by": ["ZIP"], "threshold": 0.1}, {"by": ["ZIP"]}),
        ("l_diversity", {"qi": ["sex"], "sensitive": "hiv"}, {"variant": "entropy", "l": 2}),
        (
            "l_diversity",
            {"qi": ["sex"], "sensitive": "hiv", "variant": "recursive", "c": 4},
            {"variant": "recursive", "c": 4},
        ),
        ("safe_table", {"by": ["sex", "hiv"], "totals": "margins"}, {"k": 10, "totals": "margins"}),
    ],
)
def test_the_policy_sets_what_a_client_omits(
    policy: TablePolicy, function: str, given: dict[str, Any], due: dict[str, Any]
) -> None:
    chosen = set_by_policy(policy, declared()[function], {"tbl": "people", **given}, 10)
    assert due.items() <= chosen.items()


@pytest.mark.parametrize(
    ("function", "given", "parameter"),
    [
        ("risk_summary", {"threshold": 0.11}, "threshold"),
        ("risk_summary", {"tolerance": {"age": 1}}, "tolerance"),
        ("risk_summary", {"by": ["sex"]}, "by"),
        ("risk_summary", {"nulls": "drop"}, "nulls"),
        ("risk_summary", {"entity": "age"}, "entity"),
        ("risk_summary", {"qi": ["age", "hiv"]}, "qi"),
        ("l_diversity", {"sensitive": "age"}, "sensitive"),
        ("l_diversity", {"variant": "distinct"}, "variant"),
        ("l_diversity", {"variant": "recursive", "c": 5}, "c"),
        ("class_size_histogram", {"by": ["zip"]}, "by"),
        ("safe_table", {"by": ["name"]}, "by"),
        ("safe_table", {"by": ["sex"], "k": 11}, "k"),
        ("safe_table", {"by": ["sex"], "value": "age"}, "value"),
        ("pyc_fit", {}, "function"),
    ],
)
def test_a_client_chooses_no_parameter(
    policy: TablePolicy, function: str, given: dict[str, Any], parameter: str
) -> None:
    """Whatever the value, it is refused by its name, with what to do."""
    with pytest.raises(OutOfDomainError, match=r" must be .*, got .*; \w+") as refused:
        set_by_policy(policy, declared()[function], {"tbl": "people", **given}, 10)
    assert parameter in str(refused.value).split(" must be ")[0]


def reveal(shape: Shape, *columns: str, sensitive: str = "") -> Reveal:
    counted = frozenset(columns)
    everything = counted | {sensitive} if sensitive else counted
    return Reveal("t", (None, "value"), repr(columns), shape, counted, everything)


def test_numbers_of_nested_classes_do_not_stand_together() -> None:
    """Two answers about one column are of the same classes, or one is refused."""
    figures, sizes = Shape.FIGURES, Shape.CLASS_SIZES
    assert reveal(figures, "age").conflicts(reveal(figures, "age", "sex"))
    assert reveal(figures, "age").conflicts(reveal(sizes, "age"))
    assert reveal(sizes, "age", "sex").conflicts(reveal(figures, "sex", sensitive="hiv"))
    assert reveal(figures, "age", sensitive="hiv").conflicts(
        reveal(figures, "sex", sensitive="hiv")
    )
    assert not reveal(figures, "age", sensitive="hiv").conflicts(reveal(figures, "age"))
    assert not reveal(figures, "age").conflicts(reveal(figures, "sex"))


def test_cells_stand_beside_figures_of_columns_that_nobody_named() -> None:
    sex, both = frozenset(["sex"]), frozenset(["sex", "age"])
    figures = reveal(Shape.FIGURES, "age", "sex")
    assert figures.named_by({sex: False}) == sex
    assert figures.named_by({sex: True}) is None  # a cell is hidden
    assert figures.named_by({sex: False, frozenset(["age"]): False}) is None  # two tables
    assert figures.named_by({both: False}) is None
    assert reveal(Shape.CLASS_SIZES, "age", "sex").named_by({sex: False}) is None


@pytest.mark.parametrize(
    "call",
    [
        "population_risk(people, ['age'], [100000], k := 3, seed := 3)",
        "risk_summary(people, ['sex'], by := ['sex'])",
    ],
)
def test_equal_constants_are_two(call: str) -> None:
    [read] = Reader(["people"]).read(f"FROM reid.{call}").calls
    values = [value for name, value in read.arguments.items() if name in {"k", "seed", "qi", "by"}]
    assert values[0] in values[1:] or values[-1] == values[-2]


def test_a_log_has_the_words_that_the_server_knows() -> None:
    words = Words(frozenset(["age", "zip code"]), frozenset(["select", "from", "risk_summary"]))
    sql = "SELECT secret FROM t WHERE Age = 'alice' AND \"zip code\" = 7"
    assert words.columns_in(sql) == ("age", "zip code")
    assert words.hide_unknown("SELECT secret FROM risk_summary") == "SELECT _ FROM risk_summary"
    refusal = ReidError("secret must be a column of alice, got 7; write age")
    assert words.reason_of(refusal, sql) == "_ must be a column of _"
