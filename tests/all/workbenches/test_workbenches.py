"""The blocks of docs/workbenches.md, each run by the tool that it is written for."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from textwrap import indent
from typing import Any

import duckdb
import pytest

import reid_sql

HERE = Path(__file__).parent
PYTHON = os.environ.get("REID_SQL_WORKBENCHES_PYTHON")
pytestmark = pytest.mark.workbenches
ANSWER = "[(3000, 1)]"
MARIMO = """import marimo
app = marimo.App()


@app.cell
def _():
{cell}
    return


if __name__ == "__main__":
    app.run()
"""


@pytest.fixture
def folder(tmp_path: Path, root: Path) -> Path:
    """A folder with the town and the script."""
    shutil.copy(root / "reid_sql" / "demo" / "people.csv", tmp_path)
    return tmp_path


def block(root: Path, heading: str) -> list[str]:
    """The lines of the block under a heading of the page."""
    page = (root / "docs" / "workbenches.md").read_text(encoding="utf-8")
    (section,) = re.findall(
        rf"^## {re.escape(heading)}$(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE
    )
    lines = re.findall(r"^    (.*)$", section, re.MULTILINE)
    assert lines, f"a block under {heading}"
    return lines


def run(folder: Path, root: Path, *words: str, given: object = None) -> str:
    """What a program of the environment says, in the folder; it must not fail."""
    programs = Path(PYTHON or "").parent
    environment = os.environ | {
        "PYTHONPATH": f"{root}{os.pathsep}{root / 'udfs'}",
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PLOOMBER_STATS_ENABLED": "false",
        "IPYTHONDIR": str(folder / "ipython"),
        "HOME": str(folder),
    }
    done = subprocess.run(
        words,
        cwd=folder,
        env=environment,
        input=json.dumps(given) if given is not None else None,
        stdin=None if given is not None else subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def python(folder: Path, root: Path, *words: str, given: object = None) -> str:
    return run(folder, root, PYTHON or "", *words, given=given)


def cells(folder: Path, root: Path, given: list[str]) -> list[dict[str, Any]]:
    reported = python(folder, root, str(HERE / "ipython_cells.py"), given=given)
    found: list[dict[str, Any]] = json.loads(reported.splitlines()[0])
    return found


def command(folder: Path, root: Path, line: str) -> str:
    """Run a line of the page as a shell would; `reid-sql` is this tree's."""
    words, _, file = line.partition(" > ")
    program, *rest = shlex.split(words)
    shown = (
        run(folder, root, sys.executable, "-m", "reid_sql.cli", *rest)
        if program == "reid-sql"
        else run(folder, root, program, *rest)
    )
    if file:
        (folder / file).write_text(shown, encoding="utf-8")
    return shown


def test_jupysql(folder: Path, root: Path) -> None:
    lines = block(root, "JupySQL")
    more = [
        "%sql SELECT records FROM risk_summary(people, ['age'])",
        "%sql SELECT reid.equivalence_class_size(age, sex) AS k FROM people QUALIFY k < 2 LIMIT 1",
        "%sql SELECT k FROM reid.risk_summary(people, ['age', 'sx'])",
        "%sql FROM reid.fit_copula('town', people, ['age', 'sex'])",
        "%sql SELECT reid.uniqueness_xi('town', 10000, age, sex) > 0 AS unique FROM people LIMIT 1",
    ]
    *before, summary, bare, size, misspelt, fit, score = cells(folder, root, [*lines, *more])
    assert [each["failed"] for each in before] == [None] * len(before)
    assert re.search(r"\b3000\b.*\b1\b", summary["gave"], re.DOTALL)
    assert 'Did you mean "reid.risk_summary"?' in bare["failed"]
    assert size["failed"] is None
    assert re.search(r"\| +1 +\|", size["gave"])
    assert "got 'sx'; did you mean 'sex'?" in misspelt["failed"]
    assert fit["failed"] is None
    assert "True" in score["gave"]


@pytest.mark.parametrize("connection", ["duckdb://", "con"])
def test_load_ext_registers_on_the_connection_of_jupysql(
    folder: Path, root: Path, connection: str
) -> None:
    lines = block(root, "JupySQL with the extension")
    given = [line.replace("duckdb://", connection) for line in lines]
    given = [
        "import duckdb; con = duckdb.connect()",
        *(line.replace(", 'zip'", "") for line in given),
    ]
    *before, summary = cells(folder, root, given)
    assert [each["failed"] for each in before] == [None] * len(before)
    assert re.search(r"\b1\b.*\b3000\b", summary["gave"], re.DOTALL)


def test_sqlalchemy(folder: Path, root: Path) -> None:
    lines = "\n".join(block(root, "SQLAlchemy, also under JupySQL or pandas"))
    assert python(folder, root, "-c", lines).strip() == ANSWER
    jupysql = [
        lines,
        "%load_ext sql",
        "%sql engine",
        "%sql SELECT records, k FROM risk_summary(people, ['age', 'sex'])",
    ]
    *_, summary = cells(folder, root, jupysql)
    assert summary["failed"] is None
    assert re.search(r"\b3000\b.*\b1\b", summary["gave"], re.DOTALL)


def test_ipython(folder: Path, root: Path) -> None:
    *_, last = cells(folder, root, block(root, "IPython and Jupyter without magics"))
    assert (last["failed"], last["gave"]) == (None, ANSWER)


def test_marimo(folder: Path, root: Path) -> None:
    cell = "\n".join(block(root, "marimo"))
    (folder / "notebook.py").write_text(MARIMO.format(cell=indent(cell, "    ")), encoding="utf-8")
    assert python(folder, root, "notebook.py").strip() == ANSWER


