"""Who is a person, asked of every function that takes a column of people or of records."""

import datetime as dt
import warnings
from functools import cache
from itertools import cycle
from typing import Any, Final

import polars as pl
import pytest

from reid_sql.errors import RowsNotPeopleWarning
from reid_sql.function import Function
from reid_sql.reduction import IDENTIFYING
from reid_sql_udfs import declared
from tests.cells import each_cell
from tests.engines.asking import PEOPLE, same
from tests.matrices.engines import Answers, Engine, Remembered, absent, engine_named
from tests.matrices.test_owed import OF_RECORDS, question
from tests.tiers import representatives

pytestmark = pytest.mark.first(
    asked=["duckdb"], face=["polars"], name=representatives(), code=["heavy", "zero"]
)

ROLES: Final = [
    (name, p.name)
    for name in OF_RECORDS
    for p in declared()[name].parameters
    if p.name in IDENTIFYING
]
# Ids of three types: each number of a person as one, and what stands for nobody.
KINDS: Final[dict[str, tuple[Any, Any]]] = {
    "text": ("p{}".format, None),
    "number": (float, float("nan")),
    "date": (lambda number: dt.date(2000, 1, 1) + dt.timedelta(days=number), None),
}
# Each role with one type of identifiers, and each type with a third of the roles.
ROLES_OF_KINDS: Final = [
    (name, role, kind) for (name, role), kind in zip(ROLES, cycle(KINDS), strict=False)
]
remembered = cache(lambda name: Remembered(engine_named(name)))


@pytest.fixture(params=["duckdb", "polars", "spark", "ibis on duckdb"])
def asked(request: pytest.FixtureRequest) -> Engine:
    if request.param == "spark":
        request.getfixturevalue("spark")
    return remembered(request.param)


def people(kind: str, nobody: int = 0) -> pl.DataFrame:
    """The usual people, their ids of this kind; the last rows have none."""
    write, none = KINDS[kind]
    ids = [
        none if number >= len(PEOPLE) - nobody else write(number) for number in range(len(PEOPLE))
    ]
    return PEOPLE.with_columns(id=pl.Series(ids, strict=False))


def output_with(name: str, role: str) -> Function:
    """The first output of the function that takes the parameter."""
    outputs = declared()[name].all_outputs
    return next(each for each in outputs if role in {p.name for p in each.parameters})


def ask(engine: Engine, name: str, role: str, table: pl.DataFrame) -> Answers | str:
    others = dict.fromkeys(each for each in ("key", "household") if each != role)
    qi = {
        "qi": ["age", "region"],
        "columns": ["age", "region"],
        "sensitive": "sex",
        "by": None,
        "p": 2,
    }
    own = {p.name for p in declared()[name].parameters}
    named = {} if role == "sensitive" else {role: "id"}
    given = {each: value for each, value in (named | others | qi).items() if each in own}
    if name == "safe_table":
        given["by"] = ["age"]
    given |= output_with(name, role).preset
    return engine.ask(declared()[name], question(engine, name, table, **given))


@each_cell("name, role, kind", ROLES_OF_KINDS)
def test_rows_of_nobody_are_refused_with_their_number(
    asked: Engine, name: str, role: str, kind: str
) -> None:
    refused = ask(asked, name, role, people(kind, nobody=3))
    if absent(output_with(name, role), asked, refused):
        return
    assert isinstance(refused, str), refused
    assert (
        f"{role} must have a value in every row, got none (NULL or NaN) of 'id' in 3 of 40 rows"
        in refused
    )
    assert "coalesce(id, 'row ' || …)" in refused


@each_cell("name, role, kind", ROLES_OF_KINDS)
def test_the_type_of_an_identifier_changes_no_figure(
    asked: Engine, name: str, role: str, kind: str
) -> None:
    """The identifiers themselves, where an answer has them as `record`, are of that type."""
    usual, written = (ask(asked, name, role, table) for table in (PEOPLE, people(kind)))
    if isinstance(usual, str) or isinstance(written, str):
        assert usual == written
    else:
        same(
            *(
                [{k: v for k, v in row.items() if k != "record"} for row in each]
                for each in (usual, written)
            )
        )


