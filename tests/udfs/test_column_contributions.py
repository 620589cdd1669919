import polars as pl
import pytest

from tests.tables import by_both


def test_shares_are_those_published() -> None:
    """sdcMicro, issue 275: of the whole table's score the columns have 50, 37.5 and 37.5 per cent."""
    table = pl.DataFrame({"a": [2, 1, 1], "b": [0, 3, 0], "c": [0, 6, 0]})
    for answer in by_both("suda_scores", {"t": table}, ["a", "b", "c"], output="columns"):
        whole = {
            name: sum(row["score"] for row in answer if row["column_name"] == name)
            for name in "abc"
        }
        assert whole == {"a": 4, "b": 3, "c": 3}
        assert [(row["record"], row["column_name"]) for row in answer] == [
            *((0, "a"),),
            *((1, "b"), (1, "c")),
            *((2, "a"), (2, "b"), (2, "c")),
        ]
        assert [row["contribution"] for row in answer] == pytest.approx([1, 0.5, 0.5, 1, 0.5, 0.5])
        assert [row["subsets"] for row in answer] == [1, 1, 1, 2, 1, 1]
