"""What the first tier leaves of tests/release/test_people.py."""

from pathlib import Path

from tests.release.brute import made_by
from tests.release.test_dialects import on_postgres, ordered
from tests.release.test_people import prepared, visits


def test_postgres_gives_the_rows_of_duckdb(tmp_path: Path, postgres: str) -> None:
    frame = visits(6)
    made = prepared(tmp_path, frame)
    here = made_by(made.sql, "people_released").rows()
    (tmp_path / "there").mkdir()
    assert ordered(on_postgres(postgres, frame, made.sql_in("postgres"))) == ordered(here)
