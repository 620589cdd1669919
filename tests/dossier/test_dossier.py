"""A dossier answers each clause, shows the gate's figures alone, and is verified from its files."""

import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from reid_sql.check.catalogue import MEASURES
from reid_sql.check.gate import check
from reid_sql.check.masking import ReportPage
from reid_sql.check.report import digest_of, to_json
from reid_sql.cli import main
from reid_sql.commands.parser import COMMANDS
from reid_sql.dossier import sections
from reid_sql.dossier.clauses import SHIPPED, read_standard
from reid_sql.dossier.content import ATTACKS
from reid_sql.errors import ReidError
from reid_sql.parameters.document import read_document
from tests.cells import each_cell
from tests.dossier.releases import PEOPLE, POLICY, release


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a policy and its dossier."""
    made = tmp_path_factory.mktemp("release")
    # the gate's verdict
    assert main(["dossier", str(release(made)), "--out", str(made / "dossier")]) == 1
    return made


@cache
def dossier(folder: Path) -> dict[str, Any]:
    page: dict[str, Any] = json.loads(
        (folder / "dossier" / "dossier.json").read_text(encoding="utf-8")
    )
    return page


def test_every_clause_is_answered(folder: Path) -> None:
    """By a figure of each check that the table names, a person's words or their absence, or a reason."""
    page = dossier(folder)
    assert [each["name"] for each in page["standards"]] == [
        "ISO/IEC 27559", "45 CFR 164.514", "EMA Policy 0070",
    ]  # fmt: skip
    for standard, name in zip(
        page["standards"], ("iso_iec_27559", "hipaa", "ema_policy_0070"), strict=True
    ):
        table = read_standard(name)
        assert [each["clause"] for each in standard["rows"]] == [each.clause for each in table.rows]
        for row, asked in zip(standard["rows"], table.rows, strict=True):
            checks = [c for c in page["report"]["checks"] if c["measure"] in asked.measures]
            assert [page["report"]["checks"][f["place"]] for f in row["figures"]] == checks
            assert row["figures"] or row["facts"] or row["reasons"] or row["given"] is not None
            assert row["given"] == (bool(row["words"]) if asked.text else None)
    iso = {row["clause"]: row for row in page["standards"][0]["rows"]}
    assert iso["6.2.3"]["words"] == ["The hospital has no reason to look for patients."]
    assert iso["8.2.3"]["given"] is True
    assert "No person was identified." in iso["8.2.3"]["words"][0]
    assert "no check that answers it" in iso["7.3.3"]["reasons"][0]
    assert iso["9.2"]["given"] is False
    assert iso["9.2"]["written_in"] == 'assessment.answers."ISO/IEC 27559 9.2"'


@pytest.mark.parametrize("name", SHIPPED)
def test_a_table_of_clauses_names_each_once(name: str) -> None:
    clauses = [row.clause for row in read_standard(name).rows]
    assert len(clauses) == len(set(clauses)) > 0


def test_attacks_cover_all_measures_once() -> None:
    """Each function of a measure is in one kind of attack, and each command exists."""
    place, _ = read_document("attacks", ATTACKS, None, {})
    attacks = place.tables("attacks")
    functions = [name for each in attacks for name in each.texts("functions")]
    older = {each.older for each in MEASURES.values() if each.older}
    assert sorted(functions) == sorted({each.function for each in MEASURES.values()} | older)
    assert {each.text("command").split()[1] for each in attacks} <= set(COMMANDS)


def test_figures_are_those_of_the_gate(folder: Path) -> None:
    """The report in the dossier is the gate's, byte for byte, and every figure points into it."""
    page = dossier(folder)
    assert to_json(page["report"]) == to_json(check(folder / "policy.toml"))
    rows = [row for standard in page["standards"] for row in standard["rows"]]
    figures = [figure for each in (*rows, *page["attacks"]) for figure in each["figures"]]
    assert figures
    for figure in figures:
        found = page["report"]["checks"][figure["place"]]
        assert (figure["verdict"], figure["definition"]) == (found["verdict"], found["words"])
        value = found["groups"][0]["value"]
        if value is not None and found["measure"] == "k":
            assert figure["figure"] == str(value)
        assert figure["source"]


