"""Missing-value codes are found wherever a column's values count; a policy accepts a caution by its code."""

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import reid_sql
from reid_sql.check.gate import check
from reid_sql.check.remarks import codes_of_cautions
from reid_sql.errors import UnknownNameError

ROOT = Path(__file__).parents[2]
TABLE = 'file = "t.parquet"\nquasi_identifiers = ["age"]\nsensitive = ["dis"]'
L = '{measure = "l_diversity", at_least = 2}'
ALPHA = '{measure = "alpha_k_anonymity", at_most = 0.9}'
T = '{measure = "t_closeness", at_most = 0.99}'
K = '{measure = "k", at_least = 2}'
K_BY = '{measure = "k", at_least = 2, by = ["sex"]}'
RISK = '{measure = "population_uniqueness", at_most = 0.99, population = 1e6, weight = "w"}'


Columns = dict[str, list[Any]]


def page(
    folder: Path, checks: str, top: str = "", changed: Columns | None = None
) -> dict[str, Any]:
    """Check a table of 200 people, of whom some columns are changed; nothing is masked."""
    columns: Columns = {
        "age": [20 + i % 5 for i in range(200)],
        "dis": [["hiv", "flu"][i // 5 % 2] for i in range(200)],
        "sex": [["m", "f"][i // 10 % 2] for i in range(200)],
        "w": [[1, 2, 3, 4][i % 4] for i in range(200)],
    }
    pl.DataFrame(columns | (changed or {})).write_parquet(folder / "t.parquet")
    head = f'cautions = "refuse"\nmask_below = 1\n{top}'
    (folder / "p.toml").write_text(
        f"{head}\n[[tables]]\n{TABLE}\nchecks = [{checks}]", encoding="utf-8"
    )
    return check(folder / "p.toml")


def every_second(code: Any, value: Any) -> list[Any]:
    return [[value, code][i // 5 % 2] for i in range(200)]


ROLES = {
    "quasi-identifier": (K, {"age": every_second(99, 20)}),
    "sensitive": (L, {"dis": every_second("?", "hiv")}),
    "sensitive, of another measure": (T, {"dis": every_second("unknown", "hiv")}),
    "by": (K_BY, {"sex": every_second("N/A", "f")}),
    "weight": (RISK, {"w": [99 if i == 7 else 1 + i % 4 for i in range(200)]}),
}


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.first(cells=2)
def test_a_missing_value_code_is_a_caution_in_every_role(tmp_path: Path, role: str) -> None:
    checks, changed = ROLES[role]
    known = page(tmp_path, checks)["checks"][0]["caution_codes"]  # of the estimate
    assert "missing_codes" not in known
    after = page(tmp_path, checks, f"accept = {json.dumps(known)}", changed)
    assert "missing_codes" in after["checks"][0]["caution_codes"]
    assert after["exit_code"] == 2
    codes = after["checks"][0]["caution_codes"]
    accepted = page(tmp_path, checks, f"accept = {json.dumps(codes)}", changed)
    assert accepted["exit_code"] == 0
    assert accepted["checks"][0]["cautions"] == after["checks"][0]["cautions"] != []


@pytest.mark.parametrize("nulls", ["value", "drop"])
@pytest.mark.parametrize("checks", [L, ALPHA, K])
def test_records_without_a_sensitive_value_are_no_second_one(
    tmp_path: Path, checks: str, nulls: str
) -> None:
    """NULL as a diagnosis is what '?' is: a value more in l-diversity, which only `drop` leaves out."""
    found = page(tmp_path, checks, changed={"dis": every_second(None, "hiv")})
    codes = found["checks"][0]["caution_codes"]
    assert codes == ([] if checks == K else ["missing_sensitive"])
    if nulls == "drop" and checks == L:
        path = tmp_path / "p.toml"
        path.write_text(
            path.read_text("utf-8").replace(TABLE, f'{TABLE}\nnulls = "drop"'), encoding="utf-8"
        )
        [each] = check(path)["checks"]
        assert each["groups"][0]["value"] in {None, 1}
        assert each["verdict"] != "pass"


def test_a_caution_with_another_code_blocks_still(tmp_path: Path) -> None:
    found = page(
        tmp_path, K, 'accept = ["missing_sensitive", "few_records"]', {"age": every_second(99, 20)}
    )
    assert (found["exit_code"], found["checks"][0]["caution_codes"]) == (2, ["missing_codes"])


def test_what_needs_no_remedy_does_not_block(tmp_path: Path) -> None:
    """A column that another one determines is no doubt of an estimate; few records are one."""
    estimate = (
        '{measure = "population_uniqueness", at_most = 1, quasi_identifiers = ["age", "decade"], '
    )
    estimate += "population = 1e6}"
    ages = [18 + i * 37 % 70 for i in range(2000)]
    columns: Columns = {"age": ages, "decade": [age // 10 for age in ages]}
    columns |= {"dis": ["hiv"] * 2000, "sex": ["m"] * 2000, "w": [1] * 2000}
    codes = page(tmp_path, estimate, changed=columns)["checks"][0]["caution_codes"]
    assert "determined" in codes
    accept = f"accept = {json.dumps([each for each in codes if each != 'determined'])}"
    assert page(tmp_path, estimate, accept, columns)["exit_code"] == 0


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        ("missing_code", "did you mean 'missing_codes'?"),
        ("few_record", "did you mean 'few_records'?"),
        ("everything", "the codes are above_bound, "),
    ],
)
def test_a_code_that_no_caution_has_is_refused(tmp_path: Path, code: str, remedy: str) -> None:
    with pytest.raises(UnknownNameError) as refused:
        page(tmp_path, K, f'accept = ["{code}"]')
    assert f"policy accept must be codes of cautions, got '{code}'; {remedy}" in str(refused.value)


def test_the_codes_that_can_be_accepted_are_those_that_the_gate_writes() -> None:
    """Every code in the source of the gate, and every code of docs/statuses.md."""
    written = {
        code
        for path in (ROOT / "reid_sql" / "check").glob("*.py")
        for code in re.findall(
            r'(?:code="|cautions \+= \[\(.*?, \[")([a-z_]+)"', path.read_text(encoding="utf-8")
        )
    }
    statuses = set(
        re.findall(
            r"^\| `([\w ]+)` \|", (ROOT / "docs" / "statuses.md").read_text("utf-8"), re.MULTILINE
        )
    )
    assert {*written, *statuses} - {"ok", ""} <= {*codes_of_cautions()}
    assert written


def test_the_page_for_the_person_who_decides_has_sentences_without_their_codes(
    tmp_path: Path,
) -> None:
    forecast = '{measure = "forecast_uniqueness", at_most = 0.99, population = 1e6}'
    checks = page(tmp_path, forecast)["checks"]
    assert {"misfit", "outside_interval"} <= {*checks[0]["caution_codes"]}
    html = reid_sql.check(tmp_path / "p.toml").html(tmp_path / "p.html").read_text(encoding="utf-8")
    assert "true uniqueness was below its interval" in html
    text = (ROOT / "docs" / "statuses.md").read_text("utf-8")
    codes = re.findall(r"^\| `([\w ]+)` \|", text, re.MULTILINE)
    assert [code for code in codes if f"{code}: " in html] == []
