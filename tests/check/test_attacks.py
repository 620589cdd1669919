"""What somebody tries who wants a false pass, a lost file or a terminal of theirs."""

import json
import os
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree as ET

import duckdb
import pytest

import reid_sql
from reid_sql.check.gate import check
from reid_sql.check.html import render_html
from reid_sql.check.policy import read_policy
from reid_sql.check.report import render_junit, to_json
from reid_sql.check.sentences import format_near_limit, format_number, format_percent_near_limit
from reid_sql.check.terminal import verdict_page
from reid_sql.errors import ReidError
from reid_sql.terminal.console import VisibleConsole
from tests.cells import each_cell
from tests.processes import command

K = '{measure = "k", at_least = 1}'


def written(
    folder: Path, checks: str, head: str = "", more: str = 'quasi_identifiers = ["a"]'
) -> Path:
    (folder / "p.toml").write_text(
        f'{head}\n[[tables]]\nfile = "t.csv"\n{more}\nchecks = [{checks}]', encoding="utf-8"
    )
    return folder / "p.toml"


def rows(folder: Path, lines: list[str], header: str = "a,s") -> None:
    (folder / "t.csv").write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")


KEPT = ["t.csv", "p.toml", "base.json", "link.csv", "hard.csv", "letter.txt", "scene.toml"]


@each_cell("name", KEPT)
def test_a_report_replaces_nothing_that_is_no_report(tmp_path: Path, name: str) -> None:
    rows(tmp_path, ["1,2"] * 20)
    (tmp_path / "link.csv").symlink_to(tmp_path / "t.csv")
    os.link(tmp_path / "t.csv", tmp_path / "hard.csv")
    (tmp_path / "letter.txt").write_text("dear all", encoding="utf-8")
    scene = 'name = "s"\npopulation = 1000\ngroups = [{columns = ["a"], probability = 1.0}]'
    (tmp_path / "scene.toml").write_text(scene, encoding="utf-8")
    report = reid_sql.check(
        written(
            tmp_path,
            f'{K}, {{measure = "adversary_average", scenario = "scene.toml", at_most = 1}}',
        )
    )
    report.json(tmp_path / "base.json")
    if name == "base.json":
        report = reid_sql.check(written(tmp_path, K, 'baseline = "base.json"'))
    before = (tmp_path / name).read_bytes()
    for write in (report.json, report.html, report.junit):
        with pytest.raises(ReidError, match="must "):
            write(tmp_path / name)
    assert (tmp_path / name).read_bytes() == before


def test_the_command_replaces_no_data(tmp_path: Path) -> None:
    rows(tmp_path, ["1,2"] * 20)
    before = (tmp_path / "t.csv").read_bytes()
    done = command("check", str(written(tmp_path, K)), "--html", str(tmp_path / "t.csv"))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert (tmp_path / "t.csv").read_bytes() == before


def test_reports_of_one_run_do_not_replace_one_another_but_those_of_the_last_run(
    tmp_path: Path,
) -> None:
    rows(tmp_path, ["1,2"] * 20)
    policy = written(tmp_path, K)
    (tmp_path / "here").symlink_to(tmp_path)
    done = command(
        "check",
        str(policy),
        "--json-report",
        str(tmp_path / "r"),
        "--html",
        str(tmp_path / "here" / "r"),
    )
    assert (done.returncode, "must be another file than" in done.stderr) == (2, True)
    for _ in range(2):
        names = [
            "--json-report",
            str(tmp_path / "r"),
            "--html",
            str(tmp_path / "h"),
            "--junit",
            str(tmp_path / "x"),
        ]
        assert command("check", str(policy), *names).returncode == 0
    assert {each.name for each in tmp_path.iterdir()} == {"t.csv", "p.toml", "here", "r", "h", "x"}


CAUTIOUS = {
    "records dropped": ('quasi_identifiers = ["a"]\nnulls = "drop"', K, "lack a value of a"),
    "dropped by the check's own columns": (
        'quasi_identifiers = ["s"]\nnulls = "drop"',
        '{measure = "k", at_least = 1, quasi_identifiers = ["a"]}',
        "lack a value of a",
    ),
    "a sample": (
        'quasi_identifiers = ["a", "s", "b", "c"]',
        '{measure = "qar", p = 2, alpha = 0.2, tail = 0.9, sample = 3, at_most = 1, judge_by = "estimate"}',
        "choices of columns",
    ),
}


