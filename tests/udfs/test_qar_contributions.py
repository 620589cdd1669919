from datetime import date

import duckdb
import polars as pl
import pytest

from reid_sql.errors import OutOfDomainError, UnknownNameError
from tests.qar import draw, frame, table_risk, without
from tests.tables import by_both, by_duckdb, by_polars, connection

PEOPLE = draw(8, 40, 7, 5)
TABLE = frame(PEOPLE)
CONTRIBUTIONS = {"output": "contributions", "alpha": 0.1, "tail": 0.5}


def test_contributions_record_by_record() -> None:
    duck, polars = by_both("qar_risk", {"t": TABLE}, TABLE.columns, **CONTRIBUTIONS)
    whole = table_risk(PEOPLE, 3, 0.1, 0.5)
    expected = [table_risk(without(PEOPLE, record), 3, 0.1, 0.5) for record in range(40)]
    assert duck == polars
    assert [row["record"] for row in duck] == list(range(40))
    assert whole is not None
    assert None not in expected
    assert [row["contribution"] for row in duck] == pytest.approx(
        [whole - risk for risk in expected if risk is not None], abs=1e-12
    )


def test_a_key_names_the_records_in_its_own_type() -> None:
    days = [date(2000, 1 + record // 28, 1 + record % 28) for record in range(40)]
    names = [f"person {record}" for record in range(40)]
    keyed = TABLE.with_columns(pl.Series("day", days), pl.Series("name", names))
    plain = by_polars("qar_risk", TABLE, TABLE.columns, **CONTRIBUTIONS)
    for key, values in [("name", names), ("day", days)]:
        duck, polars = by_both("qar_risk", {"t": keyed}, TABLE.columns, key=key, **CONTRIBUTIONS)
        assert duck == polars
        assert [row["record"] for row in duck] == values
        assert [row["contribution"] for row in duck] == [row["contribution"] for row in plain]


def test_dropped_records_leave_the_places_of_the_others() -> None:
    gaps = TABLE.with_columns(
        pl.when(pl.int_range(pl.len()) % 5 == 3).then(None).otherwise(pl.col("c2")).alias("c2")
    )
    duck, polars = by_both("qar_risk", {"t": gaps}, TABLE.columns, nulls="drop", **CONTRIBUTIONS)
    assert duck == polars
    assert [row["record"] for row in duck] == [record for record in range(40) if record % 5 != 3]
    assert duck[0]["records_dropped"] == 8
    assert duck[0]["entropy"] is not None
    value = by_both("qar_risk", {"t": gaps}, TABLE.columns, **CONTRIBUTIONS)
    assert value[0] == value[1]
    assert {row["status"] for row in value[0]} == {
        ("null_order: 'c2' contains NULL, which has no order, so pass nulls := 'drop'")
    }


def test_text_has_no_order_and_enumerations_have() -> None:
    text = TABLE.with_columns(pl.col("c1").cast(pl.String))
    for answer in by_both("qar_risk", {"t": text}, TABLE.columns, **CONTRIBUTIONS):
        assert {row["entropy"] for row in answer} == {None}
        assert answer[0]["status"].startswith(
            "no_order: 'c1' has no order, so pass columns of numbers"
        )
    order = by_polars("qar_risk", TABLE, TABLE.columns, **CONTRIBUTIONS)
    named = TABLE.with_columns(
        pl.col("c1").cast(pl.String).replace({"1": "z"}).cast(pl.Enum(["z", "2", "3", "4", "5"]))
    )
    by_python = by_polars("qar_risk", named, TABLE.columns, **CONTRIBUTIONS)
    assert [row["entropy"] for row in by_python] == [row["entropy"] for row in order]
    connection().execute(
        "CREATE OR REPLACE TEMP TABLE named AS SELECT * REPLACE (c1::ENUM('z', "
        "'2', '3', '4', '5') AS c1) FROM named"
    )
    assert (
        by_duckdb(
            f"FROM qar_risk(temp.named, {TABLE.columns}, alpha := 0.1, tail := 0.5, output := 'contributions')"
        )
        == by_python
    )


@pytest.mark.threads
@pytest.mark.all
def test_many_records_keep_their_order_on_several_threads() -> None:
    many = frame(draw(2, 150_000, 4, 9)).with_row_index("id")
    duck, polars = by_both(
        "qar_risk",
        {"t": many},
        ["c0", "c1", "c2", "c3"],
        p=2,
        key="id",
        alpha=0.1,
        tail=0.9,
        output="contributions",
    )
    assert [row["record"] for row in duck] == list(range(150_000))
    assert duck == polars


def test_a_misspelt_key_is_refused_alike() -> None:
    sentence = "columns and key must be columns of the table, got 'c99'; the columns are c0, c1, c2, c3, c4, c5, c6"
    with pytest.raises(UnknownNameError) as refused:
        by_polars("qar_risk", TABLE, TABLE.columns, key="c99", output="contributions")
    assert str(refused.value) == sentence
    with pytest.raises(Exception, match="Invalid Input Error: ") as by_sql:
        by_duckdb(
            f"FROM qar_risk(t, {TABLE.columns}, key := 'c99', output := 'contributions')", t=TABLE
        )
    assert str(by_sql.value).splitlines()[0] == f"Invalid Input Error: {sentence}"


@pytest.mark.parametrize(
    ("values", "reported"),
    [
        (["a", "a"], "key must differ between records, got a value that occurs"),
        ([None, None], "key must have a value in every row, got none .* of 'name' in 2 of 40 rows"),
    ],
)
def test_a_key_that_two_records_share_or_lack_is_refused(
    values: list[str | None], reported: str
) -> None:
    keyed = TABLE.with_columns(
        pl.Series("name", [*values, *(f"person {record}" for record in range(38))])
    )
    with pytest.raises(duckdb.Error, match=reported):
        by_duckdb(
            f"FROM qar_risk(t, {TABLE.columns}, key := 'name', alpha := 0.1, tail := 0.5, output := 'contributions')",
            t=keyed,
        )
    with pytest.raises((OutOfDomainError, pl.exceptions.PolarsError), match=reported):
        by_polars("qar_risk", keyed, TABLE.columns, key="name", **CONTRIBUTIONS)
