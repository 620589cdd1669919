"""What a file means: its header, its columns in any order, its encoding, the numbers of its rows."""

import json
from collections import Counter
from itertools import combinations
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest

import reid_sql
from reid_sql.parameters import quoted
from reid_sql.sources.files import open_source
from tests.processes import command


def test_a_title_above_the_header_is_refused(tmp_path: Path) -> None:
    for title in (
        "title of the export;;\n;;\n",
        "title of the export\n",
        "title of the export\n\n",
    ):
        (tmp_path / "title.csv").write_text(f"{title}name;sex;age\nann;f;3\nbob;m;4\n")
        done = command("profile", str(tmp_path / "title.csv"))
        assert done.returncode == 2
        assert "must begin with its header" in done.stderr


def test_columns_in_another_order_are_found_by_name(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("a,b\n1,2\n")
    (tmp_path / "2.csv").write_text("b,a\n2,1\n")
    done = command(
        "risk",
        str(tmp_path / "*.csv"),
        "--files",
        "--qi",
        "a,b",
        "--format",
        "csv",
        "--stand-out",
        "0",
    )
    header, figures = (line.split(",") for line in done.stdout.splitlines()[:2])
    assert dict(zip(header, figures, strict=True))["k"] == "2"


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_the_encoding_that_a_refusal_names_can_be_passed(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "people.csv"
    file.write_bytes("name,age\né,1\né,1\n".encode(encoding))
    refused = command("risk", str(file), "--qi", "name")
    assert refused.returncode == 2
    assert "--encoding" in refused.stderr
    assert command("risk", str(file), "--qi", "name", "--encoding", encoding).returncode == 0


def test_numbers_of_rows_are_no_quasi_identifier(tmp_path: Path) -> None:
    rows = "".join(f'"{i}",{20 + i % 50},"{"mf"[i % 2]}"\n' for i in range(1, 301))
    (tmp_path / "people.csv").write_text('"","age","sex"\n' + rows)
    profiled = command("profile", str(tmp_path / "people.csv"), "--format", "csv").stdout
    assert next(line for line in profiled.splitlines() if line.startswith("column0")).count(
        "identifier"
    )


def test_objects_of_json_are_equal_in_any_order_of_their_keys(tmp_path: Path) -> None:
    file = tmp_path / "people.jsonl"
    file.write_text(
        '{"a":{"x":1,"y":{"p":1,"q":2}}}\n{"a":{"y":{"q":2,"p":1},"x":1}}\n{"a":{"x":1}}\n'
    )
    con = duckdb.connect()
    reid_sql.register(con)
    con.execute(f"CREATE VIEW people AS FROM '{file}'")
    for table in (f"'{file}'", "people"):
        assert con.execute(f"SELECT classes FROM risk_summary({table}, ['a'])").fetchall() == [(2,)]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("twice.csv", "age,sex\n1,f\n2,m\nage,sex\n1,f\n", "must have its header once"),
        ("quotes.csv", "'age','sex'\n'1','f'\n'2','m'\n", 'write --quote "\'"'),
        ("packed.csv", "PK\x03\x04 a workbook", "with the content of a workbook or archive"),
        (
            "notes.csv",
            "# made by me\n# today\nage,sex\n1,f\n2,m\n3,f\n",
            "must begin with its header",
        ),
    ],
)
def test_what_is_no_table_as_it_is_read_is_refused(
    tmp_path: Path, name: str, content: str, reason: str
) -> None:
    (tmp_path / name).write_text(content)
    done = command("profile", str(tmp_path / name))
    assert (done.returncode, reason in done.stderr) == (2, True), done.stderr


def test_a_hint_on_an_encoding_is_that_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes("age,sex\n1,é\n".encode("utf-16"))
    done = command("profile", str(tmp_path / "people.csv"))
    assert "--encoding utf-16" in done.stderr
    assert "latin-1" not in done.stderr


def test_endings_in_capitals_are_those_in_small_letters(tmp_path: Path) -> None:
    for name, mark in (("PEOPLE.TSV", "\t"), ("people.tab", "\t"), ("people.psv", "|")):
        (tmp_path / name).write_text("age_sex\n1_f\n1_f\n".replace("_", mark))
        done = command("risk", str(tmp_path / name), "--qi", "age,sex", "--format", "csv")
        assert done.stdout.splitlines()[1].split(",")[:3] == ["2", "1", "2"]


@pytest.mark.parametrize("has_copies", [True, False])
def test_rows_that_were_written_twice_are_named_by_a_query_too(
    tmp_path: Path, *, has_copies: bool
) -> None:
    rows = [f"{20 + (i * i) % 61},{i % 97},{(i * 7) % 89},{(i * i * i) % 83}" for i in range(400)]
    rows += rows if has_copies else []
    file = tmp_path / "people.csv"
    file.write_text("\n".join(["age,day,zip,job", *rows]) + "\n", encoding="utf-8")
    for form in ("table", "json", "csv"):
        done = command("query", f"FROM risk_summary('{file}', ['age'])", "--format", form)
        shown = " ".join((done.stdout + done.stderr).split())
        assert ("rows equal another one in all columns" in shown) == has_copies


