"""What the first tier leaves of tests/test_cli.py."""

import csv
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from itertools import combinations
from pathlib import Path

import duckdb
import numpy as np
import pytest

from reid_sql.models.numerics.quantiles import percent
from tests.processes import ROOT, command, environment, process
from tests.test_cli import *


def smallest_set(share: float, size: int) -> str:
    """By the definition: the set of so many columns that singles out most, where no smaller one is enough."""
    rows = list(csv.DictReader((ROOT / PEOPLE).read_text(encoding="utf-8").splitlines()))
    unique: dict[tuple[str, ...], float] = {}
    for columns in (each for n in range(1, size + 1) for each in combinations(rows[0], n)):
        classes = Counter(tuple(row[name] for name in columns) for row in rows)
        unique[columns] = sum(1 for count in classes.values() if count == 1) / len(rows)
    assert max(found for columns, found in unique.items() if len(columns) < size) < share
    best = max(unique, key=lambda columns: unique[columns])
    return f"{', '.join(best)} ({unique[best]:.1%})".replace("%", " %")


def test_profile_prints_a_line_and_a_sentence_for_each_column(tmp_path: Path) -> None:
    shown = command("profile", PEOPLE).stdout
    assert "3,000 records, 7 columns" in shown
    assert "postcode: a quasi-identifier if others can know it (postcode, profession)" in shown
    first, *named = shown.splitlines()[:3]
    assert first == "3,000 records, 7 columns"
    assert [line.partition(":")[2] for line in named] == [
        f" {expected}; 1 other set is as small."
        for expected in (smallest_set(0.05, 2), smallest_set(0.5, 3))
    ]
    assert "One row per person is assumed." in shown
    rows = json.loads(
        command("profile", PEOPLE, "--columns", "sex", "--columns", "age", "--json").stdout
    )
    assert [row["column_name"] for row in rows] == ["sex", "age"]
    refused = command("profile", PEOPLE, "--columns", "agee")
    assert refused.returncode == 2
    assert "columns must be columns of the table, got 'agee'; did you mean 'age'?" in refused.stderr
    (tmp_path / "wide.csv").write_text(
        ",".join(f"c{n}" for n in range(70)) + "\n" + ",".join("1" * 70), encoding="utf-8"
    )
    assert len(json.loads(command("profile", str(tmp_path / "wide.csv"), "--json").stdout)) == 70


@pytest.mark.newest
def test_profile_of_a_wide_table_names_a_set_where_its_search_stopped(tmp_path: Path) -> None:
    """Six of 40 columns single out 5 %, but the search of all sets ends at fewer columns."""
    generator = np.random.default_rng(5)
    rows = np.stack([generator.integers(0, 3 + place % 2, 60_000) for place in range(40)], 1)
    lines = [
        ",".join(f"c{place}" for place in range(40)),
        *(",".join(map(str, row)) for row in rows.tolist()),
    ]
    (tmp_path / "wide.csv").write_text("\n".join(lines), encoding="utf-8")
    shown = " ".join(command("profile", str(tmp_path / "wide.csv")).stdout.split())
    named = re.findall(r"A set of columns .*? which does not count all sets\.", shown)
    for share, line in zip((5, 50), named, strict=True):
        start = f"A set of columns that singles out {share} % of the records: "
        found = re.fullmatch(
            rf"{start}(.*) \((.*) %\); the list is complete up to .*greedy search.*", line
        )
        assert found, line
        places = [int(name[1:]) for name in found[1].split(", ")]
        _, counts = np.unique(rows[:, places], axis=0, return_counts=True)
        unique = 100 * np.count_nonzero(counts == 1) / len(rows)
        assert unique >= share
        assert f"{unique:.1f}" == found[2]


def test_compare_shows_a_release_beside_its_original(tmp_path: Path) -> None:
    original, release = str(tmp_path / "original.parquet"), str(tmp_path / "release.csv")
    con = duckdb.connect()
    con.execute(f"COPY (SELECT row_number() OVER () AS id, * FROM '{PEOPLE}') TO '{original}'")
    con.execute(
        f"COPY (SELECT id, age // 10 AS age, sex FROM '{original}' WHERE id > 100) TO '{release}'"
    )
    right = con.execute(
        f"SELECT count(DISTINCT (age, sex)) / count(*) FROM '{release}'"
    ).fetchall()[0][0]
    asked = ("compare", original, release, "--qi", "age,sex", "--key", "id")
    reported = json.loads(command(*asked, "--json").stdout)
    figures = {row["measure"]: row["released"] for row in reported["compare"]}
    assert (figures["records"], figures["records_removed"]) == (2900, 100)
    assert figures["correct_links"] == pytest.approx(right)
    assert [row["understood"] for row in reported["compare_columns"]] == ["recoded", "unchanged"]
    shown = command(*asked, "--plot", str(tmp_path / "compared.svg")).stdout
    assert f"is right about {percent(right)} of the people; in the original" in shown
    assert (tmp_path / "compared.svg").read_text(encoding="utf-8").startswith("<svg")
    assert "not known" in command(*asked[:-2]).stdout
    for wrong, message in {
        ("--key", "ix"): "quasi-identifiers and key must be columns of the original, got 'ix'",
        ("--key", "age"): "key must not be a quasi-identifier, got 'age'",
        ("--targets", "0"): "targets must be a whole number of records from 1 to 1e+9, got 0",
        ("--threshold", "2"): "threshold must be a risk between 0 and 1, got 2",
    }.items():
        refused = command(*asked[:5], *wrong)
        assert (refused.returncode, message in refused.stderr) == (2, True), refused.stderr
    missing = command("compare", original, str(tmp_path / "no.csv"), "--qi", "age")
    assert "OTHER must be an existing file, got" in missing.stderr


