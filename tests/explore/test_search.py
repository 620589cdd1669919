"""A search from the page: what it finds is the least loss, it stops, and nobody else waits for it."""

import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import duckdb
import polars as pl
import pytest

import reid_sql
from reid_sql.errors import ReidError
from reid_sql.explore import search
from reid_sql.explore.choice import Choice
from reid_sql.explore.exploration import Exploration
from reid_sql.explore.search import Search
from reid_sql.prepare import prepare
from tests.explorations import (
    KNOWN,
    MARK,
    OMITTED,
    PERSON,
    SENSITIVE,
    chosen,
    counted,
    explored,
    people,
    read,
)
from tests.explore.test_server import HOSTILE_NAMES, Client, Markup, served

SECONDS = 120.0  # in which a search of a few hundred rows ends, also where the machine is busy


@pytest.fixture(scope="module")
def exploration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Exploration]:
    file = tmp_path_factory.mktemp("searched") / "people.csv"
    people().write_csv(file)
    with explored(file) as opened:
        yield opened


def wait_for(exploration: Exploration, choice: Choice) -> Search:
    """Search to the end."""
    exploration.begin_search(choice)
    begun = exploration.search
    assert begun is not None
    until = time.monotonic() + SECONDS
    while begun.is_running and time.monotonic() < until:
        time.sleep(0.1)
    return begun


def find(exploration: Exploration, choice: Choice) -> Choice:
    """The choice with the forms that are found."""
    return wait_for(exploration, choice).take_over(choice)


def finer(exploration: Exploration, choice: Choice, column: str) -> Choice:
    """The choice with one column one step finer; one that was left out is as coarse as can be."""
    at = choice.columns.index(column)
    roles, levels = list(choice.roles), list(choice.levels)
    if roles[at] == OMITTED:
        roles[at] = KNOWN
        coarsest = replace(choice, roles=tuple(roles))
        levels[at] = len(exploration.steps(coarsest)[column]) - 1
    else:
        levels[at] -= 1
    return replace(choice, roles=tuple(roles), levels=tuple(levels))


def small(exploration: Exploration, choice: Choice) -> int:
    """The people of too small groups, and those whose secret is known, as a reader counts them."""
    found = counted(read(exploration.rows(choice)), choice)
    return found.small + sum(found.learned.values())


def test_no_finer_form_than_the_one_that_is_found_meets_the_choices(
    exploration: Exploration,
) -> None:
    """By counting the rows of each form that has one column one step finer."""
    names = ("age", "sex", "postcode", "birth")
    before = replace(
        chosen(exploration, diagnosis=SENSITIVE, **dict.fromkeys(names, KNOWN)), smallest_group=4
    )
    choice = find(exploration, before)
    assert small(exploration, before)
    assert not small(exploration, choice)
    assert exploration.answer(choice).page["verdict"] == "pass"
    changed = [
        name
        for name in names
        if choice.roles[choice.columns.index(name)] == OMITTED or choice.level_of(name)
    ]
    assert changed
    assert all(small(exploration, finer(exploration, choice, name)) for name in changed)


@pytest.mark.parametrize("leaves_out", [False, True])
def test_what_is_found_is_the_release_of_prepare(
    exploration: Exploration, tmp_path: Path, *, leaves_out: bool
) -> None:
    """`prepare` of a policy that a person writes has the same rows; `risk_summary` finds no small class."""
    before = replace(
        chosen(exploration, age=KNOWN, postcode=KNOWN, sex=KNOWN),
        smallest_group=4,
        leaves_out=leaves_out,
    )
    choice = find(exploration, before)
    people().write_csv(tmp_path / "people.csv")
    written = tmp_path / "written.toml"
    written.write_text(
        f"""[prepare]
suppression = {0.02 if leaves_out else 0}
[[tables]]
file = "people.csv"
quasi_identifiers = ["age", "sex", "postcode"]
[[tables.checks]]
measure = "k"
at_least = 4
""",
        encoding="utf-8",
    )
    prepare(written, release=tmp_path / "prepared.parquet")
    (tmp_path / "taken.parquet").write_bytes(exploration.rows(choice))
    with duckdb.connect() as con:
        names = ", ".join(f'"{name}"' for name in choice.of_role(KNOWN))
        rows = [
            sorted(con.sql(f"SELECT {names} FROM '{tmp_path}/{file}.parquet'").fetchall(), key=str)
            for file in ("taken", "prepared")
        ]
        columns = choice.of_role(KNOWN)
        risk = reid_sql.risk_summary(con, f"{tmp_path}/taken.parquet", columns).df().iloc[0]
    assert rows[0] == rows[1]
    assert risk["k"] >= 4
    assert (len(rows[0]) < 240) <= leaves_out


