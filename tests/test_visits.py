"""A careless user measures visits as if each were a person: every answer says that rows may not be people."""

import gc
import json
import random
import re
import warnings
from pathlib import Path
from typing import Any, Final

import duckdb
import polars as pl
import pytest
from IPython.core.interactiveshell import InteractiveShell

import reid_sql
import reid_sql.polars as rp
from reid_sql.check.catalogue import MEASURES
from reid_sql.check.gate import check
from reid_sql.check.html import render_html
from reid_sql.check.measure import Measure
from reid_sql.cli import main
from reid_sql.commands.parser import COMMANDS
from reid_sql.errors import OutOfDomainError, RowsNotPeopleWarning
from reid_sql.explore.choice import KNOWN
from reid_sql.function import Answer
from reid_sql.parameters import Columns, Table
from reid_sql.parameters.outputs import REQUIRED
from reid_sql_udfs import declared
from tests.cells import each_cell
from tests.explorations import chosen, explored
from tests.processes import command
from tests.tiers import representatives

HINT: Final = "Column 'patient_id' looks like an identifier and repeats (30 values in 180 rows)"
QI: Final = ["--qi", "age,sex,town"]
COLUMNS: Final = ["age", "sex", "town"]
POLICY: Final = """
{cautions}
[[tables]]
file = "visits.csv"
quasi_identifiers = ["age", "sex", "town"]
sensitive = ["diagnosis"]
population = 100_000
population_file = "visits.csv"
{about}
checks = [{checks}]
[assessment]
assessor = "Ada Lind"
date = 2026-11-27
"""
SCENARIO: Final = 'population = 100000\n[[groups]]\ncolumns = ["age", "sex"]\nprobability = 0.5\n'
SQL: Final = (
    "CREATE TABLE visits AS FROM 'visits.csv'; FROM risk_summary(visits, ['age', 'sex', 'town'])"
)
GIVEN: Final = {
    "profile": ["visits.csv"],
    "init": ["visits.csv"],
    "report": ["visits.csv"],
    "risk": ["visits.csv", *QI],
    "check": ["p.toml"],
    "prepare": ["p.toml"],
    "dossier": ["p.toml", "--out", "dossier"],
    "compare": ["visits.csv", "released.csv", *QI],
    "audit": ["visits.csv", "released.csv", *QI, "--holdout", "released.csv"],
    "safe": ["visits.csv", "--by", "age,sex,town"],
    "query": ["visits.sql"],
}
# What an option of a command measures instead: the command, and its arguments.
INSTEAD: Final = {
    "forecast": ["risk", "visits.csv", *QI, "--population", "100000"],
    "validate": ["risk", "visits.csv", *QI, "--methods", "bound", "--validate", "0.5"],
    "scenario": ["risk", "visits.csv", "--scenario", "s.toml"],
    "later": ["compare", "visits.csv", "released.csv", *QI, "--as", "later"],
    "qar": ["query", "FROM qar_risk('visits.csv', ['age', 'sex', 'town'], p := 2)"],
}
CALLS: Final = {**{name: [name, *given] for name, given in GIVEN.items()}, **INSTEAD}
WITHOUT_A_TABLE: Final = {"functions", "sql", "completion", "serve"}
IN_A_BROWSER: Final = {"explore"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """30 patients with 6 rows each, a release without their column, a scenario and a file of SQL."""
    made = tmp_path_factory.mktemp("visits")
    rng = random.Random(33)  # noqa: S311 - tables, no secrets
    people = [(p, rng.randint(20, 59), rng.choice("FM"), rng.choice("ABC")) for p in range(30)]
    names = ["patient_id", *COLUMNS]
    rows = [(*one, rng.choice("xyz"), day) for one in people for day in range(6)]
    visits = pl.DataFrame(rows, [*names, "diagnosis", "day"], orient="row")
    visits.write_csv(made / "visits.csv")
    visits.drop("patient_id").write_csv(made / "released.csv")
    (made / "s.toml").write_text(SCENARIO, encoding="utf-8")
    (made / "visits.sql").write_text(SQL, encoding="utf-8")
    return made


@pytest.fixture(autouse=True)
def inside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "100")  # a page without a table whose cells are side by side
    for written in folder.glob("visits.*.toml"):
        written.unlink()
    write_policy('{measure = "k", at_least = 5}')