def test_what_was_not_measured_is_listed(folder: Path) -> None:
    page = dossier(folder)
    gaps = page["not_measured"]
    assert "University hospital: no check counts age of people, which they receive." in gaps
    assert "University hospital: no check links with the population table." in gaps
    assert "people: no check measures what classes reveal of diagnosis." in gaps
    tried = {each["attack"] for each in page["attacks"] if each["tried"]}
    assert tried == {"match everybody in the table by what outsiders know"}
    assert page["floor"].startswith("Figures of exact matching are a floor")


def test_the_same_run_has_the_same_bytes_and_a_rerun_no_changes(
    folder: Path, tmp_path: Path
) -> None:
    other = tmp_path / "again"
    policy = str(folder / "policy.toml")
    main(["dossier", policy, "--out", str(other)])
    for file in (folder / "dossier").iterdir():
        assert file.read_bytes() == (other / file.name).read_bytes()
    main(["dossier", policy, "--out", str(tmp_path / "next"), "--since", str(other)])
    later = json.loads((tmp_path / "next" / "dossier.json").read_text(encoding="utf-8"))
    assert later["changes"] == []
    assert later["since"] == dossier(folder)["digest"]


def test_changes_are_listed(folder: Path, tmp_path: Path) -> None:
    text = POLICY.replace("at_least = 2", "at_least = 3000").replace("hours = 16", "hours = 17")
    main(
        [
            *("dossier", str(release(tmp_path, text)), "--out", str(tmp_path / "d")),
            *("--since", str(folder / "dossier")),
        ]
    )
    page = json.loads((tmp_path / "d" / "dossier.json").read_text(encoding="utf-8"))
    changed = {each["what"]: (each["before"], each["now"]) for each in page["changes"]}
    assert changed["University hospital: verdict"] == ("pass", "fail")
    assert changed.keys() == {
        "policy",
        "University hospital: verdict",
        "people: k for University hospital on sex, postcode",
        "assessment.intruder_tests",
    }


def test_shows_no_path_no_masked_count_and_no_verdict_of_law(folder: Path) -> None:
    """Nor values: the rarest ages are in no file of the dossier."""
    ages = [line.split(",")[0] for line in PEOPLE.read_text(encoding="utf-8").splitlines()[1:]]
    assert ages
    for file in (folder / "dossier").iterdir():
        text = file.read_text(encoding="utf-8")
        assert str(folder) not in text
        assert "anonym" not in re.sub(r"font-family[^;]*;", "", text.lower())
    unique = next(c for c in dossier(folder)["report"]["checks"] if c["measure"] == "uniqueness")
    assert unique["groups"][0]["value"] is None or unique["groups"][0]["value"] >= 10 / 3000


def tampered(page: dict[str, Any], change: Callable[[dict[str, Any]], None]) -> str:
    """The dossier with a change, and new digests that match it."""
    copy = json.loads(json.dumps(page))
    change(copy)
    copy["report"]["digest"] = digest_of(copy["report"])
    copy["digest"] = digest_of(copy)
    return to_json(copy)


def raise_limit(page: dict[str, Any]) -> None:
    page["report"]["checks"][0]["verdict"] = page["report"]["checks"][0]["groups"][0]["verdict"] = (
        "pass"
    )


def pass_recipient(page: dict[str, Any]) -> None:
    page["report"]["recipients"][1]["verdict"] = "pass"


def drop_words(page: dict[str, Any]) -> None:
    page["not_measured"] = []


