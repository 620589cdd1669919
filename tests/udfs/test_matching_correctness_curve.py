import pytest

from tests.tables import by_duckdb, by_polars


def test_engines_agree_with_what_is_counted_by_hand() -> None:
    # Among two: 0.9 beats all four others, 0.4 beats two of them. Among three, 0.4 beats 1 of 6 pairs.
    duck = by_duckdb("FROM matching_correctness_curve([0.9, 0.4], [0.1, 0.2, 0.5, 0.6], [1, 2, 3])")
    assert duck == by_polars(
        "matching_correctness_curve", [0.9, 0.4], [0.1, 0.2, 0.5, 0.6], [1, 2, 3]
    )
    assert [row["correctness"] for row in duck] == pytest.approx(
        [1, (1 + 1 / 2) / 2, (1 + 1 / 6) / 2]
    )


def test_persons_are_held_against_their_own() -> None:
    call = "[0.9, 0.4], [0.95, 0.2, 0.3, 0.1], [2], true_persons := [7, 8], false_persons := [7, 7, 8, 8]"
    row = by_duckdb(f"FROM matching_correctness_curve({call})")[0]
    assert row["correctness"] == pytest.approx((1 / 2 + 1) / 2)


def test_persons_of_one_side_alone_are_refused() -> None:
    with pytest.raises(Exception, match="true_persons must go with false_persons"):
        by_duckdb("FROM matching_correctness_curve([0.9], [0.1], true_persons := [1])")
