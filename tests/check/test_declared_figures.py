"""How a figure may be shown belongs to its declaration; what declares nothing is not shown."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from reid_sql.check.catalogue import MEASURES
from reid_sql.check.exact_figures import WHOLE, Figure
from reid_sql.check.gate import check
from reid_sql.check.masked_figures import hides_figure
from reid_sql.check.masking import Mask
from reid_sql.check.measure import Kind, kind_of, read_figures, whole_of
from reid_sql.check.policy_model import Check
from reid_sql.serve.allowed import TABLE_FUNCTIONS
from reid_sql.serve.masked_answers import Masking, drop_undeclared, mask_answer
from tests.cells import each_cell
from tests.outputs import outputs

MASK = 10


def test_every_measure_and_every_column_of_every_served_answer_is_declared() -> None:
    undeclared = [name for name, measure in MEASURES.items() if measure.kind is None]
    undeclared += [
        f"{function}.{column}"
        for function in sorted(TABLE_FUNCTIONS)
        for column in outputs()[function].answer_columns
        if kind_of(function, column) is None
    ]
    assert not undeclared, "declare what they are in reid_sql/check/figures.toml"


def test_every_declaration_is_of_a_column() -> None:
    of_answers = {
        (function, column)
        for function in outputs()
        for column in outputs()[function].answer_columns
    }
    of_answers |= {(each.function, each.column) for each in MEASURES.values()}
    names = {column for _, column in of_answers}
    names |= {f"{function}.{column}" for function, column in of_answers}
    ends = {f"{name}{end}" for name in read_figures()[0] for end in ("_low", "_high")}
    known = names | {each.rpartition("_")[0] for each in ends & names}
    assert not read_figures()[0].keys() - known


def test_a_share_is_no_whole_number_and_a_word_is_no_figure() -> None:
    """A share that is declared as a count, or a word as a figure, would be masked by another rule."""
    wrong = []
    for function in sorted(TABLE_FUNCTIONS):
        for column, sql_type in outputs()[function].answer_columns.items():
            kind, each = kind_of(function, column), sql_type.removesuffix("[]")
            is_text = each == "VARCHAR" and function != "demo_people"
            is_word = kind in {Kind.LABEL, Kind.STATUS} and function != "demo_people"
            if (kind is Kind.SHARE and each == "BIGINT") or is_text != is_word:
                wrong.append(f"{function}.{column}: {sql_type}, {kind}")
    assert not wrong


def test_the_whole_of_an_answer_is_one_of_its_columns() -> None:
    for function in TABLE_FUNCTIONS:
        whole = whole_of(function)
        if whole and whole != "records":
            assert kind_of(function, whole) is Kind.COUNT
            assert whole in outputs()[function].answer_columns


def reported(
    folder: Path, rows: Counter[Any], columns: str, *checks: dict[str, Any], **more: Any
) -> list[list[dict[str, Any]]]:
    """The groups of each check in a report on a table of these rows."""
    lines = [",".join(each) for each in rows.elements()]
    (folder / "t.csv").write_text("\n".join([columns, *lines]) + "\n", encoding="utf-8")
    table = {"file": "t.csv", "quasi_identifiers": ["a"], "checks": checks, **more}
    (folder / "p.json").write_text(json.dumps({"mask_below": MASK, "tables": [table]}))
    return [each["groups"] for each in check(folder / "p.json")["checks"]]


def test_a_measure_that_nobody_declared_is_masked() -> None:
    about: dict[str, Any] = {
        "parameters": {},
        "quasi_identifiers": ("a",),
        "sensitive": None,
        "limit": 1.0,
    }
    rest = {**about, "no_worse": False, "by": (), "judge_by": "interval"}
    figure = Figure(WHOLE, 0.5, None, None, "ok")
    declared_measure = MEASURES["average_risk"]
    undeclared = replace(declared_measure, column="a_new_column")
    assert not hides_figure(Check(measure=declared_measure, **rest), figure, Mask(MASK))
    assert hides_figure(Check(measure=undeclared, **rest), figure, Mask(MASK))


@pytest.mark.first(few=[9, 10], size=[60])  # the most that are masked, and the fewest that are not
@each_cell("few", [1, 3, 9, 10, 40])
@each_cell("size", [60, 265])
def test_a_figure_of_sensitive_values_is_shown_where_no_value_of_a_class_has_few_records(
    tmp_path: Path, few: int, size: int
) -> None:
    """A class of `size` people, all but `few` of one value, beside one of 300 and 200."""
    rows: Counter[Any] = Counter(
        {("f", "no"): 300, ("f", "ill"): 200, ("m", "no"): size - few, ("m", "ill"): few}
    )
    checks: list[dict[str, Any]] = [
        {"measure": "alpha_k_anonymity", "at_most": 1},
        *(
            {"measure": "l_diversity", "variant": each, "at_least": 0}
            for each in ("entropy", "recursive")
        ),
        {"measure": "alpha_k_anonymity_offending", "alpha": 0.7, "at_most": 1},
        {"measure": "l_diversity", "at_least": 1},
    ]
    groups = [each[0] for each in reported(tmp_path, rows, "a,s", *checks, sensitive=["s"])]
    *of_shares, values = groups
    assert values["value"] == 2  # no person is told by it
    assert all((each["value"] is None) == (few < MASK) for each in of_shares)
    assert all(each["masked"] == (few < MASK) for each in of_shares)
    if few >= MASK:
        assert of_shares[0]["value"] == pytest.approx(max((size - few) / size, few / size, 0.6))


def test_many_values_in_a_small_class_are_as_many_people(tmp_path: Path) -> None:
    """Of 12 people with 12 values each is the only one of theirs; of 3 values none need be."""
    asked = [{"measure": "l_diversity", "at_least": 1}]
    for values, shown in ((12, None), (7, None), (6, 6), (3, 3)):
        kinds = ["x"] * 12 + ["y"] * 24
        rows: Counter[Any] = Counter((kind, f"v{at % values}") for at, kind in enumerate(kinds))
        [[group]] = reported(tmp_path, rows, "a,s", *asked, sensitive=["s"])
        assert group["value"] == shown, values


def test_a_group_with_few_of_a_value_closes_the_figures_of_the_whole(tmp_path: Path) -> None:
    """In z3 three people are ill: what the others have, taken from the whole, would be the rest."""
    rows: Counter[Any] = Counter({("x", "no", z): 40 for z in ("z1", "z2", "z3")})
    rows |= {("x", "ill", "z1"): 20, ("x", "ill", "z2"): 30, ("x", "ill", "z3"): 3}
    asked = {"measure": "alpha_k_anonymity", "at_most": 1}
    whole, by = reported(tmp_path, rows, "a,s,z", asked, {**asked, "by": ["z"]}, sensitive=["s"])
    assert whole[0]["value"] is None
    shown = {each["group"]["z"]: each["value"] for each in by}
    assert shown == {"z1": pytest.approx(2 / 3), "z2": pytest.approx(4 / 7), "z3": None}


def test_what_remains_of_a_group_is_masked_as_the_group_itself(tmp_path: Path) -> None:
    """Of 48 people of a group 46 have one value in their class, or are unique: two are left."""
    whole: Counter[Any] = Counter({("c", value, "z2"): 30 for value in ("no", "ill")})
    pairs = whole + Counter({(f"a{at}", "no", "z1"): 2 for at in range(23)})
    pairs += Counter({("b", "no", "z1"): 1, ("b", "ill", "z1"): 1})
    unique = whole + Counter({(f"a{at}", "no", "z1"): 1 for at in range(46)})
    unique += Counter({("b", "no", "z1"): 2})
    of_values = {"measure": "l_diversity_offending", "l": 2, "at_most": 1, "by": ["z"]}
    of_sizes = {"measure": "uniqueness", "at_most": 1, "by": ["z"]}
    cases: list[tuple[Counter[Any], dict[str, Any]]] = [(pairs, of_values), (unique, of_sizes)]
    for rows, asked in cases:
        [groups] = reported(tmp_path, rows, "a,s,z", asked, sensitive=["s"])
        [first] = [group for group in groups if group["group"] == {"z": "z1"}]
        assert first["value"] is None


def test_a_share_of_the_records_with_a_value_is_masked_by_these(tmp_path: Path) -> None:
    """Of 48 people whose value is known 39 are in classes of one value: nine are left, of 100 in all."""
    rows: Counter[Any] = Counter({("x", "no"): 39, ("y", "no"): 5, ("y", "ill"): 4, ("x", ""): 52})
    asked = {"measure": "l_diversity_offending", "l": 2, "at_most": 1}
    [[group]] = reported(tmp_path, rows, "a,s", asked, sensitive=["s"], nulls="drop")
    assert group["value"] is None


def test_an_answer_is_masked_by_what_its_columns_are_declared_to_be() -> None:
    """The same number is a setting, a count, a small rest of its group, or of a column that nobody knows."""
    answer = pa.table(
        {
            "zip": ["z1", "z2", "z3"],
            "records": [48, 400, 100],
            "offending_records": [46, 60, 9],
            "offending_share": [46 / 48, 60 / 400, 0.09],
            "value": [1.0, 2.5, 2.0],
            "variant": ["distinct", "distinct", "distinct"],
            "k": [46, 20, 2],
            "threshold": [7.0, 7.0, 7.0],
            "a_new_column": [0.996226, 3.0, 500.0],
            "status": ["ok", "not_covered: 3 records match", "ok"],
        }
    )
    few = frozenset(["['z1']", "['z2']", "['z3']"])
    masked = mask_answer(
        answer, answer.to_pylist(), Masking("l_diversity", MASK, 548, few), 1
    ).to_pydict()
    assert masked["records"] == [48, 400, 100]
    assert masked["offending_records"] == [None, 60, None]
    assert masked["offending_share"][0] == 1.0
    assert masked["value"] == [1.0, 2.5, None]
    assert masked["k"] == [46, 20, None]
    assert masked["threshold"] == [7.0, 7.0, 7.0]
    assert masked["a_new_column"] == [None, None, None]
    assert masked["status"][1] == "not_covered: fewer than 10 records match"
    masked = mask_answer(
        answer, answer.to_pylist(), Masking("t_closeness", MASK, 548, few), 1
    ).to_pydict()
    assert masked["value"] == [None, None, None]
    shown = mask_answer(
        answer, answer.to_pylist(), Masking("t_closeness", MASK, 548), 1
    ).to_pydict()
    assert shown["value"] == [1.0, 2.5, None]  # a class of the third group has two people
    assert drop_undeclared(answer, "l_diversity", 1).drop_columns(["a_new_column"]) == (
        answer.drop_columns(["a_new_column"])
    )
    assert drop_undeclared(answer, "l_diversity", 1)["a_new_column"].null_count == len(answer)
