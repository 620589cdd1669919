"""Workbooks, tables of SPSS, Stata and SQLite, and text below a title give the figures of the CSV."""

import csv
import datetime as dt
import json
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyreadstat
import pytest
import xlsxwriter

from reid_sql.cli import main
from reid_sql.sources.files import open_source
from tests.cells import each_cell

NAMES = ("id", "age", "sex", "born", "income")
POLICY = """
[[tables]]
name = "people"
file = "{file}"
{lines}
quasi_identifiers = ["age", "sex"]
left_out = ["id", "born", "income"]
[[tables.checks]]
measure = "k"
at_least = 2
"""


def people() -> list[tuple[Any, ...]]:
    draw = np.random.default_rng(2)
    return [
        (
            i,
            int(draw.integers(20, 32)),
            "fm"[int(draw.integers(2))],
            dt.date(1990, 1, 1) + dt.timedelta(days=int(draw.integers(4000))),
            None if i % 9 == 0 else float(draw.integers(100, 9000)) / 4,
        )
        for i in range(120)
    ]


Labels = dict[str, dict[int | float, str]]
PEOPLE = people()
ALONE = sum(size == 1 for size in Counter((row[1], row[2]) for row in PEOPLE).values())


def workbook(
    path: Path,
    *,
    above: tuple[tuple[str, ...], ...] = (),
    second: tuple[str, ...] = (),
    below: tuple[str, ...] = (),
    others: tuple[str, ...] = (),
) -> None:
    with xlsxwriter.Workbook(str(path)) as book:
        day = book.add_format({"num_format": "dd.mm.yyyy"})
        sheet = book.add_worksheet("People")
        rows = [*above, NAMES, *([second] if second else []), *PEOPLE, *([below] if below else [])]
        for y, row in enumerate(rows):
            for x, value in enumerate(row):
                if isinstance(value, dt.date):
                    sheet.write_datetime(y, x, dt.datetime.combine(value, dt.time()), day)
                elif value not in (None, ""):
                    sheet.write(y, x, value)
        for name in others:
            other = book.add_worksheet(name)
            other.write(0, 0, "anything")
            other.hide()
        book.add_worksheet("Empty")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    frame = pl.DataFrame(PEOPLE, NAMES, orient="row")
    with Path("people.csv").open("w", encoding="utf-8", newline="") as content:
        csv.writer(content).writerows([NAMES, *PEOPLE])
    below_title = Path("people.csv").read_text(encoding="utf-8")
    Path("titled.csv").write_text(f'Patients, "2024\n\n{below_title}', encoding="utf-8")
    workbook(Path("people.xlsx"))
    workbook(Path("titled.xlsx"), above=(("Patients of 2024",), ()))
    coded = frame.with_columns(pl.col("sex").replace_strict({"f": 1.0, "m": 2.0}))
    labels: Labels = {"sex": {1: "f", 2: "m", 9: "refused"}}
    pyreadstat.write_sav(coded, "people.sav", variable_value_labels=labels)
    pyreadstat.write_dta(coded, "people.dta", variable_value_labels=labels)
    database(Path("people.db"))
    return tmp_path


def database(path: Path, *, others: tuple[str, ...] = ()) -> None:
    with closing(sqlite3.connect(path)) as con:
        con.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, age INT, sex TEXT, born, income)")
        rows = [(*row[:3], row[3].isoformat(), row[4]) for row in PEOPLE]
        con.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", rows)
        for name in others:
            con.execute(f"CREATE VIEW {name} AS SELECT age, sex FROM people")
        con.commit()