def count_classes(con: duckdb.DuckDBPyConnection, name: str, columns: list[str]) -> dict[int, int]:
    """Count the classes by their size in a file that is opened as the commands read it."""
    listed = ", ".join(map(quoted, columns))
    sizes = f"SELECT count(*) AS size FROM {quoted(name)} GROUP BY {listed}"
    return dict(con.execute(f"SELECT size, count(*) FROM ({sizes}) GROUP BY size").fetchall())


def test_keys_of_objects_within_objects_are_columns(tmp_path: Path) -> None:
    """Their classes are those of a file of the same values without objects."""
    draws = np.random.default_rng(5)
    nested, flat = [], []
    for _ in range(300):
        age, city, lat = int(draws.integers(3)), "pqr"[draws.integers(3)], float(draws.integers(3))
        place = None if lat == 0 else {"lat": lat, "list": [1, {"b": 2, "a": age}]}
        nested.append({"age": age, "home": {"city": city, "at": place}, "same": {}})
        listed = None if place is None else [1, {"a": age, "b": 2}]
        flat.append({"age": age, "city": city, "lat": place and lat, "list": listed})
    opened = []
    for name, records in (("nested.json", nested), ("flat.json", flat)):
        (tmp_path / name).write_text(json.dumps(records))
        opened.append(open_source(str(tmp_path / name)))
    pairs = [("age",) * 2, ("home.city", "city"), ("home.at.lat", "lat"), ("home.at.list", "list")]
    for size in range(1, 5):
        for chosen in combinations(pairs, size):
            figures = [
                count_classes(con, name, [pair[at] for pair in chosen])
                for at, (con, name) in enumerate(opened)
            ]
            assert figures[0] == figures[1]
    profiled = command("profile", str(tmp_path / "nested.json"), "--format", "csv").stdout
    names = {line.partition(",")[0] for line in profiled.splitlines()[1:]}
    assert names == {*(pair[0] for pair in pairs), "same"}


def test_fields_of_structs_are_columns_as_keys_of_objects_are(tmp_path: Path) -> None:
    """The same records as Parquet and as JSON; a list stays one value, which has no role."""
    draws = np.random.default_rng(6)
    rows = [
        {
            "age": int(draws.integers(3)),
            "home": {"city": "pqr"[draws.integers(3)], "at": {"lat": float(draws.integers(3))}},
            "seen": [{"day": 1}],
        }
        for _ in range(300)
    ]
    rows[0]["home"] = None
    (tmp_path / "nested.json").write_text(json.dumps(rows))
    pl.DataFrame(rows, strict=False).write_parquet(tmp_path / "nested.parquet")
    names = ["age", "home.city", "home.at.lat"]
    opened = [open_source(str(tmp_path / f"nested.{kind}")) for kind in ("json", "parquet")]
    figures = [count_classes(*each, names) for each in opened]
    assert figures[0] == figures[1]
    policy = tmp_path / "policy.toml"
    policy.write_text(
        'tables = [{ name = "people", file = "nested.parquet", quasi_identifiers = ["age", "home.city"], '
        'left_out = ["home.at.lat", "seen"], checks = [{ measure = "k", at_least = 3 }] }]'
    )
    done = command("prepare", str(policy), "--release", str(tmp_path / "safe.parquet"))
    assert done.returncode == 0, done.stderr
    released = pl.read_parquet(tmp_path / "safe.parquet")
    assert min(Counter(released.rows()).values()) >= 3
    pl.DataFrame({"a": [{"b": 1}], "a.b": [2]}).write_parquet(tmp_path / "twice.parquet")
    done = command("profile", str(tmp_path / "twice.parquet"))
    assert (done.returncode, "must name each column once" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (
            '{"data":[{"a":1},{"a":2}],"count":2}',
            "got one object with lists in ['data']; write that of the records alone",
        ),
        ('{"b":[{"x":1}],"a":[{"y":1}]}', "lists in ['a', 'b']"),
        ('[{"":1,"a":2}]', "must name each column, got the key ''; name it"),
        ('[{"a":1},null]', "got 1 values that are none"),
        ('[{"a":{"b":1,"b":2}}]', "keys are distinct, got 1 that name a key twice"),
        ('[{"a":{"b":1},"a.b":2}]', "must name each column once, got two keys for ['a.b']"),
    ],
)
def test_objects_that_are_no_table_are_refused(tmp_path: Path, content: str, reason: str) -> None:
    (tmp_path / "people.json").write_text(content)
    done = command("profile", str(tmp_path / "people.json"))
    assert (done.returncode, reason in done.stderr) == (2, True), done.stderr
