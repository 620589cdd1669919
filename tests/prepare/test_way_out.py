"""The gate's HTML report on a table that fails shows what would pass, as `reid-sql prepare` finds it."""

import json
import re
import subprocess
from html import escape
from pathlib import Path

import pytest

import reid_sql
import reid_sql.prepare
from reid_sql.models.numerics.quantiles import percent
from tests.check.test_html import Balanced
from tests.prepare.brute import K, policy, written
from tests.prepare.test_prepare import HIERARCHIES, QI, people
from tests.processes import command

HEAD = "<h3>What meets the policy</h3>"


def shown(folder: Path, text: str, *options: str) -> tuple[subprocess.CompletedProcess[str], str]:
    """The gate's run on a policy over 300 people, and its HTML report."""
    people().write_parquet(folder / "people.parquet")
    file = written(folder, text)
    ended = command("check", str(file), "--html", str(folder / "r.html"), *options)
    return ended, (folder / "r.html").read_text(encoding="utf-8")


def test_the_report_shows_what_prepare_finds(tmp_path: Path) -> None:
    ended, page = shown(
        tmp_path, policy("people.parquet", QI, K.format(5), prepare=HIERARCHIES), "--prepare"
    )
    assert (ended.returncode, ended.stderr) == (1, "")
    made = json.loads(command("prepare", str(tmp_path / "policy.toml"), "--json").stdout)
    (table,) = made["tables"]
    after = page[page.index(HEAD) : page.index("<h2>Checks</h2>")]
    for column in table["columns"]:
        words = escape(column["form"].removeprefix(f"{column['column']} "))
        loss = percent(column["loss"] or 0.0)
        assert (
            f"<td class=name>{column['column']}</td><td>{words}</td><td class=number>{loss}</td>"
            in after
        )
    assert (
        f"Loss (non-uniform entropy): {percent(table['losses']['entropy'])}, the least of all"
        in after
    )
    assert "<strong>PASS:</strong>" in after
    drawn = re.sub("<g class=.*?</g>", "", after)  # without what the marks mean
    assert len(re.findall("<circle|<path", drawn)) == len(table["frontier"])
    assert len(re.findall("<circle", drawn)) == sum(
        form["meets_class_sizes"] for form in table["frontier"]
    )
    assert '<div class="verdict fail">' in page[: page.index(HEAD)]
    parser = Balanced()
    parser.feed(page)
    assert not parser.open


def test_a_table_that_passes_is_shown_as_ever(tmp_path: Path) -> None:
    ended, page = shown(tmp_path, policy("people.parquet", QI, K.format(1)), "--prepare")
    assert ended.returncode == 0
    assert HEAD not in page


def test_without_the_option_nothing_is_sought(tmp_path: Path) -> None:
    ended, page = shown(tmp_path, policy("people.parquet", QI, K.format(5)))
    assert ended.returncode == 1
    assert HEAD not in page


def test_where_nothing_meets_the_policy_the_report_says_so(tmp_path: Path) -> None:
    ended, page = shown(tmp_path, policy("people.parquet", QI, K.format(301)), "--prepare")
    assert ended.returncode == 1
    assert (
        "No transformation of the table was found that meets the policy" in page[page.index(HEAD) :]
    )
    assert "Measured on the release" not in page


def test_what_cannot_be_prepared_is_said_and_the_verdict_stands(tmp_path: Path) -> None:
    remaining = policy("people.parquet", QI, K.format(5), prepare='keep = ["nmae"]')
    ended, page = shown(tmp_path, remaining, "--prepare")
    assert ended.returncode == 1
    assert "No release was searched for: policy prepare.keep must name columns of people" in page


def test_the_time_limit_stands_for_the_policys(tmp_path: Path) -> None:
    slow = policy("people.parquet", QI, K.format(5), prepare=f"time_limit = 1\n{HIERARCHIES}")
    ended, page = shown(tmp_path, slow, "--prepare", "--time-limit", "60")
    assert ended.returncode == 1
    assert HEAD in page


REFUSED = [
    (("--prepare",), "--prepare must come with --html, where the release is shown, got none"),
    (
        ("--html", "r.html", "--time-limit", "9"),
        "--time-limit must come with --prepare, got 9 alone",
    ),
    (
        ("--html", "r.html", "--prepare", "--time-limit", "0"),
        "--time-limit must be a number of seconds from 1 to 1e6, got 0",
    ),
]


@pytest.mark.parametrize(("options", "sentence"), REFUSED)
def test_options_that_do_nothing_are_refused(
    tmp_path: Path, options: tuple[str, ...], sentence: str
) -> None:
    people().write_parquet(tmp_path / "people.parquet")
    file = written(tmp_path, policy("people.parquet", QI, K.format(5)))
    ended = command("check", str(file), *options)
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"reid-sql: {sentence}")
    assert ended.stderr.count("\n") == 1


def test_a_python_report_takes_a_way_out(tmp_path: Path) -> None:
    people().write_parquet(tmp_path / "people.parquet")
    file = written(tmp_path, policy("people.parquet", QI, K.format(5), prepare=HIERARCHIES))
    made, report = reid_sql.prepare.prepare(file), reid_sql.check(file)
    page = report.html(tmp_path / "r.html", made.way_out).read_text(encoding="utf-8")
    assert all(escape(sentence) in page[page.index(HEAD) :] for sentence in made.way_out.sentences)
