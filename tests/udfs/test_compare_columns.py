"""What became of each column: counts and distances as in loops over people."""

import polars as pl
import pytest
from hypothesis import given

from tests.releases import People, changes, loss, variation
from tests.tables import by_both
from tests.udfs.test_compare import COLUMNS, NO_KEY, frame, releases


@given(releases())
def test_each_column_is_counted_as_in_loops_over_people(tables: tuple[People, People]) -> None:
    frames = {"o": frame(tables[0]), "r": frame(tables[1])}
    for answer in by_both("compare", frames, COLUMNS, key="id", output="columns"):
        assert [row["column_name"] for row in answer] == COLUMNS
        for column, row in enumerate(answer):
            own, out = (
                {key: (cells[column],) for key, cells in people.items()} for people in tables
            )
            expected = changes(own, out)
            assert row["cells_changed"] == expected["cells_changed"]
            assert row["cells_suppressed"] == expected["cells_suppressed"]
            assert row["information_loss"] == pytest.approx(loss(own, out, 0), abs=1e-9)
            shared = {*own.values()} & {*out.values()}
            moved = variation(own, out, 0) if shared else None
            assert row["total_variation"] == (
                None if moved is None else pytest.approx(moved, abs=1e-12)
            )
            few_keys = 2 * len(own.keys() & out.keys()) < min(len(own), len(out))
            assert (row["status"] == "ok") == (bool(shared) and not few_keys)
            assert row["understood"] == understood(own, out)


def understood(own: People, out: People) -> str:
    pairs = {(own[key], out[key]) for key in own if key in out}
    if len({mine for mine, _ in pairs}) < len(pairs):
        return "by frequency"
    return "recoded" if any(mine != theirs for mine, theirs in pairs) else "unchanged"


@given(releases())
def test_without_a_key_the_distributions_are_reported_alone(tables: tuple[People, People]) -> None:
    frames = {"o": frame(tables[0]), "r": frame(tables[1])}
    for alone, keyed in zip(
        by_both("compare", frames, COLUMNS, output="columns"),
        by_both("compare", frames, COLUMNS, key="id", output="columns"),
        strict=True,
    ):
        for row, other in zip(alone, keyed, strict=True):
            assert (
                row["cells_changed"] is row["cells_suppressed"] is row["information_loss"] is None
            )
            assert row["understood"] == "not known"
            assert NO_KEY in row["status"]
            assert row["total_variation"] == other["total_variation"]


def test_numbers_are_the_same_however_they_are_written_and_codes_are_not() -> None:
    original = pl.DataFrame({"id": [1, 2, 3], "n": [30, 40, 50], "code": ["01", "02", "03"]})
    released = pl.DataFrame({"id": [1, 2, 3], "n": ["30.0", "4e1", "**"], "code": [1, 2, 3]})
    for answer in by_both(
        "compare", {"o": original, "r": released}, ["n", "code"], key="id", output="columns"
    ):
        assert [row["cells_changed"] for row in answer] == [1, 3]
        assert [row["cells_suppressed"] for row in answer] == [1, 0]


def test_the_earth_mover_carries_what_moved() -> None:
    original = pl.DataFrame({"id": range(4), "n": [0.0, 10.0, 20.0, 100.0]})
    released = pl.DataFrame({"id": range(4), "n": [5.0, 10.0, 20.0, 80.0]})
    for answer in by_both(
        "compare", {"o": original, "r": released}, ["n"], key="id", output="columns"
    ):
        assert answer[0]["earth_movers"] == pytest.approx((5 + 20) / 4 / 100)
