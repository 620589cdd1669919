"""Two tables whose columns have unlike types: refused, and no error quotes a person's value."""

from itertools import permutations
from typing import Final

import duckdb
import pytest

import reid_sql
from tests.cells import each_cell

VALUES: Final = {
    "date": "date '1972-01-02'",
    "text": "'02.01.1972 Alice Smith'",
    "whole": "7",
    "time": "timestamp '1972-01-02 10:00'",
    "flag": "true",
    "word": "'Bob Smith'::ENUM('Bob Smith')",
    "uuid": "'00000000-0000-0000-0000-000000001972'::uuid",
    "list": "['Carol Smith']",
    "numbers": "[1972]",
    "floating": "1.5::double",
    "fields": "{'a': 'Dora Smith'}",
    "bytes": "'Eve Smith'::blob",
    "json": """'{"a": "Fay Smith"}'::json""",
}
CALLS: Final = (
    "journalist_risk({0}, {1}, ['d'])",
    "journalist_risk({0}, {1}, ['x', 'd'], nulls := 'wildcard')",
    "journalist_risk({0}, {1}, ['d'], entity := 'x')",
    "journalist_risk({0}, {1}, ['d'], by := ['x'])",
    "compare_releases({0}, {1}, ['d'])",
    "compare_releases({0}, {1}, ['x'], key := 'd')",
    "compare_releases({0}, {1}, ['x'], entity := 'd')",
    "compare_releases({0}, {1}, ['x'], sensitive := 'd')",
    "audit_synthetic({0}, {1}, ['d'])",
    "audit_synthetic({0}, {1}, ['x'], sensitive := ['d'])",
    "audit_synthetic({0}, {0}, ['d'], holdout := {1})",
    "compare({0}, {1}, ['x'], key := 'd')",
    """adversary_summary({0}, '{{"groups": [{{"columns": ["d"], "probability": 1}}], "population": 10}}',
       population_tbl := {1})""",
)


@pytest.fixture(scope="module")
def con() -> duckdb.DuckDBPyConnection:
    made = duckdb.connect()
    reid_sql.register(made)
    for name, value in VALUES.items():
        made.execute(f"CREATE TABLE of_{name} AS SELECT {value} AS d, i AS x FROM range(1) t(i)")
    return made


@each_cell("call", CALLS)
def test_unlike_types_are_refused_without_a_value(
    con: duckdb.DuckDBPyConnection, call: str
) -> None:
    for one, other in permutations(VALUES, 2):
        if {one, other} == {"text", "word"} or not {one, other} & {"text", "word"}:
            continue  # an ENUM's words are texts, and types without words quote none
        with pytest.raises(duckdb.Error) as raised:
            con.execute(f"FROM {call.format(f'of_{one}', f'of_{other}')}").fetchall()
        message = str(raised.value)
        assert "same type" in message, (one, other, message)
        assert "Smith" not in message, (one, other)
        assert "1972" not in message, (one, other)


@each_cell("call", CALLS)
def test_a_column_that_the_other_table_lacks_is_named(
    con: duckdb.DuckDBPyConnection, call: str
) -> None:
    """Also where the last column of that table has another type."""
    con.execute("CREATE OR REPLACE TABLE lacks AS SELECT 1 AS x, 2.5::DOUBLE AS last")
    with pytest.raises(duckdb.Error) as raised:
        con.execute(f"FROM {call.format('of_text', 'lacks')}").fetchall()
    message = str(raised.value)
    assert "got 'd'" in message, message
    assert "in both tables" not in message, message
