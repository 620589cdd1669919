"""Files of other programs with hidden counts: those of tau-Argus 0.6.0, of sdcTable, and flags."""

import json
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import reid_sql
from reid_sql.errors import OutOfDomainError, ReidError
from reid_sql.models.tables.audit import AuditedCell, audit_tables
from reid_sql.models.tables.published_tables import PublishedRows, Reading
from tests.cells import each_cell

# A table of 120 people, and what tau-Argus hides of it by OPT with FREQ(5, 10).
PEOPLE = {
    ("E", "ab"): 8,
    ("E", "cd"): 5,
    ("E", "ef"): 1,
    ("N", "ab"): 32,
    ("N", "cd"): 21,
    ("N", "ef"): 5,
}
PEOPLE |= {
    ("S", "ab"): 30,
    ("S", "cd"): 11,
    ("S", "ef"): 2,
    ("W", "ab"): 1,
    ("W", "cd"): 4,
    ("W", "ef"): 0,
}
PRIMARY = {("E", "ef"), ("S", "ef"), ("W", "ab"), ("W", "cd")}
SECONDARY = {("E", "ab"), ("S", "cd")}


def cells() -> dict[tuple[str, str], int]:
    """All cells in the order of the files, with totals."""
    found = {}
    for region in ("Total", "E", "N", "S", "W"):
        for sector in ("Total", "ab", "cd", "ef"):
            of = [
                n
                for (r, s), n in PEOPLE.items()
                if region in {r, "Total"} and sector in {s, "Total"}
            ]
            found[region, sector] = sum(of)
    return found


def line(kind: str, cell: tuple[str, str], count: int) -> str:
    """A line of a file of tau-Argus: its WRITETABLE of type 2, 3, 4 or 5, with AS+ or SO+."""
    place = 1 if cell in PRIMARY else 2 if cell in SECONDARY else 0
    region, sector = (f'"{each}"' for each in cell)
    shown = count or "-"
    match kind:
        case "pivot without status":
            return f"{region},{sector},{'x' if place else shown}"
        case "pivot" | "code value":
            return f"{region},{sector},{shown},{14 if not count else (1, 5, 11)[place]}"
        case "business statistics":
            return f"{region},{sector},{count},{count},{'VAD'[place]}"
        case _:
            return f"{region};{sector};{count};{count};{count};{'E' if not count else 'SUM'[place]};1;1"


FIRST_LINES = {
    "pivot": '"Region","Sector","one","Status"',
    "pivot without status": '"Region","Sector","one"',
}
NAMED: dict[str, dict[str, Any]] = {
    "pivot": {"count": "one", "status": "Status"},
    "pivot without status": {"count": "one"},
    "code value": {"columns": ["column0", "column1"], "count": "column2", "status": "column3"},
    "business statistics": {
        "columns": ["column0", "column1"],
        "count": "column2",
        "status": "column4",
    },
    "intermediate": {"columns": ["column0", "column1"], "count": "column2", "status": "column5"},
}


@pytest.mark.parametrize("kind", NAMED)
def test_a_file_of_tau_argus_is_audited_and_shows_what_its_optimum_reveals(
    tmp_path: Path, kind: str
) -> None:
    """One number, that of (E, ab), fixes all hidden counts; as none is of nobody, it is 7 or 8."""
    lines = [line(kind, cell, count) for cell, count in cells().items()]
    (tmp_path / "table.csv").write_text(
        "\n".join([*filter(None, [FIRST_LINES.get(kind)]), *lines]) + "\n"
    )
    with duckdb.connect() as con:
        found = reid_sql.audit_tables(
            con, [str(tmp_path / "table.csv")], total="Total", **NAMED[kind]
        )
        intervals = {
            tuple(row["categories"]): (row["low"], row["high"]) for row in found.pl().to_dicts()
        }
    fitting = []
    for first in range(1, 72):
        hidden = {("E", "ab"): first, ("E", "ef"): 9 - first, ("S", "ef"): first - 6}
        hidden |= {("S", "cd"): 19 - first, ("W", "cd"): first - 4, ("W", "ab"): 9 - first}
        assert {r: sum(n for (o, _), n in hidden.items() if o == r) for r in "ESW"} == {
            "E": 9,
            "S": 13,
            "W": 5,
        }
        if min(hidden.values()) >= 1:
            fitting.append(hidden)
    assert PEOPLE[("E", "ab")] in [each["E", "ab"] for each in fitting]
    expected = {
        cell: (min(each[cell] for each in fitting), max(each[cell] for each in fitting))
        for cell in PRIMARY | SECONDARY
    }
    assert intervals == expected


def audit(values: list[Any], column: str = "status", **named: Any) -> list[AuditedCell]:
    """Audit a row of cells and its total, of which the column marks some as hidden."""
    counts = [2, 9, 7][: len(values)]
    rows = [
        {"place": place, "n": count, column: value}
        for place, count, value in zip("abc", counts, values, strict=False)
    ]
    rows.append({"place": None, "n": sum(counts), column: None})
    texts = [json.dumps(row) for row in rows]
    return audit_tables(
        PublishedRows(np.ones(len(texts), dtype=int), texts), Reading(count="n", **named), 5
    )


@each_cell(
    "values",
    [
        ["u", "s", "s"],
        ["U", "S", "P"],
        [True, False, False],
        ["TRUE", "false", "FALSE"],
        [5, 1, 2],
        [1, 0, 0],
        ["A", "V", "V"],
        ["primary", "published", "published"],
        ["x", "s", "z"],
    ],
)
def test_each_alphabet_marks_the_first_of_three_counts(values: list[Any]) -> None:
    found = audit(values, status="status")
    assert [(row.cell, row.low, row.high) for row in found if row.kind == "suppressed"] == [
        ("place = a", 2, 2)
    ]


def test_the_column_of_sdctable_is_read_unasked() -> None:
    assert [row.cell for row in audit(["u", "s", "s"], "sdcStatus")] == ["place = a"]


@each_cell(
    "values, named, words",
    [
        (["m", "d", "u"], {}, "must say what it is, got neither status nor columns"),
        (["married", "single", "x"], {}, "must say what it is, got neither status nor columns"),
        (["married", "single", "x"], {"status": "status"}, "got another value in 'status'"),
        (["u", "v", "s"], {"status": "status"}, "got another value in 'status'"),
        ([1, 1, 1], {"status": "status"}, "got values of two meanings in 'status'"),
        (
            ["u", "s", "s"],
            {"status": "statsu"},
            "must be a column of one of the tables, got 'statsu'",
        ),
        (
            ["u", "s", "s"],
            {"status": "Status", "columns": ["status"]},
            "must be no column of categories",
        ),
    ],
)
def test_a_column_status_is_never_read_in_silence(
    values: list[Any], named: dict[str, Any], words: str
) -> None:
    """Its letters may be marital statuses; a hidden count that is read as shown is an understatement."""
    with pytest.raises(ReidError, match=words) as refused:
        audit(values, **named)
    assert "married" not in str(refused.value)


def test_a_category_named_status_is_one_if_named() -> None:
    rows = [{"status": status, "n": count} for status, count in (("m", None), ("d", 9), (None, 11))]
    table = PublishedRows(np.ones(3, dtype=int), [json.dumps(row) for row in rows])
    assert [row.cell for row in audit_tables(table, Reading(["status"], count="n"), 5)] == [
        "status = m"
    ]
    with pytest.raises(OutOfDomainError, match="got none; name it by columns"):
        audit_tables(table, Reading(count="n"), 5)
