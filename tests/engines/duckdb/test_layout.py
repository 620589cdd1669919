"""A query laid out for reading is the same query."""

import duckdb

from reid_sql.engines.duckdb.plain_sql import lay_out
from tests.cells import each_cell
from tools.plans import files


@each_cell("path", files())
def test_only_white_space_changes(path: object) -> None:
    sql = path.read_text(encoding="utf-8").split("\n", 1)[1]  # type: ignore[attr-defined]
    kinds = duckdb.tokenize
    flat = " ".join(sql.split())
    assert lay_out(flat) + "\n" == sql
    assert [kind for _, kind in kinds(flat)] == [kind for _, kind in kinds(sql)]


def test_what_stands_in_quotes_stays() -> None:
    sql = """SELECT 'a  b (SELECT ''x'' FROM  y)' AS "c  (SELECT" FROM (SELECT 1) WHERE true"""
    with duckdb.connect() as con:
        assert con.execute(lay_out(sql)).fetchall() == con.execute(sql).fetchall()


def test_clauses_and_inner_queries_have_lines_of_their_own() -> None:
    sql = (
        "WITH a AS MATERIALIZED (SELECT 1 AS x), b AS (FROM a) SELECT "
        "x FROM b LEFT JOIN a USING (x) ORDER BY x"
    )
    assert lay_out(sql).splitlines() == [
        "WITH a AS MATERIALIZED (",
        "  SELECT 1 AS x",
        "),",
        "b AS (",
        "  FROM a",
        ")",
        "SELECT x",
        "FROM b",
        "LEFT JOIN a USING (x)",
        "ORDER BY x",
    ]
