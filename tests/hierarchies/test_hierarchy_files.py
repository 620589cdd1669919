"""Hierarchies in files: those of ARX are read, and those that are written are read again as they were."""

import tomllib
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reid_sql.prepare
from reid_sql.errors import ReidError
from reid_sql.hierarchies.hierarchy import (
    STANDARD,
    Facts,
    Hierarchy,
    make_hierarchy,
    propose,
    read_hierarchy,
)
from reid_sql.hierarchies.limits import hierarchies_toml
from reid_sql.hierarchies.steps import Bands, Common, DatePart, Grouped, Prefix, Step
from reid_sql.parameters.document import Place
from tests.cells import each_cell
from tests.prepare.brute import K, class_sizes, made_by, policy, written
from tests.prepare.test_local import made_of
from tests.processes import command

TOWNS = ["Ulm;South;Germany;*", "Bonn;West;Germany;*", 'Nice;"South;east";France;*', "*;?;?;*"]
FACTS = Facts("town", "category", 100, frequent=(("a", 40), ("b", 30), ("it's", 20), ("d", 10)))


def read(text: str, column: str, folder: Path = Path()) -> Hierarchy:
    place = Place("prepare.hierarchies", tomllib.loads(text)["prepare"]["hierarchies"])
    return read_hierarchy(place, column, folder).of(FACTS)


def grouped(data: st.DataObject) -> list[Step]:
    """Groups of groups; names are any texts."""
    draw = data.draw
    values = draw(st.lists(st.text(max_size=4), min_size=1, max_size=6, unique=True))
    level = {value: value for value in values}
    steps: list[Step] = []
    for _ in range(draw(st.integers(1, 3))):
        names = {label: draw(st.text(max_size=3)) for label in set(level.values())}
        level = {value: names[label] for value, label in level.items()}
        steps.append(Grouped(tuple(level.items())))
    return steps


@given(st.data())
def test_written_hierarchies_are_read_again_as_they_were(data: st.DataObject) -> None:
    groups = grouped(data)
    column = data.draw(st.sampled_from(["town", 'a"b', "ä b", "a.b"]))
    choices: list[list[Step]] = [
        [],
        [Bands(5), Bands(10, below=20, above=80)],
        [Bands(None, above=90), Bands(0.5)],
        [Bands(None, below=-2.5)],
        [DatePart("month"), DatePart("year", "%d.%m.%Y")],
        [Prefix(3), Prefix(1)],
        [Common(("a", "b", "it's"), 19.5), Common(("a", "b"), 30)],
        groups,
    ]
    made = make_hierarchy(column, data.draw(st.sampled_from(choices)))
    again = read(hierarchies_toml([made, Hierarchy("other", ())]), column)
    assert [step.words for step in again.steps] == [step.words for step in made.steps]
    for mine, theirs in zip(made.steps, again.steps, strict=True):
        if isinstance(mine, Grouped):
            assert isinstance(theirs, Grouped)
            assert dict(mine.pairs) == dict(theirs.pairs)
        else:
            assert mine == theirs


def test_proposed_hierarchies_are_read_again_as_they_were() -> None:
    for facts in (
        FACTS,
        Facts("town", "number", 90, numbers=True, low=1, high=95, near_low=4, near_high=40),
    ):
        assert read(hierarchies_toml([propose(facts)]), "town").steps == propose(facts).steps


def test_a_file_of_arx_recodes_each_value_as_its_row_says(tmp_path: Path) -> None:
    (tmp_path / "town.csv").write_text("\ufeff" + "\r\n".join(TOWNS) + "\r\n", encoding="utf-8")
    towns = ["Ulm"] * 9 + ["Bonn"] * 3 + ["Nice"] * 4 + [None] * 4 + ["*"] * 4
    frame = pl.DataFrame({"id": [str(at) for at in range(24)], "town": towns})
    given_ = 'keep = ["id"]\nsuppression = 0.0\nhierarchies.town = { arx = "town.csv" }\n'
    made = made_of(tmp_path, frame, policy("people.parquet", ["town"], K.format(4), prepare=given_))
    assert made.passed
    level = made.page["tables"][0]["columns"][0]["level"]
    rows = {"Ulm": "Germany", "Bonn": "Germany", "Nice": "France", "*": "?", None: None}
    released = dict(made_by(made.sql, "people_released").select("id", "town").iter_rows())
    assert level == 1  # the first step merges nothing
    assert released == {key: rows[town] for key, town in frame.iter_rows()}
    local = made_of(
        tmp_path,
        frame,
        policy("people.parquet", ["town"], K.format(4), prepare=f'{given_}method = "local"'),
    )
    assert class_sizes(made_by(local.sql, "people_released"), ["town"])[0] >= 4


