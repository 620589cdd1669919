import polars as pl
import pytest

from tests.sensitive import both

PATIENTS = pl.DataFrame({"zip": [1, 2, 2, 2], "disease": ["gout", "flu", "flu", "flu"]})


def test_the_classes_beyond_the_threshold_are_listed_with_their_values() -> None:
    for answer in both("t_closeness_classes", PATIENTS, ["zip"], "disease", t=0.2):
        found = sorted((row["zip"], row["value"]) for row in answer)
        assert found == [(zip_code, pytest.approx(value)) for zip_code, value in [(1, 0.75), (2, 0.25)]]
        assert [list(row) for row in answer] == [
            ["zip", "class_size", "value", "records_dropped", "nulls"]
        ] * len(answer)


def test_an_empty_table_has_no_class() -> None:
    assert both("t_closeness_classes", PATIENTS.clear(), ["zip"], "disease") == [[], []]
