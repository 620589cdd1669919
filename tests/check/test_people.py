"""A policy that names who is who is held to people, not to their rows."""

import json
from pathlib import Path

import pytest

from tests.processes import command

VISITS = "person_id,age,sex,town,diagnosis\n" + "".join(
    f"{person},{person % 50},{'FM'[person % 2]},{'AB'[person % 3 == 0]},x\n" * 5
    for person in range(97)
)
POLICY = """
mask_below = 1
[[tables]]
file = "visits.csv"
quasi_identifiers = ["age", "sex"]
{entity}
[[tables.checks]]
measure = "k"
at_least = 5
[[tables.checks]]
measure = "uniqueness"
at_most = 0.01
by = ["town"]
quasi_identifiers = ["sex"]
"""
L = """
sensitive = ["diagnosis"]
[[tables.checks]]
measure = "l_diversity"
at_least = 1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "visits.csv").write_text(VISITS, encoding="utf-8")
    return tmp_path


def checked(folder: Path, policy: str) -> tuple[int, dict[str, object], str]:
    (folder / "policy.toml").write_text(policy, encoding="utf-8")
    done = command(
        "check", str(folder / "policy.toml"), "--json-report", str(folder / "report.json")
    )
    return (
        done.returncode,
        json.loads((folder / "report.json").read_text(encoding="utf-8")),
        done.stdout,
    )


def test_rows_pass_where_people_fail(folder: Path) -> None:
    code, page, shown = checked(folder, POLICY.format(entity=""))
    assert code == 0
    assert "One row per person is assumed." in shown
    code, page, shown = checked(folder, POLICY.format(entity='entity = "person_id"'))
    assert code == 1
    table, check = page["tables"][0], page["checks"][0]  # type: ignore[index]
    assert (table["records"], table["entity"], table["classes"]) == (97, "person_id", 50)
    assert check["verdict"] == "fail"
    assert check["groups"][0]["value"] == 1
    assert "people, distinguished by person_id: 97" in shown
    assert "One row per person is assumed." not in shown


def test_what_classes_give_away_counts_people(folder: Path) -> None:
    policy = POLICY.format(entity='entity = "person_id"\nsensitive = ["diagnosis"]')
    checks = '[[tables.checks]]\nmeasure = "l_diversity"\nat_least = 1\n'
    checks += '[[tables.checks]]\nmeasure = "l_diversity"\nat_least = 1\nsensitive = "town"\n'
    _, page, _ = checked(folder, policy + checks)
    verdicts = [(each["verdict"], each["groups"][0]["value"]) for each in page["checks"][-2:]]  # type: ignore[index]
    assert verdicts == [("pass", 1), ("pass", 1)]
    several = VISITS.replace(",x\n", ",y\n", 1)
    (folder / "visits.csv").write_text(several, encoding="utf-8")
    _, page, _ = checked(folder, policy + checks)
    reported = page["checks"][-2]  # type: ignore[index]
    assert reported["verdict"] == "not judged"
    assert "sensitive must have one value for each person in a class" in json.dumps(reported)


def test_a_measure_of_rows_is_not_judged_for_people(folder: Path) -> None:
    policy = POLICY.format(entity='entity = "person_id"\nsensitive = ["diagnosis"]').replace(
        "at_least = 5", "at_least = 1"
    )
    rows = '[[tables.checks]]\nmeasure = "household_uniqueness"\nhousehold = "diagnosis"\nat_most = 1\n'
    code, page, _ = checked(folder, policy + rows)
    assert code == 2
    last = page["checks"][-1]  # type: ignore[index]
    assert last["verdict"] == "not judged"
    assert "which counts rows" in json.dumps(last)


def test_choices_of_columns_are_judged_for_people(folder: Path) -> None:
    policy = POLICY.format(entity='entity = "person_id"')
    checks = "".join(
        f'[[tables.checks]]\nmeasure = "{measure}"\nat_most = 0.1\n{more}'
        for measure, more in (("distinction", ""), ("separation", ""), ("qar", "p = 2\n"))
    )
    _, page, _ = checked(folder, policy + checks)
    people = {(person % 50, "FM"[person % 2]) for person in range(97)}
    distinction, separation, qar = page["checks"][-3:]  # type: ignore[index]
    assert distinction["groups"][0]["value"] == pytest.approx(len(people) / 97)
    assert separation["groups"][0]["value"] == pytest.approx(1 - 47 * 2 / (97 * 96))
    assert qar["verdict"] == "not judged"
    assert "quasi-identifiers exceed the threshold, and a fit needs" in json.dumps(qar)


@pytest.mark.parametrize(
    ("entity", "message"),
    [
        ("age", "entity must not be a quasi-identifier, got 'age'"),
        ("persn_id", "got 'persn_id'; did you mean 'person_id'?"),
    ],
)
def test_who_is_who_must_be_another_column_of_the_table(
    folder: Path, entity: str, message: str
) -> None:
    (folder / "policy.toml").write_text(
        POLICY.format(entity=f'entity = "{entity}"'), encoding="utf-8"
    )
    done = command("check", str(folder / "policy.toml"))
    assert done.returncode == 2
    assert message in done.stderr


def test_a_refusal_of_one_group_leaves_the_others_measured(folder: Path) -> None:
    """People of two values stand in town A alone; its name is one that the answer has for itself."""
    reported = VISITS.replace("town", "status").replace("\n2,2,F,A,x\n", "\n2,2,F,A,y\n", 1)
    (folder / "visits.csv").write_text(reported, encoding="utf-8")
    limits = POLICY.format(entity='entity = "person_id"' + L + 'by = ["status"]\n').replace(
        "town", "status"
    )
    _, page, _ = checked(folder, limits)
    found = page["checks"][0]["groups"]  # type: ignore[index]
    assert [group["value"] for group in found if group["group"] == {"status": "B"}] == [1]
    refused = next(group for group in found if group["group"] == {"status": "A"})
    assert refused["value"] is None
    assert "one value for each person" in json.dumps(refused)
