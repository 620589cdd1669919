"""Groups of a table: each answered as a table of its own is, by a loop over its records."""

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reid_sql
from reid_sql.engines.duckdb.planner import write_plan
from reid_sql.errors import ReidError
from reid_sql.parameters.outputs import REQUIRED
from reid_sql.reduction import OF_NO_RECORD
from reid_sql_udfs import declared
from tests.cells import each_cell
from tests.engines.asking import same
from tests.sensitive import MEASURES, both, call_of, summary
from tests.sensitive import asked as measures_asked
from tests.tables import (
    Row,
    by_both,
    by_duckdb,
    by_polars,
    class_sizes,
    drop_nulls,
    frames,
    histogram,
    keys,
    risk,
)
from tests.tiers import representatives

LINES = ("ordered", "numeric")  # which need values in an order
GROUPED = [name for name, function in declared().items() if function.grouped]
Answers = list[dict[str, Any]]
ENGINES = Path(reid_sql.__file__).parent / "engines"
LOWER_WORD = re.compile(r"\b[a-z_]\w*\b")
LONE_WORD = re.compile(r'"([a-z_]\w*)"')
MANY, MOST = 60, 60  # words of a plan; columns of a call
NO_GROUPS = ("disease", "person")  # what the answers are about


def parts(frame: pl.DataFrame, by: list[str]) -> list[tuple[Row, list[Row]]]:
    """The values of each group, as databases compare them, with its rows of all columns."""
    rows, places = keys(frame), [frame.get_column_index(name) for name in by]
    groups: dict[Row, list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[place] for place in places), []).append(row)
    return list(groups.items())


def rows_by_group(answers: Answers, by: list[str]) -> dict[Row, Answers]:
    """The rows of each group by its values."""
    found: dict[Row, Answers] = {}
    values = keys(pl.DataFrame(answers).select(by)) if answers else []
    for group, row in zip(values, answers, strict=True):
        found.setdefault(group, []).append(
            {name: cell for name, cell in row.items() if name not in by}
        )
    return found


@given(frames(min_rows=1, max_columns=4), st.sampled_from(["value", "drop"]), st.data())
def test_each_group_is_counted_as_in_a_loop(
    frame: pl.DataFrame, nulls: str, data: st.DataObject
) -> None:
    by = data.draw(st.lists(st.sampled_from(frame.columns), min_size=1, max_size=2, unique=True))
    qi = data.draw(st.lists(st.sampled_from(frame.columns), min_size=1, max_size=3, unique=True))
    places = [frame.get_column_index(name) for name in qi]
    groups = dict(parts(frame, by))
    for answers in by_both("risk_summary", {"t": frame}, qi, by=by, nulls=nulls):
        typed = pl.DataFrame(
            [{name: row[name] for name in by} for row in answers], frame.select(by).schema
        )
        assert len(answers) == len(groups)
        assert set(keys(typed)) == set(groups)
        for group, found in zip(keys(typed), answers, strict=True):
            rows = drop_nulls(
                [tuple(row[place] for place in places) for row in groups[group]], nulls
            )
            assert found["records_dropped"] == len(groups[group]) - len(rows)
            if rows:
                expected = risk(rows, class_sizes(rows, rows, nulls), 0.2)
                assert {name: found[name] for name in expected} == pytest.approx(
                    expected, rel=1e-12
                )
            else:
                assert (found["records"], found["k"], found["threshold"]) == (0, None, None)


