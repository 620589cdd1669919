"""A name is that very column, an argument is a column, and no answer hides behind a column of the table."""

from collections.abc import Callable
from typing import Any, Literal

import polars as pl
import polars.selectors as cs
import pytest

import reid_sql.polars as rp
from reid_sql.errors import ReidError
from reid_sql_udfs import declared
from tests.cells import each_cell
from tests.copulas import fitted
from tests.tables import by_polars, class_sizes

pytestmark = pytest.mark.first(others=[[]], engine=["in-memory"])

ANY: Any = rp  # to be called as its types forbid
ODD = [
    "^o.*$",
    "*",
    "^$",
    "q1",
    "place",
    "members",
    "records",
    "codes",
    "side",
    "",
    "é",
]  # the first would match "other"
# Two rows of 32 small numbers that met in the first 64-bit key, a polynomial of hashes that anybody could
# compute.
# fmt: off
COLLIDING = [
    35185, 144137, 116084, 468099, 43812, 446976, 23523, 470588, 101916, 372296, 30374, 100792, 123254,
    224564, 275826, 26233, 19758, 156779, 357918, 127475, 5477, 466825, 446686, 488717, 91460, 3264,
    152870, 370367, 430905, 140296, 206686, 408768,
], [
    853844, 863377, 755046, 1007120, 853091, 835797, 538750, 965981, 1046631, 893590, 548435, 887686,
    588004, 1029318, 869228, 641376, 531253, 595218, 1038266, 773857, 1025962, 680431, 539665, 914324,
    839899, 915113, 584051, 641432, 554283, 1036059, 1042993, 908157,
]
# fmt: on


@pytest.fixture
def people() -> pl.DataFrame:
    columns = {
        name: [number % (place + 2) for number in range(12)] for place, name in enumerate(ODD)
    }
    return pl.DataFrame(columns | {"other": [0] * 12, "id": range(12)})


