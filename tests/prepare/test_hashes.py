"""The report on a release states what was released: anybody can compute the hashes again."""

import hashlib
import json
from pathlib import Path

import duckdb

from reid_sql.check.report import digest_of
from reid_sql.prepare.preparation import prepare as run
from tests.check.towns import PEOPLE, town

CHECKS = 'checks = [{measure = "k", at_least = 3}]'


def hash_of_rows(rows: list[tuple[object, ...]]) -> str:
    """Texts after their lengths, sorted hashes of rows: in Python alone."""
    texts = [
        ",".join("-" if v is None else f"{len(str(v).encode())}:{v}" for v in row) for row in rows
    ]
    hashes = sorted(hashlib.sha256(text.encode()).hexdigest() for text in texts)
    return hashlib.sha256("".join(f"{each}\n" for each in hashes).encode()).hexdigest()


def test_a_report_names_source_sql_and_rows_of_a_release(tmp_path: Path) -> None:
    made = run(town(tmp_path, CHECKS, 'prepare = {keep = ["diagnosis"]}'))
    assert made.passed
    made.write(tmp_path / "release.sql")
    with duckdb.connect() as con:
        con.execute((tmp_path / "release.sql").read_text(encoding="utf-8"))
        rows = con.execute("FROM people_released").fetchall()
    report = made.page["report"]
    table = report["tables"][0]
    assert table["sha256"] == hashlib.sha256(PEOPLE.read_bytes()).hexdigest()
    assert table["release"] == {
        "sql_sha256": hashlib.sha256((tmp_path / "release.sql").read_bytes()).hexdigest(),
        "rows_sha256": hash_of_rows(rows),
    }
    assert report["digest"] == digest_of(json.loads(json.dumps(report)))
