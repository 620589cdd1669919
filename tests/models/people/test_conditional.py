"""Chances of one column given another: each record left out by counting the table anew without it."""

import numpy as np
import pytest

from reid_sql.models.marginals.fit_column import fit_ordered
from reid_sql.models.people.conditional import (
    STRENGTHS,
    bin_pairs,
    choose_smoothing,
    fit_conditional,
    sum_neighbours,
)
from reid_sql.parameters import Floats
from tests.cells import each_cell


def log_chances(
    table: Floats,
    kernels: tuple[Floats, Floats],
    axes: tuple[bool, bool],
    prior: Floats,
    tau: float,
) -> Floats:
    """Ln p of each cell for one of its records, whose count is taken from the table before it is smoothed."""
    over_child, over_parent = axes
    logs = np.full(table.shape, np.nan)
    for parent, child in np.argwhere(table > 0):
        rest = table.copy()
        rest[parent, child] -= 1
        if over_child:
            rest = 0.4 * rest + 0.6 * rest @ kernels[1]
        if over_parent:
            rest = 0.3 * rest + 0.7 * kernels[0].T @ rest
        cell = max(rest[parent, child], 0.0) + tau * prior[child]
        logs[parent, child] = np.log(cell / (rest[parent].sum() + tau))
    return logs


@each_cell("max_bins", [64, 5])  # each value a bin, and several values in one
@each_cell("seed", range(4))
def test_the_smoothing_is_the_likeliest_where_each_record_is_left_out(
    seed: int, max_bins: int
) -> None:
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 12, 150)
    second = first + rng.integers(0, 2 + 3 * seed, 150)
    codes, columns = [], []
    for own in (first, second):
        seen, code, counts = np.unique(own, return_inverse=True, return_counts=True)
        codes.append(code.ravel())
        values = [str(value) for value in seen.tolist()]
        columns.append(fit_ordered("c", values, counts.astype(np.float64), max_bins))
    parent, child = columns
    assert parent.kernel is not None
    assert child.kernel is not None
    kernels = parent.kernel, child.kernel
    pairs = bin_pairs(parent, child, (codes[0], codes[1]), np.ones(150))
    table = np.zeros((len(parent.bin_mass), len(child.bin_mass)))
    np.add.at(table, (parent.bins[codes[0]], child.bins[codes[1]]), 1.0)
    some = table > 0
    independent = float((table * np.log(child.bin_left_out)).sum())
    gains = {
        (axes, tau): float(
            (table[some] * log_chances(table, kernels, axes, child.bin_left_out, tau)[some]).sum()
        )
        - independent
        for axes in ((False, False), (False, True), (True, False), (True, True))
        for tau in STRENGTHS
    }
    chosen = choose_smoothing(parent, child, pairs, sum_neighbours(parent, child, pairs))
    assert chosen.gain == pytest.approx(max(gains.values()), abs=1e-9)
    assert gains[chosen.axes, chosen.strength] == pytest.approx(chosen.gain, abs=1e-9)
    for axes in ((False, False), (False, True), (True, False), (True, True)):
        fitted = fit_conditional(parent, child, pairs, type(chosen)(axes, 4.0, 0.0))
        logs = log_chances(table, kernels, axes, fitted.prior_left_out, 4.0)
        own = np.argwhere(some)
        assert fitted.log_left_out(own[:, 0], own[:, 1]) == pytest.approx(logs[some], abs=1e-9)
