"""Measures of sets of columns: keys and unsafe combinations, against counting by the definition."""

from collections import defaultdict
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from reid_sql.check.gate import check
from reid_sql.errors import ReidError
from tests.cells import each_cell

COLUMNS = ["a", "b", "c", "d"]
Rows = list[tuple[Any, ...]]


def town(records: int = 120) -> pl.DataFrame:
    """Four columns of which some together are a key, two groups, and who each record is of."""
    number = range(records)
    return pl.DataFrame(
        {
            "a": [n % 30 for n in number],
            "b": [n // 30 for n in number],
            "c": [n % 7 if n % 11 else None for n in number],
            "d": [n % 40 for n in number],
            "g": ["x" if n % 3 else "y" for n in number],
            "person": [n // 2 for n in number],
        }
    )


def sets_up_to(size: int) -> list[tuple[str, ...]]:
    return [each for number in range(1, size + 1) for each in combinations(COLUMNS, number)]


def count_keys(frame: pl.DataFrame, size: int, share: float, person: str | None = None) -> int:
    """By the definition: sets by which such a share is unique, while no smaller set in them does."""
    who = range(frame.height) if person is None else frame[person].to_list()
    reaching = []
    for names in sets_up_to(size):
        held: dict[Any, set[Any]] = defaultdict(set)
        for row, each in zip(frame.select(names).rows(), who, strict=True):
            held[row].add(each)
        unique = set().union(*(people for people in held.values() if len(people) == 1))
        if len(unique) / len(set(who)) >= share:
            reaching.append(set(names))
    return sum(not any(other < each for other in reaching) for each in reaching)


def count_unsafe(frame: pl.DataFrame, size: int, k: int, person: str | None = None) -> int:
    """By the definition: combinations that fewer than k share, while k or more share each part of them."""
    who = range(frame.height) if person is None else frame[person].to_list()
    held: dict[Any, set[Any]] = defaultdict(set)
    for names in sets_up_to(size):
        for row, each in zip(frame.select(names).rows(), who, strict=True):
            held[tuple(zip(names, row, strict=True))].add(each)
    rare = {each for each, people in held.items() if len(people) < k}
    return sum(
        not any(
            part in rare for number in range(1, len(each)) for part in combinations(each, number)
        )
        for each in rare
    )


def judge(
    folder: Path, frame: pl.DataFrame, checks: str, head: str = "", table: str = ""
) -> list[Any]:
    frame.write_parquet(folder / "town.parquet")
    text = f'{head}\n[[tables]]\nfile = "town.parquet"\nquasi_identifiers = {COLUMNS}\n{table}\n'
    (folder / "policy.toml").write_text(f"{text}checks = [{checks}]", encoding="utf-8")
    checks_of: list[Any] = check(folder / "policy.toml")["checks"]
    return checks_of


def group(each: Any) -> tuple[Any, str]:
    return each["groups"][0]["value"], each["verdict"]


@each_cell("person", [None, "person"])
@each_cell("size, share", [(1, 1.0), (2, 1.0), (3, 1.0), (4, 1.0), (2, 0.3), (3, 0.5)])
@pytest.mark.first(cells=3)
def test_keys_are_those_of_counting(
    tmp_path: Path, person: str | None, size: int, share: float
) -> None:
    true = count_keys(town(), size, share, person)
    table = "" if person is None else f'entity = "{person}"'
    asked = f'measure = "keys", max_size = {size}, share_unique = {share}'
    limits = f"{{{asked}, at_most = {true}}}, {{{asked}, at_most = 0}}"
    met, none = judge(tmp_path, town(), limits, table=table)
    assert group(met) == (true, "pass")
    assert group(none) == (true, "fail" if true else "pass")


@each_cell("person", [None, "person"])
@each_cell("size, k", [(1, 2), (1, 5), (2, 2), (2, 4), (3, 3)])
@pytest.mark.first(cells=3)
def test_unsafe_combinations_are_those_of_counting(
    tmp_path: Path, person: str | None, size: int, k: int
) -> None:
    true = count_unsafe(town(), size, k, person)
    table = "" if person is None else f'entity = "{person}"'
    asked = f'measure = "unsafe_combinations", max_size = {size}, k = {k}'
    limits = f"{{{asked}, at_most = {true}}}, {{{asked}, at_most = {max(true - 1, 0)}}}"
    met, broken = judge(tmp_path, town(), limits, head="mask_below = 1", table=table)
    assert group(met) == (true, "pass")
    assert group(broken) == (true, "fail" if true else "pass")


def test_each_group_is_searched_by_itself(tmp_path: Path) -> None:
    checks = '{measure = "keys", max_size = 2, at_most = 0, by = ["g"]}, '
    checks += '{measure = "unsafe_combinations", k = 3, max_size = 2, at_most = 0, by = ["g"]}'
    keys, unsafe = judge(tmp_path, town(), checks, head="mask_below = 1")
    parts = {name: town().filter(pl.col("g") == name) for name in "xy"}
    for found, expected in (
        (keys, {name: count_keys(part, 2, 1.0) for name, part in parts.items()}),
        (unsafe, {name: count_unsafe(part, 2, 3) for name, part in parts.items()}),
    ):
        assert {each["group"]["g"]: each["value"] for each in found["groups"]} == expected


def test_a_table_without_keys_or_rare_combinations_passes_without_a_caution(tmp_path: Path) -> None:
    same = pl.DataFrame(dict.fromkeys(COLUMNS, [1, 2] * 50))
    checks = (
        '{measure = "keys", at_most = 0}, {measure = "unsafe_combinations", k = 5, at_most = 0}'
    )
    for each in judge(tmp_path, same, checks, head='cautions = "refuse"'):
        assert group(each) == (0, "pass")
        assert not each["cautions"]


def test_records_that_lack_a_value_are_left_out_where_the_policy_says_so(tmp_path: Path) -> None:
    complete = town().drop_nulls()
    checks = '{measure = "keys", at_most = 9}, {measure = "unsafe_combinations", k = 2, max_size = 1, at_most = 9}'
    keys, unsafe = judge(tmp_path, town(), checks, head="mask_below = 1", table='nulls = "drop"')
    assert group(keys)[0] == count_keys(complete, 4, 1.0)
    assert group(unsafe)[0] == count_unsafe(complete, 1, 2)


def test_a_search_that_does_not_end_is_no_pass(tmp_path: Path) -> None:
    checks = '{measure = "keys", share_unique = 0.9, max_sets = 1, at_most = 1000}'
    (found,) = judge(tmp_path, town(), checks)
    assert group(found) == (None, "not judged")
    why = found["groups"][0]["why"]
    assert "incomplete: the list is complete up to 1 of 4 columns" in why
    names = why.rpartition("such as ")[2].rstrip(".").split(", ")
    assert town().group_by(names).len().filter(pl.col("len") == 1).height >= 0.9 * town().height


def test_where_null_is_a_wildcard_nothing_is_judged(tmp_path: Path) -> None:
    checks = '{measure = "keys", at_most = 9}, {measure = "unsafe_combinations", at_most = 9}'
    for each in judge(tmp_path, town(), checks, table='nulls = "wildcard"'):
        assert group(each) == (None, "not judged")
        assert "nulls must be one of 'value', 'drop', got 'wildcard'" in each["groups"][0]["why"]


def test_few_combinations_show_their_verdict_alone(tmp_path: Path) -> None:
    """They count few records, and no audit knows a bound of them."""
    frame = town().with_columns(
        pl.when(pl.col("person") < 2).then("person").otherwise(9).alias("b")
    )
    checks = '{measure = "unsafe_combinations", k = 3, max_size = 1, quasi_identifiers = ["b"], at_most = 9}'
    (found,) = judge(tmp_path, frame, checks)
    assert (found["groups"][0]["value"], found["groups"][0]["below"]) == (None, None)
    assert found["verdict"] == "pass"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{measure = "keys", at_least = 1}', "must bound 'keys' by at_most"),
        (
            '{measure = "keys", at_most = 0.5}',
            "at_most must be a whole number of at least 0, got 0.5",
        ),
        (
            '{measure = "keys", at_most = 0, share_unique = 0}',
            "share_unique must be a share above 0",
        ),
        (
            '{measure = "keys", at_most = 0, max_size = 65}',
            "max_size must be a whole number of columns",
        ),
        (
            '{measure = "unsafe_combinations", at_most = 0, k = 1}',
            "k must be a whole number of records",
        ),
    ],
)
def test_what_a_policy_may_not_ask_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(ReidError) as refused:
        judge(tmp_path, town(), text)
    assert sentence in str(refused.value)