TOWNS = pl.DataFrame(
    {
        "state": ["a", "a", "a", "a", None, None, "b"],
        "age": [1, 1, 1, 2, 1, None, None],
        "sex": ["F", "F", "F", "M", "F", "F", "M"],
        "person": [1, 1, 2, 3, 1, 4, 5],
        "score": [0.0, -0.0, math.nan, math.nan, 0.5, None, None],
        "disease": ["flu", "flu", "cold", "flu", "flu", None, "flu"],
    }
)
HISTOGRAM: dict[Any, list[tuple[Any, ...]]] = {
    ("a",): [(1, 1, 1, 0), (3, 1, 3, 0)],
    (None,): [(1, 1, 1, 1)],
    ("b",): [(None, 0, 0, 1)],
}
OF_PEOPLE: dict[Any, list[tuple[Any, ...]]] = {
    ("a",): [(1, 1, 1, 0), (2, 1, 2, 0)],
    (None,): [(1, 1, 1, 1)],
    ("b",): [(None, 0, 0, 1)],
}


@pytest.mark.parametrize(("entity", "expected"), [(None, HISTOGRAM), ("person", OF_PEOPLE)])
def test_histograms_of_groups_tell_what_was_dropped(
    entity: str | None, expected: dict[Any, list[tuple[Any, ...]]]
) -> None:
    more = {"entity": entity} if entity else {}
    both = by_both(
        "class_size_histogram", {"t": TOWNS}, ["age", "sex"], by=["state"], nulls="drop", **more
    )
    for answers in both:
        cells = ("class_size", "classes", "records", "records_dropped")
        listed = {
            group: sorted([tuple(row[name] for name in cells) for row in rows], key=str)
            for group, rows in rows_by_group(answers, ["state"]).items()
        }
        assert listed == expected


GIVEN: dict[str, list[Any]] = {
    "pyc_forecast": [[50.0]],
    "population_risk": [[50.0]],
    "population_uniqueness": [50.0],
    **{call_of(measure)[0]: ["disease"] for measure in MEASURES},
}
MORE: dict[str, dict[str, Any]] = {"validate_risk": {"methods": ["bound"], "samples": 2}}
OF_MANY = {
    "validate_risk": pl.concat(
        [TOWNS.with_columns(pl.col("age", "person") + 9 * n) for n in range(40)]
    )
}


def asked(
    function: str, tables: list[pl.DataFrame], qi: list[str], **options: Any
) -> list[Answers]:
    """Ask both engines, with what the function must be given beside the columns."""
    given, options = [qi, *GIVEN.get(function, [])], options | MORE.get(function, {})
    named = [f"{name} := {value!r}" for name, value in options.items()]
    names = [f"t{place}" for place in range(len(tables))]
    sql = f"FROM {function}({', '.join([*names, *map(repr, given), *named])})"
    frames = dict(zip(names, tables, strict=True))
    return [by_duckdb(sql, **frames), by_polars(function, *tables, *given, **options)]


@pytest.mark.first(function=representatives())
@each_cell("function", GROUPED)
@each_cell(
    "by, options",
    [(["score", "sex"], {}), (["state"], {"entity": "person"}), (["state"], {"nulls": "drop"})],
)
@pytest.mark.first(cells=6)
def test_a_group_is_answered_as_its_own_table(
    function: str, options: dict[str, Any], by: list[str]
) -> None:
    others, table = [TOWNS] if function == "journalist_risk" else [], OF_MANY.get(function, TOWNS)
    duck, polars = asked(function, [table, *others], ["age", "sex"], by=by, **options)
    same(duck, polars)
    groups = rows_by_group(polars, by)
    for group, indices in places(table, by).items():
        part = table[indices]
        whole = part.drop_nulls(["age", "sex"]) if options.get("nulls") == "drop" else part
        if whole.height:
            same(groups[group], asked(function, [part, *others], ["age", "sex"], **options)[1])
        else:
            assert [row["records_dropped"] for row in groups[group]] == [part.height]
            assert {row.get("status", OF_NO_RECORD["status"]) for row in groups[group]} == {
                OF_NO_RECORD["status"]
            }
    assert len(groups) == len(places(table, by))


def places(frame: pl.DataFrame, by: list[str]) -> dict[Row, list[int]]:
    """The places of the rows of each group."""
    found: dict[Row, list[int]] = {}
    for place, group in enumerate(keys(frame.select(by))):
        found.setdefault(group, []).append(place)
    return found