def test_own_groups_are_searched(exploration: Exploration) -> None:
    """Also with names that a policy has to quote."""
    north = ", ".join(f"{each}{at}" for each in (101, 102) for at in range(3))
    text = f'no"r\\th: {north}; süd=: 2070, 2071, 2072'
    choice = replace(chosen(exploration, postcode=KNOWN), smallest_group=40)
    groups = tuple(text if name == "postcode" else "" for name in choice.columns)
    found = find(exploration, replace(choice, groups=groups))
    assert found.level_of("postcode") == 1
    released = {row["postcode"] for row in read(exploration.rows(found))}
    assert released == {'no"r\\th', "süd="}


def test_nothing_is_coarser_where_nothing_is_needed(exploration: Exploration) -> None:
    choice = replace(chosen(exploration, sex=KNOWN), smallest_group=2)
    ended = wait_for(exploration, choice)
    assert ended.take_over(choice) == choice
    assert ended.sentence == "Found: every column as it is. No other form loses less."


def test_a_form_in_which_all_are_alike_is_left_out(tmp_path: Path) -> None:
    """The first characters of these codes are the same: the release lacks the column, as the page says."""
    codes = [f"10{at % 7}{at % 2}" for at in range(70)]
    table = pl.DataFrame({"postcode": codes, "sex": ["f", "m"] * 35})
    table.write_parquet(tmp_path / "people.parquet")
    with explored(tmp_path / "people.parquet") as exploration:
        choice = chosen(exploration, postcode=KNOWN, sex=KNOWN)
        before = replace(choice, smallest_group=30)
        ended = wait_for(exploration, before)
        found = ended.take_over(before)
        assert found.of_role(KNOWN) == ["sex"]
        assert ended.sentence == "Found: postcode left out. No other form loses less."
        assert Counter(row["sex"] for row in read(exploration.rows(found))) == {"f": 35, "m": 35}


def test_of_people_with_several_rows(tmp_path: Path) -> None:
    rows = people().with_columns(pl.Series("patient_id", [f"p{at // 2:03}" for at in range(240)]))
    rows.write_parquet(tmp_path / "visits.parquet")
    with explored(tmp_path / "visits.parquet") as exploration:
        roles = chosen(exploration, sex=KNOWN, postcode=KNOWN, patient_id=PERSON)
        choice = find(exploration, replace(roles, smallest_group=20))
        found = counted(read(exploration.rows(choice)), choice, "patient_id")
        assert not found.small
        assert found.rows == 120


def test_a_mask_hides_few_rows(tmp_path: Path) -> None:
    """Three people are alone, and a search that may leave them out does not say how many."""
    table = pl.DataFrame({"city": ["a"] * 100 + ["b"] * 97 + ["c", "d", "e"]})
    table.write_parquet(tmp_path / "people.parquet")
    sentences = []
    for mask in (1, 10):
        with explored(tmp_path / "people.parquet", mask) as exploration:
            choice = replace(chosen(exploration, city=KNOWN), leaves_out=True)
            sentences.append(wait_for(exploration, choice).sentence)
    assert "Rows left out: 1.5 %." in sentences[0]
    assert "Rows left out: not shown." in sentences[1]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (
            pl.DataFrame({"age": [20, 31, 42, 53, 64, 75]}),
            "lacks all columns which others can know",
        ),
        (
            people(60).rename({"sex": "reid_sex"}),
            "must have no column whose name begins with reid_",
        ),
        (
            people(60).rename({"sex": "se\u202ex"}),
            "prepare found no form that meets these choices; settle the cautions",
        ),
    ],
)
def test_why_nothing_is_found(tmp_path: Path, table: pl.DataFrame, words: str) -> None:
    table.write_parquet(tmp_path / "people.parquet")
    with explored(tmp_path / "people.parquet") as exploration:
        names = dict.fromkeys(table.columns[:2], KNOWN)
        choice = chosen(exploration, **names)
        ended = wait_for(exploration, choice)
        with pytest.raises(ReidError, match=words) as refused:
            ended.take_over(choice)
        assert MARK not in str(refused.value)


def test_what_was_not_searched_is_not_taken_over(exploration: Exploration) -> None:
    choice = replace(chosen(exploration, sex=KNOWN), smallest_group=2)
    exploration.begin_search(choice)
    running = exploration.search
    assert running is not None
    with pytest.raises(ReidError, match="search again"):
        running.take_over(choice)
    with pytest.raises(ReidError, match="search again"):
        wait_for(exploration, choice).take_over(replace(choice, smallest_group=3))
    assert not running.is_running
    exploration.stop_search()  # which has ended
    assert exploration.search is not None
    assert exploration.search.take_over(choice) == choice
    exploration.begin_search(choice)
    stopped = exploration.search
    for _ in range(2):
        exploration.stop_search()
        with pytest.raises(ReidError, match="search again"):
            stopped.take_over(choice)
    with pytest.raises(ReidError, match="got none; choose at least one"):
        exploration.begin_search(chosen(exploration))


