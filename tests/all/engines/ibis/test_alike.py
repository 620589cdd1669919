"""What the first tier leaves of tests/engines/ibis/test_alike.py."""

import ibis
import polars as pl
import pytest

import reid_sql.ibis as ri
import reid_sql.polars as rp
from reid_sql.engines.ibis import frames
from reid_sql.engines.ibis.frames import HASH, NUMBER, collected, with_sort_hash
from reid_sql.errors import ReidError, RowsNotPeopleWarning
from tests.cells import each_cell
from tests.engines.asking import same
from tests.engines.ibis.test_alike import *
from tests.postgres import FOLDING
from tests.sensitive import call_of
from tests.warehouses import connected, put


@pytest.mark.postgres
def test_a_collation_of_postgresql_merges_no_classes(postgres: str) -> None:
    connection = connected("postgres", postgres)
    connection.raw_sql(FOLDING).close()
    connection.raw_sql('CREATE TEMP TABLE collated ("row" int, word text COLLATE same)').close()
    for row, text in enumerate(TEXTS):
        connection.raw_sql(f"INSERT INTO collated VALUES ({row}, '{text}')").close()
    table = connection.table("collated")
    # as the database itself counts
    assert len(answer(table.group_by("word").agg(n=table.count()))) < 5
    assert sizes(table, ["word"]) == SIZES
    weighed(table, "word", TEXTS)
    words = answer(ri.equivalence_classes(table, ["word"]))
    assert sorted(line["word"] for line in words) == sorted(set(TEXTS))


@pytest.mark.postgres
def test_a_collation_of_postgresql_hides_no_second_way_of_writing(postgres: str) -> None:
    """The database itself counts P7 and p7 as one; reid-sql counts two people, and says so."""
    connection = connected("postgres", postgres)
    connection.raw_sql(FOLDING).close()
    connection.raw_sql("CREATE TEMP TABLE named (pid text COLLATE same, age int)").close()
    connection.raw_sql(
        "INSERT INTO named SELECT 'P' || n, n % 7 FROM generate_series(1, 40) n"
    ).close()
    connection.raw_sql("INSERT INTO named VALUES ('p7', 0), ('p9', 2)").close()
    table = connection.table("named")
    assert answer(table.aggregate(n=table.pid.nunique())) == [{"n": 40}]
    with pytest.warns(RowsNotPeopleWarning, match="2 values equal"):
        summary = answer(ri.risk_summary(table, ["age"], entity="pid"))
    assert summary[0]["records"] == 42


@pytest.mark.postgres
@each_cell("kind", ["citext", "nvarchar", "varchar(3) COLLATE same"])
@each_cell("shape", ["TABLE", "VIEW", "MATERIALIZED VIEW"])
def test_a_type_of_postgresql_with_its_own_equality_merges_no_classes(
    postgres: str, kind: str, shape: str
) -> None:
    """`citext`, and a domain that is called as a type of texts elsewhere, are texts to Ibis."""
    connection = connected("postgres", postgres)
    connection.raw_sql(f"CREATE EXTENSION IF NOT EXISTS citext; {FOLDING}").close()
    connection.raw_sql("CREATE SCHEMA odd; CREATE DOMAIN pg_temp.nvarchar AS citext").close()
    try:
        connection.raw_sql(f'CREATE TABLE odd.held ("row" int, word {kind})').close()
        for row, text in enumerate(TEXTS):
            connection.raw_sql(f"INSERT INTO odd.held VALUES ({row}, '{text}')").close()
        if shape != "TABLE":
            connection.raw_sql(f"CREATE {shape} odd.seen AS SELECT * FROM odd.held").close()
        table = connection.table("held" if shape == "TABLE" else "seen", database="odd")
        assert len(answer(table.group_by("word").agg(n=table.count()))) < 5
        assert sizes(table, ["word"]) == SIZES
        weighed(table, "word", TEXTS)
        met = answer(ri.journalist_risk(table, table, ["word"]))[0]
        assert (met["k"], met["unique_records"], met["uncovered_records"]) == (1, 4, 0)
    finally:
        connection.raw_sql("DROP SCHEMA odd CASCADE; DROP DOMAIN pg_temp.nvarchar").close()


OF_ITS_OWN = {
    "word": "'{0}'",
    "word[]": "ARRAY['{0}']::odd.word[]",
    "pair": "ROW('{0}', 1)::odd.pair",
    "pair[]": "ARRAY[ROW('{0}', 1)::odd.pair]",
    "citext[]": "ARRAY['{0}']::citext[]",
    "mood": "'{0}'",
}


@pytest.mark.postgres
@pytest.mark.parametrize("kind", OF_ITS_OWN)
def test_a_type_of_postgresql_that_ibis_does_not_know_is_compared_as_text_by_bytes(
    postgres: str, kind: str
) -> None:
    connection = connected("postgres", postgres)
    connection.raw_sql(f"CREATE EXTENSION IF NOT EXISTS citext; {FOLDING}").close()
    connection.raw_sql("CREATE SCHEMA odd; CREATE DOMAIN odd.word AS text COLLATE same").close()
    try:
        connection.raw_sql("CREATE TYPE odd.pair AS (one text COLLATE same, two int)").close()
        listed = ", ".join(f"'{text}'" for text in dict.fromkeys(TEXTS))
        connection.raw_sql(f"CREATE TYPE odd.mood AS ENUM ({listed})").close()
        named = kind if kind.startswith("citext") else f"odd.{kind}"
        connection.raw_sql(f'CREATE TABLE odd.held ("row" int, word {named})').close()
        for row, text in enumerate(TEXTS):
            value = OF_ITS_OWN[kind].format(text)
            connection.raw_sql(f"INSERT INTO odd.held VALUES ({row}, {value})").close()
        table = connection.table("held", database="odd")
        assert sizes(table, ["word"]) == SIZES
        weighed(table, "word", TEXTS)
        assert (
            len({line["word"] for line in answer(ri.risk_summary(table, ["row"], by=["word"]))})
            == 5
        )
    finally:
        connection.raw_sql("DROP SCHEMA odd CASCADE").close()


