"""A caution that is shown is refused where the policy says so; a false claim of a policy is one."""

import json
import sqlite3
import unicodedata
from pathlib import Path

import duckdb
import numpy as np
import pytest

from reid_sql.check.gate import check
from tests.cells import each_cell

K = '{measure = "k", at_least = 2}'


def policy(folder: Path, about: str, checks: str, header: str, lines: list[str]) -> Path:
    (folder / "t.csv").write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    (folder / "p.toml").write_text(
        f'[[tables]]\nfile = "t.csv"\n{about}\nchecks = [{checks}]', encoding="utf-8"
    )
    return folder / "p.toml"


AB = 'quasi_identifiers = ["a", "b"]'
LINES = [f"{20 + i % 5},{i % 2},{i // 4}" for i in range(200)]
CYRILLIC = "\N{CYRILLIC SMALL LETTER A}"
CASES = {
    "hardly larger than the table": (f"{AB}\npopulation = 205", K, "a,b,c"),
    "hardly larger than the table, in a scenario": (
        AB,
        f'{K}, {{measure = "adversary_average", scenario = "s.toml", at_most = 1}}',
        "a,b,c",
    ),
    "is met by any table": (AB, '{measure = "unique_records", at_most = 1_000_000}', "a,b,c"),
    "is met by any table of 200 records": (
        f'{AB}\nsensitive = ["c"]',
        '{measure = "beta_likeness", at_most = 199}',
        "a,b,c",
    ),
    "is exceeded by no record": (
        f'{AB}\nsensitive = ["c"]',
        '{measure = "delta_disclosure_offending", delta = 6, at_most = 0}',
        "a,b,c",
    ),
    "is met by any class": (
        f'{AB}\nsensitive = ["c"]',
        '{measure = "l_diversity_offending", l = 1, at_most = 0}',
        "a,b,c",
    ),
    "counts by all of its quasi-identifiers": (
        AB,
        '{measure = "k", at_least = 2, quasi_identifiers = ["a"]}',
        "a,b,c",
    ),
    "counts by all of its quasi-identifiers, but by fewer at a time": (
        AB,
        '{measure = "qar", p = 1, alpha = 0.2, tail = 0.9, at_most = 1}',
        "a,b,c",
    ),
    "letters of several scripts": (
        f'quasi_identifiers = ["{CYRILLIC}ge", "b"]',
        K,
        f"{CYRILLIC}ge,b,c",
    ),
    "an invisible character": (
        'quasi_identifiers = ["a\N{ZERO WIDTH SPACE}", "b"]',
        K,
        "a\N{ZERO WIDTH SPACE},b,c",
    ),
    "whose name looks the same": (
        f'quasi_identifiers = ["{CYRILLIC}", "b"]',
        K,
        f"{CYRILLIC},b,a",
    ),
    "looks like an identifier and repeats": (AB, K, "a,b,patient_id"),
}


@each_cell("words", CASES)
@pytest.mark.first(cells=5)
def test_what_a_policy_may_not_claim_is_a_caution_and_refused(tmp_path: Path, words: str) -> None:
    about, checks, header = CASES[words]
    file = policy(tmp_path, about, checks, header, LINES)
    scenario = 'population = 205\n[[groups]]\ncolumns = ["a", "b"]\nprobability = 1'
    (tmp_path / "s.toml").write_text(scenario, encoding="utf-8")
    page = check(file)
    reported = words.split(",", maxsplit=1)[0]
    assert any(reported in caution for each in page["checks"] for caution in each["cautions"])
    file.write_text('cautions = "refuse"\n' + file.read_text(encoding="utf-8"), encoding="utf-8")
    assert check(file)["verdict"] == "not judged"


# By their names in Unicode: letters that most fonts draw as a Latin one.
LOOK_LIKE_LATIN = {
    "CYRILLIC SMALL LETTER": {
        "A": "a",
        "IE": "e",
        "O": "o",
        "ER": "p",
        "ES": "c",
        "U": "y",
        "HA": "x",
        "JE": "j",
        "DZE": "s",
        "BYELORUSSIAN-UKRAINIAN I": "i",
        "SHHA": "h",
        "KOMI DE": "d",
        "QA": "q",
        "WE": "w",
        "KA": "k",
        "TE": "t",
        "EM": "m",
    },
    "GREEK SMALL LETTER": {
        "ALPHA": "a",
        "OMICRON": "o",
        "RHO": "p",
        "CHI": "x",
        "IOTA": "i",
        "KAPPA": "k",
        "TAU": "t",
        "NU": "v",
        "UPSILON": "u",
    },
}


def test_each_letter_that_looks_like_a_latin_one_is_a_caution(tmp_path: Path) -> None:
    pairs = {
        unicodedata.lookup(f"{script} {name}"): latin
        for script, names in LOOK_LIKE_LATIN.items()
        for name, latin in names.items()
    }
    own = [f"{latin}{place}" for place, latin in enumerate(pairs.values())]
    others = [f"{letter}{place}" for place, letter in enumerate(pairs)]
    lines = [",".join(["1"] * 2 * len(pairs)) for _ in range(3)]
    about = f"quasi_identifiers = {json.dumps(own)}"
    [page] = check(policy(tmp_path, about, K, ",".join([*own, *others]), lines))["checks"]
    cautions = [each for each in page["cautions"] if "whose name looks the same" in each]
    assert [name for name in own if not any(f"'{name}'" in each for each in cautions)] == []