def plain(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.rename({name: f"c{place}" for place, name in enumerate(ODD)})


def renamed(answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    back = {f"c{place}": name for place, name in enumerate(ODD)}
    return [{back.get(name, name): value for name, value in row.items()} for row in answers]


@each_cell("name", ODD)
def test_an_expression_counts_the_column_of_that_very_name(people: pl.DataFrame, name: str) -> None:
    for columns in ([name], [name, "id", "other", "id", "other"]):
        rows = list(zip(*(people[column] for column in columns), strict=True))
        counted = people.select(rp.equivalence_class_size(*columns)).to_series()
        assert counted.to_list() == class_sizes(rows, rows, "value")


SCENARIO = {"population": 99, "groups": [{"columns": ["^o.*$", "*"], "probability": 0.5}]}
ASKED: dict[str, Callable[[list[str]], tuple[Any, ...]]] = {
    "class_size_histogram": lambda c: (c,),
    "risk_summary": lambda c: (c,),
    "correctness_curve": lambda c: (c,),
    "population_uniqueness": lambda c: (c[:2], 1e4, "loglinear"),
    "individual_risk": lambda c: (c[:3], "other"),
    "loglinear_risk": lambda c: (c[:3], 0.5, 2, "id"),
    "l_diversity": lambda c: (c[1:], c[0]),
    "t_closeness": lambda c: (c[1:2], c[0], "ordered"),
    "qar_risk": lambda c: (c[:4], 2),
    "unicity": lambda c: (c[0], c[1:2], 1),
}
OPTIONS = {"qar_risk": {"output": "contributions"}, "unicity": {"output": "curve"}}


@each_cell("name", ASKED)
def test_odd_names_answer_as_plain_ones(people: pl.DataFrame, name: str) -> None:
    ordinary = [f"c{place}" for place in range(len(ODD))]
    ones = people.with_columns(pl.lit(1.0).alias("other"))
    options = OPTIONS.get(name, {})
    expected = by_polars(name, plain(ones), *ASKED[name](ordinary), **options)
    answers = by_polars(name, ones, *ASKED[name](ODD), **options)
    assert sorted(map(repr, answers)) == sorted(map(repr, expected))


def test_odd_names_of_scenarios_models_and_classes_are_columns(people: pl.DataFrame) -> None:
    reported = {"population": 99, "groups": [{"columns": ["c0", "c1"], "probability": 0.5}]}
    assert by_polars("adversary_risk", people, SCENARIO) == by_polars(
        "adversary_risk", plain(people), reported
    )
    fitted(
        "odd", people, ["*", "^$"]
    )  # in the order of c1 and c2, as the order of names decides what is drawn
    fitted("plain", plain(people), ["c1", "c2"])
    scored = by_polars("score_records", people, "odd", 1e3)
    assert scored == renamed(by_polars("score_records", plain(people), "plain", 1e3))
    listed = by_polars("equivalence_classes", people, ["^o.*$", "*"])
    expected = renamed(by_polars("equivalence_classes", plain(people), ["c0", "c1"]))
    assert sorted(map(repr, listed)) == sorted(map(repr, expected))


def test_a_selector_is_the_columns_that_it_selects(people: pl.DataFrame) -> None:
    by_selector = people.select(rp.equivalence_class_size(cs.by_name(ODD[:4])).alias("k"))
    assert by_selector.equals(people.select(rp.equivalence_class_size(*ODD[:4]).alias("k")))


@pytest.mark.parametrize(
    "columns",
    [(["age", "sex"],), (("age",),), (1, 2), (None,), ("age", ["sex"]), (pl.Series([1]),)],
    ids=str,
)
def test_what_is_no_column_is_refused(columns: tuple[Any, ...]) -> None:
    with pytest.raises(
        ReidError, match="quasi-identifiers must each be a column name or an expression, got"
    ) as reported:
        ANY.equivalence_class_size(*columns)
    assert isinstance(reported.value, TypeError)


NO_COLUMNS = {
    "number": pl.lit(1),
    "text": pl.lit("age"),
    "sum of constants": pl.lit(1) + pl.lit(2),
    "date": pl.date(2020, 1, 1),
    "number of records": pl.len(),
    "greatest": pl.col("id").max(),
    "greatest and more": pl.col("id").max() + 1,
    "aggregates in a struct": pl.struct(pl.col("id").max(), pl.lit(1)),
    "first": pl.col("id").first(),
    "head": pl.col("id").head(1),
    "list of all": pl.col("id").implode(),
    "distinct": pl.col("sex").unique().head(1),
    "choice of constants": pl.when(pl.lit(1) > 0).then(1).otherwise(2),
    "aggregates of a selector": cs.numeric().max(),
    "Python function": pl.col("id").map_batches(lambda ids: ids.head(1)),
    "Python scalar": pl.col("id").map_batches(lambda ids: ids.max(), returns_scalar=True),
}
COLUMNS_OF_RECORDS = {
    "sum": pl.col("id") + 1,
    "over": pl.col("id").max().over("sex"),
    "difference from an aggregate": pl.col("id") - pl.col("id").max(),
    "filled": pl.col("id").fill_null(pl.col("id").mean()),
    "choice": pl.when(pl.col("id") > 1).then(1).otherwise(pl.lit(0)),
    "struct": pl.struct("id", "sex"),
    "selector": cs.numeric(),
    "pattern": pl.col("^id$"),
    "operation on a selector": cs.numeric() + 1,
    "Python function": pl.col("id").map_batches(lambda ids: ids),
}
FIVE = pl.LazyFrame({"id": [1, 2, 3, 4, 5], "sex": ["F", "M", "F", "M", "F"]})


def test_each_of_these_has_the_length_that_its_group_has() -> None:
    """What Polars computes is the oracle of what is refused."""
    lengths = {
        name: FIVE.select(pl.struct(column)).collect().height for name, column in NO_COLUMNS.items()
    }
    assert lengths == dict.fromkeys(NO_COLUMNS, 1)
    remaining = {
        name: FIVE.select(pl.struct(c)).collect().height for name, c in COLUMNS_OF_RECORDS.items()
    }
    assert remaining == dict.fromkeys(COLUMNS_OF_RECORDS, 5)


@each_cell("name", NO_COLUMNS)
@each_cell("others", [[], ["sex"]])
def test_one_value_for_all_records_is_refused_as_a_column(name: str, others: list[str]) -> None:
    """It would make one class of all records, or none of the classes that the column would make."""
    column = NO_COLUMNS[name]
    calls: list[Callable[[], pl.Expr]] = [
        lambda: rp.equivalence_class_size(*others, column),
        lambda: rp.equivalence_class_people(column, "sex"),
        lambda: rp.equivalence_class_people("id", *others, column),
    ]
    for call in calls:
        with pytest.raises(
            ReidError, match=r"must be columns, got expression \d, a constant, an aggregate"
        ):
            FIVE.select(call()).collect()


@each_cell("name", COLUMNS_OF_RECORDS)
@each_cell("engine", ["in-memory", "streaming"])
def test_a_value_for_each_record_is_a_column(
    name: str, engine: Literal["in-memory", "streaming"]
) -> None:
    column = COLUMNS_OF_RECORDS[name]
    sizes = (
        FIVE.select(rp.equivalence_class_size(column)).collect(engine=engine).to_series().to_list()
    )
    values = FIVE.select(pl.struct(column)).collect().to_series().to_list()
    assert sizes == [values.count(value) for value in values]


@pytest.mark.parametrize("function", ["uniqueness_xi", "correctness_kappa", "cell_probability"])
def test_an_aggregate_is_no_value_of_a_record_under_a_model(function: str) -> None:
    fitted("five", FIVE.collect(), ["id", "sex"])
    numbers = [] if function == "cell_probability" else [100]
    score = getattr(rp, function)
    for column in (pl.col("id").max(), pl.len(), pl.col("id").head(1)):
        with pytest.raises(
            ReidError, match="columns of the model must be columns, got expression 1"
        ):
            FIVE.select(score("five", *numbers, column, "sex")).collect()
    one = FIVE.select(score("five", *numbers, pl.lit(3), pl.lit("F"))).collect().item()
    assert one == FIVE.select(score("five", *numbers, "id", "sex")).collect().to_series()[2]


def test_a_number_may_be_one_for_all_records() -> None:
    people = FIVE.select(rp.cell_risk(0.1, pl.len())).collect()
    assert people.equals(FIVE.select(rp.cell_risk(0.1, 5)).collect())


@pytest.mark.newest  # Polars before 2.0 takes one value for a number, not for a part of a column
def test_a_number_is_no_part_of_a_column() -> None:
    with pytest.raises(ReidError, match="n must be columns, got expression 2"):
        FIVE.select(rp.cell_risk(0.1, pl.col("id").head(1))).collect()


@pytest.mark.parametrize(
    "clash", ["class_size", "uniqueness_xi", "correctness_kappa", "cell_probability"]
)
def test_a_column_named_as_a_score_is_refused(people: pl.DataFrame, clash: str) -> None:
    fitted("two", people, ["other", "q1"])
    with pytest.raises(
        ReidError, match=f"must have no column that is named as a score .* got '{clash}'; rename"
    ):
        rp.score_records(people.with_columns(pl.lit(0).alias(clash)), "two", 100)


def test_scores_stand_beside_the_rows_in_their_order(people: pl.DataFrame) -> None:
    shuffled = (
        pl.concat([people] * 40).sample(fraction=1, shuffle=True, seed=1).with_row_index("row")
    )
    fitted("two", people, ["q1", "place"])
    scored = rp.score_records(shuffled, "two", 1e4).collect(engine="streaming")
    assert scored["row"].to_list() == list(range(shuffled.height))
    assert scored.drop(declared()["score_records"].columns).equals(shuffled)


@pytest.mark.parametrize("output", ["contributions", "elimination"])
def test_a_key_that_two_records_share_is_refused(people: pl.DataFrame, output: str) -> None:
    columns = ["q1", "place", "records"]
    answer = rp.qar_risk(people, columns, 2, key="*", output=output)  # type: ignore[arg-type]
    with pytest.raises(
        ReidError,
        match="key must differ between records, got a value that occurs more than once; pass a column",
    ):
        answer.collect()


def test_rows_made_to_meet_under_known_hashes_stay_apart() -> None:
    frame = pl.DataFrame(COLLIDING, schema=[f"c{place}" for place in range(32)], orient="row")
    assert frame.select(rp.equivalence_class_size(*frame.columns)).to_series().to_list() == [1, 1]


def test_each_column_of_a_wide_key_is_keyed_by_itself() -> None:
    """Values that change places are other records: every order of 0 and 1 in twelve columns counts once."""
    frame = pl.DataFrame(
        {f"c{place}": [number >> place & 1 for number in range(4096)] for place in range(12)}
    )
    assert frame.select(
        rp.equivalence_class_size(*frame.columns).unique()
    ).to_series().to_list() == [1]
