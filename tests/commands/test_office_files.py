"""Files as offices have them: each is read to the last person, or one sentence says how."""

import json
import re
import shlex
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from reid_sql.cli import main
from tests.cells import each_cell

TOWNS = ("Lübeck – Mitte", "Kiel", "Ahrensburg")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert main([*arguments, "--json"]) == 0, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main([*arguments]) == 2
    return capsys.readouterr().err


def draw_people(number: int = 60) -> list[tuple[str, str, str]]:
    draw = np.random.default_rng(number)
    return [
        (TOWNS[draw.integers(3)], str(draw.integers(99)), "mw"[draw.integers(2)])
        for _ in range(number)
    ]


ENCODINGS = {
    "utf-8": [],
    "cp1252": ["--encoding", "cp1252"],
    "utf-16-le": ["--encoding", "utf-16-le"],
}
TITLES: tuple[tuple[str, ...], ...] = (
    (),
    ("Einwohner – Stand 2022",),
    ("Einwohner", "", "Stand: 31.12.2022"),
)
NOTES: tuple[tuple[str, ...], ...] = (
    (),
    ("Quelle: Amt „Nord“;;",),
    ("* vorläufig;;", "© Amt – 2023"),
)


@each_cell("encoding", ENCODINGS)
@each_cell("title", TITLES)
@each_cell("notes", NOTES)
def test_one_refusal_names_all_options_that_a_file_needs(
    encoding: str,
    title: Sequence[str],
    notes: Sequence[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The options of the first refusal read the file as it was written; a policy has them as keys."""
    people = draw_people()
    lines = [*title, "Gemeinde;Alter;Geschlecht", *map(";".join, people), *notes]
    Path("amt.csv").write_bytes("\n".join(lines).encode(encoding))
    arguments = ["risk", "amt.csv", "--qi", "Gemeinde,Alter,Geschlecht"]
    needed = list(ENCODINGS[encoding])
    needed += ["--skip", f"{len(title)},{len(notes)}" if notes else f"{len(title)}"] * bool(
        title or notes
    )
    if needed:
        said = refusal(capsys, *arguments).partition("; write ")[2]
        assert re.match(f"{shlex.join(needed)}[ ,]", said), said
    counted = answer(capsys, *arguments, *needed)["summary"]
    assert (counted["records"], counted["classes"]) == (len(people), len(set(people)))
    Path("p.toml").write_text(
        '[[tables]]\nfile = "amt.csv"\nquasi_identifiers = ["Alter"]\n'
        'left_out = ["Gemeinde", "Geschlecht"]\n[[tables.checks]]\nmeasure = "k"\nat_least = 1\n',
        encoding="utf-8",
    )
    if needed:
        said = refusal(capsys, "check", "p.toml").partition("; write ")[2]
        assert ("encoding = " in said) == (encoding != "utf-8")
        assert ("skip = " in said) == bool(title or notes)


@pytest.mark.parametrize(
    "total", ["Summe {}", "{} gesamt", "Total {}:", "Sous-total classe {}", "Total"]
)
def test_a_total_of_a_group_is_no_person(total: str, capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["klasse;name;geb;plz;betrag"]
    for place in range(3):
        lines += [f"{place}a;Kind {at};2015-01-0{at + 1};2410{at};{at}" for at in range(6)]
        lines += [f"{total.format(f'{place}a')};6;;;15"]
    lines.append("3a;Kind;2015-02-01;24101;4")
    Path("x.csv").write_text("\n".join(lines), encoding="utf-8")
    arguments = ["risk", "x.csv", "--qi", "klasse,plz"]
    said = refusal(capsys, *arguments)
    assert "must have a record in each line, got one that looks like a total" in said
    assert said.count("\n") == 1
    kept = [line for line in lines if line.count(";;") == 0]
    Path("x.csv").write_text("\n".join(kept), encoding="utf-8")
    assert answer(capsys, *arguments)["summary"]["records"] == 19


@pytest.mark.parametrize("name", ["รวมศักดิ์", "合計美", "Totalé", "Всегонов"])
def test_a_name_that_begins_like_a_total_is_a_person(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ["name,age,height", *(f"n{place},{20 + place % 7},170" for place in range(30))]
    Path("x.csv").write_text("\n".join([*lines[:9], f"{name},,171", *lines[9:]]), "utf-8")
    assert answer(capsys, "risk", "x.csv", "--qi", "age")["summary"]["records"] == 31


@each_cell(
    "total",
    [
        *("Ogółem", "Łącznie:", "Celkem", "Összesen", "Yhteensä", "TOPLAM", "I alt", "Totalt"),
        *("Σύνολο", "Ukupno", "Разом", "Kopā", "Iš viso", "総計", "合计", "합계", "Eindtotaal"),
        *("Total général", "Gesamtergebnis", "المجموع", "Wszystkie"),
    ],
)
@each_cell("place", [0, 1])
def test_a_total_of_any_language_is_no_person(
    total: str, place: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is found by its word, or as the only word of a column of numbers; the remedy leaves it out."""
    people = [f"{at};{20 + at % 3};{'fm'[at % 2]};{24100 + at % 2};{at % 7}" for at in range(40)]
    lines = ["nr;age;sex;postcode;days", *people, f"{';' * place}{total}{';' * (4 - place)}117"]
    Path("x.csv").write_text("\n".join(lines), encoding="utf-8")
    arguments = ["risk", "x.csv", "--qi", "age,sex"]
    said = refusal(capsys, *arguments)
    assert "write --skip 0,1 to leave it out" in said
    summary = answer(capsys, *arguments, "--skip", "0,1")["summary"]
    assert (summary["records"], summary["classes"]) == (40, 6)


@each_cell("word", ["All", "Łącznie", "合計", "Total general"])
@each_cell("levels", [1, 2])
@each_cell("is_long", [False, True])
def test_the_margins_of_a_crosstab_are_totals(
    word: str, levels: int, *, is_long: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """pandas leaves all but the first variable blank in rows of totals, which reveal the hidden cell."""
    draw = np.random.default_rng(levels)
    names = ["town", "sex"][:levels]
    frame = pd.DataFrame({name: draw.choice([*"abc"], 200) for name in [*names, "ill"]})
    rows = [frame[name] for name in names]
    table = pd.crosstab(rows, frame["ill"], margins=True, margins_name=word).astype(object)
    hidden, table.iloc[0, 0] = table.iloc[0, 0], "*"
    if is_long:
        table = table.reset_index().melt(names, value_name="records").set_index(names)
    table.to_csv("t.csv")
    said = refusal(capsys, "audit", "t.csv")
    option = shlex.split(said.partition("; pass ")[2].partition(", or ")[0])
    assert option == ["--total", word]
    cells = answer(capsys, "audit", "t.csv", *option)["cells"]
    assert [(each["low"], each["high"]) for each in cells if each["finding"] == "recovered"] == [
        (hidden, hidden)
    ]


@each_cell("name", ["fecha", "Geboortedatum", "data_urodzenia", "日付"])
@each_cell("days", ["{0}", "{0}.0", "{1:%d-%m-%Y} ", "{1:%Y%m%d}"])
def test_dates_that_are_not_read_as_some_can_be_known(
    name: str, days: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Days that a spreadsheet numbers, or with a space behind, are in the checks as other dates are."""
    draw = np.random.default_rng(3)
    numbers = [int(each) for each in draw.integers(20_000, 45_000, 60)]
    written = [days.format(each, date(1899, 12, 30) + timedelta(days=each)) for each in numbers]
    lines = [f"{each};{'fm'[place % 2]}" for place, each in enumerate([*written, *written])]
    Path("x.csv").write_text("\n".join([f"{name};sex", *lines]), encoding="utf-8")
    page = answer(capsys, "report", "x.csv")
    assert f'quasi_identifiers = ["{name}", "sex"]' in page["policy"]
    assert "write it as dates (43831 is 2020-01-01" in page["profile"][0]["suggestion"]


@pytest.mark.parametrize("name", ["fecha_ingreso", "datum_prijema"])
def test_a_day_is_no_amount(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A day of admission can be known, though "ingreso" is also an income."""
    lines = [f"{date(2020, 1, 1) + timedelta(days=at % 90)};{'fm'[at % 2]}" for at in range(200)]
    Path("x.csv").write_text("\n".join([f"{name};sex", *lines]), encoding="utf-8")
    assert f'quasi_identifiers = ["{name}", "sex"]' in answer(capsys, "report", "x.csv")["policy"]


@pytest.mark.parametrize("name", ["treatment_number", "Behandlungsnr", "Therapie-Nr.", "pay no"])
@pytest.mark.parametrize("number", ["{}", "B{:05d}"])
def test_the_number_of_a_treatment_is_an_identifier(
    name: str, number: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It differs in each record; proposed as sensitive, it would be released as it is."""
    lines = [f"{number.format(at + 1)};{20 + at % 9};{'fm'[at % 2]}" for at in range(200)]
    Path("x.csv").write_text("\n".join([f"{name};age;sex", *lines]), encoding="utf-8")
    page = answer(capsys, "report", "x.csv")
    assert page["profile"][0]["looks_like"] == "identifier"
    assert 'quasi_identifiers = ["age", "sex"]' in page["policy"]


def test_a_total_with_words_beside_it_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    """As `safe` writes totals of several columns, and as a person may be called."""
    rows = ["a,b,c,d,e", *(f"{name},x,,," for name in ("Total", "Sum Li", "ann", "bob"))]
    Path("x.csv").write_text("\n".join(rows), encoding="utf-8")
    assert answer(capsys, "risk", "x.csv", "--qi", "a,b")["summary"]["records"] == 4


@pytest.mark.parametrize("second", ["7.{}", ""])
def test_records_that_are_called_a_total_are_read(
    second: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Columns that hardly any record fills are empty in these, too."""
    names = ("Total protein", "Bilirubin total", "Total", "Glucose", "Sodium")
    lines = ["test;value;low;high;flag"]
    lines += [f"{name};{second.format(at)};;;" for at in range(9) for name in names]
    lines += ["Urea;9.1;3;7;1"]
    Path("x.csv").write_text("\n".join(lines), encoding="utf-8")
    assert answer(capsys, "risk", "x.csv", "--qi", "test,value")["summary"]["records"] == 46


@pytest.mark.first(cells=2)
@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("levels", [2, 3])
def test_a_crosstab_of_several_levels_is_written_cell_by_cell(
    rows: int, levels: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """The remedy that the refusal names gives a file whose cells are those of the table."""
    draw = np.random.default_rng(levels)
    names = ["region", "year", "sex", "ill", "plan"]
    frame = pd.DataFrame({name: draw.choice(["a", "b"], 400) + name[:1] for name in names})
    table = pd.crosstab(
        [frame[each] for each in names[:rows]], [frame[each] for each in names[2 : 2 + levels]]
    )
    table.to_csv("t.csv")
    said = refusal(capsys, "audit", "t.csv")
    assert "got a line for each level of a crosstab" in said
    assert "table.melt(ignore_index=False)" in said
    table.melt(ignore_index=False).to_csv("t.csv")
    counts = frame.value_counts([*names[:rows], *names[2 : 2 + levels]])
    least = int(counts.min())
    page = answer(capsys, "audit", "t.csv", "--k", str(least + 1))["cells"]
    assert len(page) == int((counts == least).sum())


CONTENTS = {
    "a.xls": (b"\xef\xbb\xbf<html><table><tr><td>1", "HTML or XML"),
    "b.xls": (b"a\tb\n1\t2\n", "a text file"),
    "c.xlsx": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100), "a password"),
    "d.xlsx": (b"\x00\x01\x02", ""),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_what_is_no_workbook_is_called_what_it_is(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    content, words = CONTENTS[name]
    Path(name).write_bytes(content)
    said = refusal(capsys, "report", name)
    assert words in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("kind", ["parquet", "duckdb"])
def test_intervals_are_in_the_report_and_in_no_release(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """30 days and a month are equal, and written otherwise: a class of them would have both."""
    lengths = ["30 days", "1 month", "720 hours", "1 month 2 days"]
    with duckdb.connect("t.duckdb") as con:
        con.execute(
            f"""CREATE TABLE t AS SELECT ({lengths})[i % 4 + 1]::INTERVAL AS stay,
            (['f', 'm'])[i % 2 + 1] AS sex FROM range(40) AS r(i)"""
        )
        con.execute("COPY t TO 't.parquet'")
    source = [f"t.{kind}", *(["--table", "t"] if kind == "duckdb" else [])]
    page = answer(capsys, "report", *source)
    assert [row["column_name"] for row in page["profile"]] == ["stay", "sex"]
    assert page["profile"][0]["distinct_values"] == len(lengths)
    assert 'left_out = ["stay"]' in page["policy"]
    assert "1 month equals 30 days" in refusal(capsys, "risk", *source, "--qi", "stay")


def write_panel() -> None:
    """Rows of 80 people, whose column has no name by which it is one."""
    draw = np.random.default_rng(1)
    people = [
        (1000 + 7 * each, "fm"[draw.integers(2)], int(draw.integers(60))) for each in range(80)
    ]
    rows = [(*people[each], int(draw.integers(9))) for each in draw.integers(80, size=600)]
    with closing(sqlite3.connect("people.sqlite")) as con, con:
        con.execute("CREATE TABLE visits (ref INTEGER, sex TEXT, born INTEGER, ward INTEGER)")
        con.executemany("INSERT INTO visits VALUES (?, ?, ?, ?)", rows)


def test_init_finds_people_by_structure_in_a_file_and_in_a_warehouse(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_panel()
    lines = []
    for source in ("people.sqlite", f"sqlite:///{Path('people.sqlite').absolute()}"):
        assert main(["init", source, "--table", "visits"]) == 0, capsys.readouterr().err
        [policy] = Path().glob("*.policy.toml")
        lines.append([line for line in policy.read_text("utf-8").splitlines() if "entity" in line])
        for file in (policy, *Path().glob("*.scenario.toml")):
            file.unlink()
    assert lines == [['# entity = "ref"']] * 2


def test_a_pattern_of_files_has_the_name_of_its_folder(capsys: pytest.CaptureFixture[str]) -> None:
    with duckdb.connect() as con:
        con.execute(
            "COPY (SELECT i % 40 AS age, i % 3 AS year FROM range(300) AS r(i)) TO 'stays' (FORMAT parquet, PARTITION_BY year)"
        )
    assert list(Path("stays").glob("*/*.parquet"))
    page = answer(capsys, "report", "stays/**/*.parquet", "--files")
    assert page["report"]["tables"][0]["name"] == "stays"
    [line] = [line for line in page["next_steps"] if "reid-sql init" in line]
    command = shlex.split(line.partition(" writes")[0])
    assert main(command[1:]) == 0, capsys.readouterr().err


def test_a_column_of_names_is_no_identifier_of_people(capsys: pytest.CaptureFixture[str]) -> None:
    """Two people may have one name: the caution leaves to a person whether it identifies people."""
    draw = np.random.default_rng(5)
    names = [
        f"{last}, {first}"
        for last in ("Diaz", "Wu", "Kim", "Li", "Okafor")
        for first in ("Ann", "Bo", "Cy", "Di", "Ed", "Flo")
    ]
    for column, values, entity in (
        ("Member", names, None),
        ("Member No.", [f"M{place:03}" for place in range(30)], "Member No."),
        ("Member", [f"M{place:03}" for place in range(30)], "Member"),
    ):
        rows = [
            f'"{values[draw.integers(30)]}";{draw.integers(60)};{"fm"[draw.integers(2)]}'
            for _ in range(400)
        ]
        Path("x.csv").write_text("\n".join([f"{column};age;sex", *rows]), encoding="utf-8")
        page = answer(capsys, "report", "x.csv")
        table = page["report"]["tables"][0]
        assert table["entity"] == entity
        assert (f'entity = "{column}"' in page["policy"]) == (entity is not None)
        assert ("repeated_identifier" in json.dumps(page["report"])) == (entity is None)


@pytest.mark.parametrize("between", [",", ".", " ", "'"])
@each_cell("longest", [2, 3])
@each_cell("least", [1, 90_000])
def test_lists_of_codes_are_no_numbers(
    between: str, longest: int, least: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first list of a code alone is a number; all together are none, and amounts stay some."""
    draw = np.random.default_rng(3)
    codes = [str(each) for each in draw.choice(np.arange(100, 999), 40, replace=False)]
    lists = [
        between.join(draw.choice(codes, draw.integers(4 - longest, longest + 1), replace=False))
        for _ in range(500)
    ]
    amounts = [
        f"{each:,}".replace(",", between) for each in draw.integers(least, 999_999, 250).repeat(2)
    ]
    lines = [f'"{code}";"{amount}"' for code, amount in zip(lists, amounts, strict=True)]
    Path("x.csv").write_text("\n".join(["services;paid", *lines]), encoding="utf-8")
    kinds = {row["column_name"]: row["looks_like"] for row in answer(capsys, "profile", "x.csv")}
    is_fraction = between == "." and longest == 2  # as 469.551 may be
    assert is_fraction or kinds["services"] in {"category", "code"}
    assert kinds["paid"] == "number"


def test_diseases_in_lists_are_sensitive_and_amounts_with_a_sign_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    draw = np.random.default_rng(8)
    icd = ["E11.9", "I10", "J45.909", "Z23", "F32.9", "O80"]
    lines = [
        f'{draw.integers(20, 80)},{"|".join(draw.choice(icd, 2, replace=False))},"${draw.integers(900, 90_000):,}"'
        for _ in range(300)
    ]
    Path("x.csv").write_text("\n".join(["age,other,total", *lines]), encoding="utf-8")
    policy = answer(capsys, "report", "x.csv")["policy"]
    assert 'sensitive = ["other", "total"]' in policy
    assert 'quasi_identifiers = ["age"]' in policy


def test_a_code_among_codes_is_no_missing_value(capsys: pytest.CaptureFixture[str]) -> None:
    """Of two values, neither is the number among texts."""
    lines = [f"{('ZZZZZ', '13201')[place % 2]},{place % 9}" for place in range(90)]
    Path("x.csv").write_text("\n".join(["district,age", *lines]), encoding="utf-8")
    row = answer(capsys, "profile", "x.csv")[0]
    assert (row["looks_like"], row["sentinels"]) == ("category", [])


def test_a_caution_is_no_proof_that_no_release_exists(capsys: pytest.CaptureFixture[str]) -> None:
    """The starter policy names all lines that settle its cautions; with them, a release is written."""
    draw = np.random.default_rng(4)
    lines = [
        f"{draw.integers(20, 80)},{draw.choice(['north', 'south', 'NA'])},{draw.choice(['10.5', '20.5', '30.25', 'NA'])}"
        for _ in range(400)
    ]
    Path("x.csv").write_text("\n".join(["age,region,income", *lines]), encoding="utf-8")
    assert main(["init", "x.csv"]) == 0
    text = Path("x.policy.toml").read_text(encoding="utf-8")
    capsys.readouterr()
    assert main(["prepare", "x.policy.toml", "--json"]) == 1
    assert not json.loads(capsys.readouterr().out)["tables"][0]["none_meets"]
    assert main(["prepare", "x.policy.toml"]) == 1
    said = capsys.readouterr().out
    assert "Allow more suppression" not in said
    assert {each.strip() for each in said.splitlines()} >= {
        line.removeprefix("# ") for line in text.splitlines() if line.startswith("# missing.")
    }
    [accepted] = re.findall(r"Of a sensitive column, write (.*) at the top", text)
    settled = re.sub("(?m)^# missing", "missing", f"{accepted}\n{text}")
    Path("x.policy.toml").write_text(settled, encoding="utf-8")
    assert main(["prepare", "x.policy.toml", "--release", "safe.csv"]) == 0
    capsys.readouterr()
    assert len(Path("safe.csv").read_text(encoding="utf-8").splitlines()) > 390


def test_the_starter_policy_says_of_which_columns_people_have_several_values(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A diagnosis of each visit; the income is one of the person."""
    draw = np.random.default_rng(6)
    rows = []
    for row in range(300):
        person = int(draw.integers(100))
        rows.append(
            f"{person},{person % 50},{['flu', 'asthma'][row % 2]},{1000 + 37 * (person % 30)}"
        )
    Path("x.csv").write_text(
        "\n".join(["patient_id,age,diagnosis,income", *rows]), encoding="utf-8"
    )
    policy = answer(capsys, "report", "x.csv")["policy"]
    assert 'entity = "patient_id"' in policy
    assert re.findall("People have several values of (.*?),", policy) == ['"diagnosis"']
    assert policy.count('measure = "l_diversity"') == 2
    assert "If people have several values" not in policy
