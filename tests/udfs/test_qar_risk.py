import pytest
from hypothesis import given
from hypothesis import strategies as st

from reid_sql.errors import OutOfDomainError
from tests.qar import draw, frame, table_risk
from tests.tables import by_both, by_duckdb, by_polars


@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(3, 8), st.integers(1, 9))
def test_the_extreme_risk_of_any_table(seed: int, records: int, columns: int, values: int) -> None:
    rows = draw(seed, records, columns, values)
    expected = table_risk(rows, 3, 0.1, 0.4)
    answers = by_both("qar_risk", {"t": frame(rows)}, frame(rows).columns, p=3, alpha=0.1, tail=0.4)
    assert answers[0] == answers[1]
    for found in answers[0]:
        assert found["risk"] == (
            expected if expected is None else pytest.approx(expected, rel=1e-9)
        )
        assert (found["status"] == "ok") <= (expected is not None and expected < 1)
        assert found["records"] == records
        if found["risk_low"] is not None:
            assert found["threshold"] <= found["risk_low"] <= found["risk_high"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"alpha": 0.05},
            (
                "alpha must be below tail, the share that the law is fitted to, "
                "got 0.05 and 0.05; pass a smaller"
            ),
        ),
        ({"tail": 0}, "tail must be a share above 0 and at most 1, got 0; pass"),
        ({"alpha": -1}, "alpha must be a probability above 0 and below 1, got -1; pass"),
        ({"seed": 0.5}, "seed must be a whole number from 0 to 2147483646, got 0.5; pass any"),
    ],
)
def test_bad_levels_are_refused_alike(options: dict[str, float], sentence: str) -> None:
    table = frame(draw(1, 20, 6, 3))
    with pytest.raises(OutOfDomainError) as by_python:
        by_polars("qar_risk", table, table.columns, **options)
    assert str(by_python.value).startswith(sentence)
    spelled = ", ".join(f"{name} := {value}" for name, value in options.items())
    with pytest.raises(Exception, match="Invalid Input Error") as by_sql:
        by_duckdb(f"FROM qar_risk(t, {table.columns}, {spelled})", t=table)
    assert str(by_sql.value).splitlines()[0] == f"Invalid Input Error: {by_python.value}"
