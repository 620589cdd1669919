import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cells import each_cell
from tests.sensitive import MEASURES, both, hold
from tests.tables import by_duckdb, by_polars, frames

PATIENTS = pl.DataFrame(
    {
        "zip": [4711, 4711, 4711, 4711, 4712, 4712, 4713],
        "disease": ["flu", "flu", "flu", "cold", "flu", "cold", None],
    }
)


@given(
    frames(min_rows=1),
    st.sampled_from(MEASURES["l_diversity"]),
    st.sampled_from(["value", "drop"]),
    st.sampled_from([1.5, 2, 3]),
)
def test_every_class_by_hand(
    frame: pl.DataFrame, variant: str, nulls: str, threshold: float
) -> None:
    hold(frame, "l_diversity", variant, nulls, threshold)


@pytest.mark.parametrize(
    ("variant", "c", "value"), [("distinct", 3, 1), ("recursive", 3, 1), ("recursive", 0.5, 0)]
)
def test_the_worst_class_is_the_answer(variant: str, c: float, value: float) -> None:
    for answer in both("l_diversity", PATIENTS, ["zip"], "disease", variant=variant, c=c):
        assert answer[0]["value"] == value


def test_three_to_one_is_less_than_two_by_entropy_and_exactly_two_where_even() -> None:
    for answer in both(
        "disclosing_classes", PATIENTS, ["zip"], "disease", variant="entropy", threshold=2
    ):
        found = {row["zip"]: row["value"] for row in answer}
        assert found == {4711: pytest.approx(256**0.25 / 27**0.25), 4713: 1}


def test_a_frequent_value_needs_rarer_ones_beside_it() -> None:
    """Frequencies in descending order: 3 against 1 is (c, 2)-diverse for c above 3 only."""
    for c, value in ((3, 1), (3.01, 2)):
        for answer in both(
            "l_diversity", PATIENTS.head(4), ["zip"], "disease", variant="recursive", c=c
        ):
            assert answer[0]["value"] == value


def test_nobody_to_measure_is_refused() -> None:
    sentence = "the table must contain at least one record, got 0"
    with pytest.raises(Exception, match=sentence):
        by_duckdb("FROM l_diversity(t, ['zip'], 'disease')", t=PATIENTS.clear())
    with pytest.raises(Exception, match=sentence):
        by_polars("l_diversity", PATIENTS.clear(), ["zip"], "disease")


SENTENCES = [
    (
        "'zip'",
        "'disese'",
        "quasi-identifiers and sensitive must be columns of the table, got 'disese'; did you mean 'disease'?",
    ),
    (
        "'zap'",
        "'disease'",
        "quasi-identifiers and sensitive must be columns of the table, got 'zap'; did you mean 'zip'?",
    ),
    (
        "'zip'",
        "'zip'",
        "quasi-identifiers and sensitive must be distinct, got 'zip' twice; name each column once",
    ),
    (
        "'zip'",
        "'disease', variant := 'entropie'",
        "variant must be one of 'distinct', 'entropy', 'recursive', got 'entropie'",
    ),
    (
        "'zip'",
        "'disease', l := 0",
        "l must be a number of values from 1 to 1e[+]9, got 0; pass how many",
    ),
    (
        "'zip'",
        "'disease', c := 0",
        "c must be a number from 1e-9 to 1e[+]9, got 0; pass how many times",
    ),
    (
        "'zip'",
        "'disease', nulls := 'wildcard'",
        "nulls must be one of 'value', 'drop', got 'wildcard'",
    ),
]


@each_cell("qi, rest, sentence", SENTENCES)
def test_bad_input_is_refused_in_one_sentence(qi: str, rest: str, sentence: str) -> None:
    with pytest.raises(Exception, match=sentence):
        by_duckdb(f"FROM l_diversity(t, [{qi}], {rest})", t=PATIENTS)
    sensitive, *options = rest.replace("'", "").split(", ")
    given_options = {text.split(" := ")[0]: text.split(" := ")[1] for text in options}
    numbers = {key: float(value) if key in "lc" else value for key, value in given_options.items()}
    with pytest.raises(ValueError, match=sentence):
        by_polars("l_diversity", PATIENTS, [qi.strip("'")], sensitive, **numbers)