SURNAME = "Smith"
REFUSED = [
    ("", "a column of values and one for each level"),
    (f"{SURNAME}\n", "fewer than 2 columns"),
    (f"{SURNAME};a;*\nUlm;b\n", "got 2 in row 2 of 'town.csv' and 3 in row 1"),
    (f"{SURNAME};a;*\n{SURNAME};a;*\n", "got one in the rows 1 and 2"),
    (
        f"{SURNAME};a;x;*\nUlm;a;y;*\n",
        "got level 2 of 'town.csv', which splits those of rows 1 and 2",
    ),
    (f"{SURNAME};a;*\nUlm;b;*\n", "got a file without 1 of 3"),
    (f'{SURNAME};"a;*\n', "a quote that does not end"),
]


@each_cell("text, message", REFUSED)
def test_a_file_that_is_not_whole_is_refused_without_a_value(
    tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "town.csv").write_text(text, encoding="utf-8")
    frame = pl.DataFrame({"town": [SURNAME, "Ulm", "Bonn"] * 3})
    given_ = 'hierarchies.town = { arx = "town.csv" }'
    with pytest.raises(ReidError) as refused:
        made_of(tmp_path, frame, policy("people.parquet", ["town"], K.format(2), prepare=given_))
    assert message in str(refused.value)
    assert SURNAME not in str(refused.value)
    assert "Bonn" not in str(refused.value)


WRONG = [
    ('{ arx = "towns.csv" }', "must be an existing file, got 'towns.csv'"),
    ('{ arx = "bytes.csv" }', "must be a file in UTF-8"),
    ('{ arx = "bytes.csv", separator = "x" }', "separator must be one of"),
    ('{ standard = "zip" }', "standard must be one of 'age', 'date', 'postcode'"),
    ("{ bands = 5 }", "must be a list of steps, a standard hierarchy or a file of ARX, got bands"),
    ('{ standard = "age", arx = "a.csv" }', "must have only known keys, got 'arx'"),
]


@pytest.mark.parametrize(("text", "message"), WRONG, ids=lambda each: each[:25])
def test_another_table_is_no_hierarchy(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "bytes.csv").write_bytes(b"\xff;a\n")
    with pytest.raises(ReidError) as refused:
        read(f"[prepare.hierarchies]\ntown = {text}", "town", tmp_path)
    assert message in str(refused.value)


def test_each_standard_hierarchy_merges_at_every_step() -> None:
    samples = {
        "age": [str(age) for age in range(120)],
        "date": [
            f"{year}-{month:02}-{day}"
            for year in range(1940, 1990)
            for month in range(1, 13)
            for day in (11, 12)
        ],
        "postcode": [f"{code:05}" for code in range(0, 9999, 3)],
        "isco": [f"{code:04}" for code in range(1000, 9999, 7)],
        "nace": [f"{a:02}.{b:02}" for a in range(1, 99, 5) for b in range(11, 99, 3)],
        "icd10": [
            f"{letter}{code:02}.{more}"
            for letter in "EF"
            for code in range(30)
            for more in range(9)
        ],
    }
    for name, steps in STANDARD.items():
        frame = pl.DataFrame({name: samples[name]})
        hierarchy = make_hierarchy(name, steps)
        levels = [
            frame.select(eval(hierarchy.python(level), {"pl": pl}))[name]  # noqa: S307
            for level in range(hierarchy.levels)
        ]
        for finer, coarser in pairwise(levels[:-1]):
            assert coarser.n_unique() <= finer.n_unique()
            assert pl.DataFrame({"f": finer, "c": coarser}).unique().height == finer.n_unique()
        assert levels[1].n_unique() < levels[0].n_unique()


def test_the_command_writes_what_prepare_proposes(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": list(range(20, 80)) * 5, "town": ["Ulm", "Bonn", "Köln"] * 100})
    frame.write_parquet(tmp_path / "people.parquet")
    asked = written(tmp_path, policy("people.parquet", ["age", "town"], K.format(5)))
    file = tmp_path / "h.toml"
    ended = command("prepare", str(asked), "--write-hierarchies", str(file))
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    text = file.read_text(encoding="utf-8")
    assert text == reid_sql.prepare.propose_hierarchies(asked)
    assert tomllib.loads(text)["prepare"]["hierarchies"]["age"][0] == {"bands": 5}
    again = command("prepare", str(asked), "--write-hierarchies", str(file))
    assert again.returncode == 2
    assert "--write-hierarchies must be a new file" in again.stderr
    other = command(
        "prepare", str(asked), "--write-hierarchies", str(tmp_path / "i.toml"), "--sql", "r.sql"
    )
    assert "must be the only file to write" in other.stderr
    assert not (tmp_path / "i.toml").exists()
    rest = policy("people.parquet", ["age", "town"], K.format(5)).replace("[prepare]\n", "")
    one = written(tmp_path, text + rest)
    assert reid_sql.prepare.prepare(one).passed
