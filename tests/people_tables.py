"""Small tables of people whose law is known, coded as an engine codes them."""

from collections.abc import Sequence

import numpy as np

from reid_sql.models.people.evidence import PeopleEvidence, count_records
from reid_sql.parameters import Integers

AGES = [str(age) for age in range(30, 40)]


def coded(
    rows: Integers, values: Sequence[Sequence[str | None]]
) -> tuple[Integers, list[list[str | None]]]:
    """Codes of the values that occur, and those values."""
    codes, named = [], []
    for own, texts in zip(rows.T, values, strict=True):
        seen, inverse = np.unique(own, return_inverse=True)
        codes.append(inverse)
        named.append([texts[code] for code in seen.tolist()])
    return np.stack(codes, axis=1), named


def three_columns(records: int, seed: int = 0) -> PeopleEvidence:
    """Age, which goes with sex, and a town with a NULL that goes with age."""
    rng = np.random.default_rng(seed)
    sex = rng.integers(0, 2, records)
    age = np.clip(rng.binomial(9, 0.3 + 0.4 * sex / 2), 0, 9)
    town = np.where(rng.random(records) < 0.7, age // 4, rng.integers(0, 4, records))
    rows = np.stack([sex, age, town], axis=1)
    codes, values = coded(rows, [["F", "M"], AGES, ["A", "B", None, "C"]])
    return count_records(codes, ["sex", "age", "town"], values, [False, True, False])


def of_values(columns: Sequence[Sequence[str | None]], ordered: Sequence[bool]) -> PeopleEvidence:
    """Evidence of whole columns of values."""
    codes, values = [], []
    for column in columns:
        named = list(dict.fromkeys(column))
        codes.append([named.index(value) for value in column])
        values.append(named)
    names = [f"c{place}" for place in range(len(columns))]
    return count_records(np.array(codes, dtype=np.int64).T, names, values, ordered)
