"""Values of odd types that are easily taken for another, or for two: each function counts them alike.

The classes are written by hand: spellings of one value stand together, as GROUP BY of SQL has them.
"""

from collections import Counter
from collections.abc import Iterator

import duckdb
import pytest

import reid_sql
from tests.cells import each_cell

# Of each type, the classes; of each class, values that are equal.
CLASSES: dict[str, list[list[str]]] = {
    "enum": [
        ["'a'::mood"],
        ["'A'::mood"],
        ["'a '::mood"],
        ["''::mood"],
        ["'NULL'::mood"],
        ["NULL::mood"],
    ],
    "bit": [
        ["'0'::BIT"],
        ["'00'::BIT"],
        ["'01'::BIT"],
        ["'1'::BIT"],
        ["'0000000000'::BIT"],
        ["'000000000'::BIT"],
        ["'10000000'::BIT"],
        ["'010000000'::BIT"],
        ["NULL::BIT"],
    ],
    "time with a zone": [
        ["'12:00:00+01'::TIMETZ"],
        ["'11:00:00+00'::TIMETZ"],
        ["'13:00:00+02'::TIMETZ"],
        ["NULL::TIMETZ"],
    ],
    "timestamp with a zone": [
        ["'2020-01-01 12:00:00+01'::TIMESTAMPTZ", "'2020-01-01 11:00:00+00'::TIMESTAMPTZ"],
        ["'2020-01-01 12:00:00+00'::TIMESTAMPTZ"],
        ["'infinity'::TIMESTAMPTZ"],
        ["'-infinity'::TIMESTAMPTZ"],
    ],
    "hugeint": [
        ["170141183460469231731687303715884105727::HUGEINT"],
        ["170141183460469231731687303715884105726::HUGEINT"],
        ["(-170141183460469231731687303715884105727)::HUGEINT"],
        ["0::HUGEINT"],
        ["18446744073709551616::HUGEINT"],
        ["NULL::HUGEINT"],
    ],
    "double": [
        ["0.0::DOUBLE", "-0.0::DOUBLE"],
        ["'nan'::DOUBLE", "-'nan'::DOUBLE"],
        ["'inf'::DOUBLE"],
        ["'-inf'::DOUBLE"],
        ["5e-324::DOUBLE"],
        ["9007199254740992::DOUBLE", "9007199254740993::DOUBLE"],
        ["NULL::DOUBLE"],
        ["0.1::DOUBLE"],
        ["0.1::FLOAT::DOUBLE"],
    ],
    "uhugeint": [
        ["340282366920938463463374607431768211455::UHUGEINT"],
        ["0::UHUGEINT"],
        ["340282366920938463463374607431768211454::UHUGEINT"],
    ],
    "bignum": [
        ["'123456789012345678901234567890123456789012'::BIGNUM"],
        ["'123456789012345678901234567890123456789013'::BIGNUM"],
        ["'0'::BIGNUM", "'-0'::BIGNUM"],
        ["'-1'::BIGNUM"],
        ["'1'::BIGNUM"],
    ],
    "decimal": [
        ["1.10::DECIMAL(38,10)", "1.1::DECIMAL(38,10)"],
        ["1.1000000001::DECIMAL(38,10)"],
        ["0::DECIMAL(38,10)"],
    ],
    "blob": [
        ["''::BLOB"],
        ["'\\x00'::BLOB"],
        ["'\\x00\\x00'::BLOB"],
        ["'\\x00\\x01'::BLOB"],
        ["'\\x01'::BLOB"],
        ["'\\xFF'::BLOB"],
        ["'a'::BLOB"],
        ["'a\\x00'::BLOB"],
        ["NULL::BLOB"],
    ],
    "text with zero bytes": [
        ["''"],
        ["chr(0)"],
        ["chr(0)||chr(0)"],
        ["chr(1)"],
        ["chr(0)||chr(1)"],
        ["'a'"],
        ["'a'||chr(0)"],
        ["NULL::VARCHAR"],
    ],
    "list": [
        ["[]::INT[]"],
        ["[NULL]::INT[]"],
        ["NULL::INT[]"],
        ["[NULL,NULL]::INT[]"],
        ["[0]"],
        ["[0,NULL]::INT[]"],
        ["[NULL,0]::INT[]"],
    ],
    "list of lists": [
        ["[]::INT[][]"],
        ["[[]]::INT[][]"],
        ["[NULL]::INT[][]"],
        ["[[NULL]]::INT[][]"],
        ["[[],[]]::INT[][]"],
        ["[[1],[2]]"],
        ["[[1,2]]"],
        ["[[],[1,2]]::INT[][]"],
        ["[[1,2],[]]::INT[][]"],
        ["NULL::INT[][]"],
    ],
    "list of texts": [
        ["['a','b']"],
        ["['a, b']"],
        ["['a'||chr(0),'b']"],
        ["['a',chr(0)||'b']"],
        ["['ab','']"],
        ["['','ab']"],
        ["['NULL']"],
        ["[NULL]::VARCHAR[]"],
        ["['a'',''b']"],
        ["[]::VARCHAR[]"],
        ["['']"],
        ["NULL::VARCHAR[]"],
    ],
    "struct": [
        ["{'a':NULL::INT,'b':NULL::INT}"],
        ["NULL::STRUCT(a INT,b INT)"],
        ["{'a':1,'b':NULL::INT}"],
        ["{'a':NULL::INT,'b':1}"],
    ],
    "struct of texts": [
        ["{'a':'NULL','b':''}"],
        ["{'a':NULL::VARCHAR,'b':''}"],
        ["{'a':'','b':NULL::VARCHAR}"],
        ["{'a':'x'', ''b'':''y','b':''}"],
        ["{'a':'x','b':'y'}"],
    ],
    "map": [
        ["MAP{'a':1,'b':2}"],
        ["MAP{'b':2,'a':1}"],
        ["MAP{'a':1}"],
        ["MAP{}::MAP(VARCHAR,INT)"],
        ["NULL::MAP(VARCHAR,INT)"],
        ["MAP{'a':NULL::INT}"],
        ["MAP{'a':2,'b':1}"],
    ],
    "union": [
        ["union_value(i:=1)::UNION(i INT,j INT,s VARCHAR)"],
        ["union_value(j:=1)::UNION(i INT,j INT,s VARCHAR)"],
        ["union_value(s:='1')::UNION(i INT,j INT,s VARCHAR)"],
        ["union_value(i:=NULL::INT)::UNION(i INT,j INT,s VARCHAR)"],
        ["union_value(j:=NULL::INT)::UNION(i INT,j INT,s VARCHAR)"],
        ["NULL::UNION(i INT,j INT,s VARCHAR)"],
    ],
    "variant": [
        ["1::VARIANT"],
        ["'1'::VARIANT"],
        ["true::VARIANT"],
        ["'true'::VARIANT"],
        ["[1]::VARIANT"],
        ["['1']::VARIANT"],
        ["{'a':1}::VARIANT"],
        ["{'a':'1'}::VARIANT"],
        ["NULL::VARIANT"],
        ["DATE '2020-01-01'::VARIANT"],
        ["'2020-01-01'::VARIANT"],
        ["9007199254740993::VARIANT"],
        ["9007199254740992::DOUBLE::VARIANT"],
    ],
    "variant of numbers": [
        ["1::VARIANT", "1::BIGINT::VARIANT", "1.0::VARIANT", "1::UTINYINT::VARIANT"],
        ["1::DOUBLE::VARIANT"],
        ["'1'::VARIANT"],
    ],
    "variant of nothing": [
        ["[NULL]::VARIANT"],
        ["[]::VARIANT"],
        ["NULL::VARIANT"],
        ["{'a':NULL}::VARIANT"],
        ["['NULL']::VARIANT"],
    ],
    "uuid": [
        ["'00000000-0000-0000-0000-000000000000'::UUID"],
        ["'80000000-0000-0000-0000-000000000000'::UUID"],
        ["NULL::UUID"],
    ],
    "array": [
        ["[1,NULL]::INT[2]"],
        ["[NULL,1]::INT[2]"],
        ["NULL::INT[2]"],
        ["[NULL,NULL]::INT[2]"],
    ],
    "date": [
        ["DATE 'infinity'"],
        ["DATE '-infinity'"],
        ["DATE '5877642-06-25 (BC)'"],
        ["DATE '0001-01-01'"],
    ],
    "nanoseconds": [
        ["'2020-01-01 00:00:00.000000001'::TIMESTAMP_NS"],
        ["'2020-01-01 00:00:00.000000002'::TIMESTAMP_NS"],
    ],
    "time": [["TIME '24:00:00'"], ["TIME '00:00:00'"]],
    "list of times": [["['12:00:00+01'::TIMETZ]"], ["['11:00:00+00'::TIMETZ]"]],
    "geometry": [
        ["'POINT(0 0)'::GEOMETRY"],
        ["'POINT(-0.0 0)'::GEOMETRY"],
        ["'POINT(0 1)'::GEOMETRY"],
        ["'POINT EMPTY'::GEOMETRY"],
        ["NULL::GEOMETRY"],
    ],
    "json": [
        ["'{\"a\":1}'::JSON"],
        ["'{\"a\": 1}'::JSON"],
        ["'1'::JSON"],
        ["'\"1\"'::JSON"],
        ["'1.0'::JSON"],
        ["'null'::JSON"],
        ["NULL::JSON"],
    ],
}
ONE = ", ".join(["one"] * 4)
VARIANTS = [kind for kind in CLASSES if kind.startswith("variant")]
# DuckDB before 2.0 counts equal numbers of a VARIANT as several: VARIANTs are refused there.
EVERY_KIND = pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=pytest.mark.newest if kind in VARIANTS else ()) for kind in CLASSES],
)


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        reid_sql.register(connection)
        connection.execute("CREATE TYPE mood AS ENUM('a', 'A', 'a ', '', 'NULL')")
        yield connection


