from typing import Any

import polars as pl
import pytest

import reid_sql.polars as rp
from tests.cells import each_cell
from tests.sensitive import both
from tests.tables import by_duckdb

PATIENTS = pl.DataFrame(
    {"zip": [4711, 4711, 4712, 4712, 4713], "disease": ["flu", "cold", "flu", "cold", None]}
)
WARDS = pl.DataFrame({"zip": [1, 2, 2, 2], "disease": ["gout", "flu", "flu", "flu"]})
# The classes beyond each threshold, with their values, by hand: of four records, one has gout and three flu.
BY_HAND: dict[str, tuple[float, dict[int, float]]] = {
    "l_diversity": (2, {1: 1.0, 2: 1.0}),
    "t_closeness": (0.2, {1: 0.75, 2: 0.25}),
    "alpha_k_anonymity": (0.9, {1: 1.0, 2: 1.0}),
    "beta_likeness": (0.1, {1: 3.0, 2: 1 / 3}),
    "delta_disclosure": (0.1, {1: 1.3862943611198906, 2: 0.28768207245178085}),
}


@pytest.mark.parametrize("measure", BY_HAND)
def test_the_classes_beyond_the_threshold_are_listed_with_their_values(measure: str) -> None:
    threshold, values = BY_HAND[measure]
    for answer in both(
        "disclosing_classes", WARDS, ["zip"], "disease", measure=measure, threshold=threshold
    ):
        assert {row["zip"]: row["value"] for row in answer} == pytest.approx(values)
        assert [list(row) for row in answer] == [
            ["zip", "class_size", "value", "records_dropped", "nulls"]
        ] * len(answer)


@pytest.mark.parametrize(
    ("measure", "expected"), [("l_diversity", 2), ("t_closeness", 2), ("beta_likeness", 1)]
)
def test_the_threshold_is_that_of_the_measure_unless_it_is_given(
    measure: str, expected: int
) -> None:
    for answer in both("disclosing_classes", WARDS, ["zip"], "disease", measure=measure):
        assert len(answer) == expected


def test_small_classes_are_listed_with_alpha_k_anonymity_alone() -> None:
    alpha: dict[str, Any] = {"measure": "alpha_k_anonymity", "threshold": 1}
    for answer in both("disclosing_classes", WARDS, ["zip"], "disease", **alpha):
        # fewer than 2 records, as in alpha_k_anonymity
        assert [row["zip"] for row in answer] == [1]
    for answer in both("disclosing_classes", WARDS, ["zip"], "disease", **alpha, k=1):
        assert answer == []


def test_an_empty_table_has_no_class() -> None:
    for measure in BY_HAND:
        assert both("disclosing_classes", WARDS.clear(), ["zip"], "disease", measure=measure) == [
            [],
            [],
        ]


@each_cell(
    "options, sentence",
    [
        ({"measure": "k_anonymity"}, "measure must be one of 'l_diversity', 't_closeness', "),
        (
            {"variant": "ordered"},
            "variant must be one of 'distinct', 'entropy', 'recursive', got 'ordered'",
        ),
        (
            {"measure": "alpha_k_anonymity", "variant": "all"},
            "variant must be left out with measure := ",
        ),
        (
            {"threshold": 0.5},
            "threshold must be a number of values from 1 to 1e[+]9, got 0.5; pass how many",
        ),
        (
            {"measure": "t_closeness", "threshold": 2},
            "threshold must be a distance from 0 to 1, got 2; pass",
        ),
        (
            {"k": 5},
            "k must be used with measure := 'alpha_k_anonymity', got 'l_diversity'; leave it out",
        ),
        ({"nulls": "wildcard"}, "nulls must be one of 'value', 'drop', got 'wildcard'"),
    ],
)
def test_options_of_another_measure_are_refused(options: dict[str, Any], sentence: str) -> None:
    extras = "".join(f", {option} := {value!r}" for option, value in options.items())
    with pytest.raises(Exception, match=sentence):
        by_duckdb(f"FROM disclosing_classes(t, ['zip'], 'disease'{extras})", t=WARDS)
    with pytest.raises(ValueError, match=sentence):
        rp.disclosing_classes(WARDS, ["zip"], "disease", **options).collect()


def test_more_than_four_columns_are_compared_as_they_are() -> None:
    frame = PATIENTS.select(*(pl.col("zip").alias(f"c{place}") for place in range(6)), "disease")
    for answer in both("disclosing_classes", frame, frame.columns[:6], "disease"):
        assert [tuple(row.values())[:8] for row in answer] == [(4713,) * 6 + (1, 1.0)]


@pytest.mark.parametrize("name", ["class_size", "VALUE", "nulls", "records_dropped"])
def test_columns_named_like_the_answers_are_refused(name: str) -> None:
    frame = PATIENTS.rename({"zip": name})
    sentence = (
        "must not be named class_size, value, records_dropped or nulls "
        f"where classes are listed, got '{name}'; rename"
    )
    with pytest.raises(Exception, match=sentence):
        both("disclosing_classes", frame, [name], "disease")


@each_cell(
    "name",
    [
        "n",
        "s",
        "q1",
        "x",
        "held",
        'the "odd" one',
        "it's",
        "k1",
        "tbl",
        "threshold",
        "c",
        "variant",
    ],
)
def test_columns_may_have_any_other_name(name: str) -> None:
    quoted = name.replace("'", "''")
    for qi, sensitive in ((name, "disease"), ("disease", name)):
        frame = PATIENTS.rename({"zip": name})
        sql = (
            f"FROM disclosing_classes(t, ['{qi if qi != name else quoted}'], "
            f"'{sensitive if sensitive != name else quoted}')"
        )
        assert by_duckdb(f"SELECT count(*) AS n {sql}", t=frame) == [{"n": 1}]
