"""Bad input is refused in the same sentence by every engine: rule, value, remedy."""

from typing import Any

import polars as pl
import pytest

from reid_sql.errors import ReidError, UnavailableError
from reid_sql.function import signature_of
from reid_sql_udfs import declared
from tests.cells import each_cell
from tests.engines.asking import PEOPLE
from tests.matrices.engines import Engine, Frames, absent

pytestmark = pytest.mark.first(engine=["duckdb"], face=["polars"])

AGE = ["age"]
SCENARIO = '{"population": 9, "groups": [{"columns": ["agee"], "probability": 0.5}]}'
REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "quasi-identifiers must be columns of the table, got 'agee'; did you mean 'age'?": (
        "risk_summary",
        {"qi": ["agee"]},
    ),
    "quasi-identifiers must be distinct, got 'age' twice; name each column once": (
        "class_size_histogram",
        {"qi": ["age", "age"]},
    ),
    "quasi-identifiers must name 1 to 64 columns, got 0; pass the columns by which people can be "
    "distinguished, such as ['age', 'sex']": ("correctness_curve", {"qi": []}),
    "threshold must be a risk between 0 and 1, got 2; pass the risk above which a record counts as at risk, "
    "such as 0.2 for classes of fewer than 5": ("risk_summary", {"qi": AGE, "threshold": 2}),
    "nulls must be one of 'value', 'wildcard', 'drop', got 'dorp'; did you mean 'drop'?": (
        "equivalence_classes",
        {"qi": AGE, "nulls": "dorp"},
    ),
    "points must be a whole number of known rows from 1 to 16, got 2.5; pass how many rows of a person an "
    "attacker knows, or NULL for all": ("unicity", {"entity": "id", "columns": AGE, "points": 2.5}),
    "populations must be a number or a list of one or more numbers, got []; "
    "write it like 1e6 or [1000, 1e6]": (
        "pyc_forecast",
        {"qi": AGE, "populations": []},
    ),
    "model must be a fitted model, got 'nobody'; ": (
        "score_records",
        {"model": "nobody", "population": 9},
    ),
    "columns of the scenario must be columns of the table, got 'agee'; did you mean 'age'?": (
        "adversary_summary",
        {"scenario": SCENARIO},
    ),
    "quasi-identifiers and sensitive must be distinct, got 'age' twice; name each column once": (
        "l_diversity",
        {"qi": AGE, "sensitive": "age"},
    ),
    "nulls must be one of 'value', 'drop', got 'wildcard': a NULL that matches any value puts a record into "
    "several classes, and this function does not count classes that overlap; pass one of these": (
        "pyc_fit",
        {"qi": AGE, "nulls": "wildcard"},
    ),
    "qar_risk must be called without by, got [age]: its columns are compared as a whole; ask about each "
    "group in a view of its own": ("qar_risk", {"columns": AGE, "by": AGE}),
    "entity must not be a quasi-identifier, got 'AGE'; an attacker who knows it needs nothing else: leave it "
    "out of one of them": ("class_size_histogram", {"qi": AGE, "entity": "AGE", "by": ["sex"]}),
    "entity must be used with nulls := 'value' or 'drop', got 'wildcard'; first reduce the table to one "
    "row per person": ("class_size_histogram", {"qi": AGE, "entity": "id", "nulls": "wildcard"}),
    "by must be used with nulls := 'value' or 'drop', got 'wildcard'; ask about each group in a view of its "
    "own": (
        "class_size_histogram",
        {"qi": AGE, "entity": "id", "by": ["sex"], "nulls": "wildcard"},
    ),
    "the number of subsets of the columns must be at most 10000000, got ": (
        "attribute_risk",
        {"columns": [f"c{place}" for place in range(40)], "max_size": 7},
    ),
}
WIDE = pl.DataFrame({f"c{place}": [1, 2] for place in range(40)})


@each_cell("sentence", REFUSED)
def test_a_refusal_is_the_same_sentence(engine: Engine, sentence: str) -> None:
    name, given = REFUSED[sentence]
    table = WIDE if name == "attribute_risk" else PEOPLE
    answer = engine.ask(declared()[name], {"tbl": table, **given})
    if absent(declared()[name], engine, answer):
        return
    assert isinstance(answer, str)
    assert answer.startswith(sentence) if sentence.endswith(" ") else answer == sentence


def test_an_empty_table_is_refused(engine: Engine) -> None:
    answer = engine.ask(declared()["risk_summary"], {"tbl": PEOPLE.head(0), "qi": AGE})
    assert isinstance(answer, str)
    assert answer.startswith("the table must contain at least one record, got 0 (those that ")