def distinct_places(con: duckdb.DuckDBPyConnection, kind: str) -> list[int]:
    """Make the table t of a type's values, each once, twice or thrice; of each record, its class."""
    spelled = [(place, value) for place, each in enumerate(CLASSES[kind]) for value in each]
    rows = [row for number, row in enumerate(spelled) for _ in range(1 + number % 3)]
    union = " UNION ALL ".join(
        f"SELECT {place} AS place, {value} AS v, 1 AS one" for place, value in rows
    )
    con.execute(f"CREATE OR REPLACE TABLE t AS {union}")
    con.execute("CREATE OR REPLACE VIEW w AS SELECT v, one AS b, 2 AS c, 3 AS d, 4 AS e FROM t")
    return [place for place, _ in rows]


@EVERY_KIND
def test_records_are_counted_by_what_their_values_are(
    con: duckdb.DuckDBPyConnection, kind: str
) -> None:
    places = distinct_places(con, kind)
    sizes = Counter(places)
    due = sorted((place, sizes[place]) for place in places)
    for columns in ("v", f"v, {ONE}", f"{ONE}, {ONE}, {ONE}, {ONE}, v, {ONE}"):
        found = con.execute(f"SELECT place, equivalence_class_size({columns}) FROM t").fetchall()
        assert sorted(found) == due, columns
    classes = sorted(Counter(sizes.values()).items())
    for names in ("['v']", "['v', 'b', 'c', 'd', 'e']"):
        found = con.execute(
            f"SELECT class_size, classes FROM class_size_histogram(w, {names})"
        ).fetchall()
        assert sorted(found) == classes, names


