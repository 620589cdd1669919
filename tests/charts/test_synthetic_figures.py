"""The figure of attacks on a synthetic table, held against the rows that it is drawn from."""

import numpy as np
import polars as pl
import pytest
from matplotlib.collections import LineCollection

import reid_sql.polars as rp
from reid_sql import plot
from reid_sql.errors import OutOfDomainError


def people(seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame({"age": rng.integers(0, 90, 200), "zip": rng.integers(0, 40, 200)})


def test_each_attack_is_drawn_at_its_excess_within_its_interval() -> None:
    original, holdout = people(1), people(2)
    answer = rp.audit_synthetic(original, original, ["age", "zip"], holdout=holdout).collect()
    rows = [
        row
        for row in answer.to_dicts()
        if row["excess"] is not None and not row["figure"].startswith("true_positives")
    ]
    (axes,) = plot.attacks(answer).axes
    drawn = {
        (float(x), int(y)): line.get_fillstyle()
        for line in axes.lines[:2]
        for x, y in zip(np.asarray(line.get_xdata()), np.asarray(line.get_ydata()), strict=True)
    }
    expected = {
        (row["excess"], at): "full" if row["low"] > 0 else "none" for at, row in enumerate(rows)
    }
    assert drawn == expected
    assert "full" in drawn.values()
    (intervals,) = (each for each in axes.collections if isinstance(each, LineCollection))
    ends = [[(float(x), float(y)) for x, y in segment] for segment in intervals.get_segments()]
    assert ends == [[(row["low"], at), (row["high"], at)] for at, row in enumerate(rows)]
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names[0] == "replicated uniques"
    assert names[-1].startswith("strongest membership (")
    assert "inference: zip" in names


def test_attacks_without_a_holdout_have_no_figure() -> None:
    answer = rp.audit_synthetic(people(1), people(2), ["age", "zip"])
    with pytest.raises(OutOfDomainError, match="with a holdout, got one without any excess"):
        plot.attacks(answer)