def test_audit_finds_a_copied_table_and_does_not_judge_without_a_holdout(tmp_path: Path) -> None:
    files = {name: str(tmp_path / f"{name}.parquet") for name in ("used", "unused", "synthetic")}
    con = duckdb.connect()
    con.execute(f"CREATE TABLE people AS SELECT row_number() OVER () AS id, * FROM '{PEOPLE}'")
    for name, part in (
        ("used", "id % 2 = 0"),
        ("unused", "id % 2 = 1"),
        ("synthetic", "id % 2 = 0"),
    ):
        con.execute(f"COPY (SELECT * EXCLUDE id FROM people WHERE {part}) TO '{files[name]}'")
    qi = ("--qi", "age,postcode", "--sensitive", "diagnosis", "--targets", "300")
    asked = ("audit", files["used"], files["synthetic"], *qi)
    judged = (*asked, "--holdout", files["unused"])
    page = json.loads(command(*judged, "--json").stdout)
    rows = {row["attack"]: row for row in page["attacks"]}
    assert (rows["exact_presence"]["original"], rows["strongest_membership"]["low"] > 0) == (
        1.0,
        True,
    )
    shown = command(*judged, "--plot", str(tmp_path / "attacks.svg")).stdout
    assert "The synthetic table reveals who was used" in " ".join(shown.replace("│", " ").split())
    assert (tmp_path / "attacks.svg").read_text(encoding="utf-8").startswith("<svg")
    lines = command(*judged, "--format", "csv").stdout.splitlines()
    assert (lines[0].split(",")[:3], len(lines)) == (
        ["attack", "column_name", "figure"],
        len(page["attacks"]) + 1,
    )
    assert "all attacks: no_holdout: a verdict needs holdout" in " ".join(
        command(*asked).stdout.split()
    )
    for wrong, said in {
        ("--holdout", str(tmp_path / "no.csv")): "--holdout must be an existing file, got",
        (
            "--sensitive",
            "illness",
        ): "quasi-identifiers and sensitive columns must be columns of the original",
        ("--seed", "-1"): "seed must be a whole number from 0 to 2147483646, got -1",
    }.items():
        refused = command(*asked, *wrong)
        assert (refused.returncode, said in refused.stderr) == (2, True), refused.stderr


def test_audit_counts_people_and_has_no_verdict_by_a_holdout_of_the_same_people(
    tmp_path: Path,
) -> None:
    files = {name: str(tmp_path / f"{name}.parquet") for name in ("used", "unused", "synthetic")}
    con = duckdb.connect()
    con.execute(f"CREATE TABLE people AS SELECT row_number() OVER () AS id, * FROM '{PEOPLE}'")
    con.execute("CREATE TABLE visits AS SELECT id // 3 AS person, * EXCLUDE id FROM people")
    for name, part in (
        ("used", "LIMIT 300"),
        ("unused", "LIMIT 300 OFFSET 900"),
        ("synthetic", "LIMIT 200"),
    ):
        con.execute(f"COPY (FROM visits {part}) TO '{files[name]}'")
    asked = ("audit", files["used"], files["synthetic"], "--qi", "age,postcode", "--holdout")
    shown = " ".join(command(*asked, files["unused"], "--entity", "person").stdout.split())
    assert "People are identified by 'person'" in shown
    assert "One row per person is assumed" not in shown
    of_people, of_rows = (
        {row["attack"]: row for row in json.loads(command(*call, "--json").stdout)["attacks"]}
        for call in ((*asked, files["unused"], "--entity", "person"), (*asked, files["unused"]))
    )
    assert of_people["exact_presence"]["original"] != of_rows["exact_presence"]["original"]
    same = " ".join(command(*asked, files["used"]).stdout.split())
    assert "The attacks cannot be judged, so the table may or may not reveal who was used" in same
    assert "holdout_overlaps: holdout has people of the table" in same


