"""Values that stand for nobody, and columns of people by structure alone, in the gate."""

import sqlite3
import warnings
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import reid_sql.polars as rp
from reid_sql.check import gate
from reid_sql.cli import main
from reid_sql.errors import RowsNotPeopleWarning
from reid_sql.sources.files import open_source
from reid_sql.sources.identifiers import repeated
from tests.cells import each_cell

CHECK = '[[tables.checks]]\nmeasure = "{}"\nat_most = 0.999\n{}'
AVERAGE = CHECK.format("average_risk", "")
ROWS = 600


def people(ids: list[Any], **more: Any) -> pl.DataFrame:
    return pl.DataFrame({"pid": ids, "age": [number % 30 for number in range(len(ids))], **more})


def checked(
    folder: Path,
    place: str,
    table: pl.DataFrame,
    named: str,
    *,
    check: str = AVERAGE,
    cautions: str = "refuse",
) -> Any:
    """The only check of a policy on a file or in SQLite."""
    if place == "file":
        table.write_parquet(folder / "people.parquet")
        source = f'file = "{folder / "people.parquet"}"'
    else:
        con = sqlite3.connect(folder / "people.db")
        marks = ", ".join("?" for _ in table.columns)
        con.execute(_create(table))
        con.executemany(f"INSERT INTO people VALUES ({marks})", table.rows())
        con.commit()
        con.close()
        source = f'url = "sqlite://{folder / "people.db"}"\ntable = "people"'
    policy = folder / "policy.toml"
    keys = f'cautions = "{cautions}"\n[[tables]]\n{source}\nquasi_identifiers = ["age"]\n{named}\n'
    policy.write_text(keys + check, encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error", RowsNotPeopleWarning)
        return gate.run(policy).page["checks"][0]


def _create(table: pl.DataFrame) -> str:
    kinds = {pl.String: "TEXT", pl.Int64: "INTEGER"}
    return f"CREATE TABLE people ({', '.join(f'{n} {kinds[type(k)]}' for n, k in table.schema.items())})"


@pytest.fixture(params=["file", "sqlite"])
def place(request: pytest.FixtureRequest) -> str:
    return str(request.param)


CODES = {
    "heavy": ["x7"] * 100,
    "five heavy": [f"g{number % 5}" for number in range(100)],
    "empty": [""] * 3,
    "word": ["Unknown"],
    "number among texts": ["0"] * 12,
}


@each_cell("code", CODES)
@pytest.mark.first(cells=2)
def test_a_code_of_nobody_is_a_caution_that_can_be_refused(
    tmp_path: Path, place: str, code: str
) -> None:
    ids = CODES[code] + [f"p{number // 2}" for number in range(ROWS)]
    (tmp_path / "allow").mkdir()
    allowed = checked(tmp_path / "allow", place, people(ids), 'entity = "pid"', cautions="allow")
    assert allowed["verdict"] == "pass"
    assert "nobody" in allowed["caution_codes"], allowed
    (tmp_path / "refuse").mkdir()
    refused = checked(tmp_path / "refuse", place, people(ids), 'entity = "pid"', cautions="refuse")
    assert refused["verdict"] == "not judged"
    if len(CODES[code]) < 10:
        assert not any(f" {len(CODES[code])} row" in each for each in allowed["cautions"])


@pytest.mark.parametrize("first", [0, 1])
def test_a_sequence_of_numbers_is_no_code(tmp_path: Path, place: str, first: int) -> None:
    ids = [first + number // 2 for number in range(2200)]  # with 0, or 999
    assert checked(tmp_path, place, people(ids), 'entity = "pid"')["verdict"] == "pass"


def test_a_household_of_most_people_is_a_caution(tmp_path: Path, place: str) -> None:
    table = people(
        [f"p{number}" for number in range(ROWS)],
        h=["0"] * 60 + [f"h{n // 3}" for n in range(ROWS - 60)],
    )
    check = CHECK.format("household_average_risk", 'household = "h"')
    assert checked(tmp_path, place, table, "", check=check)["verdict"] == "not judged"


def test_a_panel_is_found_by_its_structure(tmp_path: Path, place: str) -> None:
    """Two columns are constant within the values of `nr`, whose rows are not beside each other."""
    number = [index % 545 for index in range(545 * 8)]
    table = pl.DataFrame(
        {
            "age": [(n * 7 + row // 545) % 30 for row, n in enumerate(number)],
            "nr": [13 + n for n in number],
            "ethn": ["bho"[n * n % 3] for n in number],
            "school": [n % 10 for n in number],
        }
    )
    found = checked(tmp_path, place, table, "")
    assert found["verdict"] == "not judged"
    assert any("'nr' looks like an identifier" in each for each in found["cautions"]), found[
        "cautions"
    ]
    assert any('entity = "nr"' in each for each in found["cautions"]), found["cautions"]


def test_an_identifier_of_nobody_is_not_advised(tmp_path: Path, place: str) -> None:
    ids = ["unknown"] * ROWS + [f"p{number // 2}" for number in range(ROWS)]
    found = checked(
        tmp_path, place, people(ids), "", check=CHECK.format("average_risk", ""), cautions="refuse"
    )
    assert any("pass a row of each" in each for each in found["cautions"]), found["cautions"]
    assert not any('entity = "pid"' in each for each in found["cautions"]), found["cautions"]


@each_cell("repeats", [False, True])
@each_cell("codes", [["não informado"], ["unknown", "?"], []])
def test_a_code_of_nobody_that_repeats_is_no_person_who_does(
    tmp_path: Path,
    place: str,
    *,
    repeats: bool,
    codes: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """People whose identifier is missing made rows doubtful, although each other person has one row."""
    ids = [f"P{number}" for number in range(60 - repeats)] + ["P7"] * repeats + 20 * codes
    table = people(ids)
    cautions = checked(tmp_path, place, table, "")["cautions"]
    assert any("'pid' looks like an identifier and repeats" in each for each in cautions) == repeats
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rp.risk_summary(table, ["age"]).collect()
    assert any(each.category is RowsNotPeopleWarning for each in caught) == repeats
    table.write_csv(tmp_path / "p.csv")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        main(["profile", "p.csv"])
    assert ("looks like an identifier and repeats" in capsys.readouterr().out) == repeats
    con, name = open_source(str(tmp_path / "p.csv"))
    assert [each.name for each in repeated(con, name, ["age"])] == ["pid"] * repeats