@given(frames(min_rows=1, max_columns=4), st.sampled_from(["value", "drop"]), st.data())
def test_each_group_has_the_measures_of_its_classes(
    frame: pl.DataFrame, nulls: str, data: st.DataObject
) -> None:
    measure = data.draw(st.sampled_from(sorted(MEASURES)))
    variant = data.draw(st.sampled_from([each for each in MEASURES[measure] if each not in LINES]))
    by, qi = (
        data.draw(st.lists(st.sampled_from(frame.columns), min_size=1, unique=True))
        for _ in range(2)
    )
    sensitive = data.draw(
        st.sampled_from([name for name in frame.columns if name not in {*qi, *by}] or ["none"])
    )
    if sensitive == "none":
        return
    options = {"by": by, "nulls": nulls, **measures_asked(measure, variant, 1)}
    columns = [frame.get_column_index(name) for name in (*qi, sensitive)]
    for answers in both(measure, frame, qi, sensitive, **options):
        members = rows_by_group([dict(row) for row in answers], by) if answers else {}
        groups = dict(parts(frame, by))
        assert len(answers) == len(groups) == len(members)
        for group, (found,) in members.items():
            rows = drop_nulls(
                [tuple(row[place] for place in columns) for row in groups[group]], nulls
            )
            assert found["records_dropped"] == len(groups[group]) - len(rows)
            expected = (
                summary(rows, measure, variant, 1) if rows else {"records": 0, **OF_NO_RECORD}
            )
            assert {name: found[name] for name in expected} == expected


@given(frames(min_rows=1, max_columns=3), st.sampled_from(["value", "drop"]), st.data())
def test_each_group_is_held_against_the_whole_population(
    frame: pl.DataFrame, nulls: str, data: st.DataObject
) -> None:
    population = frame.sample(data.draw(st.integers(1, 12)), with_replacement=True, seed=1)
    by = data.draw(st.lists(st.sampled_from(frame.columns), min_size=1, max_size=2, unique=True))
    qi = frame.columns[:2]
    others = drop_nulls(keys(population.select(qi)), nulls)
    groups = dict(parts(frame, by))
    for answers in by_both(
        "journalist_risk", {"t": frame, "p": population}, qi, by=by, nulls=nulls
    ):
        members = rows_by_group(answers, by)
        assert len(answers) == len(groups) == len(members)
        for group, (found,) in members.items():
            rows = drop_nulls([row[: len(qi)] for row in groups[group]], nulls)
            sizes = [max(row_own, row_found) for row_own, row_found in met(rows, others)]
            expected = risk(rows, sizes, 0.2) if rows else {"records": 0}
            uncovered = sum(own > found_there for own, found_there in met(rows, others))
            assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-12)
            assert found["uncovered_records"] == (uncovered if rows else None)


def met(rows: list[Row], others: list[Row]) -> list[tuple[int, int]]:
    """How many of the group, and how many of the population, hold what each row holds."""
    return [(rows.count(row), others.count(row)) for row in rows]


@pytest.mark.parametrize("variant", LINES)
@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 1), st.integers(0, 4)),
        min_size=1,
        max_size=14,
    )
)
def test_each_group_has_a_line_of_its_own(
    variant: str, lines: list[tuple[str | None, int, int]]
) -> None:
    frame = pl.DataFrame(
        lines, ["state", "sex", "income"], orient="row", schema_overrides={"state": pl.String}
    )
    options = measures_asked("t_closeness", variant, 0.2)
    for answers in both("t_closeness", frame, ["sex"], "income", by=["state"], **options):
        for group, (found,) in rows_by_group(answers, ["state"]).items():
            rows = [(sex, income) for state, sex, income in lines if (state,) == group]
            expected = summary(rows, "t_closeness", variant, 0.2)
            assert {name: found[name] for name in expected} == expected


