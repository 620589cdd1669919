"""Columns of a joined table that single people out are joined by a check, or a caution."""

from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from reid_sql.check import gate

N = 200
JOB = list(range(N))  # of each person another
TOWN = [place % 5 for place in range(N)]
RARE = [place if place < 4 else 9 for place in range(N)]  # 4 people: 2 %


def judge(folder: Path, right: pl.DataFrame, on: str, more: str = "") -> dict[str, Any]:
    left = {"id": range(N), "age": [place % 4 for place in range(N)], "town": TOWN}
    pl.DataFrame(left).write_parquet(folder / "left.parquet")
    right.write_parquet(folder / "right.parquet")
    (folder / "policy.toml").write_text(
        'cautions = "refuse"\n[[tables]]\nfile = "left.parquet"\nquasi_identifiers = ["age"]\n'
        f'left_out = ["id"]\njoined_file = "right.parquet"\n{more}\n[[tables.checks]]\n'
        f'measure = "people_singled_out_by_join"\non = ["{on}"]\nright_qi = ["size"]\nat_most = 0\n',
        encoding="utf-8",
    )
    [found] = gate.check(folder / "policy.toml")["checks"]
    return dict(found)


@pytest.mark.parametrize("values", [JOB, RARE, TOWN])
def test_a_column_that_singles_people_out_does_not_pass(tmp_path: Path, values: list[int]) -> None:
    right = pl.DataFrame({"id": range(N), "size": [place % 2 for place in range(N)], "job": values})
    singled_out = sum(count == 1 for count in Counter(values).values())
    found = judge(tmp_path, right, "id")
    assert found["verdict"] == ("not judged" if singled_out >= max(3, 0.01 * N) else "pass")
    assert any("job" in each for each in found["cautions"]) == (found["verdict"] != "pass")


def test_a_column_of_places_singles_out_places_and_no_people(tmp_path: Path) -> None:
    """Each town has another number of inhabitants; 40 people live in each."""
    right = pl.DataFrame({"town": range(5), "size": [1] * 5, "inhabitants": range(100, 105)})
    found = judge(tmp_path, right, "town", 'entity = "id"')
    assert found["verdict"] == "pass"
    assert found["cautions"] == []


def test_a_column_that_cannot_be_counted_does_not_pass(tmp_path: Path) -> None:
    """A quasi-identifier of both tables is refused as a column that a join adds."""
    right = pl.DataFrame({"id": range(N), "size": [1] * N, "age": JOB})
    found = judge(tmp_path, right, "id")
    assert found["verdict"] == "not judged"
