"""A baseline that somebody edited is refused: by its verdicts, its digest, its signature."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reid_sql.check.gate import check
from reid_sql.check.report import to_json
from reid_sql.errors import ReidError
from tests.cells import each_cell
from tests.check.towns import town

Page = dict[str, Any]
CHECKS = 'checks = [{measure = "k", at_least = 5}, {measure = "uniqueness", at_most = 0.9}]'


def edit_verdict(page: Page) -> None:
    page["checks"][0]["groups"][0]["verdict"] = page["checks"][0]["verdict"] = page["verdict"] = (
        "pass"
    )
    page["exit_code"] = 0


def edit_limit(page: Page) -> None:
    page["checks"][0]["limit"] = 1


def edit_figure(page: Page) -> None:
    page["checks"][1]["groups"][0]["judged"] = 0.95


def edit_worst(page: Page) -> None:
    page["checks"][0]["verdict"] = "pass"


def edit_outcome(page: Page) -> None:
    page["verdict"], page["exit_code"] = "pass", 0


EDITS = [edit_verdict, edit_limit, edit_figure, edit_worst, edit_outcome]


def digest(page: Page) -> str:
    """The digest as the schema describes it."""
    rest = {key: page[key] for key in page if key not in ("digest", "signature")}
    return hashlib.sha256(
        json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()
    ).hexdigest()


def test_the_digest_is_that_of_all_the_rest(tmp_path: Path) -> None:
    page = json.loads(to_json(check(town(tmp_path, CHECKS))))
    assert page["digest"] == digest(page)
    assert page["signature"] is None


@each_cell("edit", EDITS)
@each_cell("sealed", [False, True])
@pytest.mark.first(cells=3)
def test_an_edited_baseline_is_refused(
    tmp_path: Path, edit: Callable[[Page], None], *, sealed: bool
) -> None:
    file = town(tmp_path, CHECKS)
    page = json.loads(to_json(check(file)))
    assert page["verdict"] == "fail"
    edit(page)
    if sealed:
        page["digest"] = digest(page)
    (tmp_path / "b.json").write_text(json.dumps(page), encoding="utf-8")
    words = "verdict" if sealed else "its digest is not that of its content"
    with pytest.raises(ReidError, match=f"baseline must be a report as it was written.*{words}"):
        check(file, tmp_path / "b.json")


@pytest.mark.parametrize("limit", ["at_most = 0.0001", "no_worse = true"])
def test_a_figure_against_another_population_is_not_compared(tmp_path: Path, limit: str) -> None:
    """A register three times as large makes each risk a third; with another name it is the same."""
    for name, rows in (("people", 300), ("register", 3000), ("moved", 3000), ("larger", 9000)):
        lines = "".join(f"{i % 90},{'mf'[i % 2]}\n" for i in range(rows))
        (tmp_path / f"{name}.csv").write_text(f"age,sex\n{lines}", encoding="utf-8")

    def judge(register: str, **options: Any) -> Page:
        asked = f'[[tables.checks]]\nmeasure = "journalist_average_risk"\n{options.pop("limit", limit)}\n'
        table = '[[tables]]\nfile = "people.csv"\nquasi_identifiers = ["age", "sex"]'
        table = f'{table}\npopulation_file = "{register}"'
        policy = tmp_path / "policy.toml"
        policy.write_text(f'cautions = "allow"\nmask_below = 1\n{table}\n{asked}', encoding="utf-8")
        page: Page = check(policy, **options)
        return page

    earlier = tmp_path / "earlier.json"
    earlier.write_text(to_json(judge("register.csv", limit="at_most = 0.9")), encoding="utf-8")
    assert judge("moved.csv", baseline=earlier)["exit_code"] == 0
    found = judge("larger.csv", baseline=earlier)
    assert found["exit_code"] != 0
    assert "another population table" in found["checks"][0]["groups"][0]["why"]
