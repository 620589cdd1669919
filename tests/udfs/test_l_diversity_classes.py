import polars as pl
import pytest

from tests.sensitive import both
from tests.tables import by_duckdb

PATIENTS = pl.DataFrame(
    {"zip": [4711, 4711, 4712, 4712, 4713], "disease": ["flu", "cold", "flu", "cold", None]}
)


def test_more_than_four_columns_are_compared_as_they_are() -> None:
    frame = PATIENTS.select(*(pl.col("zip").alias(f"c{place}") for place in range(6)), "disease")
    for answer in both("l_diversity_classes", frame, frame.columns[:6], "disease"):
        assert [tuple(row.values())[:8] for row in answer] == [(4713,) * 6 + (1, 1.0)]


@pytest.mark.parametrize("name", ["class_size", "VALUE", "nulls", "records_dropped"])
def test_columns_named_like_the_answers_are_refused(name: str) -> None:
    frame = PATIENTS.rename({"zip": name})
    sentence = (
        "must not be named class_size, value, records_dropped or nulls "
        f"where classes are listed, got '{name}'; rename"
    )
    with pytest.raises(Exception, match=sentence):
        both("l_diversity_classes", frame, [name], "disease")


@pytest.mark.parametrize(
    "name", ["n", "s", "q1", "x", "held", 'the "odd" one', "it's", "k1", "tbl", "l", "c", "variant"]
)
def test_columns_may_have_any_other_name(name: str) -> None:
    quoted = name.replace("'", "''")
    for qi, sensitive in ((name, "disease"), ("disease", name)):
        frame = PATIENTS.rename({"zip": name})
        sql = (
            f"FROM l_diversity_classes(t, ['{qi if qi != name else quoted}'], "
            f"'{sensitive if sensitive != name else quoted}')"
        )
        assert by_duckdb(f"SELECT count(*) AS n {sql}", t=frame) == [{"n": 1}]