@pytest.mark.postgres
def test_a_collation_of_postgresql_within_an_array_merges_no_classes(postgres: str) -> None:
    connection = connected("postgres", postgres)
    connection.raw_sql(FOLDING).close()
    connection.raw_sql('CREATE TEMP TABLE held ("row" int, word text[] COLLATE same)').close()
    for row, text in enumerate(TEXTS):
        connection.raw_sql(f"INSERT INTO held VALUES ({row}, ARRAY['{text}', NULL])").close()
    table = connection.table("held")
    assert len(answer(table.group_by("word").agg(n=table.count()))) < 5
    assert sizes(table, ["word"]) == SIZES


@pytest.mark.postgres
def test_values_of_one_number_are_distinguished(postgres: str) -> None:
    """PostgreSQL sorts the cells by a number made of the values, which is the same for each of these."""
    alike = [(0, ""), (None, ""), (0, None), (None, None)]
    rows = [
        (*pair, value) for pair in [*alike, (1, "a"), (1, "A")] for value in ("x", "x", "y", None)
    ]
    rows = [*rows, *((*pair, "z") for pair in alike[:2])]
    frame = pl.DataFrame(rows, schema=["one", "two", "s"], orient="row")
    table = put(connected("postgres", postgres), frame)
    written = ibis.to_sql(ri.disclosing_classes(table, ["one", "two"], "s"))
    assert HASH in written.lower()
    sized = ri.equivalence_class_size(table, "one", "two", name="k")
    assert HASH in ibis.to_sql(sized).lower()
    assert sorted(line["k"] for line in answer(sized)) == [4] * 16 + [5] * 10
    on_duckdb = put(connected("duckdb"), frame)
    assert HASH not in ibis.to_sql(ri.disclosing_classes(on_duckdb, ["one", "two"], "s")).lower()
    numbers = answer_of(with_sort_hash(table, ["one", "two"])[0], NUMBER)
    assert len(set(numbers)) == 3
    for name in (
        "l_diversity",
        "t_closeness",
        "beta_likeness",
        "delta_disclosure",
        "alpha_k_anonymity",
    ):
        function, options = call_of(name)
        found = answer(getattr(ri, function)(table, ["one", "two"], "s", **options))
        expected = getattr(rp, function)(frame.lazy(), ["one", "two"], "s", **options)
        same(found, expected.collect().to_dicts())
    listed = answer(ri.disclosing_classes(table, ["one", "two"], "s", threshold=3.5))
    polars = rp.disclosing_classes(frame.lazy(), ["one", "two"], "s", threshold=3.5).collect()
    same(sorted(listed, key=str), sorted(polars.to_dicts(), key=str))
    assert len(listed) == 4


@pytest.mark.postgres
@pytest.mark.parametrize("rows", [0, 1, 6, 7, 8, 50])
def test_rows_of_postgresql_come_a_few_at_a_time(
    postgres: str, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "ROWS_PER_BATCH", 7)
    frame = pl.DataFrame(
        {"n": range(rows), "t": [str(n) for n in range(rows)]}, {"n": pl.Int64, "t": pl.String}
    )
    table = put(connected("postgres", postgres), frame)
    found = collected(table.order_by("n"), "rows")
    assert found.schema.names == ["n", "t"]
    assert found.to_pylist() == frame.to_dicts()


@pytest.mark.postgres
def test_rows_that_the_database_hides_are_an_error(postgres: str) -> None:
    """Row-level security would show this user the safe rows alone, of which the smallest class has 3."""
    owner = connected("postgres", postgres)
    owner.raw_sql("""CREATE TABLE hidden AS SELECT * FROM (VALUES (1), (1), (1), (2)) t(age);
        CREATE ROLE reader LOGIN;
        GRANT SELECT ON hidden TO reader; ALTER TABLE hidden ENABLE ROW LEVEL SECURITY;
        CREATE POLICY safe ON hidden TO reader USING (age = 1)""").close()
    owner.con.commit()
    reader = ibis.postgres.connect(host=postgres, user="reader", database="postgres")
    try:
        table = reader.table("hidden")
        with pytest.raises(ReidError, match="row-level security"):
            collected(ri.risk_summary(table, ["age"]), "an answer")
        with pytest.raises(ReidError, match="row-level security"):
            ri.population_risk(table, ["age"], [100])
        with reader.raw_sql(
            "SELECT count(*), current_setting('row_security') FROM hidden"
        ) as cursor:
            assert cursor.fetchall() == [(3, "on")]  # the user's own queries stay as they were
    finally:
        reader.disconnect()
        owner.raw_sql("DROP TABLE hidden; DROP ROLE reader").close()
        owner.con.commit()
