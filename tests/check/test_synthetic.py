"""The gate judges what a synthetic table gives away of its original, beyond what it tells of other people."""

from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest

from reid_sql.check import gate
from reid_sql.errors import ReidError

QI = ["age", "sex", "postcode"]
TABLE = """
[[tables]]
file = "synthetic.parquet"
original_file = "original.parquet"
holdout_file = "holdout.parquet"
quasi_identifiers = ["age", "sex", "postcode"]
sensitive = ["diagnosis"]
"""


@pytest.fixture
def folder(tmp_path: Path, con: duckdb.DuckDBPyConnection) -> Path:
    """Most of the original is in the synthetic table; nobody of the holdout is, but by chance."""
    con.execute("CREATE TABLE town AS FROM demo_people()")
    for name, part in (
        ("original", "LIMIT 400"),
        ("synthetic", "LIMIT 400 OFFSET 90"),
        ("holdout", "LIMIT 400 OFFSET 1900"),
    ):
        con.execute(f"COPY (FROM town {part}) TO '{tmp_path}/{name}.parquet'")
    return tmp_path


def judged(
    folder: Path, checks: str, table: str = TABLE, head: str = "mask_below = 1"
) -> list[Any]:
    (folder / "policy.toml").write_text(f"{head}\n{table}\n{checks}", encoding="utf-8")
    checks_of: list[Any] = gate.check(folder / "policy.toml")["checks"]
    return checks_of


def ask(measure: str, limit: float, more: str = "") -> str:
    return f'[[tables.checks]]\nmeasure = "{measure}"\nat_most = {limit}\n{more}\n'


def test_replicated_uniques_are_those_of_a_loop(
    folder: Path, con: duckdb.DuckDBPyConnection
) -> None:
    tables = {
        name: Counter(
            con.execute(f"SELECT {', '.join(QI)} FROM '{folder}/{name}.parquet'").fetchall()
        )
        for name in ("original", "synthetic", "holdout")
    }

    def share(name: str) -> float:
        alone = [row for row, size in tables[name].items() if size == 1]
        return sum(tables["synthetic"][row] == 1 for row in alone) / tables[name].total()

    excess = share("original") - share("holdout")
    # the upper end of the interval is above the excess
    limits = (excess + 0.2, excess, excess - 0.01)
    found = judged(folder, "".join(ask("replicated_uniques", limit) for limit in limits))
    assert [each["verdict"] for each in found] == ["pass", "fail", "fail"]
    assert [each["groups"][0]["value"] for each in found] == [pytest.approx(excess)] * 3


@pytest.mark.parametrize(
    ("table", "more", "words"),
    [
        (
            TABLE.replace('original_file = "original.parquet"', ""),
            "",
            "needs original_file for the measure",
        ),
        (
            TABLE.replace('holdout_file = "holdout.parquet"', ""),
            "",
            "needs holdout_file for the measure",
        ),
        (
            TABLE,
            'by = ["sex"]',
            "by must not be given for the measure 'linkability'.*got sex; leave it out",
        ),
        (
            TABLE + 'nulls = "drop"',
            "",
            "must have nulls = 'value' for the measure 'linkability', got 'drop'",
        ),
        (
            TABLE.replace("original.parquet", "absent.parquet"),
            "",
            r"tables\[1\].original_file must be an exist",
        ),
        (
            TABLE.replace("original_file", "original_table"),
            "",
            "original_table must come with original_file",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused(
    folder: Path, table: str, more: str, words: str
) -> None:
    with pytest.raises(ReidError, match=words):
        judged(folder, ask("linkability", 1, more), table)


def test_a_copy_that_is_written_differently_is_not_judged(
    folder: Path, con: duckdb.DuckDBPyConnection
) -> None:
    """No figure of it passes, as no attack sees a copy with a space after each text."""
    copy = f"SELECT * REPLACE (sex || ' ' AS sex) FROM '{folder}/original.parquet'"
    con.execute(f"COPY ({copy}) TO '{folder}/synthetic.parquet'")
    measures = ("replicated_uniques", "linkability", "attribute_inference", "membership_advantage")
    for found in judged(folder, "".join(ask(measure, 1) for measure in measures)):
        assert found["verdict"] == "not judged", found["measure"]
        assert "_comparable: " in found["groups"][0]["why"]


def test_attacks_that_need_no_sensitive_column_are_judged_without_one(folder: Path) -> None:
    names = ("replicated_uniques", "singling_out", "linkability", "membership_advantage")
    checks = "".join(f'[[tables.checks]]\nmeasure = "{name}"\nat_most = 0.01\n' for name in names)
    table = TABLE.replace('sensitive = ["diagnosis"]\n', "")
    verdicts = {each["measure"]: each["verdict"] for each in judged(folder, checks, table)}
    assert verdicts == dict.fromkeys(names, "fail")
