"""What the classes disclose, in every table of up to four rows of two classes and three values."""

from itertools import combinations_with_replacement, product

import polars as pl

from tests.cells import each_cell
from tests.sensitive import summary
from tests.tables import Row, by_duckdb

ROWS: list[Row] = list(product("ab", "xyz"))
TABLES = [list(rows) for size in range(1, 5) for rows in combinations_with_replacement(ROWS, size)]


def disclosures(measure: str, variant: str, threshold: float) -> dict[int, dict[str, object]]:
    """The answer for each of the tables, which are groups of one."""
    frame = pl.DataFrame(
        [(number, *row) for number, rows in enumerate(TABLES) for row in rows],
        schema=["number", "class", "value"],
        orient="row",
    )
    options = f"measure := '{measure}', threshold := {threshold}, by := ['number']"
    options += "" if variant == "general" else f", variant := '{variant}'"
    answer = by_duckdb(f"FROM attribute_disclosure(t, ['class'], 'value', {options})", t=frame)
    return {row["number"]: row for row in answer}


@each_cell("threshold", [0.5, 1.0])
@each_cell(
    "measure, variant, reason",
    [
        ("alpha_k_anonymity", "general", "ok"),
        ("beta_likeness", "basic", "ok"),
        ("beta_likeness", "enhanced", "infinite_beta"),
        ("delta_disclosure", "present", "ok"),
        ("delta_disclosure", "all", "infinite_delta"),
    ],
)
def test_every_small_table_is_measured_by_the_definition(
    measure: str, variant: str, reason: str, threshold: float
) -> None:
    answers = disclosures(measure, variant, threshold)
    assert sorted(answers) == list(range(len(TABLES)))
    for number, rows in enumerate(TABLES):
        expected, answer = summary(rows, measure, variant, threshold), answers[number]
        assert {name: answer[name] for name in expected} == expected
        is_finite = answer["value"] != float("inf")
        assert str(answer["status"]).startswith("ok" if is_finite else reason)


def test_a_table_without_a_second_value_discloses_it_without_a_gain() -> None:
    """Everybody has it, so no class gains on the table, but each class shows it of all of its people."""
    frame = pl.DataFrame({"class": ["a", "a", "b", "b"], "value": ["x"] * 4})
    values = {
        measure: by_duckdb(
            f"FROM attribute_disclosure(t, ['class'], 'value', measure := '{measure}')", t=frame
        )[0]["value"]
        for measure in ("alpha_k_anonymity", "beta_likeness", "delta_disclosure")
    }
    assert values == {"alpha_k_anonymity": 1, "beta_likeness": 0, "delta_disclosure": 0}
