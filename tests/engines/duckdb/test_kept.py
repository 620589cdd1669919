"""Macros kept from one process to the next: as those made anew, and from no file that others can write."""

import re
from dataclasses import replace
from pathlib import Path
from types import FunctionType

import duckdb
import pytest
from reid_sql.engines.duckdb.kept import FOLDER
from reid_sql.engines.duckdb.versions import version_of

import reid_sql
from reid_sql import register
from reid_sql_udfs import declared

MACROS = """SELECT function_name, parameters, macro_definition FROM duckdb_functions()
    WHERE database_name = 'reid' ORDER BY ALL"""
WORD = re.compile(r"\w+|[^\s\w]")
PEOPLE = "CREATE TABLE people AS SELECT i % 7 AS age, i % 3 AS sex FROM range(100) AS t(i)"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    chosen = tmp_path / "it's kept"
    monkeypatch.setenv(FOLDER, str(chosen))
    return chosen


def registered(*, reads_files: bool = True) -> list[tuple[object, ...]]:
    """The macros of a new database, which must count as they should."""
    con = duckdb.connect(config={"enable_external_access": reads_files})
    con.execute(PEOPLE)
    register(con)
    sizes = con.execute(
        "SELECT equivalence_class_size(age, sex) AS size FROM people ORDER BY size"
    ).fetchall()
    assert sizes == [(4,)] * 4 * 5 + [(5,)] * 5 * 16, "100 records in 21 classes"
    assert con.execute("SELECT k FROM risk_summary(people, ['age', 'sex'])").fetchall() == [(4,)]
    return [(*named, in_order(definition)) for *named, definition in con.execute(MACROS).fetchall()]


def in_order(definition: str) -> list[str]:
    """The words of a definition: what a star leaves out or replaces is a set, which is told in any order."""
    return sorted(WORD.findall(definition))


def only_file(folder: Path) -> Path:
    (file,) = folder.iterdir()
    return file


def test_kept_macros_are_those_made_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    registered()
    copied = registered()
    written = only_file(folder).stat().st_mtime_ns
    assert registered() == copied
    assert only_file(folder).stat().st_mtime_ns == written, "the file is written once"
    monkeypatch.setenv(FOLDER, "")
    assert registered() == copied
    assert len(copied) > 100


def test_a_damaged_file_is_passed_over_and_written_anew(folder: Path) -> None:
    whole = registered()
    file = only_file(folder)
    for damaged in (b"no database", file.read_bytes()[:5000]):
        file.write_bytes(damaged)
        assert registered() == whole
        assert registered() == whole
        assert file.stat().st_size > 100_000


def test_what_others_can_write_is_not_read(folder: Path) -> None:
    whole = registered()
    file = only_file(folder)
    with duckdb.connect(str(file)) as hostile:
        hostile.execute("CREATE OR REPLACE MACRO risk_summary(tbl, qi) AS TABLE SELECT 1000 AS k")
    for path, mode in ((file, 0o666), (folder, 0o777)):
        before = path.stat().st_mode
        path.chmod(mode)
        assert registered() == whole
        path.chmod(before)


@pytest.mark.usefixtures("folder")
def test_a_connection_that_reads_no_files_makes_its_own() -> None:
    assert registered(reads_files=False) == registered()


def test_nowhere_to_write(folder: Path) -> None:
    folder.write_text("a file where the folder should be", encoding="utf-8")
    assert registered() == registered()


def test_nothing_stays_attached(folder: Path) -> None:
    con = duckdb.connect()
    register(con)
    listed = con.execute(
        "SELECT database_name FROM duckdb_databases() WHERE NOT internal ORDER BY ALL"
    ).fetchall()
    assert listed == [("memory",), ("reid",)]
    assert [path.suffix for path in folder.iterdir()] == [".duckdb"]


def test_files_newer_than_the_process_do_not_name_the_macros(monkeypatch: pytest.MonkeyPatch) -> None:
    functions = declared()
    by_files = version_of(functions, lambda: "the text")
    assert by_files == version_of(functions, lambda: "another")
    newest = max(
        path.stat().st_ctime_ns for path in Path(reid_sql.__file__).parent.rglob("*") if path.suffix == ".sql"
    )
    monkeypatch.setattr(reid_sql, "IMPORTED_AT", newest - 1)
    by_text = [version_of(functions, lambda: text) for text in ("the text", "another")]  # noqa: B023
    assert len({by_files, *by_text}) == 3


def test_other_functions_are_named_by_their_text(tmp_path: Path) -> None:
    """Functions dropped in from elsewhere hang on files that nobody lists."""
    functions = dict(declared())
    kept = functions["risk_summary"]
    elsewhere = FunctionType(kept.body.__code__, kept.body.__globals__)
    elsewhere.__module__ = tmp_path.name
    functions["risk_summary"] = replace(kept, body=elsewhere)
    assert version_of(functions, lambda: "the text") != version_of(functions, lambda: "another")