def page_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    capsys.readouterr()
    main([*arguments, "--json"])
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    "arguments",
    [
        ("people.xlsx",),
        ("titled.xlsx", "--skip", "2"),
        ("titled.csv", "--skip", "2"),
        ("people.sav",),
        ("people.dta",),
        ("people.db",),
    ],
)
def test_the_figures_are_those_of_the_csv(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    page = page_of(capsys, "risk", *arguments, "--qi", "age,sex")
    assert page["summary"]["unique_records"] == ALONE
    expected = page_of(capsys, "risk", "people.csv", "--qi", "age,sex")
    assert json.dumps(page, sort_keys=True).replace(arguments[0], "people.csv") == json.dumps(
        expected, sort_keys=True
    )


@pytest.mark.parametrize("file", ["people.xlsx", "people.sav", "people.dta", "people.db"])
def test_columns_are_what_they_are_in_the_file(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = {row["column_name"]: row for row in page_of(capsys, "profile", file)}
    expected = {row["column_name"]: row for row in page_of(capsys, "profile", "people.csv")}
    assert list(rows) == list(NAMES)
    for name, row in rows.items():
        for key in ("distinct_values", "uniqueness", "missing", "looks_like"):
            assert row[key] == expected[name][key], (name, key)


@pytest.mark.parametrize(
    ("file", "lines"),
    [
        ("people.xlsx", ""),
        ("people.xlsx", 'table = "People"'),
        ("titled.xlsx", "skip = 2"),
        ("titled.csv", "skip = 2"),
        ("people.sav", ""),
        ("people.db", ""),
        ("people.db", 'table = "people"'),
        ("windows.csv", 'encoding = "cp1252"'),
    ],
)
def test_the_gate_and_the_release_read_them(
    file: str, lines: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = Path("people.csv").read_text(encoding="utf-8").replace(",f,", ",weiblich – €,")
    Path("windows.csv").write_bytes(text.encode("cp1252"))
    Path("p.toml").write_text(POLICY.format(file=file, lines=lines), encoding="utf-8")
    page = page_of(capsys, "check", "p.toml")
    assert page["verdict"] == ("fail" if ALONE else "pass")
    assert page["tables"][0]["records"] == len(PEOPLE)
    assert main(["prepare", "p.toml", "--release", "safe.parquet", "--sql", "r.sql"]) == 0
    released = pl.read_parquet("safe.parquet")
    assert min(Counter(released.rows()).values()) >= 2


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"above": (("Patients of 2024",), ())}, "write --skip 2 if the names are in line 3"),
        ({"second": ("number", "years", "", "date", "euro")}, "another header in line 2"),
        ({"below": ("Source: the office",)}, "a last line that looks like a total or a note"),
        ({"others": ("Old",)}, "--table must name one of 2 sheets of the file"),
    ],
)
def test_what_is_no_record_of_a_sheet_is_refused(
    how: dict[str, Any], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    workbook(Path("other.xlsx"), **how)
    assert main(["risk", "other.xlsx", "--qi", "age,sex"]) == 2
    assert words in capsys.readouterr().err


def test_a_sheet_is_named_as_it_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    workbook(Path("other.xlsx"), others=("Old",))
    for command in (["risk", "--qi", "age,sex"], ["profile"]):
        assert main([command[0], "other.xlsx", "--table", "People", *command[1:], "--json"]) == 0
        said = capsys.readouterr()
        page = json.loads(said.out)
        assert command[0] == "profile" or page["summary"]["records"] == len(PEOPLE)
        assert said.err.count("other sheets, which are not read (Old)") == 1
    for name in ("people", "Empty"):
        assert main(["risk", "other.xlsx", "--table", name, "--qi", "age,sex"]) == 2
        assert "--table must be a sheet with cells" in capsys.readouterr().err
    assert main(["risk", "people.sav", "--table", "x", "--qi", "age"]) == 2
    assert "a workbook where a table is named" in capsys.readouterr().err


def test_a_table_of_sqlite_is_named_and_a_column_has_one_type(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """SQLite puts a value of any type into any column: 7 beside 'seven' is text, 7 beside 7.5 a number."""
    database(Path("mixed.sqlite"), others=("seen", "heard"))
    with closing(sqlite3.connect("mixed.sqlite")) as con:
        con.execute("CREATE TABLE mixed (a, b, c BLOB, d)")
        con.execute("INSERT INTO mixed VALUES (7, 7, x'00ff', NULL), ('seven', 7.5, NULL, NULL)")
        con.execute("CREATE TABLE nobody (a, b)")
        con.commit()
    assert main(["risk", "mixed.sqlite", "--qi", "age"]) == 2
    said = capsys.readouterr().err
    assert "one of 5 tables of the file, got none" in said
    assert "heard" in said
    page = page_of(capsys, "risk", "mixed.sqlite", "--table", "seen", "--qi", "age,sex")
    assert page["summary"]["unique_records"] == ALONE
    opened, view = open_source("mixed.sqlite", "mixed")
    kinds = [(row[0], row[1]) for row in opened.execute(f"DESCRIBE {view}").fetchall()]
    assert kinds == [("a", "VARCHAR"), ("b", "DOUBLE"), ("c", "BLOB"), ("d", "VARCHAR")]
    with closing(sqlite3.connect("apart.sqlite")) as con:
        con.execute("CREATE TABLE apart (a, b)")
        rows = [(7, 2**53), ("7", 2**53 + 1), (7, 0.5), ("x", 2**53)]
        con.executemany("INSERT INTO apart VALUES (?, ?)", rows)
        con.commit()
    opened, view = open_source("apart.sqlite")
    counted = opened.execute(f"SELECT count(DISTINCT a), count(DISTINCT b) FROM {view}").fetchall()
    assert counted == [(3, 3)]
    assert main(["init", "mixed.sqlite"]) == 0
    assert 'table = "heard"' in Path("mixed.policy.toml").read_text(encoding="utf-8")


def test_the_log_of_a_database_is_a_part_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    """What SQLite has not yet written into the file itself is read, hashed and named as no other table."""
    Path("p.toml").write_text(POLICY.format(file="people.db", lines=""), encoding="utf-8")
    pages = [page_of(capsys, "check", "p.toml")]
    with closing(sqlite3.connect("people.db")) as con:
        con.execute("PRAGMA journal_mode = wal")
        con.commit()
        for _ in range(2):
            con.execute("INSERT INTO people SELECT id + 500, age, sex, born, income FROM people")
            con.commit()
            pages.append(page_of(capsys, "check", "p.toml"))
            con.execute("DELETE FROM people WHERE id >= 500")
            con.commit()
        assert {each.name for each in Path().glob("people.db*")} > {"people.db-wal"}
        assert main(["init", "."]) == 0
    assert [page["tables"][0]["records"] for page in pages] == [120, 240, 240]
    assert len({page["tables"][0]["sha256"] for page in pages}) == 3
    said = " ".join(capsys.readouterr().out.split())
    assert "people.db-" not in said


def test_a_broken_database_is_refused_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    whole = Path("people.db").read_bytes()
    half = len(whole) // 2
    Path("broken.db").write_bytes(whole[:half] + bytes(len(whole) - half))
    Path("text.sqlite3").write_text("age,sex", encoding="utf-8")
    for file in ("broken.db", "text.sqlite3"):
        assert main(["risk", file, "--qi", "age"]) == 2
        assert f"got '{file}'; write it anew, or save it as CSV" in capsys.readouterr().err


@pytest.mark.parametrize("ends", ["\r\n", "\n"])
@pytest.mark.parametrize("within", ["\r\n", "\n"])
def test_a_header_may_have_line_breaks(
    ends: str, within: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Excel writes other line breaks within a field than behind a record."""
    header = f'id,"age{within}in years",sex'
    lines = [header, *(f"{row[0]},{row[1]},{row[2]}" for row in PEOPLE)]
    Path("broken.csv").write_bytes(f"{ends.join(lines)}{ends}".encode())
    age = f"age{within}in years"
    page = page_of(capsys, "risk", "broken.csv", "--qi", f'"{age}",sex')
    assert page["summary"]["unique_records"] == ALONE
    assert page["summary"]["records"] == len(PEOPLE)
    policy = POLICY.format(file="broken.csv", lines="").replace('"age"', json.dumps(age))
    policy = f'cautions = "allow"\n{policy}'
    Path("p.toml").write_text(policy.replace(', "born", "income"', ""), encoding="utf-8")
    assert page_of(capsys, "check", "p.toml")["tables"][0]["records"] == len(PEOPLE)
    assert main(["prepare", "p.toml", "--release", "safe.parquet", "--sql", "r.sql"]) == 0
    assert min(Counter(pl.read_parquet("safe.parquet").rows()).values()) >= 2
    assert 'FROM "people"' in Path("r.sql").read_text(encoding="utf-8")
    twice = ends.join([*lines[:40], *lines])
    Path("broken.csv").write_bytes(twice.encode())
    assert main(["risk", "broken.csv", "--qi", "sex"]) == 2
    assert "must have its header once" in capsys.readouterr().err


def test_labels_and_missing_values_are_those_of_the_file(
    capsys: pytest.CaptureFixture[str],
) -> None:
    frame = pl.DataFrame(
        {
            "answer": [1.0, 2.0, 9.0, 1.0],
            "partly": [1.0, 2.0, 3.0, 3.0],
            "twice": [1.0, 2.0, 1.0, 2.0],
        }
    )
    labels: Labels = {"answer": {1: "yes", 2: "no", 9: "refused"}, "partly": {1: "low"}}
    labels["twice"] = {1: "same", 2: "same"}
    pyreadstat.write_sav(
        frame, "coded.sav", variable_value_labels=labels, missing_ranges={"answer": [9]}
    )
    assert main(["profile", "coded.sav", "--json"]) == 0
    said = capsys.readouterr()
    page = json.loads(said.out)
    assert "declares missing is NULL in 1 of its columns" in said.err
    assert "replace the codes in 1 of its columns" in said.err
    assert "refused" not in said.err
    rows = {row["column_name"]: row for row in page}
    # 9 is declared as missing; two values with one label stay two; one without a label keeps them all
    assert [rows[name]["distinct_values"] for name in labels] == [2, 3, 2]
    assert rows["answer"]["missing"] == 0.25
    assert {name: rows[name]["column_type"] for name in labels} == {
        "answer": "text",
        "partly": "integer",
        "twice": "integer",
    }


@each_cell("ending", ["xlsx", "xls", "ods", "sav", "por", "dta", "sas7bdat", "xpt"])
def test_a_file_of_other_content_is_refused_without_a_value(
    ending: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(f"x.{ending}").write_text("age,sex\n1743,f\n", encoding="utf-8")
    assert main(["risk", f"x.{ending}", "--qi", "age"]) == 2
    said = capsys.readouterr().err
    assert f"FILE must be a .{ending} file that can be read" in said
    assert "1743" not in said


def test_without_the_reader_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("reid_sql.sources.other_programs.find_spec", lambda _: None)
    for file, reader in (("people.xlsx", "fastexcel"), ("people.sav", "pyreadstat")):
        assert main(["risk", file, "--qi", "age"]) == 2
        assert f"must have {reader} to read" in capsys.readouterr().err


@pytest.mark.parametrize("skip", ["-1", "1.5", "x", "1001", "500"])
def test_lines_to_skip_are_a_number_of_lines_that_the_file_has(
    skip: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["risk", "people.csv", "--qi", "age", "--skip", skip]) == 2
    assert "must" in capsys.readouterr().err


@each_cell("encoding", ["utf-8", "utf-16", "latin-1", "cp1252"])
@each_cell("end", ["\n", "\r\n", "\r"])
@pytest.mark.first(cells=4)
def test_lines_are_skipped_in_every_encoding_and_with_every_end(
    encoding: str, end: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = 'He said "é\n;;\nage;sex\n' + "".join(f'{i % 5};"a\nb{i % 2}"\n' for i in range(30))
    Path("x.csv").write_bytes(text.replace("\n", end).encode(encoding))
    for lines, expected in (("2", 0), ("1", 2)):
        arguments = ["x.csv", "--skip", lines, "--encoding", encoding, "--qi", "age,sex"]
        code = main(["risk", *arguments, "--json"])
        if expected:
            assert code == expected
            continue
        assert json.loads(capsys.readouterr().out)["summary"]["records"] == 30


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1", "cp1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", ["", "\n", "\n\n \n"])
@pytest.mark.first(cells=4)
def test_notes_below_the_last_record_are_left_out_as_the_refusal_says(
    encoding: str,
    end: str,
    last: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(
        "reid_sql.sources.text_content.CHUNK", 64
    )  # bytes: the notes are in several
    sexes = ("f", '"m\nor x"', "m")
    records = "".join(f"{i % 2};{sexes[i % 3]}\n" for i in range(30))
    text = f"Ward 7\nage;sex\n{records};\nSource: the office of é;\n* provisional;{last}"
    Path("x.csv").write_bytes(text.replace("\n", end).encode(encoding))
    arguments = ["risk", "x.csv", "--encoding", encoding, "--qi", "age,sex", "--json"]
    assert main(arguments) == 2
    assert "write --skip 1,3 " in capsys.readouterr().err
    assert main([*arguments, "--skip", "1"]) == 2
    assert "write --skip 1,3 " in capsys.readouterr().err
    assert main([*arguments, "--skip", "1,3"]) == 0
    assert json.loads(capsys.readouterr().out)["summary"]["records"] == 30
    assert main([*arguments, "--skip", "1,4"]) == 0
    assert json.loads(capsys.readouterr().out)["summary"]["records"] == 29
    assert main([*arguments, "--skip", "1,900"]) == 2
    assert "more lines than are to be skipped" in capsys.readouterr().err
    table = f'file = "x.csv"\nencoding = "{encoding}"\nskip = [1, 3]\nquasi_identifiers = ["age", "sex"]'
    check = '[[tables.checks]]\nmeasure = "k"\nat_least = 3'
    Path("p.toml").write_text(f"[[tables]]\n{table}\n{check}", encoding="utf-8")
    assert page_of(capsys, "check", "p.toml")["checks"][0]["verdict"] == "pass"


@pytest.mark.parametrize("lines", ["[]", "[1, 2, 3]", '["1", 2]', "[1.5]", "[-1]", "true", "[[1]]"])
def test_a_policy_names_lines_to_skip_above_and_below(
    lines: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("people.csv").write_text("age,sex\n1,f\n", encoding="utf-8")
    Path("p.toml").write_text(
        POLICY.format(file="people.csv", lines=f"skip = {lines}"), encoding="utf-8"
    )
    assert main(["check", "p.toml"]) == 2
    assert "skip must be a whole number from 0 to 1000, or two of them" in capsys.readouterr().err


def test_a_second_line_of_names_is_proposed_as_the_header(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = "".join(f"{i % 7},{'fm'[i % 2]}\n" for i in range(40))
    Path("x.csv").write_text(f"Pupil,Sex of it\nage,sex\n{rows}", encoding="utf-8")
    assert main(["risk", "x.csv", "--qi", "age,sex"]) == 2
    assert "write --skip 1 if the names are in line 2" in capsys.readouterr().err
    assert main(["risk", "x.csv", "--qi", "age,sex", "--skip", "1"]) == 0


def test_sheets_that_nothing_measures_are_a_caution_but_not_of_a_release(
    capsys: pytest.CaptureFixture[str],
) -> None:
    workbook(Path("other.xlsx"), others=("Names of people",))
    text = POLICY.format(file="other.xlsx", lines='table = "People"')
    text = text.replace('["age", "sex"]', '["sex"]').replace('["id", ', '["id", "age", ')
    Path("p.toml").write_text(text, encoding="utf-8")
    (check,) = page_of(capsys, "check", "p.toml")["checks"]
    assert (check["verdict"], check["caution_codes"]) == ("pass", ["other_sheets"])
    assert "not read (Names of people)" in " ".join(check["cautions"])
    Path("p.toml").write_text(f'cautions = "refuse"\n{text}', encoding="utf-8")
    assert main(["check", "p.toml"]) == 2
    assert main(["prepare", "p.toml", "--release", "safe.parquet"]) == 0
    accepted = f'cautions = "refuse"\naccept = ["other_sheets"]\n{text}'
    Path("p.toml").write_text(accepted, encoding="utf-8")
    assert main(["check", "p.toml"]) == 0


@pytest.mark.parametrize(("many", "codes"), [(False, {"as_declared"}), (True, {"merged_missing"})])
def test_what_a_file_declares_is_a_caution_only_where_values_become_one(
    *, many: bool, codes: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    values = [1.0, 2.0] * 20 + ([8.0, 9.0] if many else [9.0, 9.0]) * 5
    frame = pl.DataFrame({"age": values, "sex": [1.0] * 50, "id": range(50)})
    pyreadstat.write_sav(frame, "coded.sav", missing_ranges={"age": [8, 9]})
    text = POLICY.format(file="coded.sav", lines="").replace(', "born", "income"', "")
    Path("p.toml").write_text(f'cautions = "refuse"\n{text}', encoding="utf-8")
    (check,) = page_of(capsys, "check", "p.toml")["checks"]
    assert codes <= set(check["caution_codes"])
    assert check["verdict"] == ("not judged" if many else "pass")
    accepted = f'cautions = "refuse"\naccept = ["merged_missing"]\n{text}'
    Path("p.toml").write_text(accepted, encoding="utf-8")
    assert main(["check", "p.toml"]) == 0


def test_marks_of_stata_are_no_values(capsys: pytest.CaptureFixture[str]) -> None:
    pandas = pytest.importorskip("pandas")
    rows = [["a", 1.0], ["b", 2.0], [3.0, 3.0], [2.5, 1.0]]
    frame = pandas.DataFrame(rows, columns=["age", "sex"])
    pyreadstat.write_dta(frame, "x.dta", version=12, missing_user_values={"age": ["a", "b"]})
    assert main(["profile", "x.dta", "--json"]) == 0
    said = capsys.readouterr()
    row = json.loads(said.out)[0]
    assert (row["missing"], row["distinct_values"], row["column_type"]) == (0.5, 2, "float")
    assert "count as one, NULL, in 1 of its columns" in said.err


@each_cell("file", ["people.xlsx", "people.sav", "people.parquet"])
@each_cell(
    "option, value, read_by",
    [
        ("delimiter", ";", ()),
        ("quote", "'", ()),
        ("skip", "1", ("xlsx",)),
        ("header", "true", ("xlsx",)),
        ("encoding", "cp1252", ("sav",)),
    ],
)
@pytest.mark.first(cells=4)
def test_how_text_is_written_is_refused_of_other_files(
    file: str, option: str, value: str, read_by: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    pl.DataFrame(PEOPLE, NAMES, orient="row").write_parquet("people.parquet")
    line = f"{option} = {value if option in {'skip', 'header'} else json.dumps(value)}"
    Path("p.toml").write_text(POLICY.format(file=file, lines=line), encoding="utf-8")
    asked = (["risk", file, "--qi", "sex", f"--{option}", value], ["check", "p.toml"])
    for arguments in asked:
        code = main(arguments)
        said = capsys.readouterr().err
        is_refused = f"{option} must describe a file that is read, got" in said
        assert is_refused is (file.partition(".")[2] not in read_by), (arguments, said)
        assert not is_refused or code == 2
    both = ["compare", file, "people.csv", "--qi", "sex", f"--{option}", value]
    main(both)  # which describes the other file
    assert "must describe a file" not in capsys.readouterr().err
