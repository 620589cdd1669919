"""`%load_ext reid_sql` in a real IPython shell: what is registered, and how answers are shown."""

import re
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from IPython.core.interactiveshell import InteractiveShell

import reid_sql
from reid_sql.notebook.extension import FIGURES
from tests.outputs import outputs

PEOPLE = "reid_sql/demo/people.csv"
SVG = b"<svg"


@pytest.fixture
def shell(root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    monkeypatch.chdir(root)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    made: Any = InteractiveShell()  # type: ignore[no-untyped-call]
    yield made
    made.history_manager.end_session()


@pytest.fixture
def loaded(shell: Any) -> Any:
    shell.run_line_magic("load_ext", "reid_sql")
    yield shell
    shell.run_line_magic("unload_ext", "reid_sql")


def bundle(shell: Any, shown: object) -> dict[str, Any]:
    """What the shell would send to the page."""
    found: dict[str, Any] = shell.display_formatter.format(shown)[0]
    return found


def asked(sql: str) -> duckdb.DuckDBPyRelation:
    """What the notebook's own connection answers."""
    return duckdb.default_connection().sql(sql)


def pictures(html: str) -> list[bytes]:
    return [
        b64decode(data) for data in re.findall(r'src="data:image/svg\+xml;base64,([^"]*)"', html)
    ]


def test_the_functions_are_on_the_default_connection(loaded: Any) -> None:
    ran = loaded.run_cell(
        f"import duckdb; duckdb.sql(\"FROM risk_summary('{PEOPLE}', ['age'])\").fetchall()"
    )
    assert (
        ran.result[0][:3]
        == asked(f"SELECT 3000, count(DISTINCT age), 2 FROM '{PEOPLE}'").fetchall()[0]
    )


@pytest.mark.newest
def test_a_summary_is_a_card_beside_its_text(loaded: Any) -> None:
    shown = bundle(loaded, asked(f"FROM risk_summary('{PEOPLE}', ['age', 'sex', 'postcode'])"))
    assert "1,051" in shown["text/html"]
    assert "35.0 % share their values with nobody" in shown["text/html"]
    assert "┌" in shown["text/plain"]
    assert "<summary>the rows</summary><table" in shown["text/html"]


def test_groups_are_a_card_the_riskiest_first(loaded: Any) -> None:
    sql = f"FROM risk_summary('{PEOPLE}', ['age', 'sex'], by := ['postcode'])"
    html = bundle(loaded, asked(sql))["text/html"].partition("<details>")[0]
    riskiest = min(asked(sql).pl().rows(named=True), key=lambda row: (row["k"], -row["uniqueness"]))
    assert re.findall(r"<th scope=row[^>]*>(0\d{4})<", html)[0] == riskiest["postcode"]
    assert "Risk of re-identification in 23 groups" in html
    assert "and 11 more below" in html


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        (
            "population_risk('{}', ['age', 'sex', 'postcode'], [1e5])",
            ["Of 100,000 people, about", ">ok<"],
        ),
        ("profile('{}')", ["3,000 records, 7 columns", "marital_status", "a quasi-identifier if"]),
        (
            "suda_scores('{}', ['age', 'sex', 'postcode'])",
            ["1,051 records are unique", ">DIS-SUDA<"],
        ),
        (
            "quasi_identifiers('{}', ['age', 'sex', 'postcode'])",
            [
                ">age, postcode<",
                ">19.6 %<",
                ">589<",
                "Minimal sets of columns that single people out",
            ],
        ),
        (
            "quasi_identifiers('{}', ['sex', 'postcode', 'age', 'marital_status'], at_least := 1)",
            [">no_set: no set of at most 4 columns reaches at_least<"],
        ),
        (
            "quasi_identifiers('{}', at_least := 0.3, max_sets := 30)",
            ["the smallest first; incomplete: the list is complete up to 3 of 7 columns"],
        ),
        (
            "unsafe_combinations('{}', ['age', 'sex', 'postcode'])",
            [">age, postcode<", ">64.7 %<", ">1,942<", ">1,111<"],
        ),
    ],
)
@pytest.mark.first(cells=2)
def test_other_answers_have_cards(loaded: Any, call: str, shown: list[str]) -> None:
    html = bundle(loaded, asked(f"FROM {call.format(PEOPLE)}"))["text/html"].partition("<details>")[
        0
    ]
    assert [text for text in shown if text not in html] == []


def test_every_picture_is_of_a_function_and_no_two_answers_look_alike() -> None:
    columns = [frozenset(outputs()[name].answer_columns) for name in (*FIGURES, "risk_summary")]
    alike = {
        name for name in FIGURES if columns.count(frozenset(outputs()[name].answer_columns)) > 1
    }
    assert alike == set()


def test_a_relation_is_run_once_to_be_shown(loaded: Any) -> None:
    runs = []

    def count_calls() -> int:
        runs.append(1)
        return 1

    con = duckdb.connect()
    reid_sql.register(con)
    con.create_function("count_calls", count_calls, [], "BIGINT", side_effects=True)
    relation = con.sql(
        "SELECT count_calls() AS class_size, 1 AS classes, 1 AS records, 0 AS blank_records, "
        "0 AS records_dropped, 'value' AS nulls"
    )
    runs.clear()
    shown = bundle(loaded, relation)
    assert pictures(shown["text/html"])
    assert "┌" in shown["text/plain"]
    assert len(runs) == 1


@pytest.mark.newest
@pytest.mark.parametrize(
    "make",
    [
        lambda: asked("SELECT '<b>' AS a"),
        lambda: asked(f"FROM risk_summary('{PEOPLE}', ['age']) WHERE false"),
        lambda: asked("SELECT '<b>' AS a").pl(),
        lambda: asked("SELECT '<b>' AS a").df(),
        lambda: "text",
    ],
)
def test_whatever_else_is_shown_as_before(shell: Any, make: Any) -> None:
    reid_sql.register(duckdb.default_connection())
    before = bundle(shell, make())
    shell.run_line_magic("load_ext", "reid_sql")
    assert bundle(shell, make()) == before
    shell.run_line_magic("unload_ext", "reid_sql")
    assert bundle(shell, make()) == before


@pytest.mark.newest
def test_an_answer_is_a_table_again_when_it_is_unloaded(loaded: Any) -> None:
    answer = asked(f"FROM class_size_histogram('{PEOPLE}', ['age', 'sex'])")
    assert pictures(bundle(loaded, answer)["text/html"])
    loaded.run_line_magic("unload_ext", "reid_sql")
    assert pictures(bundle(loaded, answer)["text/html"]) == []
    loaded.run_line_magic("load_ext", "reid_sql")


def test_a_figure_shows_itself(loaded: Any) -> None:
    picture = reid_sql.plot.class_sizes([{"class_size": 1, "classes": 2, "records": 2}])
    assert pictures(bundle(loaded, picture)["text/html"]) == [picture.svg().encode()]
