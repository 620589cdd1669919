"""From counts that may be published to the answer of who checks them, as files."""

import csv
import io
import json
from collections import Counter
from pathlib import Path

import pytest

from tests.processes import command

CROSSTAB = "region;hiv;cancer;Total\nnorth;{};40;42\nsouth;10;30;40\nTotal;12;70;82\n"


def audited(folder: Path, *arguments: str) -> tuple[dict[str, tuple[float, float, str]], str]:
    done = command("audit", *arguments, "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    cells = json.loads(done.stdout)["cells"]
    return {
        each["cell"]: (each["low"], each["high"], each["finding"]) for each in cells
    }, done.stderr


def test_a_crosstab_is_audited_as_its_counts_in_rows(tmp_path: Path) -> None:
    (tmp_path / "cross.csv").write_text(CROSSTAB.format("*"), encoding="utf-8")
    refused = command("audit", "cross.csv", folder=tmp_path)
    assert "pass --total Total" in refused.stderr
    found, notes = audited(tmp_path, "cross.csv", "--total", "Total")
    assert found == {"region = north, column = hiv": (2.0, 2.0, "recovered")}
    assert "hiv, cancer, Total are categories of one variable" in notes
    rows = ["region,column,records"]
    for line in CROSSTAB.format("*").split()[1:]:
        region, *counts = line.split(";")
        rows += [
            f"{region},{name},{n}"
            for name, n in zip(("hiv", "cancer", "Total"), counts, strict=True)
        ]
    (tmp_path / "long.csv").write_text("\n".join(rows), encoding="utf-8")
    assert audited(tmp_path, "long.csv", "--total", "Total")[0] == found


@pytest.mark.parametrize("named", [(), ("--columns", "year,region")])
def test_categories_that_are_numbers_are_no_counts(tmp_path: Path, named: tuple[str, ...]) -> None:
    """A year before a region is a category: a year behind it is named by --columns."""
    first = "year,region" if not named else "region,year"
    lines = [f"{first},hiv,cancer", "{},9,<5", "{},7,30"]
    cells = [("2020", "north"), ("2021", "south")]
    lines[1:] = [
        line.format(",".join(each if not named else each[::-1]))
        for line, each in zip(lines[1:], cells, strict=True)
    ]
    (tmp_path / "t.csv").write_text("\n".join(lines), encoding="utf-8")
    found, notes = audited(tmp_path, "t.csv", *named)
    assert "hiv, cancer are categories" in notes
    assert [each[:2] for each in found.values()] == [(1.0, 4.0)]


def test_a_dash_that_is_read_as_0_is_said(tmp_path: Path) -> None:
    (tmp_path / "cross.csv").write_text(CROSSTAB.format("-"), encoding="utf-8")
    done = command("audit", "cross.csv", "--total", "Total", folder=tmp_path)
    assert "'-' was read as a count of 0 in 1 cell" in done.stdout + done.stderr
    (tmp_path / "cross.csv").write_text(CROSSTAB.format("2"), encoding="utf-8")
    assert "'-'" not in command("audit", "cross.csv", "--total", "Total", folder=tmp_path).stdout


def test_sums_of_a_csv_are_audited_as_those_of_numbers(tmp_path: Path) -> None:
    """The counts of a CSV are texts; without them the sum of few people has a lower end of 0."""
    text = 'region,income,records,largest\nnorth,100,7,"[80, 15]"\nsouth,90,9,"[20, 15]"\n'
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    done = command("audit", "t.csv", "--value", "income", "--json", folder=tmp_path)
    cells = {
        each["cell"]: each for each in json.loads(done.stdout)["cells"] if each["kind"] == "sum"
    }
    assert cells["region = north"]["largest_low"] == pytest.approx(100 / 7)


def people(folder: Path) -> Counter[tuple[str, str]]:
    sizes = {
        ("N", "F"): 7,
        ("N", "M"): 2,
        ("S", "F"): 9,
        ("S", "M"): 8,
        ("W", "F"): 6,
        ("W", "M"): 12,
    }
    lines = [f"{region},{sex}" for (region, sex), size in sizes.items() for _ in range(size)]
    (folder / "people.csv").write_text("\n".join(["region,sex", *lines]) + "\n", encoding="utf-8")
    return Counter(sizes)


def test_what_is_published_has_true_counts_and_hides_the_others(tmp_path: Path) -> None:
    true = people(tmp_path)
    asked = (
        "safe",
        "people.csv",
        "--by",
        "region,sex",
        "--totals",
        "margins",
        "--suppress",
        "secondary",
    )
    done = command(*asked, "--publish", "safe.csv", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Wrote safe.csv" in done.stdout
    rows = list(csv.DictReader(io.StringIO((tmp_path / "safe.csv").read_text(encoding="utf-8"))))
    cells = {
        (row["region"], row["sex"]): row["records"] for row in rows if row["total_over"] == "[]"
    }
    assert all(shown in ("", str(true[cell])) for cell, shown in cells.items())
    assert cells["N", "M"] == ""
    assert not any(row["status"] or row["unsafe"] for row in rows)
    found, _ = audited(tmp_path, "safe.csv")
    assert {each[2] for each in found.values()} == {"protected"}
    again = command(*asked, "--publish", "safe.csv", folder=tmp_path)
    assert (again.returncode, again.stdout) == (2, "")
    assert "must be a new file" in again.stderr


def test_counts_of_people_with_several_rows_are_not_published(tmp_path: Path) -> None:
    """Two rows of each; the one hidden cell is the one hidden count."""
    lines = [f"{pid},{'north' if pid < 40 else 'west'}" for pid in range(43) for _ in range(2)]
    (tmp_path / "rows.csv").write_text("\n".join(["pid,region", *lines]) + "\n", encoding="utf-8")
    asked = ("safe", "rows.csv", "--by", "region", "--entity", "pid", "--suppress", "secondary")
    done = command(*asked, "--publish", "safe.csv", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "none of its 1 hidden counts is revealed. It has counts of records alone" in said
    with (tmp_path / "safe.csv").open(encoding="utf-8", newline="") as file:
        assert [(each["records"], each["people"]) for each in csv.DictReader(file)] == [
            ("80", ""),
            ("", ""),
        ]


def test_nothing_is_published_that_gives_a_cell_away(tmp_path: Path) -> None:
    """What only hides its own cells, or what an earlier table completes, is not written."""
    people(tmp_path)
    asked = ("safe", "people.csv", "--by", "region,sex", "--totals", "margins")
    for wrong in (("--suppress", "primary"), ()):
        done = command(*asked, *wrong, "--publish", "safe.csv", folder=tmp_path)
        assert done.returncode == 2
        assert "--publish must be given with --suppress secondary or rounding" in done.stderr
    (tmp_path / "earlier.csv").write_text("region,sex,records\nN,M,2\nN,F,7\n", encoding="utf-8")
    known = (*asked, "--suppress", "secondary", "--published", "earlier.csv")
    done = command(*known, "--publish", "safe.csv", folder=tmp_path)
    assert done.returncode == 2
    assert {each.name for each in tmp_path.iterdir()} == {"people.csv", "earlier.csv"}


@pytest.mark.parametrize(
    ("text", "got"),
    [
        (
            "region;hiv;cancer;Total\nnorth;2;1,234;1236\nsouth;10;30;40\n",
            "'cancer' with values that are no counts",
        ),
        (
            "region;hiv;note;Total\nnorth;2;see 3;42\nsouth;10;30;40\n",
            "'note' with values that are no counts",
        ),
        ("year;hiv;cancer\n2020;3;4\n2021;9;9\n", "whole numbers in each; write --columns year"),
        ("region;note\nnorth;a\n", "no such columns"),
    ],
)
def test_what_may_be_read_in_two_ways_is_refused(tmp_path: Path, text: str, got: str) -> None:
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    done = command("audit", "t.csv", "--total", "Total", "--json", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert got in done.stderr
    assert "--columns" in done.stderr


def test_a_single_column_of_counts_is_no_crosstab(tmp_path: Path) -> None:
    """The same table with another name of its counts: the same cells, and no category of that name."""
    rows = ["north,<40,4", "north,40+,9", "south,<40,7", "south,40+,8"]
    for name in ("records", "n"):
        text = "\n".join([f"region,age,{name}", *rows]) + "\n"
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    found, _ = audited(tmp_path, "records.csv")
    assert audited(tmp_path, "n.csv")[0] == found
    done = command("audit", "n.csv", "--columns", "region,age", folder=tmp_path)
    assert "Read as the counts of the cells by region, age: n." in done.stdout + done.stderr


def test_the_sum_that_reveals_a_cell_is_a_plain_one(tmp_path: Path) -> None:
    """A hidden count of at most 4 is 3: by sums of published counts, without factors near 0."""
    table = "F,dead,<5 F,alive,<5 F,Total,6 M,dead,12 M,alive,<5 M,Total,15"
    table += " Total,dead,15 Total,alive,6 Total,Total,21"
    text = "\n".join(["sex,outcome,n", *table.split()]) + "\n"
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    done = command("audit", "t.csv", "--total", "Total", "--json", folder=tmp_path)
    sums = {each["cell"]: each["revealing_sum"] for each in json.loads(done.stdout)["cells"]}
    assert len(sums) == 3
    assert not [each for each in sums.values() if " x " in each]