SUMMARY = signature_of(declared()["risk_summary"])
MOST = len(SUMMARY.parameters)
CALLED = f"risk_summary must be called as risk_summary{SUMMARY}, got"
WRONG: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
    "parameters of risk_summary must be named as it has them, got 'treshold'; did you mean 'threshold'?": (
        "risk_summary",
        ("tbl", AGE),
        {"treshold": 0.5},
    ),
    f"{CALLED} a call missing a required argument: 'qi'; pass qi": ("risk_summary", ("tbl",), {}),
    f"{CALLED} a call missing required arguments: 'tbl', 'qi'; pass tbl and qi": (
        "risk_summary",
        (),
        {},
    ),
    f"{CALLED} {MOST + 1} arguments; pass at most {MOST}": (
        "risk_summary",
        ("tbl",) * (MOST + 1),
        {},
    ),
    f"{CALLED} 'qi' by place and by name; pass it once": (
        "risk_summary",
        ("tbl", AGE),
        {"qi": AGE},
    ),
    "qi must be one list of columns, got several arguments; write ['age', 'sex']": (
        "risk_summary",
        ("tbl", "age", "sex"),
        {},
    ),
    "parameters of uniqueness_xi must be named as it has them, got 'populaton'; did you mean 'population'?": (
        "uniqueness_xi",
        ("m",),
        {"populaton": 5},
    ),
    "threshold must be a risk between 0 and 1, got x; pass the risk above which a record counts as at risk, "
    "such as 0.2 for classes of fewer than 5": ("risk_summary", ("tbl", AGE, "x"), {}),
    "threshold must be a risk between 0 and 1, got NULL; pass the risk above which a record counts as at "
    "risk, such as 0.2 for classes of fewer than 5": (
        "risk_summary",
        ("tbl", AGE),
        {"threshold": None},
    ),
    "populations must be a number or a list of one or more numbers, got ['x']; "
    "write it like 1e6 or [1000, 1e6]": (
        "pyc_forecast",
        ("tbl", AGE, ["x"]),
        {},
    ),
    "quasi-identifiers must be a list of column names, got 5; write ['age', 'sex']": (
        "risk_summary",
        ("tbl", 5),
        {},
    ),
    "sensitive must be the name of a column, got ['sex']; write it as a text, such as 'age'": (
        "l_diversity",
        ("tbl", AGE, ["sex"]),
        {},
    ),
    "key must be the name of a column, got 5; write it as a text, such as 'age'": (
        "individual_risk",
        ("tbl", AGE),
        {"key": 5},
    ),
    "model must be the name of a fitted model or a model, got 5; see fitted_models() for those there are": (
        "score_records",
        ("tbl", 5, 9),
        {},
    ),
    "scenario must be a path, JSON text or a mapping, got 5; pass a .toml or .json file": (
        "adversary_summary",
        ("tbl", 5),
        {},
    ),
}


@each_cell("sentence", WRONG)
def test_a_wrong_call_of_a_face_is_the_same_sentence(face: Frames, sentence: str) -> None:
    name, arguments, named = WRONG[sentence]
    frame = face.adapter.framed(PEOPLE.to_arrow())
    with pytest.raises(ReidError) as refused:
        getattr(face.face, name)(*(frame if each == "tbl" else each for each in arguments), **named)
    if not absent(declared()[name], face, str(refused.value)):
        assert str(refused.value) == sentence


def test_what_is_no_frame_and_what_is_no_column_is_named(face: Frames) -> None:
    for name, given in (
        ("risk_summary", (AGE,)),
        ("score_records", ("m", 9)),
        ("journalist_risk", (None, AGE)),
    ):
        with pytest.raises(ReidError) as refused:
            getattr(face.face, name)([1], *given)
        kind = face.adapter.TABLE
        if not absent(declared()[name], face, str(refused.value)):
            assert isinstance(refused.value, TypeError)
            assert str(refused.value) == f"tbl must be {kind.words}, got list; {kind.remedy}"
    with pytest.raises(ReidError) as refused:
        face.face.cell_risk([0.5], 3)
    if absent(declared()["cell_risk"], face, str(refused.value)):
        return
    assert isinstance(refused.value, TypeError)
    kind = face.adapter.COLUMN
    assert str(refused.value).startswith(
        f"p must be the name of a column, {kind.words} or a number, got [0.5]; "
    )


def test_arguments_are_given_by_place_and_by_name_alike(face: Frames) -> None:
    call, frame = face.face, face.adapter.framed(PEOPLE.to_arrow())
    by_place = face.adapter.collected(call.risk_summary(frame, AGE, 0.5, "drop"), "").to_pylist()
    by_name = call.risk_summary(nulls="drop", threshold=0.5, qi=AGE, tbl=frame)
    assert face.adapter.collected(by_name, "").to_pylist() == by_place


def test_columns_of_a_model_are_given_by_place_and_by_name_alike(face: Frames) -> None:
    call, frame = face.face, face.adapter.framed(PEOPLE.to_arrow())
    if declared()["uniqueness_xi"].absence(face.name):
        with pytest.raises(UnavailableError):
            call.uniqueness_xi("by_name", 1000, "age", "region")
        return
    face.adapter.collected(call.fit_copula("by_name", frame, ["age", "region"]), "")
    calls = [
        call.uniqueness_xi("by_name", 1000, "age", "region"),
        call.uniqueness_xi("by_name", "age", "region", population=1000),
        call.uniqueness_xi("age", "region", population=1000, model="by_name"),
    ]
    first, *others = (
        face.adapter.collected(frame.select(each.alias("xi")), "").to_pylist() for each in calls
    )
    assert others == [first, first]