def test_forecast_prints_every_population_with_intervals(tmp_path: Path) -> None:
    call = ["risk", PEOPLE, "--qi", "age,sex,postcode", "--population", "1e5,1e6"]
    shown = command(*call).stdout
    assert "1,000,000" in shown
    assert "people in classes below 5" in shown
    rows = json.loads(command(*call, "--json", "--plot", str(tmp_path / "curve.svg")).stdout)
    assert [row["population"] for row in rows["population_risk"]] == [1e5, 1e6]
    assert (tmp_path / "curve.svg").read_bytes().startswith(b"<svg")


def test_query_runs_every_statement_and_shows_answers() -> None:
    sql = (
        "CREATE TABLE t AS SELECT 1 AS a; INSERT INTO t VALUES (1); "
        "SELECT equivalence_class_size(a) AS k FROM t; FROM t"
    )
    done = process("query", "-", "--json", stdin=sql)
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        [{"k": 2}, {"k": 2}],
        [{"a": 1}, {"a": 1}],
    ]
    assert "│ 2 │" in command("query", "-", stdin=sql).stdout


def test_json_holds_infinite_numbers_as_words() -> None:
    sql = (
        "SELECT 'Infinity'::DOUBLE AS a, [{'b': '-Infinity'::DOUBLE, "
        "'c': 'NaN'::DOUBLE}] AS d, 0.5::DOUBLE AS e"
    )
    done = process("query", "-", "--json", stdin=sql)
    assert json.loads(done.stdout, parse_constant=pytest.fail) == [
        {"a": "inf", "d": [{"b": "-inf", "c": "nan"}], "e": 0.5}
    ]


def test_functions_are_found_by_question_and_by_user() -> None:
    asked = command("functions", "--for", "who stands out", "--json")
    names = [each["name"] for each in json.loads(asked.stdout)]
    assert "suda_scores" in names
    assert not {"pyc_fit", "t_closeness"} & set(names)
    officer = command("functions", "--for", "officer", "--json")
    assert "population_risk" in {each["name"] for each in json.loads(officer.stdout)}
    shown = command("functions").stdout
    headings = [
        shown.index(each) for each in ("to start with", "profile", "more", "research", "pyc_fit")
    ]
    assert headings == sorted(headings)
    refused = command("functions", "--for", "zebra")
    assert refused.returncode == 2
    assert "got 'zebra'; reid-sql functions lists all" in refused.stderr


LONG = "SELECT count(*) FROM range(100000000000) t(i) WHERE hash(i) % 7 = 1"


def test_ctrl_c_stops_at_once_and_cleanly() -> None:
    call = [sys.executable, "-m", "reid_sql.cli", "query", "-"]
    with subprocess.Popen(
        call,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        cwd=ROOT,
        text=True,
    ) as process:
        assert process.stdin is not None
        process.stdin.write(f"SELECT 42 AS started;\n{LONG};\n")
        process.stdin.close()
        process.stdin = None
        assert process.stdout is not None
        while "42" not in process.stdout.readline():
            pass
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert process.stderr is not None
        assert process.stderr.read() == "reid-sql: stopped\n"


def test_progress_is_shown_where_a_person_watches() -> None:
    master, slave = pty.openpty()
    call = [sys.executable, "-m", "reid_sql.cli", "query", "-"]
    with subprocess.Popen(
        call,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=slave,
        env=environment() | {"TERM": "xterm"},
        cwd=ROOT,
        text=True,
    ) as process:
        assert process.stdin is not None
        process.stdin.write(LONG)
        process.stdin.close()
        process.stdin = None
        shown = ""
        while "%" not in shown:
            shown += os.read(master, 4096).decode(errors="replace")
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
    assert "query" in shown


VISITS = "person_id,age,sex\n" + "".join(
    f"{person},{person % 50},{'FM'[person % 2]}\n" * 5 for person in range(97)
)


def test_people_with_several_visits_are_no_crowd(tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text(VISITS)
    call = ["risk", str(tmp_path / "visits.csv"), "--qi", "age,sex"]
    rows = command(*call).stdout
    assert "One row per person is assumed." in rows
    reported = " ".join(rows.replace("│", " ").split())
    assert (
        "Column 'person_id' looks like an identifier and repeats (97 values in 485 rows)"
        in reported
    )
    people = json.loads(command(*call, "--entity", "person_id", "--json").stdout)
    assert people["summary"]["records"] == 97
    assert people["summary"]["unique_records"] == 3
    assert "AT RISK: 3 of 97 people" in command(*call, "--entity", "person_id").stdout
    refused = command(*call, "--entity", "persn_id")
    assert refused.returncode == 2
    assert (
        "quasi-identifiers and entity must be columns of the table, got 'persn_id'; did you mean"
        in refused.stderr
    )
