"""The gate, the command and the reports tell what population_risk answers, and judge by its upper end."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import reid_sql
from reid_sql.check.gate import check
from reid_sql.check.html import render_html
from reid_sql.check.report import render_junit
from tests.check.towns import PEOPLE
from tests.processes import command
from tests.tables import by_duckdb

QI = ["age", "sex", "postcode", "education"]
COLUMNS = {
    "population_uniqueness": "uniqueness",
    "population_correctness": "correctness",
    "population_below_k": "below_k",
}


def written(folder: Path, checks: str, head: str = "", table: str = "") -> Path:
    file = folder / "p.toml"
    about = f'quasi_identifiers = {QI}\nfile = "{PEOPLE}"' if "file" not in table else ""
    file.write_text(f"{head}\n[[tables]]\n{about}\n{table}\nchecks = [{checks}]", encoding="utf-8")
    return file


@cache
def people_row(options: str = "") -> dict[str, Any]:
    frame = pl.read_csv(PEOPLE, infer_schema=False)
    found: dict[str, Any] = by_duckdb(f"FROM population_risk(t, {QI}, [50000]{options})", t=frame)[
        0
    ]
    return found


@pytest.mark.parametrize("measure", COLUMNS)
def test_the_upper_end_is_judged(tmp_path: Path, measure: str) -> None:
    row, column = people_row(), COLUMNS[measure]
    value, high = row[column], row[f"{column}_high"]
    assert value < high < 1
    limits = [(value + high) / 2, high * 1.001]
    asked = ", ".join(
        f'{{measure = "{measure}", population = 50_000, at_most = {limit}}}' for limit in limits
    )
    checks = check(written(tmp_path, asked))["checks"]
    assert [each["verdict"] for each in checks] == ["fail", "pass"]
    group = checks[0]["groups"][0]
    assert (group["value"], group["low"], group["high"]) == pytest.approx(
        (value, row[f"{column}_low"], high)
    )
    assert group["judged"] == group["high"]
    # the sentence is about unique people
    quoted = row["sentence"] if column == "uniqueness" else None
    assert (group["method"], group["status"], group["sentence"]) == (
        "people",
        row["status"],
        quoted,
    )


def test_the_page_has_the_one_answer_first_and_the_older_forecast_by_name(tmp_path: Path) -> None:
    asked = '{measure = "population_correctness", at_most = 1}'
    page = check(written(tmp_path, asked, table="population = 50_000"))
    row, reported = people_row(), page["tables"][0]["population_risk"]
    assert {
        name: reported[name] for name in ("uniqueness", "correctness_high", "below_k_low")
    } == pytest.approx(
        {name: row[name] for name in ("uniqueness", "correctness_high", "below_k_low")}
    )
    assert reported["sentence"] == row["sentence"]
    text = render_html(page)
    assert text.index("In a population of 50,000 people") < text.index(
        "by a second method (pyc_forecast)"
    )


def test_no_model_is_fitted_that_no_check_asks_for(tmp_path: Path) -> None:
    """The report names the population, and how to ask."""
    page = check(written(tmp_path, '{measure = "k", at_least = 1}', table="population = 50_000"))
    reported = page["tables"][0]["population_risk"]
    assert (reported["population"], reported["method"]) == (50_000, None)
    assert reported["status"].endswith("or run reid-sql risk with --population 50000")
    assert "In a population of 50,000 people" in render_html(page)


UNANSWERED = {
    "population = 10": "populations must be at least the 3,000 records of the sample, got 10",
    'nulls = "wildcard"': "nulls must be one of 'value', 'drop', got 'wildcard'",
}


@pytest.mark.parametrize("how", UNANSWERED)
def test_no_answer_is_not_judged_with_the_reason(tmp_path: Path, how: str) -> None:
    population = "" if how.startswith("population") else "population = 50_000"
    asked = '{measure = "population_uniqueness", at_most = 1}'
    page = check(written(tmp_path, asked, table=f"{how}\n{population}"))
    assert (page["verdict"], page["exit_code"]) == ("not judged", 2)
    assert UNANSWERED[how] in page["checks"][0]["groups"][0]["why"]


def test_what_the_answer_says_of_itself_is_a_caution(tmp_path: Path) -> None:
    rows = [f"{place % 7},{place % 3}" for place in range(60)]
    (tmp_path / "few.csv").write_text("\n".join(["a,b", *rows]), encoding="utf-8")
    few = 'file = "few.csv"\nquasi_identifiers = ["a", "b"]\npopulation = 6000'
    asked = '{measure = "population_uniqueness", at_most = 1}'
    page = check(written(tmp_path, asked, "mask_below = 1", few))
    assert page["verdict"] == "pass"
    assert any("fewer than 100 records" in caution for caution in page["checks"][0]["cautions"])
    refused = check(written(tmp_path, asked, 'mask_below = 1\ncautions = "refuse"', few))
    assert refused["verdict"] == "not judged"


def test_a_method_by_name_is_that_method_and_none_is_the_model_of_people(tmp_path: Path) -> None:
    named = ('method = "pitman", ', 'method = "people", ', "")
    asked = [
        f'{{measure = "population_uniqueness", {how}population = 50000, at_most = 1}}'
        for how in named
    ]
    found = check(written(tmp_path, ", ".join(asked)))["checks"]
    assert [each["function"] for each in found] == [
        "population_uniqueness",
        "population_risk",
        "population_risk",
    ]
    assert [each["parameters"]["method"] for each in found] == ["pitman", "people", "people"]
    values = [each["groups"][0]["value"] for each in found]
    assert values[1] == values[2] != values[0]
    with pytest.raises(reid_sql.ReidError, match="did you mean 'people'"):
        check(written(tmp_path, asked[1].replace("people", "peple")))
    with pytest.raises(reid_sql.ReidError, match="must have only known keys, got 'seed'"):
        check(written(tmp_path, asked[0].replace("{", "{seed = 1, ")))


def numbers_in(page: object) -> list[float]:
    if isinstance(page, dict):
        return [each for value in page.values() for each in numbers_in(value)]
    if isinstance(page, list):
        return [each for value in page for each in numbers_in(value)]
    return [page] if isinstance(page, float) else []


def test_where_counts_are_masked_the_answer_is_withheld(tmp_path: Path) -> None:
    rows = [f"u{place}" for place in range(4)] + [f"v{place % 30}" for place in range(600)]
    (tmp_path / "town.csv").write_text("\n".join(["a", *rows]), encoding="utf-8")
    table = 'file = "town.csv"\nquasi_identifiers = ["a"]\npopulation = 6000'
    asked = ", ".join(f'{{measure = "{measure}", at_most = 1}}' for measure in COLUMNS)
    page = check(written(tmp_path, asked, table=table))
    for each in page["checks"]:
        group = each["groups"][0]
        assert (group["value"], group["low"], group["high"], group["sentence"]) == (
            None,
            None,
            None,
            None,
        )
        assert (group["below"], group["masked"]) == (None, True)
    reported = page["tables"][0]["population_risk"]
    assert (reported["method"], reported["sentence"]) == (None, None)
    assert numbers_in(reported) == [6000.0]
    assert "could reveal how few" in reported["status"]
    assert "would be the only one" not in render_html(page) + render_junit(page)


def test_an_interval_up_to_1_does_not_tell_the_estimate(tmp_path: Path) -> None:
    """Nearly nothing repeats: the upper end is 1, and the exact estimate would tell the few who do."""
    rows = [f"u{place}" for place in range(300)] + ["v", "v", "w", "w"]
    (tmp_path / "town.csv").write_text("\n".join(["a", *rows]), encoding="utf-8")
    table = 'file = "town.csv"\nquasi_identifiers = ["a"]\npopulation = 310'
    asked = '{measure = "forecast_uniqueness", at_most = 1}, {measure = "population_uniqueness", at_most = 1}'
    exact = check(written(tmp_path, asked, "mask_below = 1", table))["checks"]
    assert any(each["groups"][0]["value"] < 1 == each["groups"][0]["high"] for each in exact)
    for each in check(written(tmp_path, asked, table=table))["checks"]:
        assert (each["groups"][0]["value"], each["groups"][0]["low"]) == (None, None)


@pytest.mark.parametrize("population", ["67,000,000", "67e6", "67_000_000", "67000000"])
def test_the_command_shows_the_one_answer(population: str) -> None:
    call = ["risk", str(PEOPLE), "--qi", "sex,postcode", "--population", population]
    page = json.loads(command(*call, "--json", "--k", "7").stdout)
    row = page["population_risk"][0]
    assert row["population"] == 67e6
    assert row["below_k_high"] >= row["uniqueness_high"]
    if population == "67e6":
        shown = " ".join(command(*call).stdout.split())
        assert row["sentence"] in shown
        assert re.search(r"67,000,000 │ (less than )?[\d.]+ % \(", shown)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            ["--population", "10"],
            "populations must be at least the 3,000 records of the sample, got 10",
        ),
        (["--population", "1e400"], "a number of people of at least 1 and at most 1e+15, got inf"),
        (["--population", "67e6", "--k", "1"], "k must be a whole number of people from 2"),
        (
            ["--population", "67e6", "--nulls", "wildcard"],
            "nulls must be one of 'value', 'drop', got 'wildcard'",
        ),
    ],
)
def test_the_command_refuses_in_one_sentence(more: list[str], message: str) -> None:
    done = command("risk", str(PEOPLE), "--qi", "sex,postcode", *more)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert message in done.stderr
