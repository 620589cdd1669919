"""No setting of Polars changes an answer, and every setting that there is, is tried."""

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reid_sql.polars as rp
from tests.copulas import fitted
from tests.tables import class_sizes, frames, keys

Bent = dict[str, dict[str, Any]]

# Values other than the usual ones, for each setting by which a user may bend Polars; what is only shown, all
# at once.
SHOWN: Bent = {
    "set_ascii_tables": {"active": True},
    "set_decimal_separator": {"separator": ","},
    "set_expr_depth_warning": {"limit": 100_000},
    "set_float_precision": {"precision": 1},
    "set_fmt_float": {"fmt": "full"},
    "set_fmt_str_lengths": {"n": 1},
    "set_fmt_table_cell_list_len": {"n": 0},
    "set_tbl_cell_alignment": {"format": "RIGHT"},
    "set_tbl_cell_numeric_alignment": {"format": "LEFT"},
    "set_tbl_cols": {"n": 1},
    "set_tbl_column_data_type_inline": {"active": True},
    "set_tbl_dataframe_shape_below": {"active": True},
    "set_tbl_formatting": {"format": "NOTHING"},
    "set_tbl_hide_column_data_types": {"active": True},
    "set_tbl_hide_column_names": {"active": True},
    "set_tbl_hide_dataframe_shape": {"active": True},
    "set_tbl_hide_dtype_separator": {"active": True},
    "set_tbl_rows": {"n": 1},
    "set_tbl_width_chars": {"width": 10},
    "set_thousands_separator": {"separator": "'"},
    "set_trim_decimal_zeros": {"active": True},
    "set_verbose": {"active": False},
}
BENT: dict[str, Bent] = {
    "shown": SHOWN,
    "credentials": {"set_default_credential_provider": {"credential_provider": None}},
    "streaming": {"set_engine_affinity": {"engine": "streaming"}},
    "in memory": {"set_engine_affinity": {"engine": "in-memory"}},
    "a row a chunk": {"set_streaming_chunk_size": {"size": 1}},
    "three rows a chunk": {"set_streaming_chunk_size": {"size": 3}},
}
WIDE = ["age", "score", "sex", "town", "born"]


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    numbers = range(1000, 1060)
    return pl.DataFrame(
        {
            "age": [number * 7 % 1005 for number in numbers],
            "score": [None if number % 9 == 0 else number * 1.25 for number in numbers],
            "sex": ["MF"[number % 2] for number in numbers],
            "town": [[number % 3, None] for number in numbers],
            "born": pl.Series([number % 5 for number in numbers]).cast(pl.Date),
            "id": numbers,
        }
    )


def answers(frame: pl.DataFrame, engine: Any) -> list[list[Any]]:
    scenario = {"population": 9999, "groups": [{"columns": ["age", "sex"], "probability": 0.5}]}
    fitted("set", frame, ["age", "score", "sex"])
    asked = [
        frame.lazy().select(
            rp.equivalence_class_size(*WIDE), narrow=rp.equivalence_class_size("age", "sex")
        ),
        rp.equivalence_classes(frame, ["score", "sex"]).sort("score", "sex"),
        rp.risk_summary(frame, WIDE, nulls="wildcard"),
        rp.journalist_risk(frame, frame.head(40), ["sex", "score"], nulls="drop"),
        rp.attribute_risk(frame, ["age", "score", "sex"]),
        rp.t_closeness(frame, ["sex"], "age", "ordered"),
        rp.unicity(frame, "sex", "age", samples=50, exact_up_to=0, output="curve"),
        rp.adversary_risk(frame, scenario, key="id"),
        rp.qar_risk(frame, ["age", "sex", "born"], 2, output="contributions"),
        rp.population_uniqueness(frame, ["age", "sex"], 1e5),
        rp.score_records(frame, "set", 1e5),
        rp.model_json("set"),
    ]
    return [lazy.collect(engine=engine).rows() for lazy in asked]


@pytest.fixture(scope="module")
def usual(people: pl.DataFrame) -> list[list[Any]]:
    return answers(people, "in-memory")


@pytest.mark.newest
def test_every_setting_is_tried() -> None:
    tried = {name for bent in BENT.values() for name in bent}
    assert tried == {name for name in dir(pl.Config) if name.startswith("set_")}


@pytest.mark.parametrize("bent", BENT)
@pytest.mark.first(cells=1)
def test_no_setting_changes_an_answer(
    people: pl.DataFrame, usual: list[list[Any]], bent: str
) -> None:
    with pl.Config():
        for name, values in BENT[bent].items():
            getattr(pl.Config, name)(**values)
        for engine in ("auto", "streaming"):
            assert answers(people, engine) == usual


@settings(max_examples=20)
@given(frames(min_rows=1), st.sampled_from([1, 2, 5]))
def test_the_size_of_chunks_does_not_change_a_count(frame: pl.DataFrame, size: int) -> None:
    rows = keys(frame)
    with pl.Config():
        pl.Config.set_streaming_chunk_size(size)
        lazy = frame.lazy().select(rp.equivalence_class_size(*frame.columns))
        assert lazy.collect(engine="streaming").to_series().to_list() == class_sizes(
            rows, rows, "value"
        )
