"""Two sums of a served table, which may give a third one together, whatever its columns are."""

from pathlib import Path

import duckdb
import pytest

import reid_sql
from reid_sql.errors import OutOfDomainError, ReidError
from reid_sql.serve.audited_counts import RevealingError
from tests.serve.door import Door

pytestmark = pytest.mark.filterwarnings("ignore:Arrow output")
REFUSED = "must not give another one of few people"


def draw_people(columns: str) -> duckdb.DuckDBPyConnection:
    """Serve 1,200 people of 40 towns in 4 regions; `pay` has many values."""
    con = duckdb.connect()
    reid_sql.register(con)
    con.execute(
        f"""CREATE TABLE people AS SELECT i % 2 AS sex, i // 30 AS town, i // 300 AS region,
        1 + i * 7 % 43 AS pay, {columns} FROM range(1200) AS r(i)"""
    )
    return con


@pytest.mark.first(cells=4)
@pytest.mark.parametrize(
    ("other", "is_refused"),
    [
        ("pay + CASE WHEN pid = 0 THEN 90000 ELSE 0 END", True),
        ("pay + CASE WHEN pid % 7 = 0 THEN pid * 1.5 ELSE 0 END", False),
        ("pay + (pid % 50 = 0)::INT", True),
        ("2026 - pay - (pid % 3 = 0)::INT", True),
        ("pay * 2", False),
        ("pay", False),
        ("9000 - pay", False),
    ],
)
@pytest.mark.parametrize("order", ["pay, other", "other, pay"])
def test_two_sums_reveal_no_third_one(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, other: str, order: str, *, is_refused: bool
) -> None:
    """Pay less basic pay is what one person has besides, or a count of those who have one more."""
    con.execute(f"CREATE OR REPLACE TABLE paid AS SELECT *, {other} AS other FROM people")
    first, second = order.split(", ")
    sql = "SELECT sex, sum({}) FROM paid GROUP BY sex"
    assert Door(con, ["paid"], record=tmp_path / "record.duckdb").ask(sql.format(first))
    door = Door(con, ["paid"], record=tmp_path / "record.duckdb")  # which reads what left before
    assert door.ask(sql.format(first))
    if is_refused:
        with pytest.raises(ReidError, match="must not give another one of few people"):
            door.ask(sql.format(second))
        assert door.ask(f"SELECT region, avg({first}) FROM paid GROUP BY region")
    else:
        assert door.ask(sql.format(second))


@pytest.mark.first(cells=4)
@pytest.mark.parametrize(
    "kind", ["UTINYINT", "TINYINT", "UBIGINT", "HUGEINT", "DECIMAL(3, 0)", "FLOAT"]
)
@pytest.mark.parametrize(
    ("more", "is_refused"), [("i * 11 % 27", False), ("(i % 100 = 4)::INT", True)]
)
def test_sums_of_all_types_are_compared(kind: str, more: str, *, is_refused: bool) -> None:
    """Differences of small or unsigned numbers are no numbers of that type, and an error would name them."""
    con = draw_people(f"(70 + pay)::{kind} AS one, (71 + pay - ({more}))::{kind} AS other")
    door = Door(con)
    assert door.ask("SELECT sex, sum(one) FROM people GROUP BY sex")
    if is_refused:
        with pytest.raises(RevealingError, match=REFUSED):
            door.ask("SELECT sex, sum(other) FROM people GROUP BY sex")
    else:
        assert door.ask("SELECT sex, sum(other) FROM people GROUP BY sex")


@pytest.mark.parametrize("scale", ["1e-9", "1e-3 / 7", "1", "1e10 / 7"])
def test_sums_are_compared_in_their_own_unit(scale: str) -> None:
    """One more in a few of many people is a count of them, be it of nanometres."""
    con = draw_people(f"pay * {scale} AS one, (pay + (i % 100 = 4)::INT) * {scale} AS other")
    con.execute("CREATE TABLE copies AS SELECT *, other * 3 / 3 AS again FROM people")
    door = Door(con, ["people", "copies"])
    assert door.ask("SELECT sex, sum(one) FROM people GROUP BY sex")
    with pytest.raises(RevealingError, match=REFUSED):
        door.ask("SELECT sex, sum(other) FROM people GROUP BY sex")
    assert door.ask("SELECT sex, sum(other) FROM copies GROUP BY sex")
    assert door.ask("SELECT sex, sum(again) FROM copies GROUP BY sex")  # but for rounding the same


