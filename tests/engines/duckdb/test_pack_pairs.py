"""Without Python: what a join singles out, and two releases, are those that Python counts."""

from typing import Any

import duckdb
import numpy as np
import pytest

from reid_sql.engines.duckdb.catalogue import script
from tests.cells import each_cell
from tests.engines.duckdb.test_pack import alone, answer_or_refusal, python
from tests.engines.duckdb.test_pack_records import near

__all__ = ["alone", "python"]
pytestmark = pytest.mark.first(alone=["script"])

CELLS = {
    "size": ["0.0", "-0.0", "'nan'::DOUBLE", "NULL", "1.5"],
    "zip": ["'a'", "'b'", "NULL"],
    "sick": ["'flu'", "'hiv'", "NULL"],
}
RELEASES = [
    "compare_releases(one, two, ['size', 'zip'])",
    "compare_releases(one, two, 'zip', key := 'id')",
    "compare_releases(one, two, ['zip', 'size'], sensitive := 'sick')",
    "compare_releases(one, two, ['size', 'zip'], 'id', NULL, 'sick')",
]
JOINS = [
    "join_risk(one, three, {'id': 'pid'}, ['size', 'sick'], ['job', 'income'])",
    "join_risk(one, three, {'id': 'pid', 'zip': 'zip'}, 'size', ['income', 'job'], k := 3)",
    "join_risk(one, three, MAP {'id': 'pid'}, ['size'], 'job', NULL, 4)",
    "join_risk(two, one, ['id'], ['size', 'sick'], ['zip'])",
    "join_risk(one, three, 'zip', ['size', 'sick'], ['job', 'income'])",
    "join_risk(written, otherwise, {'id': 'pid'}, ['size', 'sick'], ['zip'])",
]
# Keys that are written in two ways
WRITTEN = [("'0' || id", "id::VARCHAR"), ("'É' || id", "'e' || id"), ("'ｘ' || id", "'X ' || id")]
WRITTEN += [("id || ',000'", "id || '000'"), ("'Straße' || id", "'STRASSE' || id")]


