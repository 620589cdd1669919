"""Steps of a hierarchy: both engines give the same text, and it is what a plain Python reading says."""

import datetime as dt
import math
from collections.abc import Callable
from dataclasses import replace

import duckdb
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reid_sql.hierarchies.hierarchy import Hierarchy, make_hierarchy
from reid_sql.hierarchies.steps import (
    Bands,
    Common,
    DatePart,
    Drop,
    Grouped,
    Prefix,
    Step,
)
from reid_sql.models.columns.dates import MONTHS
from tests.cells import each_cell

STEPS: list[Step] = [
    *(
        Bands(5),
        Bands(10, 20, 90),
        Bands(0.1, whole=False),
        Bands(0.25, whole=False),
        Bands(2, whole=False),
    ),
    *(Bands(None, 10, 50), Bands(None, above=0.5, whole=False)),
    *(DatePart(part) for part in ("month", "quarter", "year", "decade")),
    *(DatePart("quarter", "%d.%m.%Y"), DatePart("month", "%B %d, %Y"), Prefix(1), Prefix(3)),
    *(Common(("37", "it's")), Common(()), Grouped((("37", "A"), ("it's", "A"), ("x", 'B"')))),
]
ODD = [
    *(
        "37",
        " 37 ",
        "-3",
        "x",
        "it's",
        None,
        "nan",
        "inf",
        "-inf",
        "1e3",
        "+5",
        "0x10",
        "1_000",
        "0.29",
    ),
    *(
        "1e300",
        "1e15",
        "999999999999999",
        "-0.0",
        ".5",
        "5.",
        "２",
        "äöü€x",
        "",
        " ",
        "{}",
        "pl",
        "'\"\\",
    ),
    *(
        "1980-03-02",
        "1985-11-30 10:00:00",
        "02.12.1990",
        "1980-02-30",
        "epoch",
        "infinity",
        "today",
    ),
]


def of_duckdb(step: Step, values: pl.Series) -> list[str | None]:
    frame = duckdb.from_arrow(pl.DataFrame({"v": values}).to_arrow())
    return [row[0] for row in frame.project(step.sql("v")).fetchall()]


def of_polars(step: Step, values: pl.Series) -> list[str | None]:
    expression = eval(Hierarchy("v", (step,)).python(1), {"pl": pl})  # noqa: S307
    return pl.DataFrame({"v": values}).with_columns(expression)["v"].to_list()


@each_cell("step", [*STEPS, Drop()])
def test_engines_give_the_same_text_of_odd_texts(step: Step) -> None:
    values = pl.Series(ODD, dtype=pl.String)
    assert of_duckdb(step, values) == of_polars(step, values)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), min_size=1)
)
@example(["5"])
@pytest.mark.all
def test_engines_give_the_same_text_of_any_text(texts: list[str]) -> None:
    values = pl.Series(texts, dtype=pl.String)
    for step in STEPS:
        assert of_duckdb(step, values) == of_polars(step, values)


@settings(max_examples=200, deadline=None)
@given(st.integers(-(10**15) + 1, 10**15 - 1), st.sampled_from([2, 5, 10, 50, 1000]))
def test_a_whole_number_is_in_its_band(value: int, width: int) -> None:
    low = value // width * width
    for values in (pl.Series([value]), pl.Series([str(value)])):
        assert of_duckdb(Bands(width), values) == [f"{low} to {low + width - 1}"]
        assert of_polars(Bands(width), values) == [f"{low} to {low + width - 1}"]


INTEGERS = [0, -1, 19, 20, 89, 90, 10**15 - 1, 10**15, -(10**15), 2**63 - 1, -(2**63), None]
BANDS = [Bands(20), Bands(10, 20, 90), Bands(None, above=90), Bands(0.5, whole=False)]


@pytest.mark.parametrize("bands", BANDS, ids=lambda bands: bands.words)
def test_the_short_sql_for_integers_gives_what_that_for_texts_gives(bands: Bands) -> None:
    short = replace(bands, integer=True)
    assert "regexp" not in short.sql("v")
    texts = pl.Series([None if each is None else str(each) for each in INTEGERS], dtype=pl.String)
    assert of_duckdb(short, pl.Series(INTEGERS, dtype=pl.Int64)) == of_duckdb(bands, texts)


