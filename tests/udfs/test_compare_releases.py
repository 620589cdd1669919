"""Two releases compared: held against going through the people, published examples, and what is refused."""

from typing import Any

import duckdb
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reid_sql.polars as rp
from reid_sql.errors import ReidError
from tests.cells import each_cell
from tests.engines.asking import refusal
from tests.tables import by_duckdb, by_polars, key, on_polars
from tests.two_releases import compare, shares

SCHEMA = {"id": pl.Int64, "size": pl.Float64, "zip": pl.String, "sick": pl.String}
QI = ["size", "zip"]
CELLS = (st.sampled_from([0.0, -0.0, float("nan"), None]), st.sampled_from(["a", "b", None]))
VALUE = st.sampled_from(["flu", "hiv", None])
PERSON = st.integers(0, 9)
ROWS = st.lists(st.tuples(PERSON, *CELLS, VALUE), min_size=1, max_size=12)
RECORDS = st.lists(
    st.tuples(PERSON, *CELLS, VALUE), min_size=1, max_size=9, unique_by=lambda row: row[0]
)
Answers = list[dict[str, Any]]


def table(rows: Any) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=SCHEMA, orient="row")


def by_engines(
    first: pl.DataFrame, second: pl.DataFrame, qi: Any = QI, **options: Any
) -> list[Answers]:
    extras = "".join(f", {name} := {value!r}" for name, value in options.items())
    asked = f"FROM compare_releases(one, two, {qi}{extras})"
    sql = by_duckdb(asked, one=first, two=second)
    return [sql, on_polars(sql, "compare_releases", first, second, qi, **options)]


def people(rows: Any, *, sensitive: bool) -> list[tuple[Any, Any, Any]]:
    values = [(person, (key(plain(size)), zip_code), sick) for person, size, zip_code, sick in rows]
    return values if sensitive else [(person, q, None) for person, q, _ in values]


def plain(value: float | None) -> float | None:
    return value if value is None else value + 0.0


def figures(answers: Answers) -> dict[str, Any]:
    return {row["figure"]: row["value"] for row in answers}


@given(RECORDS, RECORDS, st.booleans(), st.booleans())
def test_records_are_compared_as_by_going_through_the_people(
    first: Any,
    second: Any,
    keyed: bool,  # noqa: FBT001 - drawn
    sensitive: bool,  # noqa: FBT001 - drawn
) -> None:
    options = ({"key": "id"} if keyed else {}) | ({"sensitive": "sick"} if sensitive else {})
    one, two = (people(rows, sensitive=sensitive) for rows in (first, second))
    truth = compare(one, two, keyed=keyed, of_people=False, sensitive=sensitive)
    sql, polars = by_engines(table(first), table(second), **options)
    assert sql == polars
    shares(truth, sql)


@given(ROWS, ROWS, st.booleans())
def test_people_are_compared_where_they_have_several_rows(
    first: Any,
    second: Any,
    sensitive: bool,  # noqa: FBT001 - drawn
) -> None:
    one, two = (set(people(rows, sensitive=sensitive)) for rows in (first, second))
    options = {"entity": "id"} | ({"sensitive": "sick"} if sensitive else {})
    if any(len({row[:2] for row in rows}) < len(rows) for rows in (one, two)):
        with pytest.raises(duckdb.Error, match="must have one value for each person in a class"):
            by_duckdb(
                f"FROM compare_releases(one, two, {QI}, entity := 'id', sensitive := 'sick')",
                one=table(first),
                two=table(second),
            )
        with pytest.raises(ReidError, match="must have one value for each person in a class"):
            by_polars("compare_releases", table(first), table(second), QI, **options)
        return
    truth = compare(
        sorted(one, key=repr),
        sorted(two, key=repr),
        keyed=True,
        of_people=True,
        sensitive=sensitive,
    )
    sql, polars = by_engines(table(first), table(second), **options)
    assert sql == polars
    assert figures(sql).pop("expected_right_links") == pytest.approx(truth["expected_right_links"])
    shares(truth | {"expected_right_links": figures(sql)["expected_right_links"]}, sql)