HARLEQUIN = [
    "CREATE OR REPLACE TABLE people AS FROM 'people.csv'",
    "SELECT records, k FROM risk_summary(people, ['age', 'sex'])",
    "SELECT records, k FROM reid.risk_summary(people, ['age', 'sex'])",
    "SELECT k FROM risk_summary(people, ['age', 'sx'])",
    "SELECT model FROM fit_copula('town', people, ['age', 'sex'])",
]


def harlequin(folder: Path, root: Path, **asked: object) -> dict[str, Any]:
    given = {"database": "people.duckdb", "statements": HARLEQUIN} | asked
    found: dict[str, Any] = json.loads(
        python(folder, root, str(HERE / "harlequin_session.py"), given=given).splitlines()[0]
    )
    assert {"risk_summary", "equivalence_class_size"} <= set(found["completions"])
    return found


def test_harlequin(folder: Path, root: Path) -> None:
    start, *_ = block(root, "Harlequin")
    (named,) = re.findall(r"^harlequin --adapter (\S+) people.duckdb$", start)
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    adapter = project["project"]["entry-points"]["harlequin.adapter"][named]
    _, bare, whole, misspelt, fit = harlequin(folder, root, adapter=adapter)["answers"]
    assert bare == whole == [{"records": 3000, "k": 1}]
    assert "got 'sx'; did you mean 'sex'?" in misspelt
    assert fit == [{"model": "town"}]
    with duckdb.connect(folder / "people.duckdb") as con:
        assert con.execute(
            "SELECT count(*) FROM duckdb_functions() WHERE NOT internal"
        ).fetchall() == [(0,)]


def test_harlequin_with_the_script_alone(folder: Path, root: Path) -> None:
    _, script, start = block(root, "Harlequin")
    command(folder, root, script)
    (named,) = re.findall(r"--init-path (\S+)", start)
    adapter = "harlequin_duckdb.adapter:DuckDbAdapter"
    found = harlequin(folder, root, adapter=adapter, script=str(folder / named))
    _, bare, whole, misspelt, fit = found["answers"]
    assert bare == whole == [{"records": 3000, "k": 1}]
    assert 'does not have a column named "sx"' in misspelt
    assert "fit_copula must be called where Python is" in fit


def test_the_command_line(folder: Path, root: Path) -> None:
    script, query = block(root, "DuckDB's command line")
    command(folder, root, script)
    assert re.search(r"3000 │ +1", command(folder, root, query))
    assert re.search(
        r"3000 │ +1", command(folder, root, query.replace("FROM risk_", "FROM reid.risk_"))
    )


def test_one_file_without_python(folder: Path, root: Path) -> None:
    """Then DuckDB's command line alone, from another folder, with slips of the pen."""
    write, ask = block(root, "One file, without Python")
    command(folder, root, write)
    assert re.search(r"3000 │ +1", command(folder, root, ask))
    for call, words in (
        ("reid.risk_summary('people.csv', ['age', 'sx'])", 'does not have a column named "sx"'),
        ("reid.risk_sumary('people.csv', ['age'])", 'Did you mean "'),
        ("reid.profile('people.csv')", "profile must be called where Python is"),
        ("reid.risk_summary('people.csv', 'age', 7)", "threshold must be a number from 0 to 1"),
    ):
        program, option, sql = shlex.split(ask)
        asked = sql.replace("reid.risk_summary('people.csv', ['age', 'sex'])", call)
        with pytest.raises(AssertionError) as refused:
            run(folder, root, program, option, asked.replace("records, k", "*"))
        assert words in str(refused.value)


def test_the_client_alone_answers_from_the_file(folder: Path, root: Path) -> None:
    """The program of the package index, with no variable set: no Python, no path, no home."""
    find = "import duckdb_cli; print(duckdb_cli.__path__[0])"
    program = Path(python(folder, root, "-c", find).strip()) / "duckdb"
    write, _ = block(root, "One file, without Python")
    command(folder, root, write)
    (folder / "bare").mkdir()
    for name in ("reid.duckdb", "people.csv"):
        (folder / name).rename(folder / "bare" / name)
    with duckdb.connect() as con:
        reid_sql.register(con)
        for call, columns in (
            ("risk_summary('people.csv', ['age', 'sex', 'postcode'])", "k, unique_records"),
            ("individual_risk('people.csv', ['age', 'sex'])", "round(sum(risk), 9)"),
            (
                "unicity('people.csv', 'postcode', ['age'], 1)",
                "median_matches, round(uniqueness, 9)",
            ),
            ("safe_table('people.csv', ['sex', 'diagnosis'])", "count(*), sum(records)::BIGINT"),
            ("suda_scores('people.csv', ['age', 'sex'], 2)", "round(sum(suda_score), 9)"),
            (
                "join_risk('people.csv', 'people.csv', 'postcode', ['age'], ['sex'])",
                "sum(singled_out)::BIGINT, sum(below_k_right)::BIGINT",
            ),
            ("compare_releases('people.csv', 'people.csv', ['age', 'sex'])", "sum(value)"),
        ):
            sql = f"SELECT {columns} FROM {{}}{call}"
            asked = f"ATTACH 'reid.duckdb' (READ_ONLY); {sql.format('reid.')}"
            done = subprocess.run(
                [str(program), "-csv", "-noheader", "-c", asked],
                cwd=folder / "bare",
                env={},
                capture_output=True,
                text=True,
                check=True,
            )
            told = sql.format("").replace("people.csv", str(folder / "bare" / "people.csv"))
            [row] = con.execute(told).fetchall()
            assert [float(each) for each in done.stdout.split(",")] == pytest.approx(list(row))


def test_ibis(folder: Path, root: Path) -> None:
    lines = "\n".join(block(root, "Ibis"))
    assert python(folder, root, "-c", lines).strip() == ANSWER
