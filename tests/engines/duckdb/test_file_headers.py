"""A file named in SQL has the columns that its first line names, each once, or is refused."""

from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import reid_sql
import reid_sql.polars as rp
from reid_sql.engines.file_headers import refuse_record
from reid_sql.errors import OutOfDomainError
from tests.processes import command

AGES = range(30)
REPEATED = "must name each column once"
TITLE = "must begin with its header"
RECORD = "a first line that looks like a record"
FILES = {
    "twice": ("age,age,sex\n" + "".join(f"30,{age},m\n" for age in AGES), REPEATED),
    "title": (
        "title of the export;;\n;;\nsex;age\n" + "".join(f"m;{age}\n" for age in AGES),
        TITLE,
    ),
    "one_field": ("export 2024\nsex,age\n" + "".join(f"m,{age}\n" for age in AGES), TITLE),
    "record": ("".join(f"ann{age},m\n" for age in AGES), RECORD),
    "numbers": ("".join(f"{60 - age},{age},{age + 7}\n" for age in AGES), RECORD),
    "footer": (
        "sex,age\n" + "".join(f"m,{age}\n" for age in AGES) + "30 rows in total\n",
        "must be",
    ),
}


@pytest.fixture
def con() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    reid_sql.register(con)
    return con


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    "call", ["risk_summary({}, ['age'])", "profile({})", "quasi_identifiers({})"]
)
def test_a_file_whose_columns_are_misread_is_refused(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, name: str, call: str
) -> None:
    text, reason = FILES[name]
    file = tmp_path / f"{name}.csv"
    file.write_text(text)
    # DuckDB takes the first line for a record, as it is, and numbers the columns
    if name == "numbers":
        known = con.execute(f"SELECT list(column_name) FROM profile('{file}')").fetchall()
        assert known == [(["column0", "column1", "column2"],)]
        return
    with pytest.raises(duckdb.Error, match="must ") as refused:
        con.execute("FROM " + call.format(f"'{file}'")).fetchall()
    assert reason in str(refused.value) or "must be columns of the table, got 'age'" in str(
        refused.value
    )


@pytest.mark.parametrize("name", [name for name in FILES if name != "footer"])
def test_the_command_refuses_the_same_files(tmp_path: Path, name: str) -> None:
    text, reason = FILES[name]
    (tmp_path / "people.csv").write_text(text)
    done = command("profile", str(tmp_path / "people.csv"))
    assert (done.returncode, reason in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("id,2019,2020", ["id", "2019", "2020"]),
        (",age,sex", ["column0", "age", "sex"]),
        ('"a;b";c', ["a;b", "c"]),
        ("\ufeffage\tsex", ["age", "sex"]),
        ("sex,sex_1", ["sex", "sex_1"]),
    ],
)
def test_names_of_columns_are_no_record(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, header: str, names: list[str]
) -> None:
    mark = next(each for each in ";\t," if each in header)
    rows = "".join(
        mark.join(f"v{age}{place}" for place, _ in enumerate(names)) + "\n" for age in AGES
    )
    file = tmp_path / "people.csv"
    file.write_text(f"{header}\n{rows}")
    assert con.execute(f"SELECT list(column_name) FROM profile('{file}')").fetchall() == [(names,)]
    assert command("profile", str(file)).returncode == 0


