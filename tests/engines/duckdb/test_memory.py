"""Bodies that get all distinct records stay within the bound of memory of DuckDB, or refuse at once."""

import duckdb
import pytest

import reid_sql
from reid_sql.models.classes.class_keys import REMEDY_MEMORY
from reid_sql.sql.records import MEMORY_LIMIT

pytestmark = pytest.mark.threads

SCENARIO = """{'population': 67000000, 'presence_disclosed': 0.5, 'presence_discovered': 0.5,
  'uniqueness_confirmed': 0.5, 'link_confirmed': 0.5,
  'groups': [{'columns': ['a'], 'probability': 0.3}, {'columns': ['b'], 'probability': 0.3}]}"""
CALLS = {
    "loglinear_risk(<>, ['a', 'b'], 0.01)": 1400,
    "individual_risk(<>, ['a', 'b'], weight := 'w')": 600,
    f"adversary_risk(<>, {SCENARIO})": 600,
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(("limit", "shown"), [("120MB", "114.4 MiB"), ("0.1GiB", "102.3 MiB")])
def test_a_bound_of_memory_holds_for_distinct_records(call: str, limit: str, shown: str) -> None:
    with duckdb.connect() as con:
        reid_sql.register(con)
        con.execute(
            "CREATE TABLE t AS SELECT i % 500 AS a, i // 500 AS b, 3.0 AS w FROM range(250000) r(i)"
        )
        con.execute("CREATE VIEW few AS FROM t LIMIT 100")
        con.execute(f"SET memory_limit = '{limit}'")
        sentence = (
            f"memory_limit must be at least {250 * CALLS[call] // 1000} MB for 250000 distinct records, "
            f"got {shown}; {REMEDY_MEMORY}"
        )
        with pytest.raises(duckdb.Error) as refused:
            con.execute(f"FROM {call.replace('<>', 't')}").fetchall()
        assert sentence in str(refused.value)
        assert len(con.execute(f"FROM {call.replace('<>', 'few')}").fetchall()) == 100


SEVEN = ["a", "b", "c", "d", "e", "f", "g"]
CODED = {  # as rows of codes: the limit, and what a call needs
    "qar_risk(t, ['a', 'b'], p := 1)": ("15MB", "16 MB for 250000 records of 2 columns"),
    "suda_scores(t, ['a', 'b'])": ("15MB", "16 MB for 250000 records of 2 columns"),
    f"attribute_risk(t, {SEVEN}, 7)": ("40MB", "47 MB for 250000 distinct records of 7 columns"),
    f"attribute_risk(t, {SEVEN}, 7, entity := 'id')": (
        "40MB",
        "49 MB for 250000 distinct records of 7 columns",
    ),
    f"qar_risk(t, {SEVEN}, p := 3)": ("20MB", "21 MB for 250000 records of 7 columns"),
}


@pytest.mark.parametrize("call", CODED)
def test_codes_stay_within_the_limit(call: str) -> None:
    limit, needed = CODED[call]
    with duckdb.connect(config={"threads": 1}) as con:
        reid_sql.register(con)
        con.execute("""CREATE VIEW t AS SELECT i % 500 AS a, i // 500 AS b, a + 1 AS c, a + 2 AS d, b + 2 AS e,
          a AS f, b AS g, i AS id FROM range(250000) r(i)""")
        con.execute(f"SET memory_limit = '{limit}'")
        with pytest.raises(duckdb.Error) as refused:
            con.execute(f"FROM {call}").fetchall()
    assert f"memory_limit must be at least {needed}, got " in str(refused.value)
    assert REMEDY_MEMORY in str(refused.value)


def test_without_a_limit_codes_are_counted() -> None:
    with duckdb.connect() as con:
        reid_sql.register(con)
        con.execute("CREATE VIEW t AS SELECT i % 5 AS a, i // 5 AS b FROM range(25) r(i)")
        con.execute("SET memory_limit = '-1'")
        assert len(con.execute("FROM suda_scores(t, ['a', 'b'])").fetchall()) == 25


def test_the_bound_is_read_in_every_unit() -> None:
    with duckdb.connect() as con:
        reid_sql.register(con)
        for limit, bytes_of in {
            "500KiB": 500 * 2**10,
            "32MiB": 2**25,
            "3GiB": 3 * 2**30,
            "2TiB": 2**41,
        }.items():
            con.execute(f"SET memory_limit = '{limit}'")
            assert con.execute(f"SELECT {MEMORY_LIMIT}").fetchall() == [(pytest.approx(bytes_of),)]
