"""What the first tier leaves of tests/check/test_releases.py."""

from pathlib import Path

import duckdb

import reid_sql.prepare
from tests.check.test_releases import *


def test_a_release_is_prepared_next_to_the_former_one_as_it_was_published(
    folder: Path, con: duckdb.DuckDBPyConnection
) -> None:
    """The former release is not generalized again: its decades are those of the new one, its ages none."""
    head = "[prepare]\nsuppression = 0\n[prepare.hierarchies]\nage = [{ bands = 10 }]\n"
    decade = "(age // 10 * 10)::VARCHAR || ' to ' || (age // 10 * 10 + 9)::VARCHAR"
    for age, limit, has_passed in (("age", 0, False), (decade, 400, True)):
        con.execute(
            f"COPY (SELECT * REPLACE ({age} AS age) FROM first) TO '{folder}/first.parquet'"
        )
        judged(folder, limit, head=head)
        assert reid_sql.prepare.prepare(folder / "policy.toml").passed == has_passed
