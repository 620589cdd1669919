"""`reid-sql report`: the columns, what the starter policy measures, and pages for people."""

import json
import random
import re
import shlex
import tomllib
from html import unescape
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import reid_sql
from reid_sql.check.sources import file_stamp
from reid_sql.cli import main
from reid_sql.commands.report import measure
from reid_sql.errors import OutOfDomainError
from reid_sql.sources.files import open_source
from tests.processes import command

JOINED = ["--qi", "age,sex", "--other-qi", "children"]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """300 people with a key, two columns that others know, and a code for "missing"."""
    monkeypatch.chdir(tmp_path)
    rng = random.Random(49)  # noqa: S311 - a table, no secrets
    rows = [
        (f"K{p:06}", rng.randint(20, 39), rng.choice("FM"), rng.choice([1, 2, 2, 97]))
        for p in range(300)
    ]
    frame = pl.DataFrame(rows, ["key", "age", "sex", "children"], orient="row")
    frame.write_csv("people.csv")
    return tmp_path / "people.csv"


def test_the_figures_are_those_of_init_and_check_and_no_error(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", file.name, "--json"]) == 0  # nobody wrote the policy that it judges by
    made = json.loads(capsys.readouterr().out)
    main(["init", file.name])
    capsys.readouterr()
    assert main(["check", "people.policy.toml", "--json"]) == made["report"]["exit_code"] == 2
    page = json.loads(capsys.readouterr().out)
    assert made["report"]["checks"] == page["checks"]
    assert made["report"]["tables"] == page["tables"]
    text = Path("people.policy.toml").read_text(encoding="utf-8")
    assert made["policy"].splitlines()[1:] == text.splitlines()[1:]  # but for its own name
    assert {row["column_name"] for row in made["profile"]} == {"key", "age", "sex", "children"}


def test_the_page_says_what_to_leave_out_and_what_to_know(file: Path) -> None:
    report = reid_sql.report(file.name, population=10_000)
    text = unescape(report.html("report.html").read_text(encoding="utf-8"))
    assert text.index("Leave out of the release: key") < text.index("<h2>Columns")
    for words in (
        'missing.children = ["97"]',
        "population_correctness",
        "In a population of 10,000 people",
    ):
        assert words in text
    assert str(file.parent) not in text
    assert "K000001" not in text
    assert str(report) == people_alone(file)
    with pytest.raises(reid_sql.OutOfDomainError, match="--html must"):
        report.html(file.name)
    assert pl.read_csv(file).height == 300


def people_alone(file: Path) -> str:
    """The answer, counted by Polars."""
    sizes = pl.read_csv(file).group_by("age", "sex", "children").len()["len"]
    alone = int((sizes == 1).sum())
    return f"{alone} of 300 people are the only one with their age, sex and children."


def test_risk_without_columns_names_those_that_report_proposes(file: Path) -> None:
    refused = command("risk", file.name, folder=file.parent)
    assert refused.returncode == 2
    assert refused.stderr.rstrip().endswith(
        "leave out what nobody outside can know of: --qi age,sex,children"
    )
    option = refused.stderr.rstrip().rpartition(" of: ")[2].split()
    assert command("risk", file.name, *option, folder=file.parent).returncode == 0


def test_standard_input_is_refused(file: Path) -> None:
    refused = command("report", "-", folder=file.parent, stdin=file.read_text(encoding="utf-8"))
    assert refused.returncode == 2
    assert "FILE must be a file, got standard input" in refused.stderr


@pytest.mark.parametrize(
    "name", ["risk", "validation", "profile", "compare", "later", "join", "safe"]
)
def test_a_page_has_the_figures_that_the_terminal_has(
    name: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {
        "risk": ["--qi", "age,sex"],
        "validation": ["--qi", "age,sex", "--validate", "0.5", "--methods", "bound"],
        "join": [*("people.csv", "--as", "join", "--key", "key"), *JOINED],
        "profile": [],
        "compare": ["people.csv", "--qi", "age,sex"],
        "later": ["people.csv", "--qi", "age,sex", "--as", "later"],
        "safe": ["--by", "sex,children"],
    }[name]
    name = {"later": "compare", "join": "compare", "validation": "risk"}.get(name, name)
    assert main([name, "people.csv", *given, "--html", "page.html"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    page = unescape(Path("page.html").read_text(encoding="utf-8"))
    assert "default-src 'none'" in page
    assert "not masked" in page
    digits = [word for word in shown.split() if re.sub(r"[,.]", "", word.strip(".,;:%")).isdigit()]
    assert len(digits) > 5
    for word in digits:
        assert word.strip(".,;:") in page
    # which would overwrite the table
    assert main([name, "people.csv", *given, "--html", file.name]) == 2
    assert pl.read_csv(file).height == 300


PLACES = ["north", "south", "east", "west"]


def patients(rare: int) -> pl.DataFrame:
    """400 people, of whom as many as `rare` are alone with their age, sex and place."""
    rows = [
        (
            f"Name {i}",
            30 + i % 5,
            "FM"[i % 2],
            PLACES[i // 10 % 4],
            1000.25 + i,
            ["HIV", "flu", "asthma"][i % 3],
        )
        for i in range(400 - rare)
    ]
    rows += [(f"Other {i}", 60 + i, "F", "north", 99.75 + i, "flu") for i in range(rare)]
    names = ["last_name", "age", "sex", "place", "Einkommen", "found"]
    return pl.DataFrame(rows, names, orient="row")


def test_the_first_line_answers_and_no_verdict_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    patients(12).write_csv("p.csv")
    assert main(["report", "p.csv", "--html", "p.html"]) == 0
    shown = capsys.readouterr().out
    answer = "12 of 400 people are the only one with their age, sex and place."
    assert shown.startswith(answer)
    page = unescape(Path("p.html").read_text(encoding="utf-8"))
    for text in (shown, page):
        assert not re.search("FAIL|PASS|NOT JUDGED|not met", text)
        assert "Einkommen: sensitive, as the name is one of an amount" in text
        assert "found: sensitive, as the values are diseases" in text
        assert "Leave out of the release: last_name" in text
    assert page.index(answer) < page.index("<svg") < page.index("What to do next")
    assert str(reid_sql.report("p.csv")) == answer


def test_few_people_alone_are_not_counted_on_the_first_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    patients(3).write_csv("p.csv")
    assert main(["report", "p.csv"]) == 0
    assert capsys.readouterr().out.startswith("How many of 400 people are the only one")
    patients(0).write_csv("q.csv")
    assert main(["report", "q.csv"]) == 0
    assert capsys.readouterr().out.startswith("None of 400 people is the only one")


def test_the_starter_policy_checks_what_is_sensitive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    patients(12).write_csv("p.csv")
    assert main(["init", "p.csv"]) == 0
    policy = tomllib.loads(Path("p.policy.toml").read_text(encoding="utf-8"))
    table = policy["tables"][0]
    assert table["quasi_identifiers"] == ["age", "sex", "place"]
    assert table["sensitive"] == ["Einkommen", "found"]
    assert table["left_out"] == ["last_name"]
    diverse = [each["sensitive"] for each in table["checks"] if each["measure"] == "l_diversity"]
    assert diverse == table["sensitive"]
    capsys.readouterr()
    assert main(["check", "p.policy.toml", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["verdict"] == "fail"


def test_of_very_many_columns_those_that_tell_people_apart_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    coarse = {f"flag_{i:02}": [(p + i) % 2 for p in range(200)] for i in range(70)}
    pl.DataFrame(coarse | {"age": [p % 50 for p in range(200)]}).write_csv("wide.csv")
    assert main(["init", "wide.csv"]) == 0
    table = tomllib.loads(Path("wide.policy.toml").read_text(encoding="utf-8"))["tables"][0]
    assert len(table["quasi_identifiers"]) == 64
    assert table["quasi_identifiers"][-1] == "age"
    assert len(table["left_out"]) == 7


def test_a_file_that_changes_after_it_was_read_is_refused(file: Path) -> None:
    before = file_stamp(file)
    con, name = open_source(str(file), keep=True)
    file.write_text(file.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    with pytest.raises(OutOfDomainError, match="changed while it was measured"):
        measure(con, name, {"file": str(file)}, None, before=before)


def test_a_wide_table_has_the_profile_of_its_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draw = np.random.default_rng(4)
    columns = {f"v {i}": draw.integers(0, 2 + i % 30, 40).astype(str) for i in range(430)}
    pl.DataFrame(columns).write_csv(tmp_path / "wide.csv")
    main(["profile", str(tmp_path / "wide.csv"), "--json"])
    rows = json.loads(capsys.readouterr().out)
    assert [row["column_name"] for row in rows] == list(columns)
    values = [len(set(each.tolist())) for each in columns.values()]
    assert [row["distinct_values"] for row in rows] == values
    named = ["v 0", "v 199", "v 200", "v 429"]
    main(["profile", str(tmp_path / "wide.csv"), "--json", "--columns", ",".join(named)])
    assert json.loads(capsys.readouterr().out) == [
        row for row in rows if row["column_name"] in named
    ]


def test_the_hints_run_when_pasted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(6)
    rows = [f"{20 + draw.integers(30)};{'fm'[draw.integers(2)]};{i % 4}" for i in range(300)]
    text = "\n".join(["Ärzte – €", "", "age;sex;ward", *rows])
    Path("people of 2024.csv").write_bytes(text.encode("cp1252"))
    main(["report", "people of 2024.csv", "--encoding", "cp1252", "--skip", "2", "--json"])
    steps = json.loads(capsys.readouterr().out)["next_steps"]
    for step in steps[-2:]:
        program, *arguments = shlex.split(step.partition(" writes ")[0])
        assert program == "reid-sql"
        assert main(arguments) == 0, arguments
    assert Path("people_of_2024_released.parquet").is_file()


@pytest.mark.parametrize("rows_of_person", [1, 3])
def test_people_who_have_several_rows_are_found_by_what_is_constant(
    rows_of_person: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The name of the column says nothing; two others are constant within each of its values."""
    rng = random.Random(8)  # noqa: S311 - a table, no secrets
    rows = []
    for person in range(600 // rows_of_person):
        age, sex = rng.randint(20, 60), rng.choice("FM")
        rows += [
            (f"Q{person % 590:04}", age, sex, rng.randint(1, 28)) for _ in range(rows_of_person)
        ]
    path = tmp_path / "stays.csv"
    pl.DataFrame(rows, ["zz", "age", "sex", "day"], orient="row").write_csv(path)
    report = reid_sql.report(path)
    is_panel = rows_of_person > 1
    assert ("zz" in report.starter.quasi_identifiers) is not is_panel
    assert ('# entity = "zz"' in report.policy) is is_panel
    assert (" of 600 records " in report.answer) is is_panel
    assert report.answer.endswith("; a person may have several.") is is_panel
    unit, other = ("records", "people") if is_panel else ("people", "records")
    figures = (step for step in report.steps if "is unique" in step or "are unique" in step)
    words = report.page["tables"][0]["released_columns"]["sentences"]
    counted = [each for each in (*figures, *words) if "unique" in each or "singles out" in each]
    assert len(counted) >= 2
    assert not [each for each in counted if other in each]
    assert any(unit in each for each in counted)
    main(["risk", str(path), "--qi", "age,sex"])
    assert f" of 600 {unit} are unique by age, sex" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("seed", range(5))
def test_the_first_line_counts_small_classes_where_the_chart_shows_them(
    seed: int, tmp_path: Path
) -> None:
    """Of 500 people few are alone; what the chart leaves of them are those of small classes."""
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame({"age": rng.integers(20, 60, 500), "sex": rng.choice(["f", "m"], 500)})
    frame.write_csv(tmp_path / "p.csv")
    report = reid_sql.report(tmp_path / "p.csv")
    sizes = frame.group_by("age", "sex").len()["len"].to_list()
    words = re.match(r"([\d,]+) of 500 people share .* with fewer than (\d+) others", report.answer)
    if words is None:
        assert report.answer.startswith(("How many of 500", f"{sizes.count(1)} of 500", "None of"))
        return
    few, others = int(words[1]), int(words[2])
    assert few == sum(size for size in sizes if size <= others)


def test_a_diagnosis_that_all_have_is_sensitive(tmp_path: Path) -> None:
    """Whoever is known to be in the table is known to have it."""
    rows = ["age,sex,state", *(f"{20 + i % 30},{'fm'[i % 2]},HIV" for i in range(300))]
    (tmp_path / "p.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    report = reid_sql.report(tmp_path / "p.csv")
    assert list(report.starter.sensitive) == ["state"]
    [found] = [each for each in report.page["checks"] if each["measure"] == "l_diversity"]
    assert found["groups"][0]["value"] == 1