@each_cell("value", ["{}", "[{}]", "{{'x': {}}}", "MAP {{'k': [{}]}}"])
@each_cell(
    "ask",
    [
        "SELECT equivalence_class_size(v) FROM t",
        "FROM risk_summary(t, ['v'])",
        "FROM l_diversity(t, ['n'], 'v')",
        "FROM unicity(t, 'n', ['v'])",
        "FROM population_risk(t, ['n', 'v'], [1000])",
        "FROM profile(t, columns := ['v'])",
        "FROM compare(t, t, ['v'])",
    ],
)
def test_an_interval_is_refused_of_which_a_month_equals_thirty_days(
    con: duckdb.DuckDBPyConnection, ask: str, value: str
) -> None:
    spans = ("INTERVAL 30 DAY", "INTERVAL 1 MONTH", "INTERVAL 720 HOUR")
    rows = " UNION ALL ".join(f"SELECT {value.format(each)} AS v, 1 AS n" for each in spans)
    con.execute(f"CREATE OR REPLACE TABLE t AS {rows}")
    with pytest.raises(
        duckdb.Error, match=r"got an INTERVAL in one of (v|n|n, v|v, n|them), of which 1"
    ):
        con.execute(ask).fetchall()
    if value == "{}":
        assert con.execute("SELECT distinct_values FROM profile(t)").fetchall()[0] == (3,)


