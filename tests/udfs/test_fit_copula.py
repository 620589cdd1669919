import duckdb
import polars as pl
import pytest

import reid_sql
import reid_sql.polars as rp
from reid_sql.errors import ReidError
from tests.cells import each_cell
from tests.copulas import people
from tests.tables import by_duckdb, by_polars

COLUMNS = ["age", "sex", "grade"]


@pytest.mark.parametrize(
    "options",
    ["", ", method := 'sharp'", ", ordered := ['age']", ", nulls := 'drop'", ", weight := 'w'"],
)
def test_engines_fit_the_same_model(options: str) -> None:
    frame = people().with_columns(w=pl.col("age") / 10)
    named = dict(part.split(" := ") for part in options.strip(", ").split(", ") if part)
    given = {
        name: ["age"] if value.startswith("[") else value.strip("'")
        for name, value in named.items()
    }
    by_duckdb(f"FROM fit_copula('m', t, {COLUMNS}{options})", t=frame)
    rp.fit_copula("m", frame, COLUMNS, **given).collect()  # type: ignore[arg-type]
    assert {"model": "m", "columns": COLUMNS} in by_duckdb(
        "SELECT model, columns FROM fitted_models()"
    )
    duck = by_duckdb("SELECT cell_probability('m', age, sex, grade) AS q FROM t", t=frame)
    polars = frame.select(rp.cell_probability("m", *COLUMNS).alias("q")).to_dicts()
    assert [row["q"] for row in duck] == pytest.approx([row["q"] for row in polars], rel=1e-6)


def test_the_row_says_what_was_fitted() -> None:
    frame = people()
    row = by_duckdb(
        f"FROM fit_copula('m', t, {COLUMNS}, ordered := ['age'], nulls := 'drop')", t=frame
    )[0]
    dropped = frame["sex"].null_count()
    assert (row["records"], row["records_dropped"], row["nulls"]) == (
        400 - dropped,
        dropped,
        "drop",
    )
    assert (row["model"], row["columns"], row["ordered"], row["method"]) == (
        "m",
        COLUMNS,
        ["age"],
        "paper",
    )
    assert row == by_polars("fit_copula", "m", frame, COLUMNS, ordered=["age"], nulls="drop")[0]


