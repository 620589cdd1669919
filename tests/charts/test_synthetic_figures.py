"""The figure of attacks on a synthetic table, held against the rows that it is drawn from."""

import numpy as np
import polars as pl
import pytest

import reid_sql.polars as rp
from reid_sql import plot
from reid_sql.charts.spec import Marker
from reid_sql.errors import OutOfDomainError
from tests.charts.marks import lines_of, strokes_of


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
    picture = plot.attacks(answer)
    drawn = {
        point: line.marker
        for line in lines_of(picture)
        for point in zip(line.across, line.up, strict=True)
    }
    expected = {
        (row["excess"], at): Marker.DOT if row["low"] > 0 else Marker.OPEN
        for at, row in enumerate(rows)
    }
    assert drawn == expected
    assert Marker.DOT in drawn.values()
    (intervals,) = strokes_of(picture)
    assert intervals.ends == [((row["low"], at), (row["high"], at)) for at, row in enumerate(rows)]
    names = picture.charts[0].up.names
    assert names[0] == "replicated uniques"
    assert names[-1].startswith("strongest membership (")
    assert "inference: zip" in names


def test_attacks_without_a_holdout_have_no_figure() -> None:
    answer = rp.audit_synthetic(people(1), people(2), ["age", "zip"])
    with pytest.raises(OutOfDomainError, match="with a holdout, got one without any excess"):
        plot.attacks(answer)