@pytest.mark.parametrize("change", [raise_limit, pass_recipient, drop_words])
def test_verify_finds_what_does_not_follow(
    folder: Path,
    tmp_path: Path,
    change: Callable[[dict[str, Any]], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Also where digests and hashes were written anew."""
    copy = tmp_path / "copy"
    shutil.copytree(folder / "dossier", copy)
    assert main(["dossier", "--verify", str(copy)]) == 0
    before = (copy / "dossier.json").read_bytes()
    (copy / "dossier.json").write_text(
        tampered(dossier(folder), change), encoding="utf-8", newline="\n"
    )
    assert main(["dossier", "--verify", str(copy)]) == 1
    assert "dossier.json is not the file that the envelope names" in capsys.readouterr().out
    envelope = (copy / "ro-crate-metadata.json").read_text(encoding="utf-8")
    old, new = (
        hashlib.sha256(each).hexdigest() for each in (before, (copy / "dossier.json").read_bytes())
    )
    envelope = envelope.replace(old, new)
    (copy / "ro-crate-metadata.json").write_text(envelope, encoding="utf-8", newline="\n")
    assert main(["dossier", "--verify", str(copy)]) == 1
    assert "envelope names" not in capsys.readouterr().out


@each_cell("name", ["dossier.html", "dossier.json", "ro-crate-metadata.json"])
@each_cell("content", [None, "", "{}", "[1]", '{"@graph": 3}'])
def test_verify_refuses_files_that_are_none(
    folder: Path, tmp_path: Path, name: str, content: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder / "dossier", copy)
    (copy / name).unlink()
    if content is not None:
        (copy / name).write_text(content, encoding="utf-8")
    assert main(["dossier", "--verify", str(copy)]) == 1
    assert "not consistent" in capsys.readouterr().out


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="no ssh-keygen")
def test_a_signature_is_that_of_an_allowed_signer(folder: Path, tmp_path: Path) -> None:
    for name in ("key", "other"):
        made = [
            "ssh-keygen",
            "-q",
            "-t",
            "ed25519",
            "-N",
            "",
            "-f",
            str(tmp_path / name),
            "-C",
            name,
        ]
        subprocess.run(made, check=True)
    for name, who in (("key", "ada@example.org"), ("other", "eve@example.org")):
        public = (tmp_path / f"{name}.pub").read_text(encoding="utf-8")
        (tmp_path / f"{name}.signers").write_text(f"{who} {public}", encoding="utf-8")
    out = tmp_path / "signed"
    main(
        ["dossier", str(folder / "policy.toml"), "--out", str(out), "--sign", str(tmp_path / "key")]
    )
    verify = ["dossier", "--verify", str(out), "--signature"]
    assert main([*verify, str(tmp_path / "key.signers")]) == 0
    assert main([*verify, str(tmp_path / "other.signers")]) == 1
    envelope = out / "ro-crate-metadata.json"
    envelope.write_text(
        envelope.read_text(encoding="utf-8").replace("Ada Lind", "Eve Lind"), encoding="utf-8"
    )
    assert main([*verify, str(tmp_path / "key.signers")]) == 1
    main(["dossier", str(folder / "policy.toml"), "--out", str(out)])
    assert not (out / "ro-crate-metadata.json.sig").exists()  # it would be of other content


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "[assessment.answers]",
            "[assessment.answers]\nx = 'y'",
            "must name clauses that a person answers",
        ),
        ('standards = ["iso', 'standards = ["isos', "standard must be an existing file"),
        ("[assessment]", "[prepare]\n[assessment]", ""),
        ('file = "people.csv"', f'file = "{PEOPLE}"', "must name files as seen from its folder"),
    ],
)
def test_refuses_in_one_sentence(
    tmp_path: Path, old: str, new: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert old in POLICY
    code = main(
        [
            "dossier",
            str(release(tmp_path, POLICY.replace(old, new, 1))),
            "--out",
            str(tmp_path / "d"),
        ]
    )
    assert code == (2 if words else 1)
    assert words in capsys.readouterr().err


def test_refuses_a_policy_that_nobody_signs_and_a_folder_of_other_things(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = release(tmp_path, POLICY.partition("[assessment]")[0])
    assert main(["dossier", str(policy), "--out", str(tmp_path / "d")]) == 2
    said = capsys.readouterr().err
    assert "must have an [assessment] for a dossier" in said
    remedy = "\n".join(
        re.findall(r"\[assessment\](?=, and)|assessor = \"[^\"]*\"|date = \S+", said)
    )
    policy.write_text(f"{policy.read_text(encoding='utf-8')}\n{remedy}\n", encoding="utf-8")
    assert main(["dossier", str(policy), "--out", str(tmp_path / "d")]) == 1
    assert "To be filled in: purpose of [assessment]" in (tmp_path / "d/dossier.html").read_text(
        "utf-8"
    )
    capsys.readouterr()
    policy.write_text(POLICY, encoding="utf-8")
    assert main(["dossier", str(policy), "--out", str(tmp_path)]) == 2
    assert "must be a new folder or one of a dossier" in capsys.readouterr().err


def test_the_documents_have_a_table_of_clauses_of_ones_own(tmp_path: Path) -> None:
    docs = PEOPLE.parents[2] / "docs"
    (tmp_path / "own_clauses.toml").write_bytes((docs / "own_clauses.toml").read_bytes())
    text = POLICY.replace('standards = ["iso_iec_27559"', 'standards = ["own_clauses.toml"')
    text = text.replace('"ISO/IEC 27559 6.2.3"', '"Rules of our data office 4.2"')
    main(["dossier", str(release(tmp_path, text)), "--out", str(tmp_path / "d")])
    page = json.loads((tmp_path / "d" / "dossier.json").read_text(encoding="utf-8"))
    assert page["standards"][0]["rows"][0]["given"] is True


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("question = 'q'", "must have measures, facts, text or a reason, got none"),
        ("question = 'q'\nmeasures = ['kk']", "must be measures, got 'kk'"),
        ("question = 'q'\nfacts = 'tabels'", "facts must be one of"),
        ("question = 'q'\nwhy = 'x'", "got 'why'"),
    ],
)
def test_refuses_a_row_that_nothing_answers(tmp_path: Path, row: str, words: str) -> None:
    (tmp_path / "own.toml").write_text(
        f"name = 'own'\n[[rows]]\nclause = '1'\n{row}", encoding="utf-8"
    )
    with pytest.raises(ReidError, match=re.escape(words)):
        read_standard("own.toml", tmp_path)


@pytest.mark.parametrize(("days", "code"), [(-1, 1), (0, 0), (300, 0), (None, 0)])
def test_an_expired_dossier_is_said_and_not_verified(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], days: int | None, code: int
) -> None:
    """A dossier is valid through its last day; one without a last day does not expire."""
    until = "" if days is None else f"valid_until = {date.today() + timedelta(days)}\n"  # noqa: DTZ011
    policy = POLICY.replace("date = 2026-11-27\n", f"date = 2001-01-01\n{until}")
    out = tmp_path / "dossier"
    assert main(["dossier", str(release(tmp_path, policy)), "--out", str(out)]) == 1  # the gate's
    assert ("expired: " in capsys.readouterr().err) == bool(code)
    assert main(["dossier", "--verify", str(out)]) == code
    assert ("expired: " in capsys.readouterr().out) == bool(code)


def test_the_page_says_what_to_fill_in_and_names_each_source_once() -> None:
    figure = {"check": "k", "definition": "the smallest class", "source": "Sweeney 2002"}
    row = {"clause": "1", "figures": [figure]}
    dossier: dict[str, Any] = {
        "standards": [{"rows": [row, row]}],
        "attacks": [{"tried": True, "figures": [figure]}],
    }
    page = sections._sources(ReportPage(dossier))  # noqa: SLF001 - one section of the page
    assert page.count("Sweeney 2002") == 1
    assert "To be filled in: assessor of [assessment]" in sections._missing("assessor")  # noqa: SLF001
