"""The Polars functions stay lazy, push down to the scan, stream, and end in a sink."""

import re
from pathlib import Path

import polars as pl
import pytest

import reid_sql.polars as rp

QI = ["age", "sex"]


@pytest.fixture
def people(tmp_path: Path) -> Path:
    file = tmp_path / "people.parquet"
    frame = pl.DataFrame(
        {
            "age": [30, 30, 41, None],
            "sex": ["F", "F", "M", "M"],
            "region": ["n", "n", "s", "s"],
            "note": ["x"] * 4,
        }
    )
    frame.write_parquet(file)
    return file


def table_functions(frame: pl.LazyFrame) -> dict[str, pl.LazyFrame]:
    return {
        "equivalence_classes": rp.equivalence_classes(frame, QI),
        "class_size_histogram": rp.class_size_histogram(frame, QI),
        "risk_summary": rp.risk_summary(frame, QI),
        "journalist_risk": rp.journalist_risk(frame, frame, QI),
        "attribute_risk": rp.attribute_risk(frame, QI),
    }


def test_nothing_is_read_before_it_is_collected(people: Path) -> None:
    lazy = table_functions(pl.scan_parquet(people))
    people.unlink()
    for frame in lazy.values():
        with pytest.raises(FileNotFoundError):
            frame.collect()


@pytest.mark.newest  # before 2.0, the caution makes Polars read all columns for the answer
@pytest.mark.parametrize("name", list(table_functions(pl.LazyFrame({"age": [1], "sex": ["F"]}))))
def test_only_the_quasi_identifiers_are_read(people: Path, name: str) -> None:
    plan = table_functions(pl.scan_parquet(people))[name].explain(engine="streaming")
    projected = re.findall(r"PROJECT (\d)/4 COLUMNS", plan)
    assert projected
    assert all(int(count) <= len(QI) for count in projected)


def test_a_filter_before_the_function_reaches_the_scan(people: Path) -> None:
    frame = pl.scan_parquet(people).filter(pl.col("region") == "s")
    for lazy in table_functions(frame).values():
        assert re.search(r'SELECTION: .*"region"', lazy.explain())


def test_a_filter_after_the_class_size_is_not_pushed_before_the_count(people: Path) -> None:
    frame = (
        pl.scan_parquet(people)
        .with_columns(rp.equivalence_class_size(*QI).alias("k"))
        .filter(pl.col("note") == "x", pl.col("age") == 30)
    )
    assert frame.select("k").collect(engine="streaming")["k"].to_list() == [2, 2]


def test_expressions_end_in_a_sink(people: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    lazy = pl.scan_parquet(people).select(
        rp.equivalence_class_size(*QI),
        rp.equivalence_class_size("age", "sex", "region", "note", "age").alias("wide"),
        rp.cell_risk(0.25, pl.col("age")),
    )
    lazy.sink_parquet(out)
    written = pl.read_parquet(out)
    assert written.columns == ["equivalence_class_size", "wide", "cell_risk"]
    assert written["equivalence_class_size"].to_list() == written["wide"].to_list() == [2, 2, 1, 1]


def test_table_functions_end_in_a_sink(people: Path, tmp_path: Path) -> None:
    for name, lazy in table_functions(pl.scan_parquet(people)).items():
        lazy.sink_parquet(tmp_path / f"{name}.parquet")
        assert pl.read_parquet(tmp_path / f"{name}.parquet").schema == lazy.collect_schema()


def test_answers_can_be_filtered_and_selected_like_any_frame(people: Path) -> None:
    frame = pl.scan_parquet(people)
    assert rp.risk_summary(frame, QI).select("k").collect().item() == 1
    assert rp.class_size_histogram(frame, QI).filter(pl.col("class_size") == 2).collect()[
        "records"
    ].to_list() == [2]
    assert (
        rp.attribute_risk(frame, QI).filter(pl.col("columns").list.len() == 2).collect().height == 1
    )


def test_expressions_take_names_expressions_and_numbers() -> None:
    frame = pl.DataFrame({"p": [0.5, None], "n": [3, 4]})
    by_name = frame.select(rp.cell_risk("p", "n"))
    by_expression = frame.select(rp.cell_risk(pl.col("p"), n=pl.col("n")))
    assert by_name.rows() == by_expression.rows() == [(0.25,), (None,)]
    assert frame.select(rp.cell_risk("p", 3)).rows() == [(0.25,), (None,)]
    assert frame.select(rp.cell_risk(0.5, 3)).item() == 0.25
    with pytest.raises(TypeError, match="missing a required argument: 'n'"):
        rp.cell_risk("p")  # type: ignore[call-arg]


def test_names_that_are_not_functions_are_said_to_be_missing() -> None:
    with pytest.raises(AttributeError, match="has no function 'risk_sumary'"):
        _ = rp.risk_sumary  # type: ignore[attr-defined]
    assert set(table_functions(pl.LazyFrame({"age": [1], "sex": ["F"]}))) <= set(dir(rp))
    assert "class_size_histogram" in dir(rp)
