"""Words of missing values in one file, one form of spellings, and codes by the values beside them."""

import random
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import duckdb
import polars as pl
import pytest

import reid_sql
from reid_sql.engines.polars import coded_values as of_polars
from reid_sql.models.columns import missing_value_codes
from reid_sql.models.columns.missing_value_codes import (
    CODE_WORDS,
    FAR_ABOVE,
    FAR_BELOW,
    MISSING_DATES,
    NOBODY_WORDS,
    NUMBER_AMONG_TEXTS,
    TEXT_AMONG_NUMBERS,
    spellings_of_words,
)
from reid_sql.models.columns.spelling import normal_form, word_form
from reid_sql.sql.missing_value_codes import NO_WORD_PATTERN
from reid_sql.sql.spelling import join_words, letters_of
from tests.cells import each_cell

FILE = Path(missing_value_codes.__file__).with_name("missing_values.toml")
SECTIONS = tomllib.loads(FILE.read_text("utf-8"))
WORDS = [
    word
    for section in ("missing", "ambiguous", "nobody")
    for words in SECTIONS[section].values()
    for word in words
]
# no list of ours: what statistical offices, spreadsheets and survey software write
CODES = [
    *(
        "keine Angabe",
        "k.A.",
        "K. A.",
        "k. A",
        "UNBEKANNT",
        "#REF!",
        "#DIV/0!",
        "prefer not to say",
        "Inconnu",
    ),
    *(
        "ND",
        "blank",
        "(Leer)",
        "<NA>",
        "N/A",
        "n.a.",
        "[missing]",
        "no sabe",
        "Não informado",
        "onbekend",
        "—",
    ),
    *(
        "не указано",
        "Нет данных",
        "不明",
        "未知",
        "모름",
        "غير معروف",
        "לא ידוע",
        "bilinmiyor",
        "άγνωστο",
        "nie wiem",
    ),
    *(
        "neuvedeno",
        "okänd",
        "ukjent",
        "uoplyst",
        "tuntematon",
        "ismeretlen",
        "DON’T KNOW",
        "-9",
        "99",
        "",
        "??",
    ),
]
VALUES = [
    *(
        "none",
        "other",
        "negative",
        "keine",
        "andere",
        "Non",
        "no",
        "aucun",
        "normal",
        "Nebraska",
        "sonstige",
    ),
    *("asthma", "Autre", "divers", "Ohio", "unemployed", "A10", "nausea", "anonymous", "guest"),
]


@pytest.mark.parametrize("second_letters", [False, True])
def test_engines_write_one_form_of_each_spelling(*, second_letters: bool) -> None:
    odd = [
        *(
            "Hepatitis–B",
            "Crohn’s",
            "Fußpilz",
            "Gehörlos",
            "Gehoerlos",
            "Łódź",
            "ẞ",
            "İstanbul",
            "ＡＢＣ",
        ),
        *("a - b", "P_17", "-9", "--", " x\u00a0y ", "e\u0301", "ﬁ", "\u200bid", "Ærø", '"quoted"'),
    ]
    texts = [*WORDS, *odd]
    expected = [normal_form(each, second_letters=second_letters) for each in texts]
    with duckdb.connect() as con:
        con.execute("CREATE TABLE t AS SELECT unnest($1) AS t", [texts])
        form = join_words(letters_of("t", second_letters=second_letters), "t")
        assert [row[0] for row in con.execute(f"SELECT {form} FROM t").fetchall()] == expected
    frame = pl.DataFrame({"t": texts})
    written = of_polars.normal_form(pl.col("t"), second_letters=second_letters)
    assert frame.select(written)["t"].to_list() == expected


@each_cell(
    "one, other",
    [
        ("Hepatitis-B", "Hepatitis–B"),
        ("Crohn's", "Crohn’s"),
        ("Fußpilz", "Fusspilz"),
        ("Gehörlos", "Gehoerlos"),
        ("Gehörlos", "gehorlos "),
        ("Ærø", "AERO"),
        ("Covid-19", "COVID 19"),
        ("Müller_1", "Mueller-1"),
    ],
)
def test_values_that_are_written_alike_are_counted(one: str, other: str) -> None:
    assert alike([one, other]) == alike([one, other, one.upper(), "Influenza"]) - (
        one.upper() != one and one.upper() != other
    )
    assert alike([one, other]) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [("Hepatitis-B", "Hepatitis-C"), ("poet", "pot"), ("-9", "9"), ("Joel", "Jol")],
)
def test_other_values_are_not_alike(one: str, other: str) -> None:
    assert alike([one, other]) == 0


def alike(values: list[str]) -> int:
    """Count the values that equal another, as both engines and Python do."""
    from reid_sql.engines.polars.coded_values import count_nobodies_of  # noqa: PLC0415 - one use
    from reid_sql.sources.identifiers import count_nobodies_in  # noqa: PLC0415 - the same

    frame = pl.DataFrame({"v": list(dict.fromkeys(values))})
    with duckdb.connect() as con:
        con.register("t", frame.to_arrow())
        counted = count_nobodies_in(con.sql, "t", "v", "value").alike
        assert count_nobodies_in(con.sql, "t", "v").alike == counted
    assert count_nobodies_of(frame.lazy(), "v").collect()["alike"][0] == counted
    return counted


