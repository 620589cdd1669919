"""Beside earlier tables, a cell is unprotected exactly where the audit finds its interval too narrow."""

import duckdb
import numpy as np
import pytest

import reid_sql

K = 3


@pytest.mark.parametrize("seed", [0, 3])
def test_a_cell_is_unprotected_exactly_if_the_audit_finds_it_narrow(seed: int) -> None:
    rng = np.random.default_rng(seed)
    with duckdb.connect() as con:
        reid_sql.register(con)
        people = [
            tuple("abcd"[int(4 * share**2)] for share in rng.random(3))
            for _ in range(int(rng.integers(60, 140)))
        ]
        con.execute("CREATE TABLE p (c0 VARCHAR, c1 VARCHAR, c2 VARCHAR)")
        con.executemany("INSERT INTO p VALUES (?, ?, ?)", people)
        con.execute(
            "CREATE TABLE early AS SELECT c0, count(*) AS records FROM p GROUP BY ROLLUP (c0);"
            "CREATE TABLE marked AS SELECT c0, if(c0 IS NULL, ['c0'], []::VARCHAR[]) AS total_over, "
            "records FROM early"
        )
        con.execute(
            "CREATE TABLE s AS FROM safe_table(p, ['c0', 'c1', 'c2'], k := 3, totals := 'margins', "
            "suppress := 'secondary', published := ['early'])"
        )
        con.execute("CREATE TABLE shown AS SELECT c0, c1, c2, total_over, records FROM s")
        width = {
            tuple(categories): wide
            for categories, wide in con.execute(
                "SELECT categories, coalesce(width, 1e9) FROM audit_tables(['shown', 'marked'], k := 3) "
                "WHERE kind = 'suppressed'"
            ).fetchall()
        }
        hidden = con.execute(
            "SELECT CASE WHEN list_contains(total_over, 'c0') THEN '(total)' ELSE c0 END, "
            "CASE WHEN list_contains(total_over, 'c1') THEN '(total)' ELSE c1 END, "
            "CASE WHEN list_contains(total_over, 'c2') THEN '(total)' ELSE c2 END, status "
            "FROM s WHERE status IN ('primary', 'unprotected')"
        ).fetchall()
        assert hidden
        for *cell, status in hidden:
            # a count that the earlier table shows has no row, or an interval of one number
            assert (width.get(tuple(cell), 0) < K) == (status == "unprotected")
