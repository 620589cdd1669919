"""reid-sql safe, and reid-sql audit of tables of counts, as a user runs them."""

import csv
import json
from pathlib import Path

import pytest

from reid_sql.cli import main


@pytest.fixture
def people(tmp_path: Path) -> Path:
    rows = [("N", "F", 7), ("N", "M", 2), ("S", "F", 9), ("S", "M", 8)]
    lines = [f"{region},{sex}" for region, sex, size in rows for _ in range(size)]
    (tmp_path / "people.csv").write_text("\n".join(["region,sex", *lines]) + "\n", encoding="utf-8")
    return tmp_path / "people.csv"


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main([*arguments]) == 0
    return capsys.readouterr().out


def test_a_table_that_hides_its_unsafe_cells_alone_is_seen_through(
    people: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("safe", str(people), "--by", "region,sex", "--totals", "margins", "--suppress")
    for word, finding in (("primary", "recovered"), ("secondary", "protected")):
        every = ran(capsys, *asked, word, "--format", "csv", "--output", "all")
        rows = list(csv.DictReader(every.splitlines()))
        assert {row["status"] for row in rows} >= {"published", "primary"}
        file = people.with_name(f"{word}.csv")
        file.write_text(ran(capsys, *asked, word, "--format", "csv"), encoding="utf-8")
        audited = json.loads(ran(capsys, "audit", str(file), "--json"))["cells"]
        assert finding in {row["finding"] for row in audited}
        assert ("recovered" in {row["finding"] for row in audited}) == (word == "primary")
        assert "Of " in ran(capsys, "audit", str(file))


def test_a_csv_file_of_cells_has_what_may_be_published(
    people: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("safe", str(people), "--by", "region,sex", "--totals", "margins", "--format")
    telling = ("unsafe", "status", "loss", "largest_share")
    for word in ("none", "primary", "secondary", "rounding"):
        for form, output in (("csv", None), ("csv", "all"), ("json", None), ("json", "all")):
            more = [] if output is None else ["--output", output]
            assert main([*asked, form, "--suppress", word, *more]) == 0
            said = capsys.readouterr()
            cells = (
                json.loads(said.out)["cells"]
                if form == "json"
                else list(csv.DictReader(said.out.splitlines()))
            )
            tells = any(cell[name] for cell in cells for name in telling)
            is_protected = word in ("secondary", "rounding")
            assert tells == (form == "json" or output == "all" or not is_protected)
            # whatever says more than may be published says so
            assert tells == ("ublish" in said.err)
    assert main([*asked, "json", "--suppress", "secondary", "--output", "publishable"]) == 0
    assert "few_people" not in capsys.readouterr().out


def test_hierarchies_and_earlier_tables_are_options(
    people: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    earlier = people.with_name("earlier.csv")
    earlier.write_text("sex,records\nF,16\nM,\n", encoding="utf-8")
    asked = ["--by", "region,sex", "--totals", "margins", "--suppress", "secondary", "--json"]
    more = ["--published", str(earlier)]
    cells = json.loads(ran(capsys, "safe", str(people), *asked, *more))["cells"]
    assert [row["records"] for row in cells if row["total_over"] == ["region"]] == [16, None]
    assert {row["status"] for row in cells} == {"published", "primary", "secondary"}
    cells = json.loads(ran(capsys, "safe", str(people), *asked, "--levels", "region>sex"))["cells"]
    assert ["region"] not in [row["total_over"] for row in cells]
    cells = json.loads(ran(capsys, "safe", str(people), *asked, "--tables", "sex"))["cells"]
    assert {tuple(row["total_over"]) for row in cells} == {("region",), ("region", "sex")}


def test_pages_say_what_is_unsafe_and_what_not_to_publish(
    people: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = ran(capsys, "safe", str(people), "--by", "region,sex", "--suppress", "primary")
    assert "1 of 4 cells are unsafe, 1 primary." in page
    assert "Publish neither" in page


def test_nested_tables_differ_by_a_group(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, counts in (("all", (41, 30)), ("less", (39, 30))):
        lines = [f"{sex},{count}" for sex, count in zip("FM", counts, strict=True)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["sex,n", *lines]) + "\n", encoding="utf-8")
    files = [str(tmp_path / f"{name}.csv") for name in ("all", "less")]
    page = ran(capsys, "audit", *files, "--count", "n", "--people", "nested", "--json")
    [row] = json.loads(page)["cells"]
    assert (row["kind"], row["low"], row["high"], row["revealed_by"]) == (
        "difference",
        2,
        2,
        "several_tables",
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--by", "regoin"), "did you mean 'region'"),
        (("--by", "region", "--suppress", "al"), "suppress must be one of"),
        (("--by", "region", "--k", "0"), "k must be a whole number of people"),
    ],
)
def test_misspelt_options_are_refused_in_one_sentence(
    people: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    assert main(["safe", str(people), *arguments]) != 0
    assert words in capsys.readouterr().err
    assert main(["audit", str(people)]) != 0
    assert (
        "a table without the column records must have columns of categories"
        in capsys.readouterr().err
    )


def test_a_page_shows_no_control_character_of_a_category_and_names_as_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "people.csv"
    file.write_text("re[bold]gion\n" + "N\x1b[2J\n" * 9, encoding="utf-8")
    page = ran(capsys, "safe", str(file), "--by", "re[bold]gion")
    assert "re[bold]gion" in page
    assert r"N\x1b[2J" in page
    assert "\x1b" not in page