def write_policy(checks: str, cautions: str = "", about: str = "") -> Path:
    path = Path("p.toml")
    path.write_text(POLICY.format(checks=checks, cautions=cautions, about=about), encoding="utf-8")
    return path


def joined(text: str) -> str:
    """The text without line ends, frames and spaces of a page."""
    return " ".join(re.sub(r"[│┃|]", " ", text).split())


def test_every_command_that_reads_a_table_is_tried() -> None:
    assert GIVEN.keys() | WITHOUT_A_TABLE | IN_A_BROWSER == COMMANDS.keys()


def test_explore_counts_people_and_else_says_that_rows_are_not() -> None:
    """It proposes the column that identifies them; without it, the answer has the caution."""
    with explored(Path("visits.csv")) as exploration:
        proposed = exploration.answer(exploration.proposed).table
        assert (proposed["records"], proposed["entity"]) == (30, "patient_id")
        choice = chosen(exploration, **dict.fromkeys(COLUMNS, KNOWN))
        page = json.dumps(exploration.answer(choice).page)
        assert json.dumps(HINT)[1:-1] in page


@pytest.mark.first(shape=["json"])
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("shape", ["table", "json", "csv"])
@pytest.mark.first(cells=6)
def test_no_command_answers_in_silence(
    name: str, shape: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*CALLS[name], "--format", shape]) in {0, 1}
    shown = capsys.readouterr()
    words = (
        HINT.replace(",", "").replace("'", "")
        if name in {"check", "prepare", "dossier"} and shape == "csv"
        else HINT
    )
    page = joined(shown.out + shown.err)
    assert words in (page.replace(",", "").replace("'", "") if words != HINT else page)


@pytest.mark.parametrize("name", ["check", "prepare", "dossier"])
def test_a_policy_that_refuses_cautions_refuses_visits(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_policy('{measure = "k", at_least = 5}', 'cautions = "refuse"')
    code = main([name, *GIVEN[name]])
    shown = capsys.readouterr()
    assert HINT in joined(shown.out + shown.err)
    assert code == 2


def test_a_population_of_visits_is_named_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["risk", "released.csv", "--scenario", "s.toml", "--population-file", "visits.csv"])
        == 0
    )
    assert HINT in joined(capsys.readouterr().out)


