"""Losses of a release that are sums over its classes: masked where the report masks class sizes."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from reid_sql.prepare.preparation import prepare as run
from reid_sql.prepare.sentences import sentences
from tests.prepare.brute import K, policy, written

OF_CLASSES = ("discernibility", "class_size")


def prepared(
    folder: Path, sizes: list[int], minimise: str = "entropy"
) -> tuple[dict[str, Any], Any]:
    """Prepare a table of one column with classes of these sizes: what is said of it, and of its release."""
    ages = [20 + place for place, size in enumerate(sizes) for _ in range(size)]
    pl.DataFrame({"age": ages}).write_parquet(folder / "people.parquet")
    options = f'loss = "{minimise}"\nhierarchies.age = []'
    text = policy("people.parquet", ["age"], K.format(5), prepare=options)
    made = run(written(folder, f"mask_below = 10\n{text}"))
    page = json.loads(json.dumps(made.page))
    return page["tables"][0], page["report"]["tables"][0]


def squares(sizes: list[int]) -> float:
    """The sum of the squares of the class sizes, as a share of the most that it can be."""
    return sum(size**2 for size in sizes) / sum(sizes) ** 2


@pytest.mark.parametrize("minimise", ["entropy", *OF_CLASSES])
def test_losses_do_not_give_the_class_sizes_that_the_report_masks(
    tmp_path: Path, minimise: str
) -> None:
    """Of 205 records in 3 classes with this sum of squares, 5 are in a class of 5 to 9."""
    table, reported = prepared(tmp_path, [100, 100, 5], minimise)
    masked = {
        (part["from"], part["to"]) for part in reported["class_sizes"] if part["records"] is None
    }
    assert (5, 9) in masked
    assert reported["classes"] is None
    assert [table["losses"][name] for name in OF_CLASSES] == [None, None]
    if minimise != "entropy":
        assert table["least_possible_loss"] is None
        assert "Loss" in next(each for each in sentences(table) if "not shown" in each)


def test_losses_are_shown_where_no_class_size_is_masked(tmp_path: Path) -> None:
    sizes = [100, 60, 45]
    table, reported = prepared(tmp_path, sizes, "discernibility")
    assert reported["classes"] == 3
    assert table["losses"]["discernibility"] == pytest.approx(squares(sizes), rel=1e-3)
    assert table["least_possible_loss"] == table["losses"]["discernibility"]
