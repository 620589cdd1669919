"""What the first tier leaves of tests/engines/ibis/test_client_fallback.py."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.engines.ibis.test_client_fallback import stood
from tests.warehouses import connected

TYPES = """
CREATE TABLE {name} (big bigint, money numeric(10, 2), at timestamptz, who uuid, yes boolean, lists int[],
  day date, real float8, bytes bytea, net inet, zoned timetz, exact numeric);
INSERT INTO {name} VALUES
  (9007199254740993, 1.5, '2020-01-01 00:00+02', '00000000-0000-0000-0000-00000000000a', true, '{{1,2}}',
    '2020-01-01', 'NaN', '\\x00ff', '1.2.3.4', '12:00+01', 1.12345678901),
  (9007199254740992, 1.50, '2020-01-01 00:00+01', '00000000-0000-0000-0000-00000000000b', false, '{{1,3}}',
    '2020-01-02', '-0', '\\x00fe', '1.2.3.5', '12:00+02', 1.12345678902),
  (9007199254740992, 1.50, '2019-12-31 23:00+00', '00000000-0000-0000-0000-00000000000b', false, '{{1,3}}',
    '2020-01-02', '0', '\\x00fe', '1.2.3.5', '12:00+02', 1.12345678902),
  (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
"""
SIZES = {
    **dict.fromkeys(("big", "at", "who", "yes", "lists", "day", "real", "bytes", "net"), (1, 1, 2)),
    "money": (1, 3),
    "zoned": (1, 1, 2),
    "exact": (1, 1, 2),
}


@pytest.fixture
def typed(postgres: str) -> Iterator[Any]:
    """A table of PostgreSQL with a column of each of many types, two values in each, one twice, and NULL."""
    server = connected("postgres", postgres)
    server.raw_sql(TYPES.format(name="typed")).close()
    yield server.table("typed")
    server.raw_sql("DROP TABLE typed").close()


@pytest.mark.postgres
@pytest.mark.parametrize("column", SIZES)
def test_values_of_every_type_stay_apart(typed: Any, column: str) -> None:
    rows = stood(typed, [column])
    values = [repr(value) for (value,) in rows]
    assert sorted(values.count(value) for value in set(values)) == list(SIZES[column])
    assert values.count("None") == 1


@pytest.mark.postgres
def test_values_come_as_they_are(typed: Any) -> None:
    rows = stood(typed, ["big", "who", "at"])
    assert {row[0] for row in rows} == {9007199254740993, 9007199254740992, None}
    assert [row[1][-1] for row in rows if row[0] == 9007199254740993] == ["a"]
    assert {row[2] and row[2].isoformat() for row in rows} == {
        "2019-12-31T22:00:00",
        "2019-12-31T23:00:00",
        None,
    }
