"""A file is that very file: whatever its name, folder or text looks like, all its records are measured."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from reid_sql.check import gate
from reid_sql.check.gate import check
from reid_sql.check.policy import read_policy
from reid_sql.engines.duckdb import make_functions
from reid_sql.errors import ReidError
from reid_sql.sources.files import open_source
from tests.cells import each_cell
from tests.processes import command

ASK = (
    'quasi_identifiers = ["a"]\nchecks = [{measure = "unique_records", at_most = 1000}, {measure = "k", '
    "at_least = 1}]"
)


def figures(folder: Path, where: str) -> tuple[float, float, int]:
    """Unique records, k and records, as the gate counts them by the column a."""
    (folder / "p.toml").write_text(
        f"mask_below = 1\n[[tables]]\nname = 't'\n{where}\n{ASK}", encoding="utf-8"
    )
    page = check(folder / "p.toml")
    unique, k = (each["groups"][0]["value"] for each in page["checks"])
    return unique, k, page["tables"][0]["records"]


READ: dict[str, tuple[bytes, tuple[float, float, int]]] = {
    "a line that looks like a comment": (b"a,b\n#1,2\n#2,3\n4,5\n", (3, 1, 3)),
    "a header that looks like a comment": (b"a,#b\n1,2\n1,3\n", (0, 2, 2)),
    "leading zeros": (b"a,b\n0123,1\n123,1\n", (2, 1, 2)),
    "numbers written in two ways": (b"a,b\n1.0,1\n1,1\n1e0,1\n", (3, 1, 3)),
    "spaces": (b"a,b\n1,1\n 1,1\n1 ,1\n", (3, 1, 3)),
    "breaks within quotes": (b'a,b\n"x\ny",1\n"x\ny",2\nz,3\n', (1, 1, 3)),
    "blank lines between": (b"a,b\n1,1\n\n\n1,2\n\n", (0, 2, 2)),
    "blank lines of one column are records": (b"a\n1\n\n\n1\n", (0, 2, 4)),
    "no break at the end": (b"a,b\n1,1\n2,2", (2, 1, 2)),
    "the breaks of another system": (b"a,b\r\n1,1\r\n\r\n1,2\r\n", (0, 2, 2)),
    "a mark of the encoding": (b"\xef\xbb\xbfa,b\n1,1\n1,2\n", (0, 2, 2)),
    "semicolons": (b"a;b\n1,5;1\n1,5;1\n", (0, 2, 2)),
    "quotes inside of a field": (b'a,b\n5" pipe,1\n6" pipe,1\n7",1\n', (3, 1, 3)),
    "doubled quotes": (b'a,b\n"x ""y"" z",1\n"x ""y"" z",1\n', (0, 2, 2)),
    "a header alone that differs from its lines": (b"a,b\nage,sex\nage,sex\n", (0, 2, 2)),
    "a zero byte": (b"a,b\n1\x00x,1\n1\x00y,1\n", (2, 1, 2)),
}


@each_cell("words", READ)
def test_every_line_of_a_text_file_is_a_record_as_it_is_written(tmp_path: Path, words: str) -> None:
    content, true = READ[words]
    (tmp_path / "t.csv").write_bytes(content)
    assert figures(tmp_path, 'file = "t.csv"') == true
    con, name = open_source(str(tmp_path / "t.csv"))
    make_functions(con, ["risk_summary"])
    assert con.execute(f"SELECT k, records FROM risk_summary({name}, ['a'])").fetchall() == [
        true[1:]
    ]


REFUSED = {
    "a byte of another encoding": (b"a,b\n\xe9,1\n", "must be written in utf-8 throughout"),
    "a field too many": (b"a,b\n1,2,3\n1,2\n", "line 2 of the file cannot be read"),
    "a field too few": (b"a,b\n1,2\n1\n", "line 3 of the file cannot be read"),
    "a quote that does not end": (b'a,b\n"1,2\n3,4\n', "cannot be read"),
    "a column twice": (b"a,A\n1,2\n", "must name each column once, whatever the case"),
    "nothing": (b"", "must contain a table, got a file without text"),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_cannot_be_read_as_it_is_written_is_refused_and_not_quoted(
    tmp_path: Path, words: str
) -> None:
    content, sentence = REFUSED[words]
    (tmp_path / "t.csv").write_bytes(content)
    (tmp_path / "p.toml").write_text(f'[[tables]]\nfile = "t.csv"\n{ASK}', encoding="utf-8")
    done = command("check", str(tmp_path / "p.toml"))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert sentence in done.stderr
    assert "Original Line" not in done.stderr


@each_cell(
    "name", ["data[1].csv", "d*.csv", "d?.csv", "it's.csv", "[!a].csv", "{a,b}.csv", "ä ö.csv"]
)
def test_a_name_is_no_pattern(tmp_path: Path, name: str) -> None:
    for other in ("data1.csv", "dx.csv", "a.csv", "b.csv"):
        (tmp_path / other).write_bytes(b"a\n1\n1\n1\n")
    (tmp_path / name).write_bytes(b"a\n1\n2\n")
    assert figures(tmp_path, f"file = {json.dumps(name)}") == (2, 1, 2)


def test_the_name_of_a_folder_is_no_column(tmp_path: Path) -> None:
    folder = tmp_path / "a=M"
    folder.mkdir()
    with duckdb.connect() as con:
        con.execute(f"COPY (SELECT i AS a FROM range(9) t(i)) TO '{folder}/t.parquet'")
        con.execute(f"COPY (SELECT i AS a FROM range(9) t(i)) TO '{folder}/t.csv'")
        con.execute(f"COPY (SELECT i AS a FROM range(9) t(i)) TO '{folder}/t.json'")
    for kind in ("parquet", "csv", "json"):
        assert figures(tmp_path, f'file = "a=M/t.{kind}"') == (9, 1, 9)


FORMS = {
    'delimiter = "|"\nquote = ""': b'a|b\n"1|1\n"1|2\n',
    'encoding = "latin-1"': "a,b\né,1\né,2\n".encode("latin-1"),
    'encoding = "utf-16"': "a,b\né,1\né,2\n".encode("utf-16"),
    'quote = "\'"': b"a,b\n'x,y',1\n'x,y',2\n",
}


@pytest.mark.parametrize("form", FORMS)
def test_the_policy_says_how_text_is_written(tmp_path: Path, form: str) -> None:
    (tmp_path / "t.csv").write_bytes(FORMS[form])
    assert figures(tmp_path, f'file = "t.csv"\n{form}') == (0, 2, 2)


def test_columns_without_a_header_are_numbered(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"1,2\n1,3\n")
    text = (
        '[[tables]]\nfile = "t.csv"\nheader = false\nquasi_identifiers = ["column0"]\nchecks = [{measure = '
        '"k", at_least = 2}]'
    )
    (tmp_path / "p.toml").write_text(text, encoding="utf-8")
    assert check(tmp_path / "p.toml")["verdict"] == "pass"


def test_a_packed_file_is_read_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"a\n1\n") + gzip.compress(b"2\n3\n"))
    assert figures(tmp_path, 'file = "t.csv.gz"') == (3, 1, 3)


JSON_TEXTS = [
    "2020-01-01",
    "20200101",
    "0123",
    "123",
    "1e3",
    "1000",
    "true",
    "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
    " x",
    "x",
]


@pytest.mark.parametrize("name", ["t.json", "t.ndjson"])
def test_texts_of_json_stay_texts(tmp_path: Path, name: str) -> None:
    rows = [{"a": text} for text in [*JSON_TEXTS, "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"]]
    written = (
        json.dumps(rows) if name == "t.json" else "".join(f"{json.dumps(row)}\n" for row in rows)
    )
    (tmp_path / name).write_text(written, encoding="utf-8")
    assert figures(tmp_path, f'file = "{name}"') == (11, 1, 11)
    con, view = open_source(str(tmp_path / name))
    assert {row[0] for row in con.execute(f"SELECT a FROM {view}").fetchall()} == {
        row["a"] for row in rows
    }


def test_numbers_and_texts_of_json_stay_two(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(
        '[{"a": 9007199254740993}, {"a": 9007199254740992}, {"a": "1"}, {"a": 1}]'
    )
    assert figures(tmp_path, 'file = "t.json"') == (4, 1, 4)
    (tmp_path / "t.json").write_text('[{"a": 9007199254740993}, {"a": 9007199254740992}]')
    assert figures(tmp_path, 'file = "t.json"') == (2, 1, 2)
    (tmp_path / "t.json").write_text('[{"a": 1, "a": 2}]')
    with pytest.raises(ReidError, match="keys are distinct"):
        figures(tmp_path, 'file = "t.json"')


def test_files_of_a_pattern_are_one_table_and_folders_are_texts(tmp_path: Path) -> None:
    with duckdb.connect() as con:
        for value in ("0123", "123", "x%20y", "__HIVE_DEFAULT_PARTITION__"):
            (tmp_path / "set" / f"a={value}").mkdir(parents=True)
            con.execute(
                f"COPY (SELECT i AS b FROM range(3) t(i)) TO '{tmp_path}/set/a={value}/t.parquet'"
            )
    assert figures(tmp_path, 'files = "set/*/*.parquet"') == (0, 3, 12)
    page = json.loads(command("check", str(tmp_path / "p.toml"), "--json").stdout)
    assert len(page["tables"][0]["sha256"]) == 64
    with pytest.raises(ReidError, match="must match 1 to"):
        figures(tmp_path, 'files = "set/*.parquet"')


def house(folder: Path) -> Path:
    with duckdb.connect(folder / "house.duckdb") as con:
        con.execute("CREATE TABLE people AS SELECT 1 AS a FROM range(5); CREATE SCHEMA s")
        con.execute(
            "CREATE MACRO count(x) AS 99; CREATE MACRO min(x) AS 99; CREATE MACRO sum(x) AS 99"
        )
        con.execute(
            """CREATE TABLE s."o""dd.name" AS SELECT 1 AS a FROM range(7);
            CREATE TABLE s.people AS SELECT 2 AS a"""
        )
        con.execute("CREATE VIEW own AS SELECT * FROM people")
        (folder / "other.csv").write_text("a\n1\n1\n", encoding="utf-8")
        con.execute(f"CREATE VIEW elsewhere AS FROM read_csv('{folder}/other.csv')")
    return folder


@pytest.mark.parametrize(
    ("table", "records"),
    [("people", 5), ("main.people", 5), ("s.people", 1), ('s.o"dd.name', 7), ("own", 5)],
)
def test_a_table_is_found_by_its_name_whatever_else_the_database_holds(
    tmp_path: Path, table: str, records: int
) -> None:
    house(tmp_path)
    assert figures(tmp_path, f"file = 'house.duckdb'\ntable = {json.dumps(table)}")[1:] == (
        records,
        records,
    )


@each_cell(
    "table",
    [
        "people; COPY (SELECT 1) TO 'owned.csv'",
        "main.people; COPY (SELECT 1) TO 'owned.csv'",
        "main.people, read_text('other.csv')",
        'main."people"',
        "s.",
        ".people",
        "information_schema.tables",
        "elsewhere",
    ],
)
def test_what_is_no_name_of_a_table_is_refused_and_nothing_runs(tmp_path: Path, table: str) -> None:
    house(tmp_path)
    with pytest.raises((ReidError, duckdb.PermissionException)):
        figures(tmp_path, f"file = 'house.duckdb'\ntable = {json.dumps(table)}")
    assert not list(tmp_path.glob("**/owned.csv"))


def test_a_view_is_described_and_refused_where_cautions_are(tmp_path: Path) -> None:
    house(tmp_path)
    for head, code in (("", 0), ("cautions = 'refuse'\n", 2)):
        (tmp_path / "p.toml").write_text(
            f"{head}[[tables]]\nfile = 'house.duckdb'\ntable = 'own'\n{ASK}", encoding="utf-8"
        )
        page = check(tmp_path / "p.toml")
        assert page["exit_code"] == code
        assert any("a view of the database" in caution for caution in page["checks"][0]["cautions"])


def test_the_hash_of_a_database_holds_its_log(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "live.duckdb") as con:
        con.execute("CREATE TABLE t AS SELECT 1 AS a FROM range(5); CHECKPOINT")
    (tmp_path / "p.toml").write_text(f"[[tables]]\nfile = 'live.duckdb'\n{ASK}", encoding="utf-8")
    before = check(tmp_path / "p.toml")["tables"][0]
    code = (
        f"import duckdb, os; c = duckdb.connect({str(tmp_path / 'live.duckdb')!r}); "
        "c.execute('INSERT INTO t VALUES (2)'); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert (tmp_path / "live.duckdb.wal").is_file()
    after = check(tmp_path / "p.toml")["tables"][0]
    assert (before["records"], after["records"]) == (5, 6)
    assert before["sha256"] != after["sha256"]


def test_a_file_that_changes_while_it_is_measured_is_not_judged(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"a\n" + b"1\n" * 50)
    (tmp_path / "p.toml").write_text(f"[[tables]]\nfile = 't.csv'\n{ASK}", encoding="utf-8")
    policy, content = read_policy(tmp_path / "p.toml"), (tmp_path / "t.csv").read_bytes()

    def rewrite(words: str) -> None:
        if "k (" in words:  # the same bytes again: only the file system knows
            (tmp_path / "t.csv").write_bytes(b"a\n1\n")
            (tmp_path / "t.csv").write_bytes(content)

    with gate.open_tables(policy) as releases:
        page = gate.measure_policy(policy, releases, None, show_progress=rewrite)
    assert {each["verdict"] for each in page["checks"]} == {"not judged"}
    assert page["checks"][0]["groups"][0]["value"] is None


def test_the_connection_of_the_gate_reads_nothing_else_and_stays_so(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"a\n1\n")
    (tmp_path / "other.csv").write_bytes(b"a\n1\n")
    (tmp_path / "p.toml").write_text(f"[[tables]]\nfile = 't.csv'\n{ASK}", encoding="utf-8")
    with gate.open_tables(read_policy(tmp_path / "p.toml")) as releases:
        for sql in (
            f"FROM read_csv('{tmp_path}/other.csv')",
            f"COPY (SELECT 1) TO '{tmp_path}/owned.csv'",
            "SET enable_external_access = true",
            "SET lock_configuration = false",
            "INSTALL httpfs",
        ):
            with pytest.raises((duckdb.PermissionException, duckdb.InvalidInputException)):
                releases[0].engine.con.execute(sql).fetchall()