DISTINCT = [
    "SELECT classes FROM attribute_risk(w, ['v'])",
    "SELECT classes FROM attribute_risk(w, ['v', 'b', 'c', 'd', 'e'], max_size := 5) WHERE len(columns) = 5",
    "SELECT count(*) FROM equivalence_classes(w, ['v'])",
    "SELECT classes FROM journalist_risk(w, w, ['v'])",
    "SELECT distinct_values + (missing > 0)::INT FROM profile(t, columns := ['v'])",
    "SELECT count(*) FROM risk_summary(w, ['b'], by := ['v'])",
    "SELECT count(*) FROM risk_summary(w, ['b'], by := ['v', 'c', 'd', 'e'])",
    "SELECT value FROM l_diversity(w, ['b'], 'v')",
]
NAMED = [
    "SELECT records FROM risk_summary(named, ['b'], entity := 'v')",
    "SELECT max(k) FROM (SELECT equivalence_class_people(v, b) AS k FROM named)",
]


def is_named(value: str) -> bool:
    """Whether the value identifies a person: NULL and NaN identify nobody."""
    return not value.startswith("NULL") and "nan'::DOUBLE" not in value


@EVERY_KIND
@pytest.mark.first(cells=8)
def test_every_role_of_a_column_knows_as_many_values(
    con: duckdb.DuckDBPyConnection, kind: str
) -> None:
    places = distinct_places(con, kind)
    assert con.execute("SELECT count(*) FROM (SELECT v FROM t GROUP BY v)").fetchall() == [
        (len(set(places)),)
    ]
    for asked in DISTINCT:
        if kind.startswith("variant") and ("profile" in asked or "l_diversity" in asked):
            continue  # the first describes the texts, the second refuses
        assert con.execute(asked).fetchall() == [(len(set(places)),)], asked
    people = {place for place in places if is_named(CLASSES[kind][place][0])}
    # A table: above a filter of a view, a window of DuckDB 1.5 counts equal intervals as several.
    con.execute(
        f"CREATE OR REPLACE TABLE named AS SELECT v, 1 AS b FROM t WHERE place IN {(*people, -1)}"
    )
    for asked in NAMED:
        assert con.execute(asked).fetchall() == [(len(people),)], asked
    matched = "SELECT sum(records) FROM class_size_histogram(w, ['v', 'b'], nulls := 'wildcard')"
    assert con.execute(matched).fetchall() == [(len(places),)]