def test_groups_within_all_others_cover_a_table(tmp_path: Path) -> None:
    asked = '{measure = "k", at_least = 2, by = ["b"], quasi_identifiers = ["a"]}'
    page = check(policy(tmp_path, AB, asked, "a,b,c", LINES))
    assert page["checks"][0]["cautions"] == []


JOURNALIST = '{measure = "journalist_average_risk", at_most = 0.9, quasi_identifiers = ["a"]}'
OF_POPULATION = 'quasi_identifiers = ["a"]\npopulation_file = "p.csv"'


@pytest.mark.parametrize(
    ("header", "about", "is_told"),
    [
        ("a,b,patient_id", "", True),
        ("a,b,c", "", False),
        ("a,b,patient_id", 'entity = "patient_id"', False),
    ],
)
def test_a_population_table_of_visits_is_a_caution_of_what_counts_by_it(
    tmp_path: Path, header: str, about: str, *, is_told: bool
) -> None:
    """Twelve visits of one patient in the population look like a class of twelve people."""
    own = "a,b,patient_id" if about else "a,b,c"
    file = policy(tmp_path, f"{OF_POPULATION}\n{about}", f"{K}, {JOURNALIST}", own, LINES)
    (tmp_path / "p.csv").write_text("\n".join([header, *LINES]) + "\n", encoding="utf-8")
    k, journalist = check(file)["checks"]
    told = "the population table: Column 'patient_id' looks like an identifier and repeats (50 values in 200"
    assert [any(told in each for each in page["cautions"]) for page in (k, journalist)] == [
        False,
        is_told,
    ]
    assert not is_told or any("pass a row of each" in each for each in journalist["cautions"])
    file.write_text('cautions = "refuse"\n' + file.read_text(encoding="utf-8"), encoding="utf-8")
    assert (check(file)["checks"][1]["verdict"] == "not judged") == is_told


@pytest.mark.parametrize(
    ("name", "values", "is_told"),
    [
        ("patient_id", 50, True),
        ("id", 50, True),
        ("hospital_id", 50, False),  # a place, which an attacker may know
        ("client", 20, False),  # few values are a category
        ("patient_id", 200, False),  # of which each row has its own
    ],
)
def test_an_identifier_among_the_quasi_identifiers_is_a_caution(
    tmp_path: Path, name: str, values: int, *, is_told: bool
) -> None:
    """Who counts by the person counts that person's rows: a class of four is one patient."""
    lines = [f"{i % 2},{i % values}" for i in range(200)]
    file = policy(tmp_path, f'quasi_identifiers = ["a", "{name}"]', K, f"a,{name}", lines)
    told = f"Column '{name}' looks like an identifier and repeats ({values} values in 200 rows)"
    assert any(told in each for each in check(file)["checks"][0]["cautions"]) == is_told


def test_rows_that_are_counted_as_people_need_no_caution(tmp_path: Path) -> None:
    page = check(policy(tmp_path, f'{AB}\nentity = "patient_id"', K, "a,b,patient_id", LINES))
    assert not any("identifier" in caution for caution in page["checks"][0]["cautions"])


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_view_is_described_by_url_as_by_file(tmp_path: Path, kind: str) -> None:
    pytest.importorskip("ibis")
    sql = [
        "CREATE TABLE t AS SELECT 1 AS a, 2 AS b",
        "INSERT INTO t VALUES (1, 2)",
        "CREATE VIEW v AS SELECT * FROM t",
    ]
    file = tmp_path / f"d.{kind}"
    con = sqlite3.connect(file) if kind == "sqlite" else duckdb.connect(file)
    for each in sql:
        con.execute(each)
    if isinstance(con, sqlite3.Connection):
        con.commit()
    con.close()
    for name, code in (("t", 0), ("v", 2)):
        where = f'url = "{kind}:///{file}"\ntable = "{name}"'
        text = f'cautions = "refuse"\n[[tables]]\n{where}\n{AB}\nchecks = [{K}]'
        (tmp_path / "p.toml").write_text(text, encoding="utf-8")
        page = check(tmp_path / "p.toml")
        assert page["exit_code"] == code, page["checks"][0]["cautions"]
        assert any(
            "a view of the database" in each for each in page["checks"][0]["cautions"]
        ) == bool(code)


@pytest.mark.parametrize("rows_of_person", [1, 3])
def test_a_quasi_identifier_within_which_others_are_constant_may_be_a_persons(
    rows_of_person: int, tmp_path: Path
) -> None:
    """With it, a class has a person's rows; its name says nothing of whose it is."""
    draws = np.random.default_rng(3)
    people = [(f"z{place:04}", int(age), "fm"[sex]) for place, (age, sex) in
              enumerate(zip(draws.integers(20, 70, 300), draws.integers(0, 2, 300), strict=True))]  # fmt: skip
    rows = [
        f"{zz},{age},{sex},{draws.integers(0, 9)}"
        for zz, age, sex in people
        for _ in range(rows_of_person)
    ]
    (tmp_path / "t.csv").write_text("\n".join(["zz,age,sex,visit", *rows]) + "\n", encoding="utf-8")
    (tmp_path / "p.toml").write_text(
        '[[tables]]\nfile = "t.csv"\nquasi_identifiers = ["zz", "age", "sex", "visit"]\n'
        'checks = [{ measure = "k", at_least = 2 }]',
        encoding="utf-8",
    )
    [found] = check(tmp_path / "p.toml")["checks"]
    assert ("repeated_identifier" in found["caution_codes"]) is (rows_of_person > 1)