@each_cell("nulls", ["value", "drop"])
@each_cell("none", [None, float("nan")])
def test_a_person_without_a_household_is_one_of_their_own(
    asked: Engine, none: float | None, nulls: str
) -> None:
    """Counted by hand: two households of two people each, three people alone, of whom one lacks an age."""
    table = pl.DataFrame(
        {
            "row": range(7),
            "home": pl.Series([1.0, 1.0, 2.0, 2.0, none, none, none], strict=False),
            "age": [30, 40, 30, 40, 99, 98, None],
        }
    )
    given = {"tbl": table, "household": "home", "columns": ["age"], "nulls": nulls}
    answer = engine_named(asked.name).ask(declared()["household_risk"], given)
    assert not isinstance(answer, str), answer
    alone = 3 if nulls == "value" else 2
    assert answer[0]["households"] == 2 + alone
    assert answer[0]["unique_households"] == alone
    assert answer[0]["average_household_risk"] == pytest.approx((2 * 0.75 + alone) / (2 + alone))


# A code that stands for nobody: of most rows, or of few but written like one. The sentence on each.
CODES: Final[dict[str, tuple[Any, int, str]]] = {
    "heavy": ("p999x", 30, "1 value of 'id' has 30 rows, far more than any other value of it"),
    "empty": ("", 2, "2 rows have '' in id, which looks like a code for a missing identifier"),
    "word": (" Unknown", 2, "2 rows have 'unknown' in id, which looks like a code"),
    "zero": (0, 1, "1 row has '0' in id, which looks like a code"),
    "nines": (999999.0, 3, "3 rows have '999999' in id, which looks like a code"),
    "negative": (-1, 2, "2 rows have '-1' in id, which looks like a code"),
}


def type_of(value: Any) -> type[pl.DataType]:
    return {str: pl.String, float: pl.Float64, int: pl.Int64}[type(value)]


def warn_of_nobody(asked: Engine, name: str, role: str, code: str) -> None:
    """Ask with a code that stands for nobody, which is a caution, and without it, which is none."""
    value, rows, sentence = CODES[code]
    ids = [
        (f"p{number}" if isinstance(value, str) else number + 101) for number in range(len(PEOPLE))
    ]
    usual = PEOPLE.with_columns(id=pl.Series(ids, dtype=type_of(value)))
    nobody = pl.concat([usual.head(1).with_columns(id=pl.lit(value, type_of(value)))] * rows)
    engine = engine_named(asked.name)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RowsNotPeopleWarning)
        plain = ask(engine, name, role, usual)
    if absent(output_with(name, role), engine, plain):
        return
    assert not isinstance(plain, str), plain
    if asked.name == "duckdb" and declared()[name].answer.of_rows:
        return  # a query of SQL alone sees no other rows
    with pytest.warns(RowsNotPeopleWarning) as warned:
        answer = ask(engine, name, role, pl.concat([usual, nobody]))
    assert not isinstance(answer, str), answer
    assert any(sentence in str(each.message) for each in warned), [
        str(each.message) for each in warned
    ]


@each_cell(
    "name, role", [*(each for each in ROLES if each[1] != "key"), ("household_risk", "household")]
)
def test_a_value_of_most_rows_is_a_caution_of_every_function(
    asked: Engine, name: str, role: str
) -> None:
    warn_of_nobody(asked, name, role, "heavy")


ALIKE: Final = (
    "5 values equal another of '{}' but for capitals, accents, spaces, hyphens, apostrophes, invisible characters "
    "or zeros"
)


