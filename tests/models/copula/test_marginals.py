import numpy as np
import pytest
from scipy import stats

from reid_sql.errors import OutOfDomainError
from reid_sql.models.copula.marginals import fit_marginal, marginal_from_shares


def test_shares_are_those_counted_and_the_most_frequent_value_comes_first() -> None:
    found = fit_marginal(["b", None, "a"], [1000, 20, 4000])
    assert found.family == "categorical"
    assert found.values == ("a", "b", None)
    assert found.shares.tolist() == pytest.approx([4000 / 5020, 1000 / 5020, 20 / 5020])


@pytest.mark.parametrize(
    ("values", "remaining"),
    [
        (["10", "9", None, "-1"], (None, "-1", "9", "10")),
        (["2020-03-01", "2019-12-31"], ("2019-12-31", "2020-03-01")),
    ],
)
def test_order_is_that_of_numbers_or_of_text_and_null_comes_first(
    values: list[str | None], remaining: tuple[str | None, ...]
) -> None:
    assert fit_marginal(values, [1] * len(values), ordered=True).values == remaining


@pytest.mark.parametrize(
    ("family", "law"),
    [("negative binomial", stats.nbinom(3, 0.05)), ("logarithmic", stats.logser(0.98, loc=-1))],
)
def test_a_small_sample_of_a_family_is_known_for_it(family: str, law: stats.rv_discrete) -> None:
    drawn, counts = np.unique(law.rvs(400, random_state=4), return_counts=True)
    found = fit_marginal([str(value) for value in drawn], counts.tolist(), ordered=True)
    assert found.family == family
    true = law.pmf(drawn) / law.pmf(drawn).sum()
    plain = counts / counts.sum()
    assert np.abs(found.shares - true).sum() < np.abs(plain - true).sum()
    assert found.shares.sum() == pytest.approx(1)


def test_values_never_seen_have_a_share_where_some_were_seen_once() -> None:
    seen_often = fit_marginal(["a", "b"], [50, 50])
    seen_once = fit_marginal([*map(str, range(40)), "often"], [1] * 40 + [60])
    assert seen_often.unseen == 0
    assert 0 < seen_once.unseen <= 0.5 / 100


def test_shares_from_outside_are_taken_as_they_are() -> None:
    found = marginal_from_shares(["3", "10"], [30, 10], ordered=True)
    assert found.values == ("3", "10")
    assert found.shares.tolist() == [0.75, 0.25]


def test_shares_from_outside_take_the_spelling_of_the_sample_and_add_up() -> None:
    found = marginal_from_shares(
        ["1.0", "1", "2", None], [1, 2, 3, 2], ordered=True, seen=["1", "2"]
    )
    assert found.values == (None, "1", "2")
    assert found.shares.tolist() == [0.25, 0.375, 0.375]


@pytest.mark.parametrize(
    ("values", "shares", "words"),
    [
        (["F"], [1.0], "share above 0 for each value of the sample, got none for 1 value"),
        (["F", "M"], [1.0, 0.0], "got none for 1 value; complete the table"),
        (["F", "M"], [2.0, -1.0], "must be a number of at least 0 for every value"),
        (["F", "M"], [1.0, float("nan")], "got nan altogether"),
        (["F", "M"], [0.0, 0.0], "got 0 altogether"),
    ],
)
def test_shares_from_outside_that_cannot_be(
    values: list[str], shares: list[float], words: str
) -> None:
    with pytest.raises(OutOfDomainError, match=words):
        marginal_from_shares(values, shares, seen=["F", "M"])
