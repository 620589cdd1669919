"""What an exploration shows equals what a reader counts of the files that are taken away."""

import io
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest

import reid_sql
from reid_sql.errors import ReidError
from reid_sql.explore.choice import Choice
from reid_sql.explore.exploration import Answer, Exploration
from reid_sql.explore.page import State, render_page
from reid_sql.explore.quick import DrawnRows, interval_below
from reid_sql.models.generalization.lattice import DistinctRecords, Lattice, LevelCodes
from tests.explorations import (
    KNOWN,
    MARK,
    PERSON,
    PRIVATE,
    SENSITIVE,
    chosen,
    counted,
    explored,
    measurable_choice,
    people,
    read,
)


@pytest.fixture(scope="module")
def exploration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Exploration]:
    file = tmp_path_factory.mktemp("people") / "people.parquet"
    people().write_parquet(file)
    with explored(file) as opened:
        yield opened


def alone(answer: Answer) -> int:
    return int(answer.table["class_sizes"][0]["records"])


def assert_as_counted(exploration: Exploration, choice: Choice, folder: Path) -> None:
    """The page, the rows, the policy checked on them, and the SQL have the same figures."""
    answer, content = exploration.answer(choice), exploration.rows(choice)
    rows = read(content)
    found = counted(rows, choice)
    assert alone(answer) == found.alone
    assert answer.in_small_groups == found.small
    assert answer.learned == found.learned
    assert answer.left_out == exploration.original.records - found.rows
    (folder / f"{exploration.release_name(choice)}.parquet").write_bytes(content)
    policy = folder / "policy.toml"
    text = exploration.policy_text(choice).replace("mask_below = 10", "mask_below = 1")
    policy.write_text(text, encoding="utf-8")
    page = reid_sql.check(policy).page
    assert page["verdict"] == answer.page["verdict"]
    for key in ("class_sizes", "average_risk", "columns"):
        assert page["tables"][0][key] == answer.table[key]
    figures = [
        [each["groups"][0]["value"] for each in one["checks"]] for one in (page, answer.page)
    ]
    assert figures[0] == figures[1]
    with duckdb.connect() as con:
        con.execute(exploration.sql(choice))
        ((name,),) = con.sql("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()
        released = con.sql(f'FROM "{name}"').fetchall()
    assert Counter(released) == Counter(tuple(row.values()) for row in rows)
    texts = pl.read_csv(io.BytesIO(exploration.rows(choice, "csv")), infer_schema=False)
    with duckdb.connect() as con:
        names = ", ".join(f'"{name}"::VARCHAR' for name in texts.columns)
        expected = con.sql(f"SELECT {names} FROM '{folder}/*.parquet'").fetchall()
    assert Counter(texts.rows()) == Counter(expected)


@pytest.mark.parametrize("seed", range(3))
def test_figures_are_those_of_the_files(
    exploration: Exploration, seed: int, tmp_path: Path
) -> None:
    choice = measurable_choice(exploration, random.Random(seed))  # noqa: S311 - drawn alike
    assert_as_counted(exploration, choice, tmp_path)


def test_forms_are_what_they_are_called(exploration: Exploration) -> None:
    """Bands, first characters and years, by plain Python."""
    choice = chosen(exploration, age=KNOWN, postcode=KNOWN, birth=KNOWN, sex=KNOWN)
    steps = exploration.steps(choice)
    wanted = {
        "age": "in bands of 10",
        "postcode": "to its first 3 characters",
        "birth": "to its year",
    }
    levels = [steps[name].index(wanted[name]) if name in wanted else 0 for name in choice.columns]
    rows = read(exploration.rows(replace(choice, levels=tuple(levels))))
    expected = [
        (
            None
            if row["age"] is None
            else f"{row['age'] // 10 * 10} to {row['age'] // 10 * 10 + 9}",
            row["sex"],
            f"{row['postcode'][:3]}*",
            str(row["birth"].year),
        )
        for row in people().to_dicts()
    ]
    assert Counter(tuple(row.values()) for row in rows) == Counter(expected)


def test_the_coarsest_forms_are_released(exploration: Exploration, tmp_path: Path) -> None:
    """A form in which every value is the same is none: the release would lack the column."""
    roles = dict.fromkeys(exploration.proposed.columns, KNOWN)
    coarsest = replace(chosen(exploration, **roles), levels=(99,) * len(roles))
    steps = exploration.steps(coarsest)
    assert all(len(steps[name]) > 1 for name in ("age", "postcode", "birth"))
    assert_as_counted(exploration, coarsest, tmp_path)


def test_groups_by_hand(exploration: Exploration) -> None:
    """Values in no group stay as they are; a group that is none is refused."""
    choice = chosen(exploration, postcode=KNOWN)
    at = choice.columns.index("postcode")
    texts = ["" for _ in choice.columns]
    texts[at] = "north: 1010, 1011,1020 ; south: 2070;"
    levels = tuple(int(place == at) for place in range(len(texts)))
    made = replace(choice, groups=tuple(texts), levels=levels)
    assert list(exploration.steps(made)["postcode"]) == ["as it is", "in 2 groups"]
    names = {"1010": "north", "1011": "north", "1020": "north", "2070": "south"}
    expected = Counter(names.get(each, each) for each in people()["postcode"])
    assert Counter(row["postcode"] for row in read(exploration.rows(made))) == expected
    for wrong in ("north", "north:", ": 1010", "a: 1010; b: 1010", ";"):
        texts[at] = wrong
        with pytest.raises(ReidError, match="the groups of postcode must"):
            exploration.answer(replace(made, groups=tuple(texts)))


def test_a_large_table_has_the_figures_of_a_small_one(exploration: Exploration) -> None:
    """From distinct combinations, and from all rows; only the latter are judged."""
    rng, large = random.Random(5), exploration.large  # noqa: S311 - drawn alike
    for choice in [measurable_choice(exploration, rng) for _ in range(3)]:
        exploration.answer.cache_clear()
        exploration.large = 0
        quick = exploration.answer(choice)
        whole = exploration.answer(replace(choice, counts_all=True))
        exploration.large = large
        exploration.answer.cache_clear()
        assert quick.page["verdict"] == "not judged"
        assert not quick.is_whole
        assert whole.is_whole
        for name in ("in_small_groups", "learned", "left_out", "losses", "next_steps"):
            assert getattr(quick, name) == getattr(whole, name)
        for key in ("class_sizes", "average_risk", "columns", "records"):
            assert quick.table[key] == whole.table[key]
        values = [
            [each["groups"][0]["value"] for each in one.page["checks"]] for one in (quick, whole)
        ]
        assert values[0] == values[1]


def test_many_combinations_are_estimated_from_drawn_rows(exploration: Exploration) -> None:
    """Of all rows, the shares are exact; of a part, the intervals hold them as often as they say."""
    choice = chosen(exploration, age=KNOWN, postcode=KNOWN, sex=KNOWN)
    choice = replace(choice, levels=tuple(2 * (name == "age") for name in choice.columns))
    exploration.large, large = 0, exploration.large
    exploration.sampled, sampled = 0, exploration.sampled
    try:
        assert exploration.is_estimated(choice)
        assert not exploration.is_estimated(replace(choice, counts_all=True))
        whole, estimate = exploration.answer(choice), exploration.estimate(choice)
        page = render_page(exploration, State(0, choice), "nonce")
    finally:
        exploration.large, exploration.sampled = large, sampled
    share = (whole.in_small_groups or 0) / exploration.original.records
    assert estimate.drawn == exploration.original.records
    assert 0 < estimate.small[0] < share < estimate.small[1] < 1
    assert [each.small for each in estimate.next_steps] == [
        pytest.approx(each.small) for each in whole.next_steps
    ]
    assert estimate.losses == whole.losses
    assert f"{estimate.drawn:,} drawn rows" in page
    assert "Count all rows" in page


def test_the_interval_of_drawn_rows_holds_the_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 200 drawn tables of 3,000 rows, 300 of them drawn, at least 180 have their share in the interval."""
    monkeypatch.setattr("reid_sql.explore.quick.DRAWN", 300)
    held = 0
    for seed in range(200):
        rows = (np.random.default_rng(seed).random((2, 3000)) ** 2 * 40).astype(np.int64)
        codes, counts = np.unique(rows, axis=1, return_counts=True)
        same, one = np.arange(40), np.zeros(40, dtype=np.int64)
        columns = [
            LevelCodes((same, same // 5, one), np.bincount(each, minlength=40)) for each in rows
        ]
        drawn = DrawnRows(Lattice(columns, DistinctRecords(codes, counts)))
        low, high = interval_below(drawn.class_sizes((0, 1)), 5)
        classes = Counter((int(one), int(other) // 5) for one, other in rows.T)
        share = sum(size for size in classes.values() if size < 5) / 3000
        held += low <= share <= high
    assert held >= 180


def test_the_next_step_is_what_comes_of_it(exploration: Exploration) -> None:
    choice = chosen(exploration, age=KNOWN, postcode=KNOWN, sex=KNOWN)
    people_ = exploration.original.records
    for step in exploration.answer(choice).next_steps:
        levels = tuple(int(name == step.column) for name in choice.columns)
        after = exploration.answer(replace(choice, levels=levels))
        assert step.small == pytest.approx((after.in_small_groups or 0) / people_)
        assert after.losses[step.column] == step.loss


def test_people_with_several_rows_are_counted(tmp_path: Path) -> None:
    """Who is left out is left out with all rows; identifiers are not released as they are."""
    rows = people()
    ids = [f"p{at // 2:03}" for at in range(len(rows))]
    rows.with_columns(pl.Series("patient_id", ids)).write_parquet(tmp_path / "visits.parquet")
    with explored(tmp_path / "visits.parquet") as exploration:
        assert exploration.proposed.person == "patient_id"
        roles = chosen(exploration, sex=KNOWN, postcode=KNOWN, patient_id=PERSON)
        for leaves_out in (False, True):
            choice = replace(roles, smallest_group=9, leaves_out=leaves_out)
            answer, released = exploration.answer(choice), read(exploration.rows(choice))
            found = counted(released, choice, "patient_id")
            assert (alone(answer), answer.in_small_groups) == (found.alone, found.small)
            assert answer.table["records"] == found.rows
            assert not {row["patient_id"] for row in released} & set(ids)
        assert answer.page["checks"][0]["groups"][0]["value"] >= choice.smallest_group


def test_what_is_proposed_has_a_reason(tmp_path: Path) -> None:
    people().with_columns(pl.Series("name", [f"Person {at}" for at in range(240)])).write_csv(
        tmp_path / "people.csv"
    )
    with explored(tmp_path / "people.csv") as exploration:
        proposed = dict(zip(exploration.proposed.columns, exploration.proposed.roles, strict=True))
        assert proposed["age"] == KNOWN
        assert proposed["diagnosis"] == proposed["income"] == SENSITIVE
        assert proposed["name"] == "left out of the release"
        assert all(exploration.reasons[name] for name in proposed)


def test_columns_that_nothing_measures_are_named(exploration: Exploration) -> None:
    """One that singles people out is not passed over until a person says so."""
    choice = chosen(exploration, sex=KNOWN, income=PRIVATE, age=PRIVATE)
    answer = exploration.answer(choice)
    assert answer.page["verdict"] == "not judged"
    assert "income" in answer.table["released_columns"]["sentences"][0]
    accepted = exploration.answer(replace(choice, accepted=("unnamed_columns",)))
    assert accepted.page["verdict"] == "pass"


def test_a_mask_hides_small_counts(tmp_path: Path) -> None:
    people().write_parquet(tmp_path / "people.parquet")
    with explored(tmp_path / "people.parquet", mask=20) as exploration:
        choice = chosen(exploration, sex=KNOWN, postcode=KNOWN, diagnosis=SENSITIVE)
        answer = exploration.answer(choice)
        counts = [answer.in_small_groups, answer.left_out, *answer.learned.values()]
        assert all(each in (0, None) or each >= 20 for each in counts)
        assert all(each.small is None for each in answer.next_steps)
        assert "mask_below = 20" in exploration.policy_text(choice)


def test_what_cannot_be_counted_is_refused(exploration: Exploration) -> None:
    with pytest.raises(ReidError, match="got none; choose at least one"):
        exploration.answer(chosen(exploration, age=PRIVATE))
    with pytest.raises(ReidError, match="one column at most"):
        exploration.answer(chosen(exploration, age=KNOWN, sex=PERSON, postcode=PERSON))
    with pytest.raises(ReidError, match="got nobody"):
        exploration.answer(replace(chosen(exploration, income=KNOWN, birth=KNOWN), leaves_out=True))


def test_no_value_is_in_the_policy(exploration: Exploration) -> None:
    choice = chosen(exploration, age=KNOWN, diagnosis=SENSITIVE)
    assert MARK not in exploration.policy_text(choice)
    assert MARK not in exploration.report(choice)
