"""Commands that compare tables name the columns that they did not measure, and their figure by all."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from reid_sql import demo
from reid_sql.cli import main
from reid_sql.commands.serve import describe_unnamed, open_data

OTHERS = ("marital_status", "education", "occupation", "diagnosis", "note")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pl.DataFrame:
    """People, and a release in which two columns are coarser and another is new."""
    monkeypatch.chdir(tmp_path)
    people = pl.read_csv(str(demo.people()), infer_schema=False).head(600).with_row_index("key")
    people.write_csv("people.csv")
    released = people.with_columns(
        age=(pl.col("age").cast(int) // 20 * 20).cast(str) + "-",
        postcode=pl.col("postcode").str.slice(0, 3) + "**",
        note=pl.col("key").cast(str) + "z",
    )
    released.write_csv("released.csv")
    return released


def count_unique(frame: pl.DataFrame, columns: list[str]) -> int:
    """Count by hand the rows that no other row equals."""
    return sum(count == 1 for count in Counter(frame.select(columns).rows()).values())


def ask(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_compare_states_its_result_by_every_column_of_the_release(
    files: pl.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["compare", "people.csv", "released.csv", "--key", "key", "--qi"]
    page = ask(capsys, *command, "age,sex,postcode")
    every = [name for name in files.columns if name not in {"key", "note"}]
    assert page["all_columns"]["columns"] == every
    alone = ask(capsys, *command, ",".join(every))
    assert page["all_columns"]["compare"] == alone["compare"]  # as if all of them were asked about
    assert page["headline"].startswith("An attacker who links every record by age, sex, postcode")
    assert "by all 7 columns" in page["headline"]
    assert "by all" not in alone["headline"]
    unmeasured = page["columns_not_measured"]
    assert {each["column"]: each["unique"] for each in unmeasured["unmeasured"]} == {
        name: count_unique(files, [name]) for name in OTHERS
    }
    assert unmeasured["unique_together"] == count_unique(files, [*every, "note"])
    for form in ("table", "csv"):
        assert main([*command, "age,sex,postcode", "--format", form, "--html", "page.html"]) == 0
        said = capsys.readouterr()
        for text in (said.out + said.err, Path("page.html").read_text(encoding="utf-8")):
            assert all(name in text for name in OTHERS)


@pytest.mark.parametrize("command", ["audit", "compare"])
def test_columns_that_no_attack_uses_are_named(
    files: pl.DataFrame, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    key = ["--key", "key", "--as", "later"] if command == "compare" else []
    words = [command, "people.csv", "released.csv", "--qi", "age,sex,postcode", *key]
    found = ask(capsys, *words)["columns_not_measured"]
    if command == "compare":
        said = [" ".join(each["sentences"]) for each in found]
        assert [["release 1" in text, "release 2" in text] for text in said] == [
            [True, False],
            [False, True],
        ]
    last = found[-1] if command == "compare" else found
    others = [*OTHERS, *([] if key else ["key"])]
    assert {each["column"]: each["unique"] for each in last["unmeasured"]} == {
        name: count_unique(files, [name]) for name in others
    }
    assert main([*words, "--html", "page.html"]) == 0
    for text in (capsys.readouterr().out, Path("page.html").read_text(encoding="utf-8")):
        assert all(name in text for name in others)


@pytest.mark.parametrize("has_policy", [False, True])
def test_a_server_names_the_columns_that_its_policy_does_not(
    files: pl.DataFrame, has_policy: object
) -> None:
    Path("p.toml").write_text(
        '[[tables]]\nfile = "released.csv"\nquasi_identifiers = ["age", "sex"]\nentity = "key"\n'
        'sensitive = ["diagnosis"]\n[[tables.checks]]\nmeasure = "k"\nat_least = 5\n',
        encoding="utf-8",
    )
    data = open_data(["released.csv"], [], None)
    said = list(describe_unnamed(data, ["released"], "p.toml" if has_policy else None))
    assert len(said) == bool(has_policy)
    named = {"age", "sex", "key", "diagnosis"}
    for name in files.columns if has_policy else ():
        assert (f" {name}," in f"{said[0]},".replace(".,", ",")) == (name not in named)