def test_a_first_line_of_values_is_a_record_though_none_of_them_is_there_again() -> None:
    """A date beside a postcode was in order, as years are that name columns, so that a person was lost."""
    records = {
        "a date and a postcode": [[f"19{30 + age}-07-10", f"{34117 + age}"] for age in AGES],
        "two dates": [[f"{age + 1:02}.02.1950", f"{age + 1:02}.03.2024"] for age in AGES],
        "a time": [[f"1958-07-10T13:{age + 11}:00", "x" * age] for age in AGES],
        "a year and a postcode": [[f"{1930 + age}", f"{34117 + 7 * age}"] for age in AGES],
        "an address": [["x" * age, f"ann{age}@example.org"] for age in AGES],
        "an amount": [["x" * age, f"€ 1.{100 + age},50"] for age in AGES],
    }
    for words, rows in records.items():
        with pytest.raises(OutOfDomainError, match=RECORD):
            refuse_record(words, [[f"ann{place}", *row] for place, row in enumerate(rows)], "")
    counts = [[f"town{age}", f"{age}", f"{7 * age}", f"{1900 + age}"] for age in AGES]
    for header in (["2010", "2015", "2020"], ["01.01.2024", "01.02.2024", "01.03.2024"]):
        refuse_record("FILE", [["town", *header], *counts], "")


def test_a_first_line_that_is_said_to_be_a_record_or_a_header_is_read_so(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("".join(f"ann{age};m\n" for age in AGES))
    refused = command("risk", str(file), "--qi", "column1")
    assert "--header false" in refused.stderr
    assert "--header true" in refused.stderr
    given = command("risk", str(file), "--qi", "column1", "--header", "false", "--format", "csv")
    assert given.stdout.splitlines()[1].split(",")[:3] == ["30", "1", "30"]
    given = command("risk", str(file), "--qi", "m", "--header", "true", "--format", "csv")
    assert given.stdout.splitlines()[1].split(",")[:3] == ["29", "1", "29"]


def test_marks_of_a_file_can_be_passed_to_a_command(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("name:age\n'a:b':1\n'a:b':1\n")
    done = command(
        "risk", str(file), "--qi", "name", "--delimiter", ":", "--quote", "'", "--format", "csv"
    )
    assert done.stdout.splitlines()[1].split(",")[:3] == ["2", "1", "2"]
    done = command("risk", str(file), "--qi", "name", "--delimiter", "::")
    assert "--delimiter must be a single ASCII character" in done.stderr


def test_two_columns_of_one_name_are_refused_on_every_face(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    table = pa.Table.from_arrays([pa.array([30] * 9), pa.array(range(9))], names=["age", "age"])
    pandas = pd.DataFrame([[30, age] for age in range(9)], columns=["age", "age"])
    file = tmp_path / "people.parquet"
    pq.write_table(table, file)
    with pytest.raises(duckdb.Error, match=REPEATED):
        con.execute(f"FROM risk_summary('{file}', ['age'])").fetchall()
    for frame in (table, pandas):
        with pytest.raises(OutOfDomainError, match=REPEATED):
            reid_sql.risk_summary(con, frame, ["age"])
        with pytest.raises(OutOfDomainError, match=r"a name of its own|must name each column once"):
            rp.risk_summary(frame, ["age"]).collect()
    (tmp_path / "people.csv").write_text("age,age\n30,1\n30,2\n")
    for ask in (rp.risk_summary, rp.unicity):
        arguments = (["age"],) if ask is rp.risk_summary else ("age", ["age_duplicated_0"])
        with pytest.raises(OutOfDomainError, match="must have names of their own"):
            ask(pl.scan_csv(tmp_path / "people.csv"), *arguments).collect()


def test_frequencies_above_what_is_heard_are_names() -> None:
    """They are more than 100 apart, as an age and an income are, but no value below is as large."""
    heard = [[f"{at}", *(f"{5 * (at * step % 12)}" for step in range(4))] for at in range(12)]
    refuse_record("FILE", [["id", "500", "1000", "2000", "4000"], *heard], "")
    people = [["ann", f"{34 + at % 7}", f"{9000 + 370 * (at % 5)}"] for at in range(12)]
    numbered = [["ann", f"{1 + at}", f"{1001 + at}"] for at in range(12)]
    for records in (people, numbered):
        with pytest.raises(OutOfDomainError, match=RECORD):
            refuse_record("FILE", [["bob", *records[0][1:]], *records[1:]], "")
