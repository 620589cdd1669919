from itertools import combinations

import polars as pl
import pytest

from tests.tables import by_both, by_duckdb

SMALL = pl.DataFrame({"a": [1, 1, 1, 2, 2, 3, 4, None]})


def test_the_curve_is_the_mean_over_all_subsets() -> None:
    values = SMALL["a"].to_list()
    for answer in by_both("correctness_curve", {"t": SMALL}, ["a"], sizes=[1, 3, 8]):
        for row in answer:
            subsets = list(combinations(values, row["n"]))
            assert row["correctness"] == pytest.approx(
                sum(len(set(s)) for s in subsets) / len(subsets) / row["n"]
            )
            alone = sum(s.count(value) == 1 for s in subsets for value in s)
            assert row["uniqueness"] == pytest.approx(alone / len(subsets) / row["n"])


def test_without_sizes_it_runs_from_one_to_all() -> None:
    for answer in by_both("correctness_curve", {"t": SMALL}, ["a"]):
        assert [row["n"] for row in answer] == list(range(1, 9))


@pytest.mark.parametrize(("sizes", "got"), [("[9]", "9"), ("[1.5]", "1.5"), ("[0]", "0")])
def test_other_sizes_are_refused(sizes: str, got: str) -> None:
    with pytest.raises(Exception, match=rf"sizes must be .*, got {got}; pass"):
        by_duckdb(f"FROM correctness_curve(t, ['a'], sizes := {sizes})", t=SMALL)
