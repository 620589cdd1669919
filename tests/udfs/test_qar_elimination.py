import polars as pl
import pytest

from tests.qar import draw, frame, table_risk
from tests.tables import by_both, by_duckdb

PEOPLE = draw(8, 60, 7, 5)
TABLE = frame(PEOPLE).with_columns(pl.Series("name", [f"person {record}" for record in range(60)]))
COLUMNS = TABLE.columns[:-1]


@pytest.mark.parametrize("by", ["exact", "dt", "u_plus", "u_star", "entropy", "pls"])
def test_engines_agree_on_every_step(by: str) -> None:
    duck, polars = by_both(
        "qar_risk",
        {"t": TABLE},
        COLUMNS,
        remove=9,
        ranking=by,
        alpha=0.1,
        tail=0.5,
        key="name",
        output="elimination",
    )
    assert duck == polars
    assert [row["step"] for row in duck] == list(range(10))
    assert duck[0]["record"] is None
    gone = {int(row["record"].removeprefix("person ")) for row in duck[1:]}
    left = [row for record, row in enumerate(PEOPLE) if record not in gone]
    assert len(left) == 51
    assert duck[-1]["risk"] == pytest.approx(table_risk(left, 3, 0.1, 0.5), rel=1e-9)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            "remove := 60",
            "remove must be below the 60 records of the table, got 60; pass a smaller number",
        ),
        (
            "ranking := 'uplus'",
            (
                "ranking must be one of 'exact', 'dt', 'u_plus', 'u_star', 'entropy', "
                "'pls', got 'uplus'; did you mean 'u_plus'?"
            ),
        ),
        (
            "ranking := NULL",
            (
                "ranking must be one of 'exact', 'dt', 'u_plus', 'u_star', 'entropy', "
                "'pls', got 'NULL'; the choices are"
            ),
        ),
        ("remove := 0", "remove must be a whole number of records from 1 to 1e+09, got 0"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call: str, sentence: str) -> None:
    with pytest.raises(Exception, match="Invalid Input Error: ") as refused:
        by_duckdb(f"FROM qar_risk(t, {COLUMNS}, {call}, output := 'elimination')", t=TABLE)
    assert str(refused.value).startswith(f"Invalid Input Error: {sentence}")