@each_cell("code", CODES)
def test_a_code_of_any_language_is_found_beside_values(code: str) -> None:
    assert profiled(["hiv", "flu", "asthma"] * 9 + [code] * 5) == {code: 5}
    assert word_form(code) in CODE_WORDS or code.lstrip("-").isdigit()


@each_cell("value", VALUES)
def test_a_value_is_none(value: str) -> None:
    assert profiled(["hiv", "flu", "asthmatic"] * 9 + [value] * 5) == {}


def test_an_abbreviation_beside_others_of_its_length_is_a_value() -> None:
    assert profiled(["NY", "CA", "TX", "ND", "NE"] * 5) == {}
    assert profiled(["New York", "California", "ND"] * 5) == {"ND": 5}


@each_cell(
    "values, codes",
    [
        (["hiv", "flu", "asthma"] * 9 + ["5"] * 4, {NUMBER_AMONG_TEXTS: 4}),
        ([*map(str, range(20, 80)), "adult", "adult"], {TEXT_AMONG_NUMBERS: 2}),
        ([*map(str, range(20, 80)), "90+", "<18"], {}),  # ends of ages
        (["1", "2", "3", "4", "5", "K"] * 9, {TEXT_AMONG_NUMBERS: 9}),
        (["A10", "B20", "C30", "999"] * 9, {"999": 9}),
        (["12a", "12", "14", "16b"] * 9, {}),  # house numbers
        ([*range(18, 90)] * 2 + [555] * 4, {FAR_ABOVE: 4}),
        ([*range(18, 90)] * 2 + [555], {}),  # one rich man
        ([*range(1000, 1500, 7)] * 2 + [-5000] * 4, {FAR_BELOW: 4}),
        ([1, 2, 3, 4, 5, 77, 88, 99] * 5, {"77": 5, "88": 5, "99": 5}),
        ([0, 1, 2, 3, 4, 5, 7] * 9, {}),  # children
        ([-8, -8, -5, -5, 1, 2, 3, 4], {"-8": 2, "-5": 2}),
        ([-3, -1, 0, 1, 2, 3, 4, 5], {}),  # degrees
        (["2001-02-03", "1999-01-01", "1900-01-01"] * 5, {"1900-01-01": 5}),
        (["03.02.2001", "01.01.1999", "31.12.9999"] * 5, {"31.12.9999": 5}),
        ([f"20{at:02}-01-05" for at in range(20)] + ["2199-06-06"] * 3, {FAR_ABOVE: 3}),
    ],
)
def test_codes_stand_out_by_the_values_beside_them(
    values: list[object], codes: dict[str, int]
) -> None:
    random.Random(1).shuffle(values)  # noqa: S311 - no secret
    assert profiled(values) == codes


@cache
def connected() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    reid_sql.register(con)
    return con


def profiled(values: Sequence[object]) -> dict[str, int]:
    con = connected().cursor()
    con.register("t", pl.DataFrame({"v": values}).to_arrow())
    rows = con.execute("SELECT sentinels, sentinel_records FROM reid.profile(t)").fetchall()
    return dict(zip(*rows[0], strict=True))


def test_no_word_has_the_mark_by_which_queries_part_the_words() -> None:
    """DuckDB, Spark and databases get all words in one text: `any_of`, SPELLINGS_BY_LENGTH."""
    words = [*CODE_WORDS, *NOBODY_WORDS, *MISSING_DATES, *spellings_of_words()]
    assert [word for word in words if "|" in word] == []


def test_a_text_that_is_taken_for_no_word_is_the_spelling_of_none() -> None:
    draw = random.Random(7)  # noqa: S311 - texts
    letters = [*"09 #rReE.:-_'(<", "\uff11", "\u00e9", "\u212b", "\u200b", "\n"]
    texts = [
        "".join(draw.choices([*word.upper(), *word, *letters], k=draw.randint(1, 9)))
        for word in CODE_WORDS
        for _ in range(20)
    ]
    spellings = [form.format(word) for word in CODE_WORDS for form in ("{}", "<{}>", " {}. ")]
    texts += [*spellings, *(each.upper() for each in spellings), *(f"{each}1" for each in texts)]
    matched = duckdb.execute(
        "SELECT t FROM (SELECT unnest(?::VARCHAR[]) AS t) WHERE regexp_full_match(t, ?)",
        [texts, NO_WORD_PATTERN],
    ).fetchall()
    assert len(matched) > 1000
    assert not [text for (text,) in matched if word_form(text) in CODE_WORDS]
    assert {("PAT-2024-007",), ("1999-12-31",)} <= {
        *duckdb.execute(
            "SELECT t FROM (VALUES ('PAT-2024-007'), ('1999-12-31'), ('err:502')) AS v(t) "
            "WHERE regexp_full_match(t, ?)",
            [NO_WORD_PATTERN],
        ).fetchall()
    }
