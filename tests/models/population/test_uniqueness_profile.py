from itertools import combinations

import numpy as np
import pytest

from reid_sql.errors import OutOfDomainError
from reid_sql.models.copula.gaussian_copula import GaussianCopula
from reid_sql.models.copula.marginals import fit_marginal
from reid_sql.models.population.subset_uniqueness import MAX_SUBSETS, profile

THIRDS = ["1", "2", "3"]
COPULA = GaussianCopula(
    ("a", "b", "c"),
    tuple(
        fit_marginal(THIRDS, counts, ordered=True)
        for counts in ([10, 20, 70], [30, 30, 40], [5, 5, 90])
    ),
    np.array([[1.0, 0.6, 0.2], [0.6, 1.0, 0.1], [0.2, 0.1, 1.0]]),
    100,
    "paper",
    0,
)
PERSON = ["1", "3", "2"]
ROWS = profile(COPULA, PERSON, 30.0, level=0.5)


def test_part_of_a_copula_is_the_whole_summed_over_the_others() -> None:
    for row in ROWS:
        if row.kind != "known":
            continue
        places = [COPULA.columns.index(name) for name in row.attributes]
        values = [[PERSON[j]] if j in places else THIRDS for j in range(3)]
        cells = np.array(np.meshgrid(*values)).reshape(3, -1)
        want = COPULA.cell_probability(cells.tolist()).probability.sum()
        assert row.cell_probability == pytest.approx(want, rel=0.02)
        assert row.uniqueness_xi == pytest.approx((1 - want) ** 29, abs=0.02)


def test_every_choice_once_and_all_of_them() -> None:
    known = [tuple(row.attributes) for row in ROWS if row.kind == "known"]
    names = COPULA.columns
    assert known == [chosen for size in (1, 2, 3) for chosen in combinations(names, size)]


def test_impact_is_what_all_have_above_all_but_one() -> None:
    xi = {tuple(row.attributes): row.uniqueness_xi for row in ROWS if row.kind == "known"}
    impacts = [row for row in ROWS if row.kind == "impact"]
    assert [row.attributes for row in impacts] == [["a"], ["b"], ["c"]]
    for row in impacts:
        others = tuple(name for name in COPULA.columns if name not in row.attributes)
        assert row.uniqueness_xi == pytest.approx(xi[others])
        assert row.impact == pytest.approx(xi[COPULA.columns] - xi[others])  # type: ignore[operator]


def test_the_fewest_that_suffice_are_found_by_looking_at_all() -> None:
    smallest = ROWS[-1]
    enough = [
        r
        for r in ROWS
        if r.kind == "known" and r.uniqueness_xi is not None and r.uniqueness_xi >= 0.5
    ]
    assert smallest.kind == "smallest"
    assert smallest.size == min(row.size for row in enough)
    assert smallest.uniqueness_xi == max(r.uniqueness_xi for r in enough if r.size == smallest.size)  # type: ignore[type-var]


def test_where_none_suffices_it_says_so() -> None:
    row = profile(COPULA, PERSON, 1e6, level=1.0)[-1]
    assert (row.kind, row.attributes, row.uniqueness_xi) == ("smallest", [], None)
    assert row.status.startswith(
        "none_suffices: no subset of up to 2 attributes has ξ of 1, and all have "
    )


def test_refusals() -> None:
    with pytest.raises(
        OutOfDomainError, match=r"values must be the 3 of the model's columns \(a, b, c\), got 2"
    ):
        profile(COPULA, ["1", "2"], 10.0)
    wide = GaussianCopula(
        tuple("abcdefghijklmnopqrst"),
        (fit_marginal(THIRDS, [1, 1, 1]),) * 20,
        np.eye(20),
        9,
        "paper",
        0,
    )
    with pytest.raises(
        OutOfDomainError,
        match=f"choices of attributes must be at most {MAX_SUBSETS}, got 1350; pass",
    ):
        profile(wide, ["1"] * 20, 10.0)
