"""The risk of households, held against a loop over all people and households."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reid_sql.polars as rp
from reid_sql.errors import ReidError, UnknownParameterError
from tests.tables import by_duckdb, by_polars

MEMBER = st.tuples(
    st.one_of(st.none(), st.integers(1, 4)),  # the household
    st.sampled_from(["F", "M", None]),
    st.sampled_from([0.0, -0.0, 1.5, float("nan")]),
)
COLUMNS = ["sex", "size"]


def table(members: Sequence[tuple[Any, ...]]) -> pl.DataFrame:
    schema = {"home": pl.Int64, "sex": pl.String, "size": pl.Float64}
    return pl.DataFrame(list(members), schema=schema, orient="row")


def by_hand(members: Sequence[tuple[Any, ...]], threshold: float) -> dict[str, float]:
    """Walk through the people: who is like them, who lives with them, which households are alike."""
    values = [(sex, repr(size + 0.0)) for _, sex, size in members]
    alike = Counter(values)
    homes = defaultdict(list)
    for place, (home, *_) in enumerate(members):
        homes[place + 1000 if home is None else home].append(values[place])
    nobody = {}
    for home, own in homes.items():
        chance = 1.0
        for each in own:
            chance *= 1 - 1 / alike[each]
        nobody[home] = chance
    kinds = Counter(tuple(sorted(map(repr, own))) for own in homes.values())
    sizes = [kinds[tuple(sorted(map(repr, own)))] for own in homes.values()]
    risk = {home: 1 - chance for home, chance in nobody.items()}
    return {
        "households": len(homes),
        "records": len(members),
        "average_risk": sum(risk[home] * len(own) for home, own in homes.items()) / len(members),
        "average_household_risk": sum(risk.values()) / len(homes),
        "highest_risk": max(risk.values()),
        "households_at_risk": sum(each > threshold for each in risk.values()) / len(homes),
        "average_member_risk": sum(1 / alike[each] for each in values) / len(members),
        "k": min(sizes),
        "unique_households": sum(size == 1 for size in sizes),
        "uniqueness": sum(size == 1 for size in sizes) / len(homes),
        "average_class_risk": len(kinds) / len(homes),
        "threshold": threshold,
    }


def by_engines(frame: pl.DataFrame, **options: Any) -> list[dict[str, Any]]:
    extras = "".join(f", {name} := {value!r}" for name, value in options.items())
    return [
        *by_duckdb(f"FROM household_risk(t, 'home', {COLUMNS}{extras})", t=frame),
        *by_polars("household_risk", frame, "home", COLUMNS, **options),
    ]


@given(st.lists(MEMBER, min_size=1, max_size=9))
def test_it_is_the_walk_through_all_households(members: list[tuple[Any, ...]]) -> None:
    for answer in by_engines(table(members), threshold=0.51):
        truth = by_hand(members, 0.51)
        assert {name: answer[name] for name in truth} == pytest.approx(truth, rel=1e-12)
        assert (answer["records_dropped"], answer["nulls"]) == (0, "value")


@given(st.lists(MEMBER, min_size=1, max_size=9))
def test_records_that_lack_a_value_are_dropped(members: list[tuple[Any, ...]]) -> None:
    """A person without a household is one of their own, also then."""
    whole = [each for each in members if None not in each[1:]]
    if not whole:
        return
    for answer in by_engines(table(members), nulls="drop"):
        truth = by_hand(whole, 0.2)
        assert {name: answer[name] for name in truth} == pytest.approx(truth, rel=1e-12)
        assert (answer["records_dropped"], answer["nulls"]) == (len(members) - len(whole), "drop")


def test_who_is_alone_with_a_value_puts_all_of_the_household_at_risk() -> None:
    """Four women and a man: alone, each woman is one of four; the man's household is found with certainty."""
    frame = table([(1, "F", 0.0), (1, "M", 0.0), (2, "F", 0.0), (2, "F", 0.0), (3, "F", 0.0)])
    for answer in by_engines(frame):
        assert answer["highest_risk"] == 1
        assert answer["average_household_risk"] == pytest.approx((1 + (1 - 0.75**2) + 0.25) / 3)
        assert (answer["k"], answer["unique_households"], answer["average_class_risk"]) == (1, 3, 1)


@given(st.lists(MEMBER, min_size=1, max_size=9))
def test_each_record_has_the_risk_of_its_household(members: list[tuple[Any, ...]]) -> None:
    """Of any risks of the members, here with survey weights."""
    frame = table(members).with_row_index("place").with_columns(weight=pl.col("place") % 3 + 1)
    named = {"weight": "weight", "household": "home"}
    call = (
        f"individual_risk(t, {COLUMNS}, weight := 'weight', household := 'home', nulls := 'value')"
    )
    for rows in (
        by_duckdb(f"FROM {call}", t=frame),
        by_polars("individual_risk", frame, COLUMNS, **named),
        by_polars("individual_risk", frame, COLUMNS, key="place", **named),
    ):
        assert [row["record"] for row in rows] == list(range(len(members)))
        for row in rows:
            home, chance = members[row["record"]][0], 1.0
            for other in rows:
                if other is row or (home is not None and members[other["record"]][0] == home):
                    chance *= 1 - other["risk"]
            assert row["household_risk"] == pytest.approx(1 - chance, rel=1e-12)


