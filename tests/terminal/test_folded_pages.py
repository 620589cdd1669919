"""Pages that show people first and fold the rest: nothing is lost, and each warning is there once."""

import csv
import io
import re
from pathlib import Path

from tests.processes import command


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def tables(folder: Path) -> None:
    people = [f"{n},{20 + n % 37},{'fm'[n % 2]},{n % 5}" for n in range(300)]
    (folder / "o.csv").write_text("id,age,sex,ill\n" + "\n".join(people), encoding="utf-8")
    (folder / "s.csv").write_text("id,age,sex,ill\n" + "\n".join(people[:150]), encoding="utf-8")
    (folder / "h.csv").write_text(
        "id,age,sex,ill\n"
        + "\n".join(f"{n},{20 + n % 41},{'mf'[n % 2]},{n % 7}" for n in range(300)),
        encoding="utf-8",
    )


def test_every_figure_of_a_comparison_is_on_its_page_once(tmp_path: Path) -> None:
    tables(tmp_path)
    given = ("compare", "o.csv", "s.csv", "--qi", "age,sex", "--key", "id")
    rows = rows_of(command(*given, "--format", "csv", folder=tmp_path).stdout)
    shown = command(*given, "--html", "c.html", folder=tmp_path).stdout
    page = (tmp_path / "c.html").read_text(encoding="utf-8")
    first, folded = page.split("<details>")
    for row in rows:
        cell = f"<td>{row['measure'].replace('_', ' ')}</td>"
        assert (first.count(cell), folded.count(cell)) in {(1, 0), (0, 1), (2, 0)}, cell
    assert "19 more figures: --format csv, or --html" in shown
    assert first.index("age, sex") < first.index("<table")  # the box names the columns


def test_the_page_of_an_audit_counts_people_of_100(tmp_path: Path) -> None:
    tables(tmp_path)
    given = (
        "audit",
        "o.csv",
        "s.csv",
        "--holdout",
        "h.csv",
        "--qi",
        "age,sex",
        "--sensitive",
        "ill",
    )
    rows = rows_of(command(*given, "--format", "csv", folder=tmp_path).stdout)
    shown = command(*given, "--html", "a.html", folder=tmp_path).stdout
    (copies,) = (row for row in rows if row["attack"] == "exact_presence")
    numbers = [round(100 * float(copies[side])) for side in ("original", "holdout")]
    line = r"\s*│\s*".join([*map(str, numbers), "have an equal record in the synthetic table"])
    assert re.search(line, shown), shown
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert page.count("<tr>") >= len(rows)
    for status in {row["status"] for row in rows} - {"ok"}:
        assert page.count(status.partition(": ")[2]) == 1


def test_a_page_of_cells_shows_all_of_them_and_no_hidden_figure_as_blank(tmp_path: Path) -> None:
    rows = [f"{n % 30},{n % 4},{n}" for n in range(700)] + ["7,1,5"] * 3 + ["31,3,2"]
    (tmp_path / "t.csv").write_text("a,b,c\n" + "\n".join(rows), encoding="utf-8")
    given = ("safe", "t.csv", "--by", "a,b", "--value", "c", "--suppress", "secondary")
    done = command(*given, "--format", "json", folder=tmp_path)
    shown = command(*given, "--totals", "margins", "--html", "s.html", folder=tmp_path).stdout
    assert '"primary"' in done.stdout
    page = (tmp_path / "s.html").read_text(encoding="utf-8")
    cells = [
        line for line in page.split("<tr>") if re.search(r"<td>(primary|secondary)</td>", line)
    ]
    assert cells
    assert all(line.count(">hidden<") == 3 for line in cells)
    assert "more cells" not in shown
