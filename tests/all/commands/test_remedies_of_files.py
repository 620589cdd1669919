"""What a refusal of a file tells people to do works when it is done word for word."""

import re
import shlex
from pathlib import Path

import duckdb
import pytest

from tests.processes import command


@pytest.mark.parametrize(
    ("content", "options", "column"),
    [
        ("\nage\n30\n40\n50\n", [], "age"),
        ("\nage,sex\n30,f\n40,m\n50,f\n", [], "age"),
        ("\n\nage,sex\n30,f\n40,m\n50,f\n", [], "age"),
        ("\n30,f\n40,m\n50,f\n", ["--header", "false"], "column0"),
    ],
)
def test_an_empty_line_above_the_records_is_skipped_by_the_option_that_is_named(
    tmp_path: Path, content: str, options: list[str], column: str
) -> None:
    file = tmp_path / "people.csv"
    file.write_text(content, encoding="utf-8")
    call = ("risk", str(file), *options, "--qi", column, "--format", "csv")
    refused = command(*call)
    assert refused.returncode == 2
    named = re.search(r"--skip \d+", refused.stderr)
    assert named, refused.stderr
    measured = command(*call, *named[0].split())
    assert (measured.returncode, measured.stderr) == (0, "")
    heads, figures = (line.split(",") for line in measured.stdout.splitlines()[:2])
    assert dict(zip(heads, figures, strict=False))["records"] == "3"


@pytest.mark.parametrize("content", ["", "\n", "\n\n  \n"])
@pytest.mark.parametrize("options", [[], ["--header", "false"], ["--header", "true"]])
def test_a_file_without_text_is_refused_without_an_option_that_would_not_help(
    tmp_path: Path, content: str, options: list[str]
) -> None:
    file = tmp_path / "people.csv"
    file.write_text(content, encoding="utf-8")
    refused = command("risk", str(file), "--qi", "age", *options)
    assert refused.returncode == 2
    assert "must contain a table, got a file without text" in refused.stderr
    assert "--" not in refused.stderr


def test_a_folder_that_has_no_file_to_read_is_no_pattern(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "read.me").write_text("x", encoding="utf-8")
    refused = command("risk", str(tmp_path), "--qi", "age")
    assert "it is a folder without a file that can be read: name a file" in refused.stderr
    assert "--files" not in refused.stderr
    (tmp_path / "below" / "people.csv").write_text("age\n30\n40\n50\n", encoding="utf-8")
    refused = command("risk", str(tmp_path), "--qi", "age")
    named = re.search(r"pass (--files '[^']*')", refused.stderr)
    assert named, refused.stderr
    assert command("risk", *shlex.split(named[1]), "--qi", "age").returncode == 0


def test_a_table_of_a_database_that_no_policy_has_is_shown_by_the_command_that_is_named(
    tmp_path: Path,
) -> None:
    file = tmp_path / "my clinic.duckdb"
    with duckdb.connect(file) as con:
        con.execute(
            "CREATE TABLE people AS SELECT 20 + i % 40 AS age, i % 2 AS sex FROM range(200) AS r(i)"
        )
        con.execute('CREATE TABLE "odd name" AS SELECT 1 AS constant')
    written = command("init", file.name, folder=tmp_path)
    assert written.returncode == 0, written.stderr
    assert "writes a policy of that file alone" not in written.stdout
    refused = command("report", file.name, "--table", "odd name", folder=tmp_path)
    _, _, named = refused.stderr.strip().partition("see reid-sql ")
    assert named in " ".join(written.stdout.split())
    shown = command(*shlex.split(named), folder=tmp_path)
    assert shown.returncode == 0, named
    assert shown.stdout.startswith("1 record, 1 column\n")


@pytest.mark.parametrize(
    "letters", [b"\n", b"a", "age\n".encode("utf-16-le") * 500 + b"x", b"\0", b"a\0b"]
)
def test_a_file_that_no_encoding_fits_is_refused_in_one_sentence(
    tmp_path: Path, letters: bytes
) -> None:
    file = tmp_path / "people.csv"
    file.write_bytes(letters)
    refused = command("risk", str(file), "--qi", "age")
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1