@pytest.mark.parametrize("name", ["forecast", "validate", "contributions", "compare", "audit"])
@pytest.mark.first(cells=2)
def test_a_chart_says_it_too(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    contributions = f"FROM qar_risk('visits.csv', {[*COLUMNS, 'diagnosis', 'day']}, alpha := 0.3, tail := 0.9, output := 'contributions')"
    calls = {**CALLS, "contributions": ["query", contributions]}
    assert main([*calls[name], "--plot", "chart.svg"]) == 0
    capsys.readouterr()
    drawn = " ".join(re.findall(r'"title".*?>(.*?)</text>', Path("chart.svg").read_text("utf-8")))
    assert "looks like an identifier" in joined(drawn)


def asked(measure: Measure) -> str:
    """A check of the measure that any figure meets, with what it requires."""
    given: dict[str, Any] = {
        "population": 100000,
        "scenario": '"s.toml"',
        "household": '"town"',
        "value": '"day"',
    }
    required = [name for name, each in measure.parameters.items() if each.default is REQUIRED]
    parts = [f"{name} = {given[name]}" for name in required]
    high = {"share": 1, "count": 180, "number": 1e6}[measure.unit]
    parts += ["at_least = 0" if measure.at_least else f"at_most = {high}"]
    return f'{{measure = "{measure.name}", {", ".join(parts)}}}'


@pytest.mark.parametrize(
    "name", [name for name, each in MEASURES.items() if each.function == "unicity"]
)
def test_a_measure_of_people_needs_them(name: str) -> None:
    with pytest.raises(OutOfDomainError, match="needs entity"):
        check(write_policy(asked(MEASURES[name])))


FILES = {
    "": "",
    "original": 'original_file = "visits.csv"\nholdout_file = "visits.csv"',
    "first": 'former_file = "visits.csv"',
}


@pytest.mark.parametrize("other", FILES)
def test_no_measure_of_the_gate_is_judged_in_silence(other: str) -> None:
    measures = {
        name: each
        for name, each in MEASURES.items()
        if other == next(filter(each.takes, ("original", "first")), "")
        and each.function not in {"unicity", "join_risk"}  # people are named
    }
    every = ", ".join(map(asked, measures.values()))
    page = check(write_policy(every, 'cautions = "refuse"', about=FILES[other]))
    assert [each["measure"] for each in page["checks"]] == list(measures) != []
    for judged in page["checks"]:
        assert any(HINT in caution for caution in judged["cautions"]), judged
        assert judged["verdict"] == "not judged", judged
    assert "looks like an identifier and repeats" in render_html(page)
    assert page["verdict"] == "not judged"


def test_a_measure_of_households_silences_no_other() -> None:
    """The household's column of one check is known there; the other check counts rows all the same."""
    households = '{measure = "household_uniqueness", household = "patient_id", at_most = 1}'
    page = check(write_policy(f'{{measure = "k", at_least = 5}}, {households}'))
    told = [any(HINT in caution for caution in each["cautions"]) for each in page["checks"]]
    assert told == [True, False]


def test_a_person_who_is_sensitive_silences_no_caution_and_one_who_is_counted_does() -> None:
    for about, is_caution in (('entity = "patient_id"', False), ("", True)):
        text = write_policy('{measure = "k", at_least = 1}', about=about).read_text(
            encoding="utf-8"
        )
        if is_caution:
            text = text.replace('["diagnosis"]', '["diagnosis", "patient_id"]')
        Path("p.toml").write_text(
            text.replace('population_file = "visits.csv"', ""), encoding="utf-8"
        )
        assert (
            any(HINT in caution for caution in check("p.toml")["checks"][0]["cautions"])
            == is_caution
        )
    with pytest.warns(RowsNotPeopleWarning, match="patient_id"):
        reid_sql.l_diversity(duckdb.connect(), "visits.csv", COLUMNS, "patient_id")


def table_functions() -> list[str]:
    """Functions of one table of records that count rows unless people are named."""
    return [
        name
        for name, each in declared().items()
        if each.answer not in {Answer.WINDOW, Answer.SCORED_TABLE}
        and [p.name for p in each.parameters if isinstance(p.domain, Table)] == ["tbl"]
        and any(p.name == "entity" and p.default is None for p in each.parameters)
    ]


REST: Final[dict[str, Any]] = {
    "populations": [1e5],
    "population": 1e5,
    "sensitive": "diagnosis",
    "scenario": "s.toml",
    "name": "visits_model",
    "methods": ["bound"],
    "fractions": [0.5],
    "samples": 1,
    "p": 2,
    "remove": 1,
    "sampling_fraction": 0.1,
}


def arguments_of(name: str) -> dict[str, Any]:
    """What the function requires besides the table and an entity."""
    given: dict[str, Any] = {}
    for each in declared()[name].parameters:
        if isinstance(each.domain, Columns) and each.name not in REST:
            given[each.name] = COLUMNS
        elif each.name in REST and (
            each.default is REQUIRED or each.name in {"methods", "samples", "fractions"}
        ):
            given[each.name] = REST[each.name]
    return given


@pytest.mark.first(name=representatives())
@each_cell("name", table_functions())
def test_the_python_api_warns_at_the_callers_line(name: str) -> None:
    con = duckdb.connect()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        getattr(reid_sql, name)(con, tbl=con.read_csv("visits.csv"), **arguments_of(name))
    cautions = [each for each in caught if each.category is RowsNotPeopleWarning]
    assert [HINT in str(each.message) for each in cautions] == [True]
    assert cautions[0].filename == __file__


def registered() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    reid_sql.register(con)
    con.execute("CREATE TABLE visits AS FROM 'visits.csv'")
    return con


@pytest.mark.filterwarnings("error")
def test_sql_reads_a_stream_once_and_a_view_no_more_than_its_answer_does() -> None:
    con = registered()
    visits = pl.read_csv("visits.csv").to_arrow()
    expected = con.execute("SELECT count(*), count(DISTINCT (age, sex)) FROM visits").fetchall()
    counts = "SELECT records, classes FROM risk_summary(stream, ['age', 'sex'])"
    con.register("stream", visits.to_reader())
    assert con.execute(counts).fetchall() == expected
    con.unregister("stream")
    con.execute("CREATE SEQUENCE seen")
    con.execute("CREATE VIEW stream AS FROM visits WHERE nextval('seen') > 0")
    assert con.execute(counts).fetchall() == expected
    assert con.execute("SELECT nextval('seen')").fetchall() == [(181,)]


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE visits RENAME patient_id TO pid",
        "ALTER TABLE visits DROP patient_id",
        "CREATE TEMP TABLE other AS FROM visits; DROP TABLE visits; ALTER TABLE other RENAME TO visits",
        "CREATE TEMP VIEW other AS FROM 'visits.csv'; DROP TABLE visits; ALTER VIEW other RENAME TO visits",
        "CREATE TABLE other AS FROM visits; DROP TABLE visits; ALTER TABLE other RENAME TO visits",
    ],
)
def test_sql_answers_whatever_its_transaction_has_changed(change: str) -> None:
    con = registered()
    con.execute(f"BEGIN; {change}")
    answer = con.execute("SELECT records FROM risk_summary(visits, ['age'])").fetchall()
    assert answer == [(180,)]