@each_cell(
    "call, sentence",
    [
        ("'', t, ['sex']", "name must be a name of 1 to 200 characters, got ''; choose one"),
        (
            "'m', t, ['sxe']",
            "quasi-identifiers must be columns of the table, got 'sxe'; did you mean 'sex'?",
        ),
        (
            "'m', t, ['sex'], ordered := ['agee']",
            "ordered must name columns of the model, got 'agee'",
        ),
        (
            "'m', t, ['sex'], ordered := 5",
            "ordered must be a name or a list of names, got 5; write it like ['age', 'income']",
        ),
        (
            "'m', t, ['sex'], weight := 'grad'",
            "quasi-identifiers and weight must be columns of the table, got 'grad'; did you mean 'grade'?",
        ),
        (
            "'m', t, ['age'], weight := 'sex'",
            "weight must be a number of at least 0 for every record",
        ),
        (
            "'m', t, ['sex'], method := 'best'",
            "method must be one of 'paper', 'calibrated', 'sharp', got 'best'",
        ),
        (
            "'m', t, ['sex'], nulls := 'wildcard'",
            "nulls must be one of 'value', 'drop', got 'wildcard'",
        ),
        ("'m', t, ['sex'], seed := -1", "seed must be a whole number from 0 to 2147483646, got -1"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call: str, sentence: str) -> None:
    with pytest.raises(duckdb.Error, match="Invalid Input Error: ") as refused:
        by_duckdb(f"FROM fit_copula({call})", t=people())
    assert str(refused.value).startswith(f"Invalid Input Error: {sentence}")


def test_an_empty_table_is_refused_and_odd_names_are_not() -> None:
    with pytest.raises(duckdb.Error, match="the table must contain at least one record, got 0"):
        by_duckdb("FROM fit_copula('m', t, ['sex'])", t=people().head(0))
    odd = people(2).rename({"age": 'a "b"', "sex": "weight", "grade": "label"})
    for answer in by_both_odd(odd):
        assert answer["records"] == 2


def by_both_odd(frame: pl.DataFrame) -> list[dict[str, object]]:
    return [
        by_duckdb("FROM fit_copula('m', t, ['a \"b\"', 'weight', 'label'])", t=frame)[0],
        by_polars("fit_copula", "m", frame, ['a "b"', "weight", "label"])[0],
    ]


def test_a_model_is_known_on_every_cursor_and_in_no_other_database() -> None:
    con, other = duckdb.connect(), duckdb.connect()
    frame = people()
    for connection in (con, other):
        reid_sql.register(connection)
    con.execute("CREATE TABLE t AS FROM frame")
    con.execute("FROM fit_copula('mine', t, ['sex'])").fetchall()
    cursor = con.cursor()
    reid_sql.register(cursor)
    assert cursor.execute("SELECT cell_probability('mine', 'F') > 0").fetchall() == [(True,)]
    with pytest.raises(duckdb.Error, match="model must be a fitted model, got 'mine'"):
        other.execute("SELECT cell_probability('mine', 'F')").fetchall()
    assert frame.height == 400


CENSUS = pl.DataFrame(
    {"column_name": ["sex"] * 3, "value": ["F", "M", None], "share": [600, 300, 100]}
)


def test_shares_from_a_census_take_the_place_of_the_sample_s() -> None:
    frame = people()
    sexes = "SELECT sex, cell_probability('m', sex) AS q FROM t GROUP BY sex"
    by_duckdb("FROM fit_copula('m', t, ['sex'], marginals := census)", t=frame, census=CENSUS)
    duck = {row["sex"]: row["q"] for row in by_duckdb(sexes, t=frame)}
    assert duck == pytest.approx({"F": 0.6, "M": 0.3, None: 0.1}, rel=1e-6)
    rp.fit_copula("m", frame, ["sex"], marginals=CENSUS).collect()
    lazy = frame.lazy().select("sex", q=rp.cell_probability("m", "sex")).unique().collect()
    assert dict(lazy.iter_rows()) == pytest.approx(duck, rel=1e-12)


@pytest.mark.parametrize(
    ("census", "sentence"),
    [
        (
            CENSUS.with_columns(column_name=pl.lit("sx")),
            "marginals must name columns of the model in column_name, got another; the columns are age, sex",
        ),
        (
            CENSUS.head(2),
            "marginals must have a share above 0 for each value of the sample, got none for NULL; complete",
        ),
        (
            CENSUS.drop("share"),
            "columns of the marginals must be columns of the table, got 'share'",
        ),
    ],
)
def test_a_census_that_does_not_fit_is_refused(census: pl.DataFrame, sentence: str) -> None:
    with pytest.raises(duckdb.Error) as refused:
        by_duckdb(
            "FROM fit_copula('m', t, ['age', 'sex'], marginals := census)",
            t=people(),
            census=census,
        )
    assert str(refused.value).startswith(f"Invalid Input Error: {sentence}")
    with pytest.raises(ReidError, match=sentence):
        rp.fit_copula("m", people(), ["age", "sex"], marginals=census).collect()


@pytest.mark.parametrize("method", ["calibrated", "sharp"])
def test_calibration_meets_the_sample_and_small_tables_pass(method: str) -> None:
    frame = people()
    row = by_duckdb(f"FROM fit_copula('m', t, {COLUMNS}, method := '{method}')", t=frame)[0]
    assert row == by_polars("fit_copula", "m", frame, COLUMNS, method=method)[0]
    alone = by_duckdb(f"SELECT uniqueness FROM risk_summary(t, {COLUMNS})", t=frame)[0][
        "uniqueness"
    ]
    reported = by_duckdb("SELECT uniqueness FROM copula_forecast('m', [400])")[0]["uniqueness"]
    assert reported == pytest.approx(alone, abs=0.03)
    for few in (frame.head(2), pl.concat([frame.head(1)] * 5)):
        assert (
            by_duckdb(f"FROM fit_copula('m', t, {COLUMNS}, method := '{method}')", t=few)[0][
                "records"
            ]
            == few.height
        )
        assert (
            0
            <= by_duckdb("SELECT uniqueness FROM copula_forecast('m', [1000])")[0]["uniqueness"]
            <= 1
        )
    with pytest.raises(duckdb.Error, match="the table must contain at least one record, got 0"):
        by_duckdb(f"FROM fit_copula('m', t, {COLUMNS}, method := '{method}')", t=frame.head(0))
    with pytest.raises(ReidError, match="the table must contain at least one record, got 0"):
        by_polars("fit_copula", "m", frame.head(0), COLUMNS, method=method)


def test_calibration_with_weights_is_refused_and_sharp_goes_without() -> None:
    frame = people().with_columns(w=pl.lit(2.0))
    with pytest.raises(
        duckdb.Error,
        match="method 'calibrated' must have records that count the same each, got weights",
    ):
        by_duckdb(
            "FROM fit_copula('m', t, ['sex', 'age'], weight := 'w', method := 'calibrated')",
            t=frame,
        )
    row = by_duckdb(
        "FROM fit_copula('m', t, ['sex', 'age'], weight := 'w', method := 'sharp')", t=frame
    )[0]
    assert (row["calibration"], row["method"]) == (1, "sharp")


@pytest.mark.parametrize("values", [[{"x": None}, {"x": 1}], [[1], [2]], [b"\xff", b"a"]])
def test_values_without_a_text_of_their_own_are_refused_by_polars(values: list[object]) -> None:
    with pytest.raises(
        ReidError,
        match="columns of a copula must contain numbers, texts or other plain values in Polars, got 's'",
    ):
        by_polars("fit_copula", "m", pl.DataFrame({"a": [1, 2], "s": values}), ["a", "s"])
