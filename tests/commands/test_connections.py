"""Commands about a table where it lives: the same figures as of its file, and no word of a secret."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import duckdb
import pyarrow.parquet as pq
import pytest

from reid_sql.cli import main
from tests.check.towns import PEOPLE
from tests.warehouses import connected

SECRET = "Tr0ub4dor/and@3:horses"  # noqa: S105 - of nobody
QI = ["--qi", "age,sex,postcode"]
DATABASES = ["duckdb", pytest.param("postgres", marks=pytest.mark.postgres)]


@pytest.fixture
def of_file(tmp_path: Path) -> list[str]:
    """Some of the made-up town, two rows a person, in a file."""
    file = tmp_path / "people.parquet"
    select = f"""SELECT *, (row_number() OVER () // 2)::VARCHAR AS person_id
        FROM read_csv('{PEOPLE}', all_varchar = true) LIMIT 400"""
    duckdb.sql(f"COPY ({select}) TO '{file}'")
    return [str(file), *QI]


@pytest.fixture
def of_connection(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    of_file: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[list[str]]:
    """The same in a database, by its connection."""
    if request.param == "duckdb":
        with duckdb.connect(tmp_path / "warehouse.duckdb") as con:
            con.execute(f"CREATE SCHEMA town; CREATE TABLE town.people AS FROM '{of_file[0]}'")
        yield [f"duckdb://{tmp_path}/warehouse.duckdb", "--table", "town.people", *QI]
        return
    folder = request.getfixturevalue("postgres")
    server = connected("postgres", folder)
    server.raw_sql("DROP SCHEMA IF EXISTS town CASCADE; CREATE SCHEMA town").close()
    server.create_table("people", pq.read_table(of_file[0]), database="town")
    monkeypatch.setenv("TOWN", f"postgres://reid:{quote(SECRET, safe='')}@/postgres?host={folder}")
    yield ["env:TOWN", "--table", "town.people", *QI]
    server.raw_sql("DROP SCHEMA town CASCADE").close()


def read_page(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.first(of_connection=["duckdb"])
@pytest.mark.parametrize("of_connection", DATABASES, indirect=True)
@pytest.mark.parametrize(
    "options", [[], ["--nulls", "drop"], ["--nulls", "wildcard"], ["--entity", "person_id"]]
)
@pytest.mark.first(cells=1)
def test_risk_is_that_of_the_file(
    of_file: list[str],
    of_connection: list[str],
    options: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    more = ["--threshold", "0.3", "--stand-out", "4", *options]
    expected, found = (
        read_page(capsys, "risk", *of_file, *more),
        read_page(capsys, "risk", *of_connection, *more),
    )
    assert found.pop("summary") == pytest.approx(expected.pop("summary"))
    assert found == {**expected, "counted": found["counted"]}
    assert expected["counted"].startswith(found["counted"])
    assert ("looks like an identifier and repeats" in found["counted"]) == (
        "--entity" not in options
    )


@pytest.mark.first(of_connection=["duckdb"])
@pytest.mark.parametrize("of_connection", DATABASES, indirect=True)
def test_the_one_answer_is_that_of_the_file(
    of_file: list[str], of_connection: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    more = ["--population", "67,000,000", "--k", "3"]
    pages = [read_page(capsys, "risk", *given, *more) for given in (of_file, of_connection)]
    expected, found = (page["population_risk"] for page in pages)
    assert found[0]["method"] == "people"
    assert found == expected
    drawn = tmp_path / "forecast.svg"
    assert main(["risk", *of_connection, *more, "--plot", str(drawn)]) == 0
    assert drawn.read_text(encoding="utf-8").count("<polyline") >= 3


REFUSED = {
    (
        "risk",
        "--memory-limit",
        "1GB",
    ): "--memory-limit must not be given for a warehouse, got '1GB'",
    (
        "risk",
        "--population",
        "1e6",
        "--plot",
        "p.gif",
    ): "--plot must be an SVG file, got 'p.gif'",
    (
        "risk",
        "--population",
        "10",
    ): "populations must be at least the 400 records of the sample, got 10",
    ("profile",): "FILE must be a local file, got '",
    (
        "risk",
        "--table",
        "town.peopel",
    ): "--table must be a table of the database, got 'town.peopel'; did you mean",
    (
        "risk",
        "--qi",
        "Age",
    ): "quasi-identifiers must be columns of the table, got 'Age'; did you mean 'age'?",
}


@pytest.mark.first(of_connection=["duckdb"])
@pytest.mark.parametrize("of_connection", DATABASES, indirect=True)
@pytest.mark.parametrize("words", REFUSED)
def test_what_a_connection_cannot_answer_is_refused(
    of_connection: list[str], words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    given = of_connection[:1] + ([] if "--table" in words else of_connection[1:3])
    given += [] if "--qi" in words or words == ("profile",) else QI
    assert main([words[0], *given, *words[1:]]) == 2
    message = capsys.readouterr()
    assert REFUSED[words] in message.err
    assert message.err.count("\n") == 1
    assert not message.out


@pytest.mark.parametrize("command", ["risk", "profile", "safe"])
def test_a_secret_on_the_command_line_is_refused_and_not_repeated(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    more = {
        "profile": [],
        "safe": ["--by", "age,sex"],
    }
    url = f"postgres://reid:{SECRET}@localhost:1/db"
    assert main([command, url, "--table", "t", *more.get(command, QI)]) == 2
    message = capsys.readouterr()
    assert not any(piece in message.out + message.err for piece in ("Tr0ub4dor", "and@3", "horses"))
    assert "postgres://reid:***@localhost:1/db" in message.err