@pytest.mark.parametrize("words", CAUTIOUS)
def test_what_was_not_measured_is_reported_everywhere_and_can_be_refused(
    tmp_path: Path, words: str
) -> None:
    more, asked, reported = CAUTIOUS[words]
    rows(
        tmp_path,
        [f"{'x' if i < 60 else ''},{i % 2},{i % 7},{i % 5}" for i in range(900)],
        "a,s,b,c",
    )
    page = check(written(tmp_path, asked, more=more))
    if words == "a sample" and page["checks"][0]["groups"][0]["value"] is None:
        assert page["verdict"] == "not judged"
        return
    assert page["verdict"] == "pass"
    assert any(reported in caution for caution in page["checks"][0]["cautions"])
    for shown in (
        to_json(page),
        render_html(page),
        render_junit(page),
        command("check", str(tmp_path / "p.toml")).stdout.replace("\n", " "),
    ):
        assert reported.split(" of ", maxsplit=1)[0] in shown
    assert check(written(tmp_path, asked, 'cautions = "refuse"', more))["verdict"] == "not judged"


@pytest.mark.parametrize(
    "asked",
    [
        '{measure = "k", at_least = 0}',
        '{measure = "k", at_least = 1}',
        '{measure = "uniqueness", at_most = 1}',
        '{measure = "records_at_risk", threshold = 1, at_most = 0.1}',
        '{measure = "t_closeness_offending", t = 1, sensitive = "s", at_most = 0}',
        '{measure = "l_diversity", sensitive = "s", at_least = 1}',
    ],
)
def test_a_limit_that_any_table_meets_is_described(tmp_path: Path, asked: str) -> None:
    rows(tmp_path, [f"{i},{i % 2}" for i in range(30)])
    page = check(written(tmp_path, asked))
    assert page["verdict"] == "pass"
    assert any(
        "is met by any" in caution or "is exceeded by no record" in caution
        for caution in page["checks"][0]["cautions"]
    )


def test_checks_that_differ_have_names_that_differ(tmp_path: Path) -> None:
    rows(tmp_path, [f"{i % 9},{i % 2}" for i in range(90)])
    asked = [
        f'{{measure = "t_closeness_offending", t = {t}, sensitive = "s", at_most = 0.1}}'
        for t in (0.1, 0.2)
    ]
    asked += [
        f'{{measure = "k", at_least = 5, quasi_identifiers = ["{column}"]}}' for column in "as"
    ]
    asked += [
        f'{{measure = "forecast_k_violation", population = 1000, k = {k}, at_most = 1}}'
        for k in (2, 3)
    ]
    asked += [
        f'{{measure = "l_diversity", sensitive = "s", at_least = 1, variant = "{v}"}}'
        for v in ("distinct", "entropy")
    ]
    page = check(written(tmp_path, ", ".join([*asked, asked[0]])))
    suites = ET.fromstring(render_junit(page))  # noqa: S314 - of our own making
    names = [case.get("name") for case in suites.iter("testcase")]
    assert len(names) == len(set(names)) == 9


def baseline(folder: Path, unique: int, more: str = "") -> str:
    rows(folder, [f"u{i},0" for i in range(unique)] + ["x,0"] * (100 - unique))
    asked = f'{{measure = "unique_records", at_most = 0}}{more}'
    reid_sql.check(written(folder, asked)).json(folder / "last.json")
    return asked


def test_a_masked_count_cannot_rise_unseen(tmp_path: Path) -> None:
    asked = baseline(tmp_path, 3)
    same = check(written(tmp_path, asked), tmp_path / "last.json")
    assert (same["verdict"], same["checks"][0]["groups"][0]["value"]) == ("no worse", None)
    rows(tmp_path, [f"u{i},0" for i in range(8)] + ["x,0"] * 92)
    assert check(written(tmp_path, asked), tmp_path / "last.json")["verdict"] == "fail"
    only = '{measure = "unique_records", no_worse = true}'
    assert check(written(tmp_path, only), tmp_path / "last.json")["verdict"] == "not judged"


def test_a_failing_report_turns_no_run_green_unless_accepted_by_name(tmp_path: Path) -> None:
    asked = baseline(tmp_path, 30)
    named = 'baseline = "last.json"'
    assert check(written(tmp_path, asked, named))["verdict"] == "fail"
    accepted = check(written(tmp_path, asked, f'{named}\nbaseline_accepted_by = "M. Officer"'))
    assert (accepted["verdict"], accepted["baseline_accepted_by"]) == ("no worse", "M. Officer")
    assert any("another policy" in caution for caution in accepted["checks"][0]["cautions"])


@pytest.mark.parametrize("head", ["mask_below = 5", "nulls"])
def test_figures_measured_by_other_rules_are_no_baseline(tmp_path: Path, head: str) -> None:
    asked = baseline(tmp_path, 30)
    more = 'quasi_identifiers = ["a"]' + ('\nnulls = "drop"' if head == "nulls" else "")
    policy = written(tmp_path, asked, head if head != "nulls" else "", more)
    assert check(policy, tmp_path / "last.json")["verdict"] == "fail"