@pytest.mark.skipif(
    duckdb.__version__ >= "2", reason="DuckDB 2.0 equates equal numbers of a VARIANT"
)
@each_cell("value", ["v", "[v]", "{'a': {'b': v}}", "MAP {'a': v}"])
@each_cell(
    "asked",
    [
        "SELECT equivalence_class_size({0}, one) FROM t",
        "SELECT equivalence_class_people(one, {0}) FROM t",
        "FROM risk_summary(typed, ['v'])",
        "FROM risk_summary(typed, ['b'], entity := 'v')",
        "FROM risk_summary(typed, ['b'], by := ['v'])",
        "FROM journalist_risk(typed, typed, ['b', 'v'])",
        "FROM attribute_risk(typed, ['b', 'v'])",
        "FROM l_diversity(typed, ['b'], 'v')",
        "FROM fit_copula('typed', typed, ['b', 'v'])",
    ],
)
def test_an_older_duckdb_refuses_variants(
    con: duckdb.DuckDBPyConnection, asked: str, value: str
) -> None:
    """Otherwise one person with 1 and 1::BIGINT for a number would be two people in a class."""
    distinct_places(con, "variant of numbers")
    con.execute(f"CREATE OR REPLACE VIEW typed AS SELECT {value} AS v, one AS b FROM t")
    refusal = (
        r"VARIANT must be counted by DuckDB 2\.0 or later|'v' of type VARIANT; cast it in a view"
    )
    with pytest.raises(duckdb.Error, match=refusal):
        con.execute(asked.format(value)).fetchall()