@given(st.lists(MEMBER, min_size=1, max_size=9), st.sampled_from(["value", "drop"]))
def test_without_weights_their_mean_is_that_of_household_risk(
    members: list[tuple[Any, ...]], nulls: str
) -> None:
    frame = table(members).with_columns(pl.col("home").fill_null(9))  # which "drop" would leave out
    if nulls == "drop" and not any(None not in row for row in frame.iter_rows()):
        return
    [whole] = by_duckdb(f"FROM household_risk(t, 'home', {COLUMNS}, nulls := '{nulls}')", t=frame)
    for rows in (
        by_duckdb(
            f"FROM individual_risk(t, {COLUMNS}, household := 'home', nulls := '{nulls}')", t=frame
        ),
        by_polars("individual_risk", frame, COLUMNS, household="home", nulls=nulls),
    ):
        risks = [row["household_risk"] for row in rows]
        assert sum(risks) / len(risks) == pytest.approx(whole["average_risk"], rel=1e-12)
        assert max(risks) == pytest.approx(whole["highest_risk"], rel=1e-12)


def test_without_a_household_there_is_no_such_risk() -> None:
    frame = table([(1, "F", 0.0), (1, "M", 0.0)])
    for rows in (
        by_duckdb("FROM individual_risk(t, ['sex'])", t=frame),
        by_polars("individual_risk", frame, ["sex"]),
    ):
        assert [row["household_risk"] for row in rows] == [None, None]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"household": "hom"},
            "household and key must be columns of the table, got 'hom'; did you mean",
        ),
        (
            {"household": "sex"},
            "household and key must be distinct, got 'sex' twice; name each column once",
        ),
        (
            {"household": "home", "entity": "size"},
            "household must be left out where people are counted",
        ),
    ],
)
def test_bad_households_of_records_are_refused(options: dict[str, str], sentence: str) -> None:
    frame = table([(1, "F", 0.0)])
    extras = "".join(f", {name} := {value!r}" for name, value in options.items())
    with pytest.raises(Exception, match="Error") as refused:
        by_duckdb(f"FROM individual_risk(t, ['sex']{extras})", t=frame)
    assert sentence in str(refused.value)
    with pytest.raises(ReidError) as refused_too:
        by_polars("individual_risk", frame, ["sex"], **options)
    assert sentence in str(refused_too.value)


@pytest.mark.parametrize(
    "call", ["risk_summary(t, ['sex']", "adversary_risk(t, '{}'", "adversary_summary(t, '{}'"]
)
def test_other_functions_name_the_one_for_households(call: str) -> None:
    with pytest.raises(Exception, match="must be called without household, got home") as refused:
        by_duckdb(f"FROM {call}, household := 'home')", t=table([(1, "F", 0.0)]))
    assert (
        "call household_risk, or take 1 - product(1 - risk) over the records of each household"
        in str(refused.value)
    )
    with pytest.raises(UnknownParameterError, match="call household_risk"):
        rp.risk_summary(table([(1, "F", 0.0)]), ["sex"], household="home")  # type: ignore[call-arg]


def test_households_of_one_are_people() -> None:
    frame = table([(None, sex, 0.0) for sex in "FFFMM"])
    for answer in by_engines(frame):
        assert [answer["average_risk"], answer["average_member_risk"]] == pytest.approx([2 / 5] * 2)
        assert answer["k"] == 2


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            "t, 'hom', ['sex']",
            "household and columns must be columns of the table, got 'hom'; did you mean",
        ),
        (
            "t, 'sex', ['sex']",
            "household and columns must be distinct, got 'sex' twice; name each column once",
        ),
        ("t, 'home', ['sex'], threshold := 2", "threshold must be"),
        (
            "t, 'home', ['sex'], nulls := 'wildcard'",
            "nulls must be one of 'value', 'drop', got 'wildcard'",
        ),
        ("t, 'home', ['sex'], entity := 'home'", "household_risk must be called without entity"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call: str, sentence: str) -> None:
    with pytest.raises(Exception, match="Error") as refused:
        by_duckdb(f"FROM household_risk({call})", t=table([(1, "F", 0.0)]))
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    "ask",
    [
        lambda none: by_duckdb(f"FROM household_risk(t, 'home', {COLUMNS})", t=none),
        lambda none: by_polars("household_risk", none, "home", COLUMNS),
    ],
)
def test_an_empty_table_is_refused(ask: Any) -> None:
    with pytest.raises(Exception, match="the table must contain at least one record, got 0"):
        ask(table([]))
