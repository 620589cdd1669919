"""What the first tier leaves of tests/models/people/test_evidence.py."""

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import reid_sql
from reid_sql.models.people.evidence import MAX_COMBINATIONS


@pytest.mark.parametrize("records", [10_000, 40_000])
def test_birth_sex_and_place_are_estimated_on_either_side_of_the_most_pairs(records: int) -> None:
    """Independent columns; dates and places have more pairs than are counted in all of 40,000 records."""
    rng = np.random.default_rng(7)
    people = 100_000
    born, sex = (rng.beta(2, 1.4, people) * 25_000).astype(np.int64), rng.integers(0, 2, people)
    place = np.minimum(rng.geometric(0.02, people) - 1, 299)
    classes = np.unique(np.stack([born, sex, place], axis=1), axis=0, return_counts=True)[1]
    truth = (classes == 1).sum() / people
    sample = rng.permutation(people)[:records]
    day = np.datetime64("1940-01-01")
    columns = {"born": (day + born[sample]).astype(str).tolist()}
    columns |= {
        "sex": sex[sample].astype(str).tolist(),
        "place": [f"p{code}" for code in place[sample]],
    }
    pairs = len(set(zip(columns["born"], columns["place"], strict=True)))
    assert (pairs > MAX_COMBINATIONS) == (records > 20_000)
    con = duckdb.connect()
    reid_sql.register(con)
    con.register("people", pa.table(columns))
    asked = "SELECT uniqueness, uniqueness_high FROM population_risk(people, ['born', 'sex', 'place'], [?])"
    [(found, highest)] = con.execute(asked, [people]).fetchall()
    assert found == pytest.approx(truth, abs=0.015)
    assert highest > truth
