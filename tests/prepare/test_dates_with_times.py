"""Dates with a time of day in a text are coarsened as those without."""

from datetime import datetime, timedelta
from pathlib import Path

import duckdb
import numpy as np
import pytest

from tests.processes import command

START = datetime(1950, 1, 1)  # noqa: DTZ001 - no zone
POLICY = """
[[tables]]
file = "people.csv"
quasi_identifiers = ["born", "sex"]
checks = [{ measure = "k", at_least = 5 }]
"""


@pytest.mark.parametrize(
    "form", ["%d.%m.%Y %H:%M", "%m/%d/%Y %H:%M:%S", "%d/%m/%Y %I:%M %p", "%Y-%m-%d %H:%M:%S"]
)
def test_the_release_has_the_years_of_the_dates(form: str, tmp_path: Path) -> None:
    draws = np.random.default_rng(6)
    days = [START + timedelta(days=int(day), minutes=int(day) % 1440)
            for day in draws.integers(0, 4000, 400)]  # fmt: skip
    lines = [f"{day.strftime(form)};{'fm'[place % 2]}" for place, day in enumerate(days)]
    (tmp_path / "people.csv").write_text("\n".join(["born;sex", *lines]) + "\n", encoding="utf-8")
    (tmp_path / "p.toml").write_text(POLICY, encoding="utf-8")
    done = command("prepare", "p.toml", "--release", "safe.csv", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = f"SELECT born FROM read_csv('{tmp_path}/safe.csv', all_varchar=true)"
    assert sorted(duckdb.execute(rows).fetchall()) == sorted((str(day.year),) for day in days)


def test_several_ways_of_writing_are_not_guessed(tmp_path: Path) -> None:
    days = [START + timedelta(days=37 * place) for place in range(100)]
    forms = ["%d.%m.%Y", "%d.%m.%Y %H:%M"]
    lines = [f"{day.strftime(forms[place % 2])};f" for place, day in enumerate(days)]
    (tmp_path / "people.csv").write_text("\n".join(["born;sex", *lines]) + "\n", encoding="utf-8")
    (tmp_path / "p.toml").write_text(POLICY, encoding="utf-8")
    done = command("prepare", "p.toml", folder=tmp_path)
    assert "50 of its 100 values are dates in no one way of writing" in " ".join(
        done.stdout.split()
    )
