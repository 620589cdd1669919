"""The gate judges tables of aggregates: cells of one that is counted, and published ones together."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from reid_sql.check import gate
from reid_sql.errors import ReidError

COUNTED = '[[tables]]\nfile = "people.csv"\nquasi_identifiers = ["region", "sex"]\n'
PUBLISHED = '[[tables]]\nfile = "first.csv"\npublished_file = "second.csv"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """30 people in 4 cells, of which one has 2; and two tables of 41 and 39 people, one cell hidden."""
    cells = [("N", "F", 9), ("N", "M", 9), ("S", "F", 10), ("S", "M", 2)]
    rows = [(region, sex, 1.0 + 100 * (n == 0)) for region, sex, size in cells for n in range(size)]
    people = pl.DataFrame(rows, schema=["region", "sex", "cost"], orient="row")
    people.write_csv(tmp_path / "people.csv")
    first = pl.DataFrame(
        [("N", "F", None), ("N", "M", 20), ("N", None, 23), ("S", None, 18), (None, None, 41)],
        schema=["region", "sex", "records"],
        orient="row",
    )
    first.write_csv(tmp_path / "first.csv")
    second = pl.DataFrame({"region": ["N", "S"], "drug": ["yes"] * 2, "records": [21, 18]})
    second.write_csv(tmp_path / "second.csv")
    return tmp_path


def judged(folder: Path, table: str, *checks: str, mask_below: int = 1) -> list[Any]:
    listed = "".join(f"[[tables.checks]]\n{check}\n" for check in checks)
    (folder / "policy.toml").write_text(
        f"mask_below = {mask_below}\n{table}{listed}", encoding="utf-8"
    )
    found: list[Any] = gate.check(folder / "policy.toml")["checks"]
    return found


@pytest.mark.parametrize(
    ("table", "check", "cells"),
    [
        (COUNTED, 'measure = "cells_below_k"\nk = 5', 1),
        (COUNTED, 'measure = "cells_below_k"\nk = 10', 3),
        (COUNTED, 'measure = "cells_below_k"\nk = 12\ntotals = "margins"', 5),
        (COUNTED, 'measure = "cells_below_k"\nk = 13\ntotals = "margins"', 6),
        (COUNTED, 'measure = "dominated_cells"\nvalue = "cost"', 4),
        (
            COUNTED,
            'measure = "dominated_cells"\nvalue = "cost"\ndominance = [1, 0.99]\np_percent = 0',
            1,
        ),
        (PUBLISHED, 'measure = "recoverable_cells"', 2),
        (PUBLISHED, 'measure = "recovered_by_difference"', 1),
        (PUBLISHED, 'measure = "published_below_k"\nk = 20', 2),
        (PUBLISHED.replace("published_file", "#"), 'measure = "recoverable_cells"', 1),
        (PUBLISHED.replace("published_file", "#"), 'measure = "recovered_by_difference"', 0),
    ],
)
def test_a_policy_judges_on_either_side_of_the_limit(
    folder: Path, table: str, check: str, cells: int
) -> None:
    limits = [cells, *([cells - 1] if cells else [])]
    found = judged(folder, table, *(f"{check}\nat_most = {limit}" for limit in limits))
    assert [each["verdict"] for each in found] == ["pass", "fail"][: len(limits)]
    assert {each["groups"][0]["value"] for each in found} == {cells}


def test_a_value_of_cells_and_whole_tables_are_asked_for(folder: Path) -> None:
    with pytest.raises(ReidError, match="value"):
        judged(folder, COUNTED, 'measure = "dominated_cells"\nat_most = 0')
    with pytest.raises(ReidError, match="must not be given for the measure 'recoverable_cells'"):
        judged(folder, PUBLISHED, 'measure = "recoverable_cells"\nat_most = 0\nby = ["region"]')
    with pytest.raises(ReidError, match="needs quasi-identifiers"):
        judged(folder, PUBLISHED, 'measure = "cells_below_k"\nat_most = 0')


def test_an_empty_or_misread_table_does_not_pass(folder: Path) -> None:
    (folder / "people.csv").write_text("region,sex,cost\n", encoding="utf-8")
    [found] = judged(folder, COUNTED, 'measure = "cells_below_k"\nat_most = 0')
    assert found["verdict"] != "pass"
    (folder / "second.csv").write_text("region,n\nN,21\n", encoding="utf-8")
    [found] = judged(folder, PUBLISHED, 'measure = "recoverable_cells"\nat_most = 9')
    assert found["verdict"] == "not judged"
    assert "got 'records'" in found["groups"][0]["why"]


def test_a_rule_of_dominance_is_a_pair(folder: Path) -> None:
    with pytest.raises(
        ReidError, match=r"dominance must be a list of one or more numbers, got 0\.5"
    ):
        judged(
            folder,
            COUNTED,
            'measure = "dominated_cells"\nvalue = "cost"\ndominance = 0.5\nat_most = 0',
        )
    [found] = judged(
        folder, COUNTED, 'measure = "dominated_cells"\nvalue = "cost"\ndominance = [1]\nat_most = 0'
    )
    assert found["verdict"] == "not judged"
    assert "dominance must be a whole number of people and a share" in found["groups"][0]["why"]


def shown(checks: list[Any]) -> list[Any]:
    return [each["groups"][0]["value"] for each in checks]


def below(measure: str, *ks: int, more: str = "") -> list[str]:
    return [f'measure = "{measure}"\nk = {k}\nat_most = 9\n{more}' for k in ks]


def test_a_masked_count_does_not_follow_from_counts_of_totals(folder: Path) -> None:
    """Twelve cells of one person: as many as may be shown. But one region has three of these people.

    The cells below 3 and below 4, with their totals, differ by one total of 3 people.
    """
    rows = [(region, place) for place, region in enumerate("NNNSSSSSSSSS")]
    pl.DataFrame(rows, schema=["region", "sex"], orient="row").write_csv(folder / "people.csv")
    cells = judged(folder, COUNTED, *below("cells_below_k", 3, 4), mask_below=10)
    assert shown(cells) == [12, 12]
    totals = judged(
        folder, COUNTED, *below("cells_below_k", 3, 4, more='totals = "margins"'), mask_below=10
    )
    assert shown(totals) == [None, None]
    assert [each["verdict"] for each in totals] == ["fail", "fail"]
    assert [
        each["groups"][0]["value"]
        for each in judged(folder, COUNTED, *below("cells_below_k", 3, 4))
    ]


def test_a_masked_count_does_not_follow_from_published_tables(folder: Path) -> None:
    """The table has one cell of 7 people, and another of which 3 are recovered; no one publishes it yet."""
    table = pl.DataFrame({"sex": ["F", "M", "X", None], "records": [7, 40, None, 50]})
    table.write_csv(folder / "first.csv")
    alone = PUBLISHED.replace("published_file", "#")
    checks = [*below("published_below_k", 7, 8), *below("recoverable_cells", 3, 4)]
    assert shown(judged(folder, alone, *checks, mask_below=10)) == [0, None, None, None]
    assert shown(judged(folder, alone, *checks)) == [0, 1, 1, 1]


def test_a_masked_count_does_not_follow_from_those_who_are_followed(folder: Path) -> None:
    """Of 25 unique people, 22 are followed: that 3 are not is a count of few people."""
    now = pl.DataFrame({"age": [*range(25), *[99] * 30], "zip": ["a"] * 55})
    now.write_csv(folder / "people.csv")
    table = '[[tables]]\nfile = "people.csv"\nformer_file = "former.csv"\nquasi_identifiers = ["age", "zip"]\n'
    followed = 'measure = "people_followed"\nat_most = 9\n'
    for start, value in ((3, None), (12, 13), (0, 25)):
        now[start:].write_csv(folder / "former.csv")
        [found] = judged(folder, table, followed, mask_below=10)
        assert found["groups"][0]["value"] == value
        assert found["verdict"] == "fail"
