"""The time limit of a search is processor time, and its answer says why nothing is proved."""

import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reid_sql.prepare import preparation
from reid_sql.prepare.problem import limit_time
from reid_sql.prepare.sentences import sentences
from tests.prepare.brute import K, policy, written


def test_waiting_uses_no_time_and_work_does() -> None:
    is_over = limit_time(0.05)
    time.sleep(0.2)
    assert not is_over()
    began = time.process_time()
    while time.process_time() - began < 0.06:
        sum(range(1000))
    assert is_over()


def test_a_search_says_why_it_proves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fourteen columns of seven levels have more transformations than a memory has room for."""
    rng = np.random.default_rng(5)
    columns = [f"c{at}" for at in range(14)]
    pl.DataFrame(rng.integers(0, 64, (60, 14)), schema=columns).write_parquet(
        tmp_path / "t.parquet"
    )
    bands = "[{ bands = 2 }, { bands = 4 }, { bands = 8 }, { bands = 16 }, { bands = 32 }]"
    steps = [f"hierarchies.{name} = {bands}" for name in columns]
    cases = {
        "too_large": (14, "", "678,223,072,849 transformations are too many to search all"),
        "other_nulls": (2, 'nulls = "drop"', "takes NULL for a value"),
        "complete": (2, "", "the least of all transformations"),
        "time_limit": (6, "", "was cut off at the time limit"),
    }
    for ended, (width, table, words) in cases.items():
        if ended == "time_limit":
            # as after a minute
            monkeypatch.setattr(preparation, "limit_time", lambda _: lambda: True)
        prepare = "\n".join(steps[:width])
        asked = policy("t.parquet", columns[:width], K.format(2), prepare=prepare, table=table)
        made = preparation.prepare(written(tmp_path, asked))
        page = made.page["tables"][0]
        assert page["search_ended"] == ended
        assert [words in sentence for sentence in sentences(page)].count(True) == 1
