"""What the first tier leaves of tests/prepare/test_limits.py."""

from pathlib import Path

import polars as pl
import sqlglot

from reid_sql.prepare.files import NAMES
from tests.prepare.brute import K, made_by, policy
from tests.prepare.test_dialects import on_postgres, ordered
from tests.prepare.test_limits import NAME, ZIP
from tests.prepare.test_local import made_of, people


def test_postgres_and_other_dialects_keep_to_the_limits_of_local_recoding(
    tmp_path: Path, postgres: str
) -> None:
    frame = people(400, 6).drop("score").with_columns(pl.col("age").fill_null(40))
    more = 'never_left_out = ["age"]\nfixed = ["sex"]\nmax_level = { zip = 2 }\nmethod = "local"\n'
    text = policy("people.parquet", ["age", "sex", "zip"], K.format(4), prepare=NAME + ZIP + more)
    made = made_of(tmp_path, frame, text)
    assert made.passed
    here = made_by(made.sql, "people_released")
    assert ordered(on_postgres(postgres, frame, made.sql_in("postgres"))) == ordered(here.rows())
    for dialect in (name for name in NAMES if name != "duckdb"):
        (tree,) = sqlglot.parse(made.sql_in(dialect), read=dialect)
        assert isinstance(tree, sqlglot.exp.Create)
        steps = {each.alias for each in tree.find_all(sqlglot.exp.CTE)}
        assert {each.name for each in tree.find_all(sqlglot.exp.Table)} - steps == {
            "people",
            "people_released",
        }
