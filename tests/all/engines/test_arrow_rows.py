"""What the first tier leaves of tests/engines/test_arrow_rows.py."""

import subprocess
import sys
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reid_sql.engines.arrow_rows import array_of
from tests.engines.test_arrow_rows import ANSWER

KIND = pa.struct(
    [
        ("refusal", pa.string()),
        ("answers", pa.list_(pa.struct([("share", pa.float64()), ("records", pa.int64())]))),
        ("names", pa.list_(pa.list_(pa.string()))),
    ]
)
TEXT = st.none() | st.text()
ROW = st.none() | st.fixed_dictionaries(
    {"refusal": TEXT, "answers": st.none() | st.lists(ANSWER)},
    optional={"names": st.none() | st.lists(st.none() | st.lists(TEXT))},
)


@given(st.lists(ROW))
def test_rows_are_those_that_pyarrow_makes(rows: list[Any]) -> None:
    found = array_of(rows, KIND)
    found.validate(full=True)
    assert found.equals(pa.array(rows, KIND))
    assert found.to_pylist() == pa.array(rows, KIND).to_pylist()


@pytest.mark.newest
@pytest.mark.parametrize(
    "call",
    [
        "pyc_fit(t, ['a'])",
        "population_risk(t, ['a'], [1000])",
        "score_records(t, 'town', 1000)",
        "query('SELECT uniqueness_xi(''town'', 1000, a) FROM t')",
    ],
)
def test_a_first_answer_imports_no_pandas_and_no_signals_or_statistics(call: str) -> None:
    lines = [
        "import sys, duckdb, reid_sql",
        "con = duckdb.connect()",
        "reid_sql.register(con)",
        "con.execute('SET enable_progress_bar = false')",  # else printed after 2 s
        "con.execute('CREATE TABLE t AS SELECT i % 30 AS a FROM range(200) AS t(i)')",
        "con.execute(\"CREATE TABLE f AS FROM fit_people('town', t, ['a'])\")"
        if "town" in call
        else "",
        f"con.execute({f'FROM {call}'!r}).fetchall()",
        "print(sorted({'pandas', 'scipy.signal', 'scipy.stats'} & set(sys.modules)))",
    ]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