def test_a_search_ends_where_nobody_looks(
    exploration: Exploration, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "MAX_UNSEEN", 0.0)
    monkeypatch.setattr(search, "INTERVAL", 0.05)
    before = {*exploration.folder.iterdir()}
    ended = wait_for(exploration, exploration.proposed)
    assert ended.is_stopped
    until = time.monotonic() + SECONDS
    while {*exploration.folder.iterdir()} != before and time.monotonic() < until:
        time.sleep(0.05)
    assert {*exploration.folder.iterdir()} == before


# On the page.


def section(page: str) -> str:
    """The part of the page on the search."""
    return page.partition('<div id="search"')[2].partition("</form>")[0]


def wait(client: Client, page: str) -> str:
    """Load a page again until its search has ended."""
    number, until = re.findall(r'name="from" value="(\d+)"', page)[0], time.monotonic() + SECONDS
    while 'name="stop"' in section(page) and time.monotonic() < until:
        assert '<noscript><meta http-equiv="refresh"' in page
        assert MARK not in page
        time.sleep(0.2)
        page = client.ask("GET", f"{client.home}{number}").body
    return page


def test_search_take_over_undo(client: Client) -> None:
    first = client.choose(k="6", search="1").body
    other = time.monotonic()
    assert "are the only one with their" in client.choose(k="7").body
    assert time.monotonic() - other < 10
    page = wait(client, first)
    assert "http-equiv" not in page
    assert "Found: " in section(page)
    number = re.findall(r'name="from" value="(\d+)"', page)[0]
    after = client.choose(**{"from": number, "k": "6", "take": "1"}).body
    assert "PASS: every check is within its limit." in Markup(after).text
    assert f'href="{number}">Undo' in after


def test_stop_twice(client: Client) -> None:
    page = client.choose(k="8", search="1").body
    assert 'name="stop"' in section(page)
    number = re.findall(r'name="from" value="(\d+)"', page)[0]
    for _ in range(2):
        page = client.choose(**{"from": number, "k": "8", "stop": "1"}).body
        assert "The search was stopped." in section(page)
        assert 'name="search"' in section(page)
    assert "Found" not in client.choose(**{"from": number, "k": "8", "take": "1"}).body


@pytest.mark.parametrize(
    "headers", [{"Origin": "http://evil.example"}, {"Sec_Fetch_Site": "cross-site"}, {"Host": "x"}]
)
def test_nobody_else_begins_a_search(client: Client, headers: dict[str, str]) -> None:
    form = urlencode({"from": "0", "k": "9", "search": "1"})
    assert client.ask("POST", f"{client.home}choose", form, **headers).status == 403
    assert client.ask("GET", f"{client.home}choose?{form}").status == 404
    assert client.ask("GET", f"{client.home}0?search=1").status == 200
    assert 'name="search"' in section(client.choose(k="9").body)


def test_hostile_names_are_text_in_what_is_found(tmp_path: Path) -> None:
    names = HOSTILE_NAMES[:4]
    table = people(60)
    columns = [table[each].alias(name) for each, name in zip(table.columns, names, strict=False)]
    pl.DataFrame(columns).write_parquet(tmp_path / "people.parquet")
    with served(tmp_path / "people.parquet") as client:
        roles = {f"r{at}": "0" for at in range(4)}
        page = wait(client, client.choose(k="3", search="1", **roles).body)
        markup = Markup(page)
        assert "Found: " in section(page)
        assert not {"img", "svg"} & {tag for tag, _ in Markup(section(page)).elements}
        assert [tag for tag, _ in markup.elements].count("script") == 1
        assert "<script>alert(1)</script>" in Markup(section(page)).text


# Two choices side by side.


def test_two_choices_are_shown_side_by_side(client: Client) -> None:
    """Each side begins as the page of its choice does, and A goes when it is dropped."""

    def sides(page: str) -> list[str]:
        parts = page.split("<section>")[1:]
        return [Markup(part.partition("</section>")[0]).text for part in parts]

    def sentence(page: str) -> str:
        return Markup(re.findall(r'<div class="verdict.*?</div>', page)[0]).text

    first = client.choose(k="5", r3="1")
    kept = client.ask("POST", f"{client.home}choose", "from=0&keep=1").headers["Location"]
    number = kept.rpartition("/")[2]
    both = client.choose(**{"from": number, "k": "5", "r3": "1"}).body
    left, right = sides(both)
    assert left.startswith(f"A{sentence(client.ask('GET', client.home).body)}")
    assert right.startswith(f"Now{sentence(first.body)}")
    assert "birth: others can know it, as it is" in left
    assert "birth: nobody outside can know it" in right
    assert "age: " not in left.partition("people")[0]
    assert both.count("<svg") == 4
    now = re.findall(r'name="from" value="(\d+)"', both)[0]
    dropped = client.choose(**{"from": now, "k": "5", "drop": "1"}).body
    assert "<section>" not in dropped
    assert sentence(dropped) == sentence(first.body)
    assert f'href="{now}">Undo' in dropped
