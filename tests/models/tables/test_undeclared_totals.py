"""Totals by their counts: people are drawn and published, so that the truth is known."""

from itertools import product
from random import Random

import duckdb
import numpy as np
import pytest

import reid_sql
from reid_sql.errors import OutOfDomainError
from reid_sql.models.tables.published_tables import Cell, Counted, Reading
from reid_sql.models.tables.undeclared_totals import refuse_undeclared_totals

WORDS = ("T", "", "Gesamtergebnis", "Germany", "*", "Razem")
K = 5
Cells = dict[tuple[str, ...], int]


def draw(rng: Random, sizes: tuple[int, ...], people: int) -> Cells:
    """Count people by columns of so many categories, of which some are rare."""
    cells: Cells = {}
    for _ in range(people):
        key = tuple(f"c{int(size * rng.random() ** 2)}" for size in sizes)
        cells[key] = cells.get(key, 0) + 1
    return dict(sorted(cells.items()))


def add_sums(cells: Cells, place: int, parts: set[str], word: str) -> Cells:
    """Add the sum of some categories of a column, right before the first of them."""
    sums: Cells = {}
    for key, count in cells.items():
        if key[place] in parts:
            total = (*key[:place], word, *key[place + 1 :])
            sums[total] = sums.get(total, 0) + count
    order = {word: min(parts) + "\x00"}
    return dict(
        sorted(
            {**cells, **sums}.items(),
            key=lambda each: (
                *each[0][:place],
                *each[0][place + 1 :],
                order.get(each[0][place], each[0][place] + "\x01"),
            ),
        )
    )


def refused(cells: Cells, reading: Reading | None = None) -> str:
    """Publish cells of K people and more, and audit them."""
    own = reading or Reading()
    counted = [
        Counted(1, key, Cell(1.0, np.inf, None if count < K else float(count)))
        for key, count in cells.items()
    ]
    names = [f"column{place}" for place in range(len(next(iter(cells))))]
    try:
        refuse_undeclared_totals(counted, names, own, K)
    except OutOfDomainError as error:
        return str(error)
    return ""


def hides_a_part(cells: Cells, place: int, parts: set[str], word: str) -> bool:
    """Whether somewhere total - shown gives one hidden part of several."""
    for key, total in cells.items():
        own = [cells.get((*key[:place], part, *key[place + 1 :]), 0) for part in parts]
        if key[place] == word and total >= K and sum(0 < count < K for count in own) == 1:
            return True
    return False


@pytest.mark.parametrize("sizes", [(5,), (4, 6), (6, 3), (3, 4, 3)])
def test_a_total_is_refused_whatever_its_name_and_an_ordinary_table_is_not(
    sizes: tuple[int, ...],
) -> None:
    rng, totals, found, ordinary, wrong = Random(str(sizes)), 0, 0, 0, 0  # noqa: S311
    for number in range(60):
        cells = draw(rng, sizes, rng.choice([300, 1000, 4000]))
        ordinary += 1
        wrong += bool(refused(cells))
        place, word = number % len(sizes), WORDS[number % len(WORDS)]
        parts = {key[place] for key in cells}
        with_total = add_sums(cells, place, parts, word)
        if len(parts) > 2 and hides_a_part(with_total, place, parts, word):
            totals += 1
            text = refused(with_total)
            found += f"pass total := '{word}'" in text
            assert not refused(with_total, Reading(not_total=(word,))) or not text
    assert wrong <= 0.03 * ordinary
    assert not totals or found >= 0.9 * totals


def test_a_total_of_a_part_and_a_mean_are_refused() -> None:
    rng, tried, found = Random(3), 0, 0  # noqa: S311
    for _ in range(30):
        cells = draw(rng, (7, 6), 900)
        parts = {"c3", "c4", "c5"}
        with_part = add_sums(cells, 0, parts, "Germany")
        if hides_a_part(with_part, 0, parts, "Germany"):
            tried += 1
            found += "the sum of some others" in refused(with_part)
    assert tried > 10
    assert found >= 0.8 * tried
    even: dict[tuple[str, ...], int] = {
        (sex, town): 40 + (at * 7 + step * 11) % 23
        for (step, sex), (at, town) in product(enumerate("mfx"), enumerate("abcdef"))
    }
    means: dict[tuple[str, ...], int] = {
        ("avg", town): round(sum(even[sex, town] for sex in "mfx") / 3) for town in "abcdef"
    }
    even["x", "a"] = 3  # hidden, and known from the mean
    assert "the mean of the others" in refused({**even, **means})


def test_an_ordinary_category_stays_and_a_declared_total_is_used() -> None:
    with duckdb.connect() as con:
        reid_sql.register(con)
        con.execute(
            "CREATE TABLE t AS FROM (VALUES ('M', 200), ('F', 300), ('X', NULL), ('D', 240)) v(sex, records)"
        )
        con.execute(
            "CREATE TABLE u AS FROM (VALUES ('M', 200), ('F', 300), ('X', NULL), ('_T', 503)) v(sex, records)"
        )
        con.execute("CREATE TABLE w AS SELECT 'a' AS town, * FROM u UNION ALL SELECT '', * FROM u")
        assert con.execute("SELECT finding FROM audit_tables(['t'])").fetchall() == [("protected",)]
        with pytest.raises(Exception, match="pass total := '_T', or not_total := '_T'"):
            con.execute("FROM audit_tables(['u'])").fetchall()
        found = con.execute("SELECT finding, low, high FROM audit_tables(['u'], total := '_T')")
        assert found.fetchall() == [("recovered", 3, 3)]
        found = con.execute("SELECT finding FROM audit_tables(['u'], not_total := ['_T'])")
        assert found.fetchall() == [("protected",)]
        found = con.execute("SELECT DISTINCT low FROM audit_tables(['w'], total := ['_T', ''])")
        assert found.fetchall() == [(3,)]


@pytest.mark.parametrize("parameter", ["total", "not_total"])
def test_a_label_that_no_row_has_is_refused_with_the_nearest(parameter: str) -> None:
    with duckdb.connect() as con:
        reid_sql.register(con)
        con.execute("""CREATE TABLE published AS FROM (VALUES ('F', 10), ('M', 5), ('Alle', 15))
            AS cells(sex, records)""")
        ask = f"FROM audit_tables([published], total := 'Alle', {parameter} := '{{}}')"
        if parameter == "total":
            ask = "FROM audit_tables([published], total := '{}')"
        with pytest.raises(
            duckdb.InvalidInputException, match="which no row has; did you mean 'Alle'"
        ):
            con.execute(ask.format("Ale")).fetchall()
        con.execute("FROM audit_tables([published], total := 'Alle', not_total := 'F')").fetchall()
