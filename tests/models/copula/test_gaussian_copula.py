from dataclasses import replace
from itertools import product

import numpy as np
import polars as pl
import pytest

from reid_sql.engines import registry
from reid_sql.errors import NoRecordsError, OutOfDomainError, UnknownNameError
from reid_sql.models.copula.copula_fit import fit_copula
from reid_sql.models.copula.gaussian_copula import forecast_copula, sample_codes
from reid_sql.models.evidence import CLASS_SIZE, VALUE, EvidenceRow, EvidenceRows, rows_from_tuples
from tests.copulas import fitted, independent, people

COLUMNS = ["age", "sex", "grade"]


def test_independent_columns_multiply() -> None:
    found = independent().cell_probability([["F", "M"], ["3", "1"]])
    assert found.probability.tolist() == pytest.approx([0.42, 0.04], rel=1e-2)


def test_cells_of_an_ordered_model_add_up_to_one() -> None:
    frame = people()
    model = fitted("all", frame, COLUMNS, ordered=COLUMNS)
    values = [marginal.values for marginal in model.marginals]
    cells = list(zip(*product(*values), strict=True))
    assert model.cell_probability(cells).probability.sum() == pytest.approx(1, abs=2e-3)


def test_a_model_finds_what_goes_together() -> None:
    model = fitted("all", people(), COLUMNS, ordered=COLUMNS)
    assert model.correlation[0, 2] > 0.7
    assert abs(model.correlation[0, 1]) < 0.3
    sharp = fitted("sharp", people(), COLUMNS, method="sharp")
    assert abs(sharp.correlation[0, 2]) > 0.7


def test_scores_depend_on_the_record_alone() -> None:
    frame = people()
    model = fitted("own", frame, COLUMNS)
    values = [frame[name].cast(pl.String).to_list() for name in COLUMNS]
    together = model.cell_probability(values).probability
    again = fitted("own", frame, COLUMNS)
    for place in (0, 17, 399):
        assert (
            again.cell_probability([[column[place]] for column in values]).probability[0]
            == together[place]
        )


def test_values_never_seen() -> None:
    rare = pl.DataFrame({"a": [*map(str, range(30)), *["x"] * 70]})
    assert 0 < fitted("rare", rare, ["a"]).cell_probability([["new"]]).probability[0] <= 0.005
    assert fitted("often", people(), ["sex"]).cell_probability([["new"]]).probability[0] == 0
    ages = fitted("ages", rare.with_columns(a=pl.int_range(100)), ["a"], ordered=["a"])
    assert 0 < ages.cell_probability([["17.5"]]).probability[0] <= 0.006
    assert (
        ages.cell_probability([["17.0"]]).probability[0]
        == ages.cell_probability([["17"]]).probability[0]
    )


@pytest.mark.parametrize("people_count", [10, 1000])
def test_a_forecast_is_what_drawn_populations_come_out_as(people_count: int) -> None:
    model = fitted("own", people(), COLUMNS, ordered=COLUMNS)
    found = forecast_copula(model, [people_count])[0]
    codes = [
        sample_codes(model, np.arange(people_count) + people_count * run, 0)
        for run in range(300 if people_count < 99 else 40)
    ]
    sizes = [np.unique(drawn, axis=0, return_counts=True)[1] for drawn in codes]
    unique = [(one == 1).sum() / people_count for one in sizes]
    right = [len(one) / people_count for one in sizes]
    others = [replace(model, seed=seed, _scores={}) for seed in range(8)]
    seeds = [forecast_copula(other, [people_count])[0] for other in others]
    for name, drawn in (("uniqueness", unique), ("correctness", right)):
        noise = 4 * float(np.std(drawn)) / len(drawn) ** 0.5
        computation = 4 * float(np.std([getattr(each, name) for each in seeds], ddof=1))
        assert float(np.mean(drawn)) == pytest.approx(getattr(found, name), abs=noise + computation)
        # the error of the computation alone would be no interval of the true value
        assert getattr(found, f"{name}_low") is getattr(found, f"{name}_high") is None


def test_a_sample_is_the_same_whoever_asks_for_which_part() -> None:
    model = fitted("own", people(), COLUMNS)
    whole = sample_codes(model, np.arange(5000), 7)
    assert (sample_codes(model, np.array([4999, 3, 2048]), 7) == whole[[4999, 3, 2048]]).all()
    share = (whole[:, 1] == 0).mean()
    assert share == pytest.approx(float(model.marginals[1].shares[0]), abs=0.03)


def counted(weights: list[float], records: list[int]) -> EvidenceRows:
    rows = [
        EvidenceRow(VALUE, 1, label="sex", first_value=value, records=n, weight=weight)
        for value, n, weight in zip("FM", records, weights, strict=False)
    ]
    return rows_from_tuples([*rows, EvidenceRow(CLASS_SIZE)])


def test_weights_move_the_shares() -> None:
    model = fit_copula(counted([90.0, 10.0], [50, 50]))
    assert model.cell_probability([["F"]]).probability[0] == pytest.approx(0.9)


def test_what_cannot_be_fitted_is_refused() -> None:
    with pytest.raises(NoRecordsError, match="the table must contain at least one record, got 0"):
        fit_copula(counted([], []))
    with pytest.raises(
        OutOfDomainError, match="weight must be a number of at least 0 for every record"
    ):
        fit_copula(counted([1.0, float("nan")], [1, 1]))
    with pytest.raises(
        UnknownNameError,
        match="ordered must name columns of the model, got 'sxe'; did you mean 'sex'",
    ):
        fit_copula(counted([1.0, 1.0], [1, 1]), ordered=["sxe"])


def test_models_of_one_database_are_not_those_of_another() -> None:
    with registry.within("one"):
        registry.keep("town", independent())
        assert registry.known("town").columns == ("sex", "size")
    with (
        registry.within("another"),
        pytest.raises(UnknownNameError, match="model must be a fitted model, got 'town'"),
    ):
        registry.known("town")
