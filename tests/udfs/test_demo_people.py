"""The town's people are those of the file that is installed, on every engine, missing values NULL."""

import csv
from pathlib import Path
from typing import Any

import pytest

from reid_sql import demo
from tests.tables import by_duckdb, by_polars

Records = list[dict[str, Any]]


@pytest.fixture(scope="module")
def file() -> Records:
    """The file, read by Python alone."""
    with Path(demo.people()).open(encoding="utf-8", newline="") as lines:
        read = list(csv.DictReader(lines))
    return [
        {**{name: text or None for name, text in line.items()}, "age": int(line["age"])}
        for line in read
    ]


def test_duckdb_lists_the_people_of_the_file(file: Records) -> None:
    assert by_duckdb("FROM demo_people()") == file


def test_polars_lists_the_people_of_the_file(file: Records) -> None:
    assert by_polars("demo_people") == file


def test_the_missing_values_are_those_that_its_columns_say(file: Records) -> None:
    missing = {name for person in file for name, value in person.items() if value is None}
    assert missing == {"education", "occupation"}