@pytest.mark.parametrize(
    "change", [("30", '"30"'), ("30", "1e999"), ('"verdict"', '"verdikt"'), ('"at_most"', '"most"')]
)
def test_a_baseline_is_held_to_its_schema(tmp_path: Path, change: tuple[str, str]) -> None:
    asked = baseline(tmp_path, 30)
    broken = (tmp_path / "last.json").read_text(encoding="utf-8").replace(*change)
    (tmp_path / "last.json").write_text(broken, encoding="utf-8")
    with pytest.raises(ReidError, match="baseline must be a JSON report of reid-sql check"):
        check(written(tmp_path, asked), tmp_path / "last.json")


def test_a_group_that_cannot_be_fetched_leaves_the_rest_of_the_report(tmp_path: Path) -> None:
    sql = (
        "SELECT i % 3 AS a, ('2020-01-0' || (1 + i % 5))::TIMESTAMPTZ AS t, "
        "[('2020-01-01')::TIMESTAMPTZ] AS l FROM range(500) t(i)"
    )
    with duckdb.connect() as con:
        con.execute(f"COPY ({sql}) TO '{tmp_path}/t.parquet'")
    checks = (
        '{measure = "k", at_least = 5}, {measure = "k", at_least = 5, by = ["t"]}, {measure = "k", at_least '
        '= 5, by = ["l"]}'
    )
    text_ = f'[[tables]]\nfile = "t.parquet"\nquasi_identifiers = ["a"]\nchecks = [{checks}]'
    (tmp_path / "p.toml").write_text(text_, encoding="utf-8")
    page = check(tmp_path / "p.toml")
    assert [each["verdict"] for each in page["checks"][:2]] == ["pass", "pass"]
    assert page["checks"][1]["groups"][0]["group"] == {"t": "2020-01-01 00:00:00"}
    assert page["exit_code"] in (0, 2)


def test_a_file_that_is_half_written_is_none(tmp_path: Path) -> None:
    rows(tmp_path, ["1,2"] * 20)
    done = command("check", str(written(tmp_path, K)), "--json-report", "/dev/full")
    assert (done.returncode, done.stderr.count("\n"), "Traceback" in done.stderr) == (2, 1, False)


def test_a_key_that_stands_twice_in_json_is_refused(tmp_path: Path) -> None:
    rows(tmp_path, ["1,2"] * 3)
    check_ = '{"measure": "k", "at_least": 5, "at_least": 1}'
    (tmp_path / "p.json").write_text(
        f'{{"tables": [{{"file": "t.csv", "quasi_identifiers": ["a"], "checks": [{check_}]}}]}}'
    )
    with pytest.raises(ReidError, match="must name each key once, got 'at_least' twice"):
        read_policy(tmp_path / "p.json")


def test_eighty_columns_hold_a_verdict(tmp_path: Path) -> None:
    rows(tmp_path, [f"u{i},{i % 2}" for i in range(90)])
    asked = (
        '{measure = "forecast_correctness", population = 1e6, at_most = 0.5}, {measure = "l_diversity", '
        'sensitive = "s", at_least = 2}'
    )
    page = check(written(tmp_path, asked))
    shown = StringIO()
    VisibleConsole(file=shown, width=80).print(verdict_page(page, 80))
    lines = shown.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    for words in (
        "l_diversity of s (variant distinct)",
        "on a",
        "1, limit at least 2",
        "FAIL: the policy is not met.",
    ):
        assert any(words in line for line in lines)


@pytest.mark.parametrize(
    ("value", "limit"),
    [(0.1 + 1e-7, 0.1), (0.1 - 1e-7, 0.1), (1 / 3, 0.3333), (0.3333, 1 / 3), (2.00001, 2.0)],
)
def test_a_figure_and_its_limit_never_seem_to_stand_otherwise(value: float, limit: float) -> None:
    percent = float(format_percent_near_limit(value / 10, limit / 10)) / 10
    for reported in (float(format_near_limit(value, limit)), percent):
        assert (reported > limit, reported < limit) == (value > limit, value < limit)
    assert float(format_number(limit).replace(",", "")) == limit


def test_schedulers_get_a_report(tmp_path: Path) -> None:
    rows(tmp_path, [f"u{i},0" for i in range(30)])
    report = reid_sql.check(written(tmp_path, f'{K}, {{measure = "unique_records", at_most = 3}}'))
    assert (report.passed, report.verdict, report.exit_code) == (False, "fail", 1)
    assert [(each.check, each.figure, each.verdict) for each in report.findings] == [
        ("k on a", "1", "pass"),
        ("unique_records on a", "30", "fail"),
    ]
    assert json.loads(report.json(tmp_path / "r.json").read_text(encoding="utf-8")) == report.page
    assert report.html(tmp_path / "r.html").is_file()
    with pytest.raises(ReidError, match="must not be a file that the run reads"):
        report.json(tmp_path / "t.csv")
    assert read_policy(tmp_path / "p.toml").name == "p"