def draw(
    connections: list[duckdb.DuckDBPyConnection], seed: int, *, people: int, repeats: bool
) -> None:
    """Two releases, one and two, and another table, three, which has other names for their columns."""
    rng = np.random.default_rng(seed)
    for name in ("one", "two"):
        size = int(rng.integers(people // 2 + 1, people + 1))
        keys: list[Any] = rng.choice(people * 3 // 2, size, replace=repeats).tolist()
        keys += ["NULL"] if repeats else []
        rows = [[str(key), *map(rng.choice, CELLS.values())] for key in keys]
        listed = ", ".join(f"({', '.join(row)})" for row in rows)
        for con in connections:
            con.execute(
                f"CREATE OR REPLACE TABLE {name} (id BIGINT, size DOUBLE, zip VARCHAR, sick VARCHAR)"
            )
            con.execute(f"INSERT INTO {name} VALUES {listed}")
    views = {"three": "SELECT id AS pid, size AS income, sick AS job, zip FROM two"}
    for place, (view, key, table) in enumerate(
        (("written", "id", "one"), ("otherwise", "pid", "two"))
    ):
        forms = " ".join(f"WHEN {i} THEN {each[place]}" for i, each in enumerate(WRITTEN))
        whole = f"CASE id % 7 {forms} ELSE id || '.0' END"
        views[view] = f"SELECT {whole} AS {key}, size, zip, sick FROM {table}"
    for con in connections:
        for view, query in views.items():
            con.execute(f"CREATE OR REPLACE VIEW {view} AS {query}")


def check_like_python(
    python: duckdb.DuckDBPyConnection, alone: duckdb.DuckDBPyConnection, query: str
) -> None:
    """The same columns of the same types, and the same rows in the same order, but for rounding."""
    columns, rows = answer_or_refusal(python, query)
    if not columns:
        assert answer_or_refusal(alone, query) == (columns, rows)
        return
    assert answer_or_refusal(alone, query)[0] == columns
    here, there = (con.execute(query) for con in (alone, python))
    names = [column[0] for column in here.description or ()]
    pairs = zip(here.fetchall(), there.fetchall(), strict=True)
    for row, due in pairs:
        assert dict(zip(names, row, strict=True)) == near(dict(zip(names, due, strict=True)), 1e-12)


@each_cell("nulls", ["value", "drop"])
@each_cell("people", [4, 60])
@each_cell("call", RELEASES)
def test_releases_are_compared_as_python_does(
    python: duckdb.DuckDBPyConnection,
    alone: duckdb.DuckDBPyConnection,
    call: str,
    people: int,
    nulls: str,
) -> None:
    query = f"FROM {call[:-1]}, nulls := '{nulls}')"
    for seed in range(2):
        draw([python, alone], seed, people=people, repeats=False)
        check_like_python(python, alone, query)


@each_cell("nulls", ["value", "drop"])
@each_cell("people", [8, 40])
@each_cell("call", JOINS)
def test_joins_are_counted_as_python_does(
    python: duckdb.DuckDBPyConnection,
    alone: duckdb.DuckDBPyConnection,
    call: str,
    people: int,
    nulls: str,
) -> None:
    query = f"FROM {call[:-1]}, nulls := '{nulls}')"
    draw([python, alone], people, people=people, repeats=True)
    check_like_python(python, alone, query)


MONTH = "SELECT i AS id, i % 9 AS age, i % 4 AS sex, i % 3 AS sick FROM range({}, {}) t(i)"


@each_cell(
    "second",
    [
        MONTH.format(0, 400),
        MONTH.format(300, 700),
        MONTH.format(500, 900),
        f"SELECT * REPLACE (399 - id AS id) FROM ({MONTH.format(0, 400)})",
        f"SELECT * REPLACE (age + 100 AS age) FROM ({MONTH.format(0, 400)})",
        f"SELECT * REPLACE (sick + (id % 3 > 0)::INT * 9 AS sick) FROM ({MONTH.format(0, 400)})",
        f"SELECT * REPLACE (sick + 9 AS sick) FROM ({MONTH.format(0, 400)})",
        f"SELECT * REPLACE (age // 3 AS age) FROM ({MONTH.format(0, 400)})",
    ],
)
@each_cell("key", ["'id'", "NULL"])
def test_doubts_are_those_of_python(
    python: duckdb.DuckDBPyConnection, alone: duckdb.DuckDBPyConnection, key: str, second: str
) -> None:
    """Keys numbered anew, people who have left, and values that are written otherwise."""
    for con in (python, alone):
        con.execute(f"CREATE OR REPLACE VIEW january AS {MONTH.format(0, 400)}")
        con.execute(f"CREATE OR REPLACE VIEW february AS {second}")
    query = f"FROM compare_releases(january, february, ['age', 'sex'], {key}, NULL, 'sick')"
    check_like_python(python, alone, query)


@pytest.mark.newest
def test_any_name_of_a_table_or_column_is_taken(
    python: duckdb.DuckDBPyConnection, alone: duckdb.DuckDBPyConnection
) -> None:
    for con in (python, alone):
        for table in ("figures", "ordered"):
            con.execute(f"""CREATE OR REPLACE TEMP TABLE "{table}" AS
                SELECT i AS "own", i % 5 AS "a ""b", i % 3 AS side, i % 2 AS "it's" FROM range(30) t(i)""")
    for query in (
        """FROM compare_releases(figures, ordered, ['a "b', 'side'], 'own', NULL, 'it''s')""",
        """FROM join_risk(ordered, figures, 'own', ['a "b'], ['side', 'it''s'])""",
    ):
        check_like_python(python, alone, query)


@each_cell(
    "call, words",
    [
        (
            "join_risk(people, staff, [], ['sex'], ['job'])",
            "on must be a list of 1 to 64 different",
        ),
        ("join_risk(people, staff, 5, ['sex'], ['job'])", "on must be a list of 1 to 64 different"),
        ("join_risk(people, staff, 'pid', ['sex'], ['job'])", 'does not have a column named "pid"'),
        (
            "join_risk(people, staff, {'id': 'pid'}, ['id'], ['job'])",
            "quasi-identifiers and on must be a list of 1 to 64 different column names",
        ),
        (
            "join_risk(people, staff, {'id': 'pid'}, ['sex'], ['PID'])",
            "right_qi and on must be a list of 1 to 64 different column names",
        ),
        (
            "join_risk(people, staff, {'id': 'pid'}, ['sex'], ['job'], k := 1)",
            "k must be a whole number from 2 to 1000000.0, got 1;",
        ),
        (
            "join_risk(people, staff, {'sex': 'pid'}, ['id'], ['job'])",
            "on must have the same type in both tables, got two types; cast one of",
        ),
        (
            "join_risk(people, staff, {'id': 'pid'}, ['sex'], ['job'], entity := 'id')",
            "entity must be left out in plain SQL, got one; use the Python package",
        ),
        (
            "join_risk(people, staff, {'id': 'pid'}, ['sex'], ['job'], nulls := 'wildcard')",
            "nulls must be value or drop in plain SQL",
        ),
        (
            "compare_releases(people, people, ['sex'], tolerance := {'id': 1})",
            "does not support the supplied arguments",
        ),
        (
            "compare_releases(people, people, ['sex'], 'id', 'id')",
            "entity must be left out in plain SQL",
        ),
        (
            "compare_releases(people, people, ['sex'], key := 'sex')",
            "sensitive and key must be a list",
        ),
        (
            "compare_releases(people, people, ['sex'], 'id', NULL, 'id')",
            "sensitive and key must be a list",
        ),
        ("compare_releases(people, people, ['sex'], 'number')", 'a column named "number"'),
        ("compare_releases(people, staff, ['sex'])", 'does not have a column named "sex"'),
        (
            "compare_releases(people, twice, ['sex'], 'id')",
            "key must differ between records, got a",
        ),
        (
            "compare_releases(gaps, people, ['sex'], 'id')",
            "key must have a value in every row, got",
        ),
        ("compare_releases(people, texts_of, ['sex'], 'id')", "id must have the same type in both"),
        (
            "compare_releases(people, numbers, ['sex'])",
            "sex must have the same type in both tables",
        ),
        (
            "compare_releases(people, people, ['sex'], nulls := 'wildcard')",
            "nulls must be value or drop in plain SQL",
        ),
    ],
)
@each_cell("selected", ["*", "1"])
def test_what_it_cannot_answer_is_refused(
    alone: duckdb.DuckDBPyConnection, selected: str, call: str, words: str
) -> None:
    alone.execute("""CREATE OR REPLACE TEMP VIEW people AS
        SELECT i AS id, ['Ann', 'Bob'][i % 2 + 1] AS sex FROM range(9) t(i)""")
    alone.execute(
        "CREATE OR REPLACE VIEW staff AS SELECT i AS pid, i % 3 AS job FROM range(9) t(i)"
    )
    for view, key, sex in (
        ("twice", "id % 5", "sex"),
        ("gaps", "nullif(id, 2)", "sex"),
        ("texts_of", "'Ann ' || id", "sex"),
        ("numbers", "id", "7"),
    ):
        alone.execute(
            f"CREATE OR REPLACE TEMP VIEW {view} AS SELECT {key} AS id, {sex} AS sex FROM people"
        )
    with pytest.raises(duckdb.Error) as refused:
        alone.execute(f"SELECT {selected} FROM {call}").fetchall()
    alone.execute("DROP VIEW temp.people")
    assert words in str(refused.value)
    assert "Ann" not in str(refused.value)


@each_cell("selected", ["*", "count(*)", "status", "nulls", "1"])
@each_cell(
    "call, words",
    [
        ("join_risk(nobody, people, 'age', 'sex', 'half')", "the table must contain at least one"),
        ("join_risk(people, nobody, 'age', 'sex', 'half')", "the table must contain at least one"),
        ("compare_releases(nobody, nobody, ['age'])", "the table must contain at least one record"),
        ("compare_releases(people, nobody, ['age'])", "second must contain at least one record, got 0"),
        ("compare_releases(nobody, people, ['age'])", "first must contain at least one record, got 0"),
    ],
)  # fmt: skip
def test_an_empty_table_is_refused_whatever_is_selected(
    alone: duckdb.DuckDBPyConnection, call: str, words: str, selected: str
) -> None:
    alone.execute("CREATE OR REPLACE VIEW nobody AS FROM people WHERE age > 100")
    with pytest.raises(duckdb.Error, match=words):
        alone.execute(f"SELECT {selected} FROM {call}").fetchall()


@pytest.mark.all
@pytest.mark.real_data
@each_cell("nulls", ["value", "drop"])
@each_cell(
    "call",
    [
        "compare_releases(january, february, ['age', 'sex', 'race'], 'id', NULL, 'occupation')",
        "compare_releases(january, february, ['age', 'sex'], sensitive := 'education')",
        "join_risk(january, february, 'id', ['age', 'sex'], ['occupation', 'race', 'marital_status'])",
        "join_risk(january, february, 'fnlwgt', ['age', 'sex'], ['occupation', 'race'], k := 5)",
    ],
)
def test_answers_of_adult_are_those_of_python(
    python: duckdb.DuckDBPyConnection,
    alone: duckdb.DuckDBPyConnection,
    adult: str,
    call: str,
    nulls: str,
) -> None:
    for con in (python, alone):
        con.execute(
            f"CREATE OR REPLACE TABLE adult AS SELECT row_number() OVER () AS id, * FROM '{adult}'"
        )
        con.execute("CREATE OR REPLACE VIEW january AS FROM adult WHERE id % 7 > 0")
        con.execute("""CREATE OR REPLACE VIEW february AS SELECT * REPLACE (age + (id % 50 = 0)::INT AS age)
            FROM adult WHERE id % 11 > 0""")
    check_like_python(python, alone, f"FROM {call[:-1]}, nulls := '{nulls}')")


@each_cell(
    "setting",
    ["integer_division = true", "default_null_order = 'nulls_first'", "default_order = 'DESC'"],
)
@each_cell("call", [RELEASES[3], JOINS[0]])
def test_no_setting_changes_an_answer(
    python: duckdb.DuckDBPyConnection, alone: duckdb.DuckDBPyConnection, call: str, setting: str
) -> None:
    draw([python, alone], 65, people=40, repeats=call in JOINS)
    alone.execute(f"SET {setting}")
    try:
        check_like_python(python, alone, f"FROM {call}")
    finally:
        alone.execute(f"RESET {setting.partition(' ')[0]}")


@pytest.mark.parametrize("call", [RELEASES[3], JOINS[0]])
def test_a_macro_with_the_name_of_a_function_does_not_answer(
    python: duckdb.DuckDBPyConnection, call: str
) -> None:
    with duckdb.connect(config={"threads": 1}) as con:
        for name in (
            "count",
            "min",
            "max",
            "sum",
            "len",
            "least",
            "format",
            "row_number",
            "encode",
        ):
            con.execute(f"CREATE MACRO {name}(a) AS 1000")
        con.execute(script())
        draw([python, con], 65, people=40, repeats=call in JOINS)
        check_like_python(python, con, f"FROM {call}")
