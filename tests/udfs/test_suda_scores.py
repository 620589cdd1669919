import polars as pl
import pytest

from tests.tables import by_both, by_duckdb

# Statistical Disclosure Control for Microdata: A Practice Guide, table 4.5.
GUIDE = pl.DataFrame(
    {
        "residence": [
            "Urban",
            "Urban",
            "Urban",
            "Urban",
            "Rural",
            "Urban",
            "Urban",
            "Urban",
            "Urban",
            "Urban",
        ],
        "gender": ["F", "F", "F", "M", "F", "M", "F", "M", "F", "F"],
        "education": ["si", "si", "pi", "sc", "sc", "sc", "pc", "ps", "si", "si"],
        "labour": ["E", "E", "N", "E", "U", "E", "N", "U", "N", "N"],
        "number": range(1, 11),
    }
)
COLUMNS = GUIDE.columns[:4]


def test_scores_are_those_of_the_practice_guide() -> None:
    for answer in by_both("suda_scores", {"t": GUIDE}, COLUMNS, max_size=3, key="number"):
        assert [(row["record"], row["suda_score"]) for row in answer] == [
            (3, 6),
            (5, 12),
            (7, 6),
            (8, 10),
        ]
        assert [(row["subsets"], row["smallest_size"]) for row in answer] == [
            (1, 1),
            (4, 1),
            (1, 1),
            (3, 1),
        ]
        assert sum(row["dis_suda"] for row in answer) == pytest.approx(0.4, rel=1e-12)


def test_the_score_is_the_sum_over_the_sets() -> None:
    sums = "SELECT record, sum(score) AS score, count() AS subsets"
    sets = f"{sums} FROM suda_scores(t, {{}}, output := 'subsets') GROUP BY ALL"
    same = "FROM suda_scores(t, {}) AS s JOIN ({}) AS m USING (record)"
    joined = same.format(COLUMNS, sets.format(COLUMNS))
    rows = by_duckdb(f"SELECT s.suda_score, m.score, s.subsets, m.subsets AS n {joined}", t=GUIDE)
    assert len(rows) == 4
    assert all(row["suda_score"] == row["score"] and row["subsets"] == row["n"] for row in rows)


@pytest.mark.parametrize("dis", [-0.1, 1.1])
def test_no_probability_is_refused(dis: float) -> None:
    with pytest.raises(Exception, match="dis must be a probability between 0 and 1, got"):
        by_duckdb(f"FROM suda_scores(t, {COLUMNS}, dis := {dis})", t=GUIDE)