@pytest.mark.filterwarnings("error")
def test_a_cursor_that_outlives_its_connection_answers() -> None:
    cursor = registered().cursor()
    gc.collect()
    assert cursor.execute("SELECT records FROM reid.risk_summary(visits, ['age'])").fetchall() == [
        (180,)
    ]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("rows", [1, 40, 3_000, 300_000])
def test_sql_is_silent_where_rows_are_people(rows: int) -> None:
    con = registered()
    con.execute(
        f"CREATE TABLE people AS SELECT i AS patient_id, i % 7 AS age FROM range({rows}) AS t(i)"
    )
    con.execute("FROM risk_summary(people, ['age'])").fetchall()
    con.execute("FROM risk_summary(visits, ['age'], entity := 'patient_id')").fetchall()
    con.execute("FROM profile(visits)").fetchall()


IN_POLARS: Final = [name for name in table_functions() if not declared()[name].absence("polars")]


@pytest.mark.first(name=representatives())
@each_cell("name", IN_POLARS)
def test_a_frame_of_polars_warns_when_the_answer_is_collected(name: str) -> None:
    answer = getattr(rp, name)(tbl=pl.scan_csv("visits.csv"), **arguments_of(name))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answer.collect()
    cautions = [str(each.message) for each in caught if each.category is RowsNotPeopleWarning]
    assert [HINT in each for each in cautions] == [True]


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
@pytest.mark.parametrize(
    "ask",
    [
        lambda frame: frame,
        lambda frame: frame.head(3),
        lambda frame: frame.filter(pl.col("class_size") > 6).select("class_size"),
    ],
)
def test_the_warning_is_no_part_of_the_answer(ask: Any, engine: Any) -> None:
    visits = pl.read_csv("visits.csv")
    without = rp.equivalence_classes(visits.drop("patient_id"), COLUMNS).sort(COLUMNS)
    answer = ask(rp.equivalence_classes(visits, COLUMNS).sort(COLUMNS))
    with pytest.warns(RowsNotPeopleWarning, match="patient_id"):
        assert answer.collect(engine=engine).equals(ask(without).collect())


