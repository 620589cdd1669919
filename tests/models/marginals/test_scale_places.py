"""Values read all at once are in the order, and on the places, that each has by itself."""

import math

from hypothesis import given
from hypothesis import strategies as st

from reid_sql.models.copula.marginals import order_values, sort_keys
from reid_sql.models.marginals.column import position, positions

NUMBERS = st.one_of(
    st.integers(-20, 20).map(str),
    st.floats(allow_nan=False).map(repr),
    st.sampled_from(["0.0", "-0.0", "1_0", " 7", "1e15", "1.1e15", "07"]),
)
TEXTS = st.one_of(
    NUMBERS, st.sampled_from(["", "old", "nan", "inf", "2024-02-29", "2024-02-29 12:00:00"])
)
VALUES = st.one_of(
    st.lists(st.none() | NUMBERS, unique=True), st.lists(st.none() | TEXTS, unique=True)
)


@given(VALUES)
def test_values_are_in_the_order_of_their_keys(values: list[str | None]) -> None:
    keys = sort_keys(values)
    assert order_values(values) == sorted(range(len(values)), key=keys.__getitem__)


@given(VALUES)
def test_places_are_those_of_each_value(values: list[str | None]) -> None:
    found = [None if math.isnan(at) else at for at in positions(values).tolist()]
    assert found == [position(value) for value in values]