def test_sums_by_town_and_by_region_are_compared_by_region() -> None:
    """A region's towns add up: what one person of it has besides is the difference."""
    con = draw_people(
        "pay + CASE WHEN i = 4 THEN 9 WHEN i >= 300 THEN i * 11 % 41 ELSE 0 END AS other"
    )
    for groups in (("town", "region"), ("region", "town")):
        door = Door(con)
        assert door.ask(f"SELECT {groups[0]}, sum(pay) FROM people GROUP BY ALL")
        with pytest.raises(RevealingError, match=REFUSED):
            door.ask(f"SELECT {groups[1]}, sum(other) FROM people GROUP BY ALL")
    door = Door(con)
    assert door.ask("SELECT sex, sum(pay) FROM people GROUP BY ALL")
    assert door.ask("SELECT region, sum(other) FROM people GROUP BY ALL")


def test_sums_of_columns_with_capitals_beyond_ascii_are_compared() -> None:
    """Small letters of DuckDB are those of ASCII, and names in the record are in small letters."""
    con = draw_people('i * 7 % 43 AS "ÜBER", i * 11 % 27 AS "Größe"')
    door = Door(con)
    for name in ("ÜBER", "Größe", "pay"):
        assert door.ask(f'SELECT sex, sum("{name}") FROM people GROUP BY sex')


@pytest.mark.parametrize("column", ["", ", 'secret' AS pay"])
def test_a_sum_after_one_of_a_column_that_is_gone_is_refused(tmp_path: Path, column: str) -> None:
    """What was answered of a table that was served before cannot be compared."""
    con = draw_people("i * 11 % 27 AS age")
    record = tmp_path / "record.duckdb"
    assert Door(con, record=record).ask("SELECT sex, sum(pay) FROM people GROUP BY sex")
    con.execute(f"CREATE OR REPLACE TABLE people AS SELECT sex, age{column} FROM people")
    door = Door(con, record=record)
    with pytest.raises(OutOfDomainError, match="ask the owner for a new record"):
        door.ask("SELECT sex, sum(age) FROM people GROUP BY sex")
    assert door.ask("SELECT sex, count(*) FROM people GROUP BY sex")


def test_a_sum_that_is_refused_for_its_counts_is_not_recorded() -> None:
    """It did not leave: the sum of another column is answered."""
    con = draw_people(
        "CASE WHEN i < 20 THEN 'a' ELSE 'b' END AS g, CASE WHEN i < 15 THEN 'a' ELSE 'b' END AS h, "
        "pay + (i = 40)::INT AS other"
    )
    door = Door(con)
    assert door.ask("SELECT g, count(*) FROM people GROUP BY g")
    with pytest.raises(ReidError, match="must reveal no group"):
        door.ask("FROM reid.safe_table(people, ['h'], value := 'pay')")
    assert door.ask("FROM reid.safe_table(people, ['g'], value := 'other')")


@pytest.mark.parametrize(
    ("extra", "is_refused"),
    [
        ("CASE WHEN i = 4 THEN 900 WHEN i % 97 = 5 THEN 1 ELSE 0 END", True),  # mostly one person's
        ("(i % 100 = 4)::INT", True),  # a count
        ("CASE WHEN i % 3 = 0 THEN i % 89 ELSE 0 END", False),  # of many people, and many values
    ],
)
@pytest.mark.parametrize("parts", [2, 3])
def test_sums_of_several_columns_reveal_no_other_one(
    parts: int, extra: str, *, is_refused: bool
) -> None:
    """Pay less basic pay and allowances is a bonus, in whatever order they are asked for."""
    terms = [f"(1 + i * {7 + 4 * at} % {43 + 14 * at})" for at in range(parts)]
    columns = ", ".join(f"{term} AS part{at}" for at, term in enumerate(terms))
    con = draw_people(f"{columns}, {' + '.join(terms)} + {extra} AS whole")
    names = [f"part{at}" for at in range(parts)] + ["whole"]
    for shift in range(parts + 1):
        door = Door(con)
        *first, last = names[shift:] + names[:shift]
        for name in first:
            assert door.ask(f"SELECT sex, sum({name}) FROM people GROUP BY sex")
        ask = f"SELECT region, sex, sum({last}) FROM people GROUP BY ALL"
        if is_refused:
            with pytest.raises(RevealingError, match=REFUSED):
                door.ask(ask)
        else:
            assert door.ask(ask)


@pytest.mark.parametrize("factor", [12, 100])
def test_sums_in_other_units_are_compared(factor: int) -> None:
    """A year's pay less twelve months' is what is paid besides."""
    con = draw_people(f"pay * {factor} + CASE WHEN i = 4 THEN 70000 ELSE 0 END AS other")
    for first, second in (("pay", "other"), ("other", "pay")):
        door = Door(con)
        assert door.ask(f"SELECT sex, sum({first}) FROM people GROUP BY sex")
        with pytest.raises(RevealingError, match=REFUSED):
            door.ask(f"SELECT sex, sum({second}) FROM people GROUP BY sex")
