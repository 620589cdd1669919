"""What the first tier leaves of tests/engines/duckdb/test_pack.py."""

from pathlib import Path

import duckdb
import pytest

from tests.cells import each_cell
from tests.engines.duckdb.test_pack import *

ADULT = ["age", "sex", "race", "native_country"]


@pytest.mark.real_data
@each_cell("nulls", ["value", "drop"])
@each_cell(
    "call",
    [
        "class_size_histogram(adult, {qi})",
        "equivalence_classes(adult, {qi})",
        "risk_summary(adult, {qi})",
        "journalist_risk(sample, adult, {qi})",
        "l_diversity(adult, {qi}, 'occupation')",
        "l_diversity(adult, {qi}, 'occupation', 'entropy')",
        "t_closeness(adult, {qi}, 'occupation')",
        "t_closeness(adult, ['sex'], 'occupation')",
        "attribute_disclosure(adult, {qi}, 'occupation', measure := 'alpha_k_anonymity')",
        "attribute_risk(adult, {qi})",
    ],
)
def test_the_script_answers_what_python_answers_of_adult(
    python: duckdb.DuckDBPyConnection,
    alone: duckdb.DuckDBPyConnection,
    adult: str,
    call: str,
    nulls: str,
) -> None:
    for con in (python, alone):
        con.execute(f"CREATE OR REPLACE VIEW adult AS FROM '{adult}'")
        con.execute("CREATE OR REPLACE VIEW sample AS FROM adult WHERE age % 3 > 0")
    query = f"FROM {call[:-1].format(qi=ADULT)}, nulls := '{nulls}')"
    assert answer(alone, query) == answer(python, query)


@pytest.mark.real_data
def test_a_file_is_read_by_its_path(
    python: duckdb.DuckDBPyConnection, alone: duckdb.DuckDBPyConnection, adult: str, tmp_path: Path
) -> None:
    odd = tmp_path / "it's [1]?.csv"
    odd.write_text("code,sex\n01,F\n1,F\n#2,M\n", encoding="utf-8")
    path = str(odd).replace("'", "''")
    for query in (
        f"FROM risk_summary('{adult}', ['age', 'sex'])",
        f"FROM equivalence_classes('{path}', ['code', 'sex'])",
    ):
        assert answer(alone, query) == answer(python, query)


def test_more_subsets_than_a_query_can_hold_are_refused(alone: duckdb.DuckDBPyConnection) -> None:
    columns = [f"c{place}" for place in range(32)]
    alone.execute(
        f"CREATE OR REPLACE TABLE wide AS SELECT {', '.join(f'0 AS {each}' for each in columns)}"
    )
    with pytest.raises(
        duckdb.Error, match="subsets of the columns must be at most 5000 in plain SQL, got 5488"
    ):
        alone.execute(f"FROM attribute_risk(wide, {columns})")
    assert len(alone.execute(f"FROM attribute_risk(wide, {columns}, 2)").fetchall()) == 32 + 496


@pytest.mark.parametrize(
    "setting",
    ["integer_division = true", "default_null_order = 'nulls_first'", "default_order = 'DESC'"],
)
def test_no_setting_changes_an_answer(
    python: duckdb.DuckDBPyConnection, alone: duckdb.DuckDBPyConnection, setting: str
) -> None:
    name = setting.partition(" ")[0]
    alone.execute(f"SET {setting}")
    for call in CALLS:
        query = f"FROM {call.format('people', 'people')}"
        assert answer(alone, query) == answer(python, query), query
    alone.execute(f"RESET {name}")
