"""Tables of which nearly all classes are of one value, and others: told apart for speed, measured alike."""

from typing import Any

import polars as pl
import pytest

from reid_sql.sql.distances import NEARLY_ALL
from tests.cells import each_cell
from tests.sensitive import MEASURES, asked, call_of, hold, summary
from tests.tables import by_duckdb, keys

RECORDS, SHARED = 300, 18  # of these the last stand in classes of three
WANTED = {
    "l_diversity": 2.0,
    "t_closeness": 0.5,
    "beta_likeness": 3.0,
    "delta_disclosure": 1.5,
    "alpha_k_anonymity": 0.6,
}
VARIANTS = [(measure, variant) for measure, variants in MEASURES.items() for variant in variants]


def table(shared: int = SHARED) -> pl.DataFrame:
    """People of an age, some unknown, in homes of their own but for those who share one, and a disease."""
    alone = RECORDS - shared
    homes = [place if place < alone else alone + (place - alone) // 3 for place in range(RECORDS)]
    return pl.DataFrame(
        {
            "age": [None if home % 7 == 0 else home % 5 for home in homes],
            "home": [None if home == alone else f"home {home}" for home in homes],
            "disease": [(place * place) % 11 for place in range(RECORDS)],
        }
    )


@each_cell("shared", [SHARED, 240])
@each_cell("measure, variant", VARIANTS)
@pytest.mark.first(cells=5)
def test_every_class_is_measured_by_its_definition(measure: str, variant: str, shared: int) -> None:
    people = table(shared)
    cells, classes = (people.n_unique(names) for names in (people.columns, people.columns[:-1]))
    assert (classes > NEARLY_ALL * cells) == (shared == SHARED)
    for nulls in ("value", "drop"):
        hold(people, measure, variant, nulls, WANTED[measure])


@each_cell("measure, variant", [(m, v) for m, v in VARIANTS if v not in {"ordered", "numeric"}])
@pytest.mark.first(cells=3)
def test_an_unknown_value_is_one(measure: str, variant: str) -> None:
    unknown = pl.when(pl.col("disease") > 0).then("disease")
    hold(table().with_columns(unknown.alias("disease")), measure, variant, "value", WANTED[measure])


@each_cell("measure, variant", VARIANTS)
@pytest.mark.first(cells=3)
def test_each_group_is_a_table_of_its_own(measure: str, variant: str) -> None:
    regions = pl.DataFrame(
        {"region": [None if place % 3 == 0 else place % 3 for place in range(RECORDS)]}
    )
    people = regions.hstack(table())
    function, preset = call_of(measure)
    options = preset | asked(measure, variant, WANTED[measure])
    extras = "".join(f", {name} := {value!r}" for name, value in options.items())
    call = f"{function}(t, ['age', 'home'], 'disease', by := ['region']{extras})"
    answers: dict[Any, Any] = {row["region"]: row for row in by_duckdb(f"FROM {call}", t=people)}
    assert answers.keys() == {None, 1, 2}
    for region, answer in answers.items():
        rows = people.filter(pl.col("region").eq_missing(pl.lit(region))).drop("region")
        expected = summary(keys(rows), measure, variant, WANTED[measure])
        assert {name: answer[name] for name in expected} == expected
