import polars as pl
import pytest

from reid_sql.errors import ReidError
from tests.copulas import people
from tests.tables import by_both, by_duckdb, by_polars

COLUMNS = ["age", "sex", "grade"]
SHARES = ("uniqueness", "correctness", "below_k")


@pytest.mark.parametrize(
    "options", ["", ", k := 3", ", nulls := 'drop'", ", seed := 7", ", nominal := ['age']"]
)
def test_engines_answer_alike(options: str) -> None:
    named = dict(part.split(" := ") for part in options.strip(", ").split(", ") if part)
    given = {
        name: ["age"]
        if value.startswith("[")
        else int(value)
        if value.isdigit()
        else value.strip("'")
        for name, value in named.items()
    }
    duck = by_duckdb(f"FROM population_risk(t, {COLUMNS}, [400, 5000, 67e6]{options})", t=people())
    polars = by_polars("population_risk", people(), COLUMNS, [400, 5000, 67e6], **given)
    assert len(duck) == 3
    for one, other in zip(duck, polars, strict=True):
        assert one == {
            name: pytest.approx(v) if isinstance(v, float) else v for name, v in other.items()
        }


def test_at_the_samples_own_size_it_is_the_count() -> None:
    frame = people()
    row = by_duckdb(f"FROM population_risk(t, {COLUMNS}, [400], k := 4)", t=frame)[0]
    sizes = frame.group_by(COLUMNS).len()["len"]
    want = {
        "uniqueness": sizes.eq(1).sum() / 400,
        "correctness": len(sizes) / 400,
        "below_k": sizes.filter(sizes < 4).sum() / 400,
    }
    for name, share in want.items():
        assert [row[name + end] for end in ("", "_low", "_high")] == pytest.approx([share] * 3)
    assert row["method"] == "counted"


def test_ends_stand_around_the_shares_and_the_sentence_has_them() -> None:
    row = by_duckdb(f"FROM population_risk(t, {COLUMNS}, [67000000])", t=people())[0]
    for name in SHARES:
        assert 0 <= row[name + "_low"] <= row[name] <= row[name + "_high"] <= 1
    assert row["sentence"].startswith("Of 67 million people, less than 0.001 % (0 to ")
    assert "age, sex and grade" in row["sentence"]


def test_a_wide_pair_of_columns_is_counted_among_the_drawn() -> None:
    frame = pl.DataFrame(
        {
            "a": range(30_000),
            "b": [n * 7919 % 30_000 for n in range(30_000)],
            "c": ["x", "y"] * 15_000,
        }
    )
    row = by_polars("population_risk", frame, ["a", "b", "c"], [1e6])[0]
    assert row["uniqueness_high"] == 1
    assert row["status"].startswith("near_identifier: ")


def test_minus_nought_is_nought_by_whichever_text_it_is_reported() -> None:
    odd = pl.DataFrame({"income": [0.0, -0.0, 1.5, -0.0, 0.0] * 30, "sex": [*range(75)] * 2})
    plain = odd.with_columns(pl.col("income") + 0.0)
    for answered in by_both("population_risk", {"t": odd}, ["income", "sex"], populations=[5_000]):
        expected = by_polars("population_risk", plain, ["income", "sex"], [5_000])
        assert answered[0]["uniqueness"] == pytest.approx(expected[0]["uniqueness"])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            "t, ['age'], [10]",
            "populations must be at least the 400 records of the sample, got 10; pass",
        ),
        ("t, ['age'], []", "populations must be a number or a list of one or more numbers"),
        ("t, ['age'], [1e6], k := 1", "k must be a whole number of people from 2"),
        (
            "t, ['agee'], [1e6]",
            "quasi-identifiers must be columns of the table, got 'agee'; did you mean 'age'",
        ),
    ],
)
def test_refusals(call: str, sentence: str) -> None:
    with pytest.raises(Exception, match=sentence):
        by_duckdb(f"FROM population_risk({call})", t=people())


def test_an_empty_table_is_refused() -> None:
    with pytest.raises(ReidError, match="the table must contain at least one record"):
        by_polars("population_risk", people().clear(), COLUMNS, [100])


@pytest.mark.parametrize("records", [120, 400])
def test_the_ends_of_matches_fit_those_of_unique_people(records: int) -> None:
    """Who is not unique shares a class of two or more, so at most half of them are matched rightly."""
    frame = people().head(records)
    for row in by_duckdb(f"FROM population_risk(t, {COLUMNS}, [500, 5000, 1e6, 67e6])", t=frame):
        assert (
            row["correctness"]
            <= row["correctness_high"]
            <= (1 + row["uniqueness_high"]) / 2 + 1e-12
        )