@pytest.mark.parametrize(
    ("value", "is_refused"),
    [
        pytest.param("i::VARIANT", True, marks=pytest.mark.newest),
        pytest.param("[i::VARIANT]", True, marks=pytest.mark.newest),
        pytest.param("{'a': i, 'b': i::VARIANT}", True, marks=pytest.mark.newest),
        pytest.param("MAP {'a': i::VARIANT}", True, marks=pytest.mark.newest),
        ("{'VARIANT': i}", False),
        ("{'variant': [i]}", False),
        ("['VARIANT', 'variant'][1 + i % 2]::ENUM('VARIANT', 'variant')", False),
    ],
)
@each_cell(
    "measure",
    [
        "l_diversity",
        "disclosing_classes",
        "t_closeness",
        "attribute_disclosure",
    ],
)
def test_a_sensitive_variant_is_refused_at_any_depth(
    con: duckdb.DuckDBPyConnection,
    measure: str,
    value: str,
    is_refused: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """DuckDB's operators do not agree whether 1, 1.0 and '1' are one, two or three of its values."""
    con.execute(
        f"CREATE OR REPLACE TABLE u AS SELECT i % 2 AS a, {value} AS v FROM range(6) AS r(i)"
    )
    options = ", variant := 'equal'" if measure == "t_closeness" else ""
    for by in ("", ", by := ['g']") if not measure.endswith("_classes") else ("",):
        con.execute("CREATE OR REPLACE VIEW x AS SELECT *, 1 AS g FROM u")
        asked = f"SELECT count(*) FROM {measure}(x, ['a'], 'v'{options}{by})"
        if is_refused:
            with pytest.raises(
                duckdb.Error, match="must be a column of values of one type, got 'v'"
            ):
                con.execute(asked)
        else:
            assert con.execute(asked).fetchall() != []


@each_cell(
    "own, there",
    [
        (
            "170141183460469231731687303715884105727::HUGEINT",
            "170141183460469231731687303715884105726::UHUGEINT",
        ),
        ("1.0000100001::DECIMAL(38, 10)", "1.00001::DECIMAL(38, 5)"),
        ("1.55::DECIMAL(38, 37)", "1.6::DECIMAL(4, 1)"),
        ("['a']::mood[]", "'[a]'"),
        ("[1.55]::DECIMAL(4, 2)[]", "[1.6]::DECIMAL(4, 1)[]"),
        ("{'a': 1}", "{'a': 1::BIGINT}"),
        ("'1'::JSON", "'1'"),
        ("0.1::DOUBLE", "0.1::DECIMAL(2, 1)"),
    ],
)
@each_cell("more", ["", ", nulls := 'wildcard'", ", by := ['b']"])
def test_types_that_meet_in_one_that_rounds_are_refused(
    con: duckdb.DuckDBPyConnection, own: str, there: str, more: str
) -> None:
    for one, other in ((own, there), (there, own)):
        con.execute(f"CREATE OR REPLACE TABLE s AS SELECT {one} AS v, 1 AS b")
        con.execute(f"CREATE OR REPLACE TABLE p AS SELECT {other} AS v, 1 AS b")
        with pytest.raises(duckdb.Error, match="must have the same types in both tables"):
            con.execute(f"FROM journalist_risk(s, p, ['v']{more})").fetchall()


@pytest.mark.parametrize(
    "kinds", [("BIGINT", "UBIGINT"), ("HUGEINT", "TINYINT"), ("DECIMAL(28, 10)", "DECIMAL(18, 0)")]
)
def test_types_that_meet_in_one_that_holds_both_are_compared(
    con: duckdb.DuckDBPyConnection, kinds: tuple[str, str]
) -> None:
    for table, kind in zip("sp", kinds, strict=True):
        con.execute(f"CREATE OR REPLACE TABLE {table} AS SELECT unnest([0, 1, 7])::{kind} AS v")
    con.execute("INSERT INTO p VALUES (1), (8)")
    found = con.execute(
        "SELECT k, unique_records, uncovered_records FROM journalist_risk(s, p, ['v'])"
    ).fetchall()
    assert found == [(1, 2, 0)]


MODELS = [
    "FROM fit_copula('odd', t, ['v', 'w', 'z'])",
    "FROM fit_people('odd people', t, ['v', 'w', 'z'])",
    "FROM population_risk(t, ['v', 'w', 'z'], [1000])",
    "FROM score_records(t, 'plain', 1000)",
]


@pytest.mark.parametrize(
    ("value", "type_name"),
    [
        ("u", "UNION(n INTEGER, s VARCHAR)"),
        pytest.param(
            "CASE WHEN i % 2 = 0 THEN 1::VARIANT ELSE '1'::VARIANT END",
            "VARIANT",
            marks=pytest.mark.newest,
        ),
        pytest.param(
            "{'a': [CASE WHEN i % 2 = 0 THEN 1::VARIANT ELSE '1'::VARIANT END]}",
            "STRUCT(a VARIANT[])",
            marks=pytest.mark.newest,
        ),
    ],
)
def test_values_of_one_text_are_not_one_to_a_model(
    con: duckdb.DuckDBPyConnection, value: str, type_name: str
) -> None:
    con.execute(f"""CREATE OR REPLACE TABLE t AS SELECT {value} AS v, i % 5 AS w, i % 7 AS z FROM (
        SELECT i, CASE WHEN i % 2 = 0 THEN union_value(n := 1)::UNION(n INTEGER, s VARCHAR)
        ELSE union_value(s := '1')::UNION(n INTEGER, s VARCHAR) END AS u FROM range(200) r(i))""")
    assert con.execute(
        "SELECT count(DISTINCT v), count(DISTINCT v::VARCHAR) FROM t"
    ).fetchall() == [(2, 1)]
    con.execute("CREATE OR REPLACE VIEW plain AS SELECT v::VARCHAR AS v, w, z FROM t")
    con.execute("FROM fit_copula('plain', plain, ['v', 'w', 'z'])").fetchall()
    for asked in MODELS:
        with pytest.raises(
            duckdb.Error, match="must be of types whose values differ as texts"
        ) as reported:
            con.execute(asked).fetchall()
        assert type_name in str(reported.value)


def test_a_word_like_the_name_of_such_a_type_is_none(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("CREATE TYPE job AS ENUM('UNION', 'it''s VARIANT')")
    words = "(['UNION', 'it''s VARIANT'])[1 + i % 2]::job"
    con.execute(
        f"CREATE OR REPLACE TABLE t AS SELECT {words} AS v, i % 5 AS w, i % 7 AS z FROM range(200) r(i)"
    )
    con.execute("CREATE OR REPLACE VIEW plain AS FROM t")
    con.execute("FROM fit_copula('plain', plain, ['v', 'w', 'z'])").fetchall()
    assert all(con.execute(asked).fetchall() for asked in MODELS)