@pytest.mark.all
def test_an_answer_of_many_groups_comes_beside_its_own_group() -> None:
    numbers = pl.DataFrame({"g": [place // 3 for place in range(9_000)]}).with_columns(
        q=pl.when(pl.col("g") % 2 == 0).then(pl.int_range(pl.len())).otherwise(0)
    )
    for answers in asked("correctness_curve", [numbers], ["q"], sizes=[3.0], by=["g"]):
        assert {row["g"]: round(row["correctness"], 9) for row in answers} == {
            group: 1.0 if group % 2 == 0 else round(1 / 3, 9) for group in range(3_000)
        }


def samples() -> pl.DataFrame:
    """Groups of 400 records, with weights, and one of 7."""
    draw = np.random.default_rng(1)
    ages = draw.integers(18, 90, 807)
    return pl.DataFrame(
        {
            "state": ["a"] * 400 + ["b"] * 400 + ["few"] * 7,
            "age": ages,
            "zip": ages // 5 + draw.integers(0, 30, 807),
            "w": 0.5 + draw.random(807),
        }
    )


SHARES = pl.DataFrame(
    {
        "column_name": ["zip"] * 60,
        "value": [str(place) for place in range(60)],
        "share": [1.0 + n for n in range(60)],
    }
)


@pytest.mark.parametrize("more", ["", ", weight := 'w'", ", marginals := shares"])
def test_a_model_of_people_is_fitted_to_each_group(more: str) -> None:
    frame, call = samples(), f"population_risk(t, ['age', 'zip'], [1e5]{more}"
    named = {"weight": "w"} if "weight" in more else {"marginals": SHARES} if more else {}
    duck = by_duckdb(f"FROM {call}, by := ['state'])", t=frame, shares=SHARES)
    polars = by_polars("population_risk", frame, ["age", "zip"], [1e5], by=["state"], **named)
    same(duck, polars)
    for row in duck:
        part = frame.filter(pl.col("state") == row.pop("state"))
        same([row], by_duckdb(f"FROM {call})", t=part, shares=SHARES))
        assert ("fewer than 100 records" in row["status"]) == (part.height == 7)


def test_people_of_groups_have_the_weights_of_their_own_group() -> None:
    frame = samples().with_columns(person=pl.int_range(pl.len()) % 250)
    call = "population_risk(t, ['age', 'zip'], [1e5], weight := 'w', entity := 'person'"
    options: dict[str, Any] = {"weight": "w", "entity": "person"}
    duck = by_duckdb(f"FROM {call}, by := ['state'])", t=frame)
    same(duck, by_polars("population_risk", frame, ["age", "zip"], [1e5], by=["state"], **options))
    for row in duck:
        part = frame.filter(pl.col("state") == row.pop("state"))
        same([row], by_duckdb(f"FROM {call})", t=part))


def test_a_group_that_is_too_small_says_so_and_is_there() -> None:
    options: dict[str, Any] = {"methods": ["bound"], "samples": 1, "by": ["state"]}
    for answers in by_both("validate_risk", {"t": samples()}, ["age", "zip"], **options):
        groups = rows_by_group(answers, ["state"])
        assert len(groups[("a",)]) == len(groups[("b",)]) > 1
        (row,) = groups[("few",)]
        assert row["status"] == (
            "refused: the table must contain at least 20 records for samples of a half of it, got 7; "
            "pass a larger table"
        )
        assert all(row[name] is None for name in ("method", "figure", "value", "truth"))


@pytest.mark.first(function=representatives())
@each_cell("options", [{}, {"by": ["state"]}])
@each_cell("function", GROUPED)
def test_a_table_without_records_is_no_group(function: str, options: dict[str, Any]) -> None:
    """A refusal as without groups, or no row; never a group that nobody is in."""
    others = [TOWNS] if function == "journalist_risk" else []
    tables = [TOWNS.head(0), *others]
    if (options and declared()[function].duckdb) or function == "class_size_histogram":
        assert asked(function, tables, ["age", "sex"], **options) == [[], []]
        return
    names = ", ".join(["t", *["p"] * len(others), "['age']", *map(repr, GIVEN.get(function, []))])
    by = "".join(f", {name} := {value!r}" for name, value in options.items())
    with pytest.raises(duckdb.Error, match="the table must contain at least one record"):
        by_duckdb(f"FROM {function}({names}{by})", t=TOWNS.head(0), p=TOWNS)


@pytest.mark.parametrize("function", ["population_risk", "population_uniqueness", "validate_risk"])
def test_more_groups_than_can_be_fitted_are_refused(function: str) -> None:
    sentence = (
        "by must make at most 1000 groups, because a model is fitted to each, got 1001; name fewer"
    )
    frame = pl.DataFrame({"g": range(1001), "age": [1] * 1001})
    call = ", ".join(["t", "['age']", *map(repr, GIVEN.get(function, []))])
    with pytest.raises(duckdb.Error, match=sentence):
        by_duckdb(f"FROM {function}({call}, by := ['g'])", t=frame)
    with pytest.raises(ReidError, match=sentence):
        by_polars(function, frame, ["age"], *GIVEN.get(function, []), by=["g"])


def test_a_refusal_for_one_group_is_one_for_all() -> None:
    with pytest.raises(Exception, match="sizes must be whole numbers from 1 to the 1 records"):
        by_duckdb("FROM correctness_curve(t, ['age'], [2], by := ['state'])", t=TOWNS)


def test_a_column_may_be_among_both() -> None:
    duck, polars = by_both("risk_summary", {"t": TOWNS}, ["state", "age"], by=["state"])
    same(duck, polars)
    assert {row["state"]: row["classes"] for row in duck} == {"a": 2, "b": 1, None: 2}


def inner_names(function: str) -> list[str]:
    """Every lower word of the function's planned SQL, and every text of one word in its Polars."""
    asked_about = declared()[function]
    assert asked_about.reduction is not None
    given = iter(GIVEN.get(function, []))
    values = {"tbl": "t", "population_tbl": "t", "qi": ["age", "sex"], "by": ["state"]}
    planned = write_plan(
        asked_about,
        [
            values[p.name]
            if p.name in values
            else next(given)
            if p.default is REQUIRED
            else p.default
            for p in asked_about.parameters
        ],
        "",
    )
    family = asked_about.reduction.family.rpartition(".")[2]
    polars = [
        *(ENGINES / "polars" / "reductions").glob(f"{family}.py"),
        ENGINES / "polars" / "frames.py",
    ]
    words = {
        word for path in polars for word in LONE_WORD.findall(path.read_text(encoding="utf-8"))
    }
    parameters = {parameter.name for parameter in asked_about.parameters}
    every = (
        words
        | parameters
        | set(LOWER_WORD.findall(planned))
        | {"reid: 1", "reid: k", "reid_answer"}
    )
    return sorted((every | set(asked_about.reduction.columns)) - set(asked_about.answer_columns))


@pytest.mark.parametrize("function", [name for name in representatives() if name in GROUPED])
@pytest.mark.first(function=["class_size_histogram"])  # the plan of fewest words
def test_a_group_may_be_named_like_anything_in_a_plan(function: str) -> None:
    others, qi = ([TOWNS] if function == "journalist_risk" else []), ["age", "sex"]
    expected = asked(function, [TOWNS, *others], qi, by=["state"])
    names = [name for name in inner_names(function) if name not in {*TOWNS.columns, *NO_GROUPS}]
    assert len(names) > MANY
    for start in range(0, len(names), MOST):
        by = names[start : start + MOST]
        frame = TOWNS.with_columns(pl.col("state").alias(name) for name in by)
        for answers, whole in zip(
            asked(function, [frame, *others], qi, by=by), expected, strict=True
        ):
            assert [*answers[0]][: len(by)] == by
            assert all(len({row[name] for name in by}) == 1 for row in answers)
            first = [
                {"state": row[by[0]]} | {n: v for n, v in row.items() if n not in by}
                for row in answers
            ]
            same(first, whole)


@pytest.mark.first(function=representatives())
@each_cell("function", GROUPED)
def test_no_column_of_an_answer_may_name_a_group(function: str) -> None:
    others = [TOWNS] if function == "journalist_risk" else []
    given = ["age", "sex"]
    for name in declared()[function].answer_columns:
        frame = TOWNS.with_columns(pl.col("state").alias(name.upper()))
        sentence = f"by must not name a column of the answer, got '{name.upper()}'; rename the"
        sql = ", ".join(
            ["t", *["p"] * len(others), repr(given), *map(repr, GIVEN.get(function, []))]
        )
        with pytest.raises(duckdb.Error, match=sentence):
            by_duckdb(f"FROM {function}({sql}, by := ['{name.upper()}'])", t=frame, p=TOWNS)
        with pytest.raises(ReidError, match=sentence):
            by_polars(function, frame, *others, given, *GIVEN.get(function, []), by=[name.upper()])


def by_sql(by: Any, **options: Any) -> Answers:
    more = "".join(f", {name} := {value!r}" for name, value in options.items())
    return by_duckdb(
        f"FROM risk_summary(t, ['age'], by := {by!r}{more})", t=TOWNS.rename({"sex": "k"})
    )


def by_frame(by: Any, **options: Any) -> Answers:
    return by_polars("risk_summary", TOWNS.rename({"sex": "k"}), ["age"], by=by, **options)


@each_cell("ask", [by_sql, by_frame])
@each_cell(
    "by, options, sentence",
    [
        (
            ["k"],
            {},
            "by must not name a column of the answer, got 'k'; rename the column in a view",
        ),
        (["stat"], {}, "by must be columns of the table, got 'stat'; did you mean 'state'?"),
        ([], {}, "by must name 1 to 64 columns, got 0"),
        (["state", "state"], {}, "by must be distinct, got 'state' twice"),
        (
            ["state"],
            {"nulls": "wildcard"},
            "by must be used with nulls := 'value' or 'drop', got 'wildcard'",
        ),
    ],
)
def test_bad_groups_are_refused(
    ask: Callable[..., Answers], by: list[str], options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(Exception) as refused:  # noqa: PT011 - DuckDB's, or one of ours
        ask(by, **options)
    assert sentence.removeprefix("by ") in str(refused.value)


def test_the_histogram_of_the_loop_is_that_of_one_group() -> None:
    rows = [(row["age"], row["sex"]) for row in TOWNS.filter(pl.col("state") == "a").to_dicts()]
    expected = [
        (*line, None, 0, "value") for line in histogram(rows, class_sizes(rows, rows, "value"))
    ]
    answers = rows_by_group(
        by_polars("class_size_histogram", TOWNS, ["age", "sex"], by=["state"]), ["state"]
    )
    assert sorted(tuple(row.values()) for row in answers[("a",)]) == expected


@pytest.mark.parametrize(
    "function",
    ["l_diversity", "t_closeness", "attribute_disclosure"],
)
def test_groups_of_one_sensitive_value_are_refused(function: str) -> None:
    """Each class would tell no more than its group, which tells the value: a distance of 0 everywhere."""
    sentence = (
        "by must not be the sensitive column, got 'sex', of which each group would have one value"
    )
    with pytest.raises(duckdb.Error, match=sentence):
        by_duckdb(f"FROM {function}(t, ['age'], 'sex', by := ['state', 'SEX'])", t=TOWNS)
    with pytest.raises(ReidError, match=sentence):
        by_polars(function, TOWNS, ["age"], "sex", by=["state", "sex"])