@each_cell(
    "name, role",
    [
        ("risk_summary", "entity"),
        ("household_risk", "household"),
        ("l_diversity", "sensitive"),
        ("t_closeness", "sensitive"),
        ("disclosing_classes", "sensitive"),
    ],
)
def test_a_person_or_sensitive_value_that_is_written_in_two_ways_is_a_caution(
    asked: Engine, name: str, role: str
) -> None:
    """Of 40 values, five are each written in a second way: '00101' or ' P7 ' for '101' and 'p7'."""
    first = [f"p{number}" if number % 2 else str(number + 101) for number in range(35)]
    second = [f" P{number} " if number % 2 else f"00{number + 101}" for number in range(5)]
    table = PEOPLE.with_columns(id=pl.Series(first + second), sex=pl.Series(first + second))
    with pytest.warns(RowsNotPeopleWarning) as warned:
        answer = ask(engine_named(asked.name), name, role, table)
    assert not isinstance(answer, str), answer
    column = "sex" if role == "sensitive" else "id"
    assert any(ALIKE.format(column) in str(each.message) for each in warned)


def test_several_values_of_most_rows_are_a_caution(asked: Engine) -> None:
    """A guest of each of five branches, with 15 rows each among people of one row."""
    ids = [f"guest{number % 5}" for number in range(75)] + [f"p{number}" for number in range(40)]
    table = pl.DataFrame(
        {"row": range(115), "id": ids, "age": [number % 9 for number in range(115)]}
    )
    given = {"tbl": table, "qi": ["age"], "entity": "id"}
    sentence = "5 values of 'id' have 75 rows, far more than any other value of it, and count as one person each"
    with pytest.warns(RowsNotPeopleWarning, match=sentence):
        engine_named(asked.name).ask(declared()["risk_summary"], given)


# How a second system writes p7, by what differs; databases behind Ibis compare no accents and no forms.
SECOND_WRITINGS: Final = {
    "a space that does not break": "p7\N{NO-BREAK SPACE}",
    "a space without width": "p\N{ZERO WIDTH SPACE}7",
    "the mark of an order of bytes": "\N{ZERO WIDTH NO-BREAK SPACE}p7",
    "capitals and a tab": "P7\t",
    "zeros": "00p7",
    "a float": "p7.0",
    "a letter with its accent apart": "pe\N{COMBINING ACUTE ACCENT}7",
    "wide letters": "\N{FULLWIDTH LATIN SMALL LETTER P}\N{FULLWIDTH DIGIT SEVEN}",
}


@each_cell("difference", SECOND_WRITINGS)
def test_each_way_to_write_one_identifier_twice_is_seen(asked: Engine, difference: str) -> None:
    second = SECOND_WRITINGS[difference]
    first = "p\N{LATIN SMALL LETTER E WITH ACUTE}7" if "accent" in difference else "p7"
    others = ["p1 2", "p12", "p1.2", "10", "100", "1.50"]
    if asked.name.startswith("ibis") and ("accent" in difference or "wide" in difference):
        return  # databases have no common function of accents, nor of the forms of Unicode
    table = PEOPLE.with_columns(
        id=pl.Series([*others, first, second, *(f"q{n}" for n in range(32))])
    )
    with pytest.warns(
        RowsNotPeopleWarning, match="1 value equals another of 'id' but for capitals"
    ):
        ask(engine_named(asked.name), "risk_summary", "entity", table)


def test_a_value_that_equals_others_in_several_ways_counts_once(asked: Engine) -> None:
    """Four ways to write one person, by zeros and by two letters for one: three are too many."""
    written = ["p\N{LATIN SMALL LETTER O WITH DIAERESIS}7", "poe7"]
    ids = [*written, *(f"00{each}" for each in written), *(f"q{n}" for n in range(36))]
    with pytest.warns(RowsNotPeopleWarning, match="3 values equal another of 'id' but for"):
        ask(
            engine_named(asked.name),
            "risk_summary",
            "entity",
            PEOPLE.with_columns(id=pl.Series(ids)),
        )


@each_cell("code", CODES)
@each_cell("name, role", [("risk_summary", "entity"), ("household_risk", "household")])
def test_a_value_that_is_written_like_none_is_a_caution(
    asked: Engine, name: str, role: str, code: str
) -> None:
    warn_of_nobody(asked, name, role, code)