@pytest.mark.filterwarnings("error")
def test_polars_is_silent_where_people_are_named_or_rows_are_people() -> None:
    visits = pl.scan_csv("visits.csv")
    rp.risk_summary(visits, COLUMNS, entity="patient_id").collect()
    rp.risk_summary(visits.unique("patient_id"), COLUMNS).collect()
    rp.profile(visits).collect()


def test_a_person_among_the_quasi_identifiers_is_named_everywhere(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["risk", "visits.csv", "--qi", "age,patient_id"]) == 0
    assert HINT in joined(capsys.readouterr().out)
    with pytest.warns(RowsNotPeopleWarning, match="looks like an identifier"):
        reid_sql.risk_summary(duckdb.connect(), "visits.csv", ["age", "patient_id"])


def test_no_entity_identifies_the_people_of_an_attackers_population(
    capsys: pytest.CaptureFixture[str],
) -> None:
    known = ["--scenario", "s.toml", "--entity", "patient_id", "--population-file", "visits.csv"]
    assert main(["risk", "visits.csv", *known]) == 0
    assert f"{HINT}: if it identifies people, pass a row of each." in joined(
        capsys.readouterr().out
    )
    asked: dict[str, Any] = {"entity": "patient_id", "population_tbl": "visits.csv"}
    with pytest.warns(RowsNotPeopleWarning, match="pass a row of each"):
        reid_sql.adversary_summary(duckdb.connect(), "visits.csv", "s.toml", **asked)


@pytest.mark.filterwarnings("error")
def test_the_python_api_is_silent_where_people_are_named_or_rows_are_people() -> None:
    con = duckdb.connect()
    con.execute("CREATE TABLE visits AS FROM 'visits.csv'")
    con.execute("CREATE TEMP TABLE people AS SELECT DISTINCT ON (patient_id) * FROM visits")
    reid_sql.risk_summary(con, "visits", COLUMNS, entity="patient_id")
    reid_sql.risk_summary(con, "people", COLUMNS)
    reid_sql.profile(con, "visits")


def test_a_notebooks_card_says_it_and_no_other_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    shell: Any = InteractiveShell()  # type: ignore[no-untyped-call]
    shell.run_line_magic("load_ext", "reid_sql")
    try:
        call = "FROM risk_summary('visits.csv', ['age', 'sex', 'town']{})"
        for more, is_told in (("", True), (", entity := 'patient_id'", False)):
            for kind in ("relation", "frame"):
                answer = duckdb.default_connection().sql(call.format(more))
                shown = shell.display_formatter.format(
                    answer if kind == "relation" else answer.df()
                )[0]
                assert [
                    HINT in shown["text/html"].replace("&#x27;", "'"),
                    HINT in shown["text/plain"],
                ] == [
                    is_told,
                    is_told,
                ]
        drawn = shell.display_formatter.format(
            duckdb.sql("FROM class_size_histogram('visits.csv', ['age'])")
        )[0]
        assert HINT in drawn["text/plain"]
    finally:
        shell.run_line_magic("unload_ext", "reid_sql")
        shell.history_manager.end_session()


def test_a_report_of_people_calls_them_people() -> None:
    shown = render_html(
        check(write_policy('{measure = "k", at_least = 1}', about='entity = "patient_id"'))
    )
    assert "visits (30 people)" in shown
    assert "<dt>people</dt><dd>30</dd>" in shown
    assert "30 records" not in shown


def test_a_process_prints_it_beside_the_verdict() -> None:
    done = command("check", str(Path("p.toml").absolute()))
    assert done.returncode == 0
    assert HINT in joined(done.stdout)
