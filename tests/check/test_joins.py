"""The gate counts whom a join singles out, and judges nothing where it is not known who is a person."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

from reid_sql.check import gate
from reid_sql.errors import ReidError

TABLE = """
[[tables]]
file = "people.parquet"
joined_file = "jobs.csv"
quasi_identifiers = ["age", "sex"]
"""
CHECK = 'measure = "people_singled_out_by_join"\non = ["id"]\nright_qi = ["job"]'
UNIQUE = "SELECT {} FROM {} GROUP BY ALL HAVING count(*) = 1"
JOIN = "people JOIN jobs USING (id)"
# Counted by plain SQL: who is alone in the join, and in neither table.
SINGLED_OUT = f"""
  SELECT count(*) FROM {JOIN} WHERE (age, sex, job) IN ({UNIQUE.format("age, sex, job", JOIN)})
  AND (age, sex) NOT IN ({UNIQUE.format("age, sex", "people")})
  AND job NOT IN ({UNIQUE.format("job", "jobs")})"""


@pytest.fixture
def folder(tmp_path: Path, con: duckdb.DuckDBPyConnection) -> Path:
    con.execute(f"""
        CREATE TABLE people AS SELECT row_number() OVER ()::VARCHAR AS id, age // 10 AS age, sex
          FROM demo_people() LIMIT 400;
        CREATE TABLE jobs AS SELECT range::VARCHAR AS id, 'job ' || hash(range) % 9 AS job
          FROM range(100, 500);
        COPY people TO '{tmp_path}/people.parquet';
        COPY jobs TO '{tmp_path}/jobs.csv'""")
    return tmp_path


def judged(folder: Path, limit: int, table: str = TABLE, check: str = CHECK) -> Any:
    text = f"mask_below = 1\n{table}\n[[tables.checks]]\n{check}\nat_most = {limit}\n"
    (folder / "policy.toml").write_text(text, encoding="utf-8")
    [found] = gate.check(folder / "policy.toml")["checks"]
    return found


def test_people_whom_the_join_singles_out_are_counted(
    folder: Path, con: duckdb.DuckDBPyConnection
) -> None:
    expected = con.execute(SINGLED_OUT).fetchall()[0][0]
    assert expected > 20
    for limit, verdict in ((expected, "pass"), (expected - 1, "fail")):
        found = judged(folder, limit)
        assert (found["verdict"], found["groups"][0]["value"]) == (verdict, expected)
    five = judged(folder, expected, check=f"{CHECK}\nk = 5")
    assert (five["verdict"], five["groups"][0]["value"] > expected) == ("fail", True)


def test_a_key_that_repeats_or_matches_nothing_is_not_judged(
    folder: Path, con: duckdb.DuckDBPyConnection
) -> None:
    con.execute(f"COPY (SELECT 'other ' || id AS id, job FROM jobs) TO '{folder}/other.csv'")
    none = judged(folder, 0, TABLE.replace("jobs.csv", "other.csv"))
    assert (none["verdict"], none["groups"][0]["value"]) == ("not judged", None)
    con.execute(
        f"COPY (SELECT if(id::INT < 120, '', 'o') || id AS id, job FROM jobs) TO '{folder}/few.csv'"
    )
    few = judged(folder, 400, TABLE.replace("jobs.csv", "few.csv"))
    assert (few["verdict"], few["caution_codes"]) == ("pass", ["few_match"])
    padded = "CASE WHEN id::INT % 3 > 0 THEN id ELSE lpad(id, 6, '0') END"
    con.execute(f"COPY (SELECT {padded} AS id, job FROM jobs) TO '{folder}/zeros.csv'")
    zeros = judged(folder, 400, TABLE.replace("jobs.csv", "zeros.csv"))
    assert (zeros["verdict"], zeros["groups"][0]["why"][:14]) == ("not judged", "few_comparable")
    con.execute(f"COPY (FROM people UNION ALL FROM people) TO '{folder}/people.parquet'")
    twice = judged(folder, 0)
    assert (twice["verdict"], twice["groups"][0]["why"][:12]) == ("not judged", "repeated_key")
    assert judged(folder, 400, f'{TABLE}entity = "id"\n')["verdict"] == "pass"


@pytest.mark.parametrize(
    ("table", "check", "words"),
    [
        (
            TABLE.replace('joined_file = "jobs.csv"', ""),
            CHECK,
            "needs joined_file for the measure 'people_si",
        ),
        (
            TABLE,
            f'{CHECK}\nby = ["sex"]',
            "by must not be given for the measure 'people_singled_out_by_join'",
        ),
    ],
)
def test_a_policy_that_joins_nothing_is_refused(
    folder: Path, table: str, check: str, words: str
) -> None:
    with pytest.raises(ReidError, match=words):
        judged(folder, 0, table, check)


def test_a_column_that_is_missing_is_named(folder: Path) -> None:
    why = judged(folder, 0, check=CHECK.replace("job", "jop"))["groups"][0]["why"]
    assert "right_qi and on must be columns of the right table, got 'jop'" in why