SWAPPED = {"first_people": "second_people", "entered": "left", "forward_attack": "cross_attack"}
SWAPPED |= {"forward_anonymity": "cross_anonymity", "entered_value": "left_value"}
SWAPPED |= {"entered_alone": "left_alone", "entered_alone_right": "left_alone_right"}
BACKWARD = {"backward_attack", "backward_anonymity", "bcf_anonymity"}


@given(RECORDS, RECORDS)
def test_swapped_releases_have_the_figures_of_the_other_direction(first: Any, second: Any) -> None:
    call = f"FROM compare_releases(a, b, {QI}, key := 'id', sensitive := 'sick')"
    found, back = (
        figures(by_duckdb(call, a=table(a), b=table(b)))
        for a, b in ((first, second), (second, first))
    )
    names = SWAPPED | {there: here for here, there in SWAPPED.items()}
    assert {name: found[name] for name in found if name not in BACKWARD} == {
        name: back[names.get(name, name)] for name in back if name not in BACKWARD
    }


# Months of one town: 100 people in January. In February Ann (34, N1) has left; Bob (35, N1) has moved to N2;
# Eve (81, N1), the only one of her age, is new; and Dan joined the class of (50, N2), of whom nobody had flu.

JANUARY = [
    *((n, 20.0 + n // 10, "N1", "cold" if n % 2 else "asthma") for n in range(80)),
    *((n, 50.0, "N2", "cold" if n % 2 else "asthma") for n in range(80, 98)),
    (98, 34.0, "N1", "hiv"),
    (99, 35.0, "N1", "flu"),
]
FEBRUARY = [
    *JANUARY[:98],
    (99, 35.0, "N2", "flu"),
    (100, 81.0, "N1", "flu"),
    (101, 50.0, "N2", "flu"),
]


def test_who_entered_left_and_moved_is_counted() -> None:
    for answers in by_engines(table(JANUARY), table(FEBRUARY), key="id", sensitive="sick"):
        rows = {row["figure"]: (row["value"], row["total"]) for row in answers}
        assert rows["first_people"] == (100, None)
        assert rows["stayed"] == (99, 100)
        assert rows["entered"] == (2, 101)
        assert rows["left"] == (1, 100)
        assert rows["followed"] == (0, 100)  # Bob is alone in both months, but under other values
        assert rows["unique_in_both"] == (1, 99)
        assert rows["entered_alone"] == (3, 101)  # Bob in his new place, Eve, and Dan
        assert rows["entered_alone_right"] == (3, 3)
        assert rows["left_alone"] == (2, 100)
        # whoever knows that Dan is new knows that he has flu
        assert rows["entered_value"] == (3, 101)
        assert rows["expected_right_links"][0] == pytest.approx(8 + 18 / 19)
        assert {row["status"] for row in answers} == {"ok"}
        assert {row["nulls"] for row in answers} == {"value"}


def test_of_equal_releases_everybody_unique_is_followed() -> None:
    for answers in by_engines(table(JANUARY), table(JANUARY), key="id", sensitive="sick"):
        found = {row["figure"]: (row["value"], row["share"]) for row in answers}
        assert found["followed"] == (2, 0.02)
        assert found["followed_right"] == (2, 1.0)
        assert found["entered"][0] == found["left"][0] == found["entered_value"][0] == 0
        status = next(row["status"] for row in answers if row["figure"] == "backward_anonymity")
        assert status.startswith("nobody_entered: ")


def test_another_generalization_is_not_taken_for_safety() -> None:
    """The ages of the second release are in bands: nobody seems to be followed, and 2 people can be."""
    banded = table(FEBRUARY).with_columns(size=pl.col("size") + 0.5)
    for answers in by_engines(table(JANUARY), banded):
        followed = next(row for row in answers if row["figure"] == "followed")
        assert (followed["value"], followed["share"]) == (None, None)
        assert followed["status"].startswith("not_comparable: ")
    for answers in by_engines(table(JANUARY), banded, key="id", sensitive="sick"):
        found = figures(answers)
        assert found["followed"] is None
        assert found["unique_in_both"] == 1
        assert found["forward_anonymity"] == 1
    part = table(FEBRUARY).with_columns(size=pl.when(pl.col("id") < 60).then(0.5).otherwise("size"))
    for answers in by_engines(table(JANUARY), part):
        followed = next(row for row in answers if row["figure"] == "followed")
        assert followed["status"].startswith("few_comparable: ")


def test_labels_of_bands_that_are_also_ages_do_not_make_releases_alike() -> None:
    """Everybody of the coarse release is in a class of the fine one; hardly anybody of the fine one is."""
    fine = table((n, float(n), "a", "flu") for n in range(40))
    coarse = table((n, float(n // 10 * 10), "a", "flu") for n in range(40))
    for tables in ((fine, coarse), (coarse, fine)):
        for answers in by_engines(*tables):
            rows = {row["figure"]: row for row in answers}
            assert (rows["common_classes"]["value"], rows["common_classes"]["total"]) == (4, 40)
            assert rows["followed"]["status"].startswith("few_comparable: ")


# Fung, Wang, Fu & Pei 2008, their running example: Alice (France, lawyer) is in a release of five lawyers in
# Europe, of whom three have flu and two HIV, and in a later one of five professionals in France, of whom two
# have flu and three HIV. Either class is narrowed to four records. The key pairs the classes.

EUROPE = [(n, "Europe", "Lawyer", sick) for n, sick in enumerate(["Flu"] * 3 + ["HIV"] * 2)]
FRANCE = [
    (n, "France", "Professional", sick)
    for n, sick in zip((0, 1, 3, 4, 9), ["Flu"] * 2 + ["HIV"] * 3, strict=True)
]


def test_the_example_of_correspondence_attacks() -> None:
    frames = [
        pl.DataFrame(rows, schema=["id", "place", "job", "sick"], orient="row")
        for rows in (EUROPE, FRANCE)
    ]
    for answers in by_engines(frames[0], frames[1], ["place", "job"], key="id", sensitive="sick"):
        found = figures(answers)
        assert found["forward_anonymity"] == found["cross_anonymity"] == found["bcf_anonymity"] == 4
        assert found["forward_attack"] == found["cross_attack"] == found["stayed"] == 4
        assert found["backward_anonymity"] is None  # it needs classes of the same values


def test_a_person_who_entered_is_none_of_those_who_were_there() -> None:
    """The backward attack: of five records, three correspond to one of the first release."""
    first, second = (
        table((n, 1.0, "a", sick) for n, sick in enumerate(values))
        for values in (["flu"] * 3, ["flu"] * 4 + ["hiv"])
    )
    for answers in by_engines(first, second, sensitive="sick"):
        found = figures(answers)
        assert (found["backward_attack"], found["backward_anonymity"]) == (2, 2)


# Xiao & Tao 2007, their running example: two 2-diverse releases of patients, by the group of each. Bob's and
# David's diseases follow from both. With two counterfeits the second release is 2-invariant with the first.

FIRST_RELEASE = {
    "1": {"Bob": "dyspepsia", "Alice": "bronchitis"},
    "2": {"Andy": "flu", "David": "gastritis"},
    "3": {"Gary": "flu", "Helen": "gastritis"},
    "4": {"Jane": "dyspepsia", "Ken": "flu", "Linda": "gastritis"},
    "5": {"Paul": "dyspepsia", "Steve": "gastritis"},
}
SECOND_RELEASE = {
    "6": {"Bob": "dyspepsia", "David": "gastritis"},
    "7": {"Emily": "flu", "Jane": "dyspepsia", "Linda": "gastritis"},
    "8": {"Gary": "flu", "Mary": "gastritis"},
    "9": {"Ray": "dyspepsia", "Steve": "gastritis"},
    "10": {"Tom": "gastritis", "Vince": "flu"},
}
WITH_COUNTERFEITS = {
    "1": {"Bob": "dyspepsia", "counterfeit 1": "bronchitis"},
    "11": {"David": "gastritis", "Emily": "flu"},
    "12": {"Jane": "dyspepsia", "counterfeit 2": "flu", "Linda": "gastritis"},
    **{group: SECOND_RELEASE[group] for group in ("8", "9", "10")},
}


def published(release: dict[str, dict[str, str]]) -> pl.DataFrame:
    rows = [
        (name, group, sick) for group, members in release.items() for name, sick in members.items()
    ]
    return pl.DataFrame(rows, schema=["name", "group", "sick"], orient="row")


@pytest.mark.parametrize(
    ("second", "m", "changed"), [(SECOND_RELEASE, 0, 2), (WITH_COUNTERFEITS, 2, 0)]
)
def test_the_example_of_m_invariance(
    second: dict[str, dict[str, str]], m: int, changed: int
) -> None:
    frames = published(FIRST_RELEASE), published(second)
    for answers in by_engines(*frames, ["group"], key="name", sensitive="sick"):
        found = figures(answers)
        assert (found["m_uniqueness"], found["m_invariance"]) == (2, m)
        assert found["signature_changed"] == found["value_by_intersection"] == changed
        assert found["stayed"] == 6


# Missing values, names and refusals


def test_a_missing_value_of_a_person_who_moved_is_a_value() -> None:
    rows = [table([(1, size, "a", None), (2, size, "a", "flu")]) for size in (1.0, 2.0)]
    for answers in by_engines(rows[0], rows[1], key="id", sensitive="sick"):
        found = figures(answers)
        assert (found["forward_anonymity"], found["signature_changed"], found["m_invariance"]) == (
            2,
            0,
            2,
        )


def test_people_who_are_followed_are_those_of_the_release_that_has_more_of_them() -> None:
    """Two rows of one person lead to two people."""
    one = table([(1, 1.0, "a", None), (1, 2.0, "a", None)])
    two = table([(2, 1.0, "a", None), (3, 2.0, "a", None)])
    for tables in ((one, two), (two, one)):
        for answers in by_engines(tables[0], tables[1], entity="id"):
            row = next(row for row in answers if row["figure"] == "followed")
            assert (row["value"], row["total"], row["share"]) == (2, 2, 1)


def test_records_without_a_value_are_left_out_of_both() -> None:
    rows = [(1, 1.0, "a", "flu"), (2, 2.0, None, "flu"), (3, 3.0, "b", None)]
    for answers in by_engines(table(rows), table(rows), sensitive="sick", nulls="drop"):
        assert figures(answers)["followed"] == 1
        assert {(row["records_dropped"], row["nulls"]) for row in answers} == {(4, "drop")}


def test_any_name_of_a_column_is_taken() -> None:
    names = {"id": 'a"b', "size": "q1", "zip": "side", "sick": "s"}
    frames = [table(rows).rename(names) for rows in (JANUARY, FEBRUARY)]
    plain_names = by_engines(table(JANUARY), table(FEBRUARY), key="id", sensitive="sick")
    given = {"key": 'a"b', "sensitive": "s"}
    assert by_engines(frames[0], frames[1], ["q1", "side"], **given) == plain_names


REPEATED = table([(1, 1.0, "a", "flu"), (1, 2.0, "a", "flu")])
REFUSED: list[tuple[pl.DataFrame, dict[str, Any], str]] = [
    (REPEATED, {"key": "id"}, "key must differ between records"),
    (table(JANUARY).head(0), {}, "second must contain at least one record, got 0"),
    (table(JANUARY).drop("zip"), {}, "must be columns of the second release, got 'zip'"),
    (
        table(JANUARY).drop("id"),
        {"key": "id"},
        "quasi-identifiers and key must be columns of the second release, got 'id'",
    ),
    (
        table(JANUARY).with_columns(size=pl.lit("x")),
        {},
        "got 'size' as|must contain 'size' as the same type",
    ),
    (
        table(JANUARY).cast({"id": pl.String}),
        {"entity": "id"},
        "entity must have the same type in both tables",
    ),
    (
        table(JANUARY).cast({"id": pl.String}),
        {"key": "id"},
        "key must have the same type in both tables",
    ),
    (table(JANUARY), {"key": "zip"}, "key must not be a quasi-identifier, got 'zip'"),
    (table(JANUARY), {"entity": "zip"}, "entity must not be a quasi-identifier, got 'zip'"),
    (table(JANUARY), {"sensitive": "zip"}, "sensitive must be a column of its own, got 'zip'"),
    (
        table(JANUARY),
        {"sensitive": "id", "key": "id"},
        "sensitive must be a column of its own, got 'id'",
    ),
    (
        table(JANUARY),
        {"key": "id", "entity": "id"},
        "key must be left out where people are counted",
    ),
    (table(JANUARY), {"nulls": "wildcard"}, "nulls must be one of 'value', 'drop', got 'wildcard'"),
    (table(JANUARY), {"sensitive": "sik"}, "got 'sik'; did you mean 'sick'"),
]


@each_cell("second, options, words", REFUSED)
def test_what_cannot_be_compared_is_refused(second: pl.DataFrame, options: Any, words: str) -> None:
    extras = "".join(f", {name} := {value!r}" for name, value in options.items())
    with pytest.raises(duckdb.Error, match=words) as refused:
        by_duckdb(
            f"SELECT count(*) FROM compare_releases(one, two, {QI}{extras})",
            one=table(JANUARY),
            two=second,
        )
    assert "; " in refusal(refused.value)
    with pytest.raises(ReidError, match=words):
        rp.compare_releases(table(JANUARY), second, QI, **options).collect()


@pytest.mark.parametrize("option", ["key", "entity"])
def test_identifiers_that_are_written_otherwise_make_no_link_wrong(option: str) -> None:
    others = table([(n + 1000, *row) for n, *row in JANUARY])
    some = table([(n + 1000 * (n % 3 > 0), *row) for n, *row in JANUARY])
    rests = {"followed_right", "expected_right_links", "entered_alone_right", "left_alone_right"}
    for second, code in ((others, "nobody_stayed"), (some, "few_comparable")):
        for answer in by_engines(table(JANUARY), second, **{option: "id"}):
            found = {row["figure"]: row for row in answer}
            for name in rests | {"stayed", "entered", "left", "same_class"}:
                assert found[name]["status"].startswith(code), name
            assert all(
                (found[name]["value"] is None) == (code == "nobody_stayed") for name in rests
            )
            assert found["followed"]["status"] == "ok"  # by the classes, whoever is in them


def test_sensitive_values_that_are_written_otherwise_are_not_compared() -> None:
    for changed, code in ((1, "not_comparable"), (2, "few_comparable"), (9, "ok")):
        rows = [
            (n, age, town, sick.upper() if n % changed == 0 else sick)
            for n, age, town, sick in JANUARY
        ]
        if code == "few_comparable":
            rows = [
                (n, age, town, sick.upper() if n % 3 else sick) for n, age, town, sick in JANUARY
            ]
        for options in ({"key": "id"}, {}):
            for answer in by_engines(table(JANUARY), table(rows), sensitive="sick", **options):
                found = {row["figure"]: row for row in answer}
                for name in (
                    "forward_attack",
                    "cross_attack",
                    "value_by_intersection",
                    "entered_value",
                ):
                    assert found[name]["status"].startswith(code), (changed, name)
                    assert (found[name]["value"] is None) == (code == "not_comparable")
                assert found["m_uniqueness"]["status"] == "ok"  # of each release by itself
