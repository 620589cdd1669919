"""The gate counts who can be followed from the release before, and judges nothing that it cannot compare."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from reid_sql.check import gate
from reid_sql.errors import ReidError
from tests.processes import command

TABLE = """
[[tables]]
file = "second.parquet"
former_file = "first.parquet"
quasi_identifiers = ["age", "postcode"]
"""
FOLLOWED = """SELECT count(*) FROM (SELECT age, postcode FROM first GROUP BY ALL HAVING count(*) = 1)
  JOIN (SELECT age, postcode FROM second GROUP BY ALL HAVING count(*) = 1) USING (age, postcode)"""


@pytest.fixture
def folder(tmp_path: Path, con: duckdb.DuckDBPyConnection) -> Path:
    con.execute("CREATE TABLE town AS SELECT row_number() OVER () AS id, * FROM demo_people()")
    con.execute(
        "CREATE TABLE first AS FROM town LIMIT 400; CREATE TABLE second AS FROM town LIMIT 400 OFFSET 30"
    )
    for name in ("first", "second"):
        con.execute(f"COPY {name} TO '{tmp_path}/{name}.parquet'")
    return tmp_path


def judged(
    folder: Path, limit: int, more: str = "", table: str = TABLE, head: str = "mask_below = 1"
) -> Any:
    check = f'[[tables.checks]]\nmeasure = "people_followed"\nat_most = {limit}\n{more}\n'
    (folder / "policy.toml").write_text(f"{head}\n{table}\n{check}", encoding="utf-8")
    [found] = gate.check(folder / "policy.toml")["checks"]
    return found


def test_people_who_can_be_followed_are_counted(
    folder: Path, con: duckdb.DuckDBPyConnection
) -> None:
    followed = con.execute(FOLLOWED).fetchall()[0][0]
    assert followed > 20
    for limit, verdict in ((followed, "pass"), (followed - 1, "fail")):
        found = judged(folder, limit)
        assert (found["verdict"], found["groups"][0]["value"]) == (verdict, followed)
    people = judged(folder, followed, table=f'{TABLE}entity = "id"')
    assert (people["verdict"], people["groups"][0]["value"]) == ("pass", followed)


def test_a_small_number_is_masked(folder: Path, con: duckdb.DuckDBPyConnection) -> None:
    """Ten people of a former release of twenty are followed; the mask hides whose number is smaller."""
    con.execute(f"COPY (FROM first LIMIT 20 OFFSET 30) TO '{folder}/first.parquet'")
    for mask, shown in ((10, 10), (11, None)):
        found = judged(folder, 10, head=f"mask_below = {mask}")
        assert (found["verdict"], found["groups"][0]["value"]) == ("pass", shown)


def test_other_labels_are_not_judged(folder: Path, con: duckdb.DuckDBPyConnection) -> None:
    """Nobody seems to be followed where a column is generalized otherwise, or a few classes are alike."""
    for age, code in (("age // 10 + 200", "not_comparable"), ("age // 20 * 20", "few_comparable")):
        con.execute(
            f"COPY (SELECT * REPLACE ({age} AS age) FROM first) TO '{folder}/first.parquet'"
        )
        found = judged(folder, 0)
        assert found["verdict"] == "not judged"
        assert found["groups"][0]["value"] is None
        assert found["groups"][0]["why"].startswith(f"{code}: ")


@pytest.mark.parametrize(
    ("table", "more", "words"),
    [
        (
            TABLE.replace('former_file = "first.parquet"', ""),
            "",
            "needs former_file for the measure 'people_f",
        ),
        (
            TABLE,
            'by = ["sex"]',
            "by must not be given for the measure 'people_followed'.*got sex; leave it out",
        ),
        (
            TABLE.replace("first.parquet", "absent.parquet"),
            "",
            r"tables\[1\].former_file must be an exist",
        ),
        (TABLE, 'key = "id"', "must have only known keys, got 'key'"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    folder: Path, table: str, more: str, words: str
) -> None:
    with pytest.raises(ReidError, match=words):
        judged(folder, 0, more, table)


def test_the_report_names_the_former_file(folder: Path) -> None:
    judged(folder, 400)
    page = folder / "page.json"
    assert command("check", str(folder / "policy.toml"), "--json-report", str(page)).returncode == 0
    [table] = json.loads(page.read_text(encoding="utf-8"))["tables"]
    assert table["former_file"]["file"] == "first.parquet"
    assert table["former_file"]["sha256"] != table["sha256"]