@settings(max_examples=200, deadline=None)
@given(st.integers(-(10**6), 10**6), st.sampled_from([1, 5, 25]))
def test_a_number_with_two_digits_is_in_its_band(cents: int, width: int) -> None:
    """An exact reading in cents: 0.29 is in the band from 0.29, whatever a double makes of it."""
    low = cents // width * width
    first, last = (
        f"{'-' if end < 0 else ''}{abs(end) // 100}.{abs(end) % 100:02}"
        for end in (low, low + width)
    )
    label = f"[{first}, {last})" if width % 10 else f"[{first[:-1]}, {last[:-1]})"
    values = pl.Series([cents / 100])
    assert of_duckdb(Bands(width / 100, whole=False), values) == [label]
    assert of_polars(Bands(width / 100, whole=False), values) == [label]


DATES: dict[str, Callable[[dt.date], str]] = {
    "month": lambda day: f"{day:%Y-%m}",
    "quarter": lambda day: f"{day:%Y}-Q{(day.month + 2) // 3}",
    "year": lambda day: f"{day:%Y}",
    "decade": lambda day: f"{day.year // 10}0s",
}


@settings(max_examples=100, deadline=None)
@given(st.dates(dt.date(1000, 1, 1)), st.sampled_from(sorted(DATES)))
def test_a_date_is_in_its_part(day: dt.date, part: str) -> None:
    due = [DATES[part](day)]
    moments = pl.Series([dt.datetime(day.year, day.month, day.day, 13, 5)])  # noqa: DTZ001 - no zone
    for values in (pl.Series([day]), moments, pl.Series([f"{day}"])):
        assert of_duckdb(DatePart(part), values) == due
        assert of_polars(DatePart(part), values) == due
    for form in ("%d.%m.%Y", "%d.%m.%Y %H:%M", "%m/%d/%Y %I:%M:%S %p"):
        written = pl.Series([moments[0].strftime(form)])
        assert of_duckdb(DatePart(part, form), written) == due
        assert of_polars(DatePart(part, form), written) == due


@each_cell(
    "form, texts",
    [
        ("%B %d, %Y", ["May 5, 1966", "MAY 05, 1966", "may 5th, 1966"]),
        ("%d %B %Y", ["5 May 1966", "05 mai 1966", "5 maja 1966", "5 maj. 1966"]),
        ("%d. %B %Y", ["5. Mai 1966"]),
        ("%d%B%Y", ["5MAY1966", "05MAY1966"]),
        ("%d de %B de %Y", ["5 de mayo de 1966", "5 de maio de 1966"]),
        ("%d %B, %Y", ["5 mei, 1966", "5 maggio, 1966"]),
        ("%Y-%B-%d", ["1966-may-05"]),
        ("%Y年%m月%d日", ["1966年5月5日", "1966年05月31日"]),
        ("%Y년%m월%d일", ["1966년5월5일"]),
    ],
)
def test_a_month_has_its_name(form: str, texts: list[str]) -> None:
    others = ["5 Room 1966", "May 32, 1966", "31 June 1966", "May 1966", "5.5.1966", "epoch", "x"]
    values = pl.Series([*texts, *others])
    for each in (of_duckdb, of_polars):
        assert each(DatePart("month", form), values) == ["1966-05"] * len(texts) + others


def test_every_month_is_read_in_every_language() -> None:
    names = [(at, name) for at, words in enumerate(MONTHS, 1) for name in words.split()]
    assert len({name for _, name in names}) == len(names)  # none names two months
    values = pl.Series([f"7 {name.upper()} 2001" for _, name in names])
    due = [f"2001-{at:02}" for at, _ in names]
    for each in (of_duckdb, of_polars):
        assert each(DatePart("month", "%d %B %Y"), values) == due


def test_what_is_no_number_stays_and_null_stays_null() -> None:
    values = pl.Series([None, math.inf, 1.0])
    assert of_duckdb(Bands(10), values) == [None, "inf", "0 to 9"]
    for step in STEPS:
        assert of_duckdb(step, pl.Series([None], dtype=pl.String)) == [None]


def test_a_column_that_is_left_out_is_one_value_also_where_it_was_null() -> None:
    """NULL there would be dropped or match everybody, by the policy's word, and so pass for no risk."""
    assert of_duckdb(Drop(), pl.Series(["a", None])) == ["*", "*"]


def test_a_name_is_quoted_in_both_engines() -> None:
    name = "a\"b'c\\"
    made: Hierarchy = make_hierarchy(name, [Bands(10)])
    frame = pl.DataFrame({name: [23]})
    assert duckdb.from_arrow(frame.to_arrow()).project(made.sql(1)).fetchall() == [("20 to 29",)]
    banded, left_out = (eval(made.python(level), {"pl": pl}) for level in (1, 2))  # noqa: S307
    assert frame.select(banded)[name].to_list() == ["20 to 29"]
    assert frame.with_columns(left_out)[name].to_list() == ["*"]
