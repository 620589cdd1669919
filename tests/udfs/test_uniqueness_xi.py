import duckdb
import mpmath
import polars as pl
import pytest

import reid_sql.polars as rp
from tests.copulas import fitted, people
from tests.tables import by_duckdb, connection

COLUMNS = ["age", "sex", "grade"]


def test_it_is_the_chance_that_nobody_else_has_these_values() -> None:
    frame = people()
    fitted("m", frame, COLUMNS)
    sql = (
        "SELECT cell_probability('m', age, sex, grade) AS q, uniqueness_xi('m', "
        "5000, age, sex, grade) AS xi FROM t"
    )
    for row in by_duckdb(sql, t=frame):
        assert row["xi"] == pytest.approx(float((1 - mpmath.mpf(row["q"])) ** 4999), rel=1e-9)


def test_engines_agree_and_null_is_a_value() -> None:
    frame = people().with_columns(n=pl.when(pl.col("age") > 25).then(pl.lit(1000.0)))
    model = fitted("m", frame, COLUMNS)
    duck = [
        row["xi"]
        for row in by_duckdb("SELECT uniqueness_xi('m', n, age, sex, grade) AS xi FROM t", t=frame)
    ]
    lazy = frame.lazy().select(rp.uniqueness_xi(model, "n", *COLUMNS)).collect(engine="streaming")
    assert duck == lazy["uniqueness_xi"].to_list()
    assert [xi is None for xi in duck] == (frame["age"] <= 25).to_list()


ODD = """SELECT number::HUGEINT AS huge, number / 4 AS quarters, (number / 4)::DECIMAL(9, 2) AS decimals,
    (number / 3)::FLOAT AS thirds, number % 2 = 0 AS even, DATE '2000-02-27' + number::INTEGER AS day,
    TIMESTAMP '2000-01-01' + to_seconds(number) AS moment, TIME '00:00' + to_seconds(number) AS span,
    ('x' || number % 3)::ENUM('x0', 'x1', 'x2') AS kind, encode('é' || number) AS bytes,
    [number, NULL] AS list,
    CASE WHEN number % 4 > 0 THEN 'NULL' END AS gap, {'a': number / 2} AS struct,
    uuid_like::UUID AS key
    FROM (SELECT number, '00000000-0000-0000-0000-00000000000' || number % 10 AS uuid_like
        FROM range(12) AS numbers(number))"""


@pytest.mark.newest
def test_a_row_is_its_columns() -> None:
    con = connection()
    con.execute(f"CREATE OR REPLACE TEMP TABLE odd AS {ODD}")
    names = [name for name, *_ in con.execute("DESCRIBE odd").fetchall()]
    for name in set(names) - {"kind"}:
        con.execute("FROM fit_copula('odd', odd, ?)", [[name, "kind"]]).fetchall()
        one = f"uniqueness_xi('odd', 50, {name}, kind)"
        ways = [
            f"row({name}, kind)",
            f"({name}, kind)",
            f"struct_values(struct_pack(a := {name}, b := kind))",
        ]
        rest = ", ".join(f"uniqueness_xi('odd', 50, {way})" for way in ways)
        for expected, *found in con.execute(f"SELECT {one}, {rest} FROM odd").fetchall():
            assert found == [expected] * len(ways), name
            assert expected < 1, "the model knows the text"
    con.execute("FROM fit_copula('odd', odd, ?)", [names[:5]]).fetchall()
    chosen = f"row(*COLUMNS({names[:5]}))"
    for function in (
        "uniqueness_xi('odd', 50, ",
        "correctness_kappa('odd', 50, ",
        "cell_probability('odd', ",
    ):
        pairs = con.execute(
            f"SELECT {function}{', '.join(names[:5])}), {function}{chosen}) FROM odd"
        ).fetchall()
        assert all(one == other for one, other in pairs)


@pytest.mark.newest
@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        (
            "row(25, 'F')",
            "the columns must be the 3 of the model (age, sex, grade), got 2; pass them in this order",
        ),
        (
            "row(25, 'F', MAP {'a': 6})",
            "a row of columns must contain no rows, maps, unions or JSON and",
        ),
        ("row(25, row('F', 6))", "a row of columns must contain no rows, maps, unions or JSON and"),
        (
            "CASE WHEN x > 1 THEN row(25, 'F', 6) END",
            "a row of columns must contain no rows, maps, unions or",
        ),
    ],
)
def test_a_row_that_is_no_record_is_refused(row: str, sentence: str) -> None:
    fitted("m", people(), COLUMNS)
    with pytest.raises(duckdb.Error, match="Invalid Input Error: ") as refused:
        by_duckdb(f"SELECT uniqueness_xi('m', 10, {row}) FROM range(2) AS numbers(x)")
    assert str(refused.value).startswith(f"Invalid Input Error: {sentence}")


def test_a_sure_stranger_is_unique() -> None:
    fitted("m", people(), COLUMNS)
    assert by_duckdb("SELECT uniqueness_xi('m', 1e6, 25, 'new', 6) AS xi")[0]["xi"] == 1.0


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ("'mm', 10, 25, 'F', 6", "model must be a fitted model, got 'mm'; the models are "),
        ("'m', 0.5, 25, 'F', 6", "population must be a number of people of at least 1"),
        (
            "'m', 10, 25, 'F'",
            "the columns must be the 3 of the model (age, sex, grade), got 2; pass them in this order",
        ),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call: str, sentence: str) -> None:
    fitted("m", people(), COLUMNS)
    with pytest.raises(duckdb.Error, match="Invalid Input Error: ") as refused:
        by_duckdb(f"SELECT uniqueness_xi({call})")
    assert str(refused.value).startswith(f"Invalid Input Error: {sentence}")
