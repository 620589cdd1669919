import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reid_sql.models.classes.wildcard import blank_records, wildcard_class_sizes

Codes = npt.NDArray[np.int64]


def brute(codes: Codes, others: Codes, counts: Codes) -> list[int]:
    def alike(left: Codes, right: Codes) -> bool:
        if any(left) and not any(right):  # a blank record is nobody else's match
            return False
        return all(0 in (a, b) or a == b for a, b in zip(left, right, strict=True))

    return [
        sum(int(count) for other, count in zip(others, counts, strict=True) if alike(row, other))
        for row in codes
    ]


@st.composite
def tables(draw: st.DrawFn) -> tuple[Codes, Codes, Codes]:
    columns = draw(st.integers(1, 6))
    row = st.lists(st.integers(0, 3), min_size=columns, max_size=columns)
    left, right = (draw(st.lists(row, min_size=0, max_size=20)) for _ in range(2))
    counts = draw(st.lists(st.integers(1, 9), min_size=len(right), max_size=len(right)))
    shape = (-1, columns)
    return (
        np.array(left, dtype=np.int64).reshape(shape),
        np.array(right, dtype=np.int64).reshape(shape),
        np.array(counts, dtype=np.int64),
    )


@given(tables())
def test_counts_what_comparing_every_pair_counts(drawn: tuple[Codes, Codes, Codes]) -> None:
    assert wildcard_class_sizes(*drawn).tolist() == brute(*drawn)


def test_blank_records_are_counted_and_hide_nobody() -> None:
    codes = np.array([[1, 1], [2, 2], [0, 0], [1, 0]])
    counts = np.array([1, 1, 4, 1])
    assert wildcard_class_sizes(codes, codes, counts).tolist() == [2, 1, 7, 2]
    assert blank_records(codes, counts) == 4


@pytest.mark.parametrize("columns", [3, 12, 64])
def test_many_columns_take_several_words(columns: int) -> None:
    rng = np.random.default_rng(columns)
    codes = rng.integers(1, 200, (150, columns)) // 190 + 1
    codes = np.concatenate([codes, codes[:50]]) * (rng.random((200, columns)) > 0.5 / columns)
    spread = codes * rng.integers(1, 2**20, columns)
    wide = np.concatenate(
        [spread, np.arange(1, 301)[:, None] * np.ones((1, columns), dtype=np.int64)]
    )
    assert wildcard_class_sizes(wide, wide, np.ones(len(wide), dtype=np.int64)).tolist() == brute(
        wide, wide, np.ones(len(wide), dtype=np.int64)
    )
