"""Sentences of a report do not show what its figures mask: no count, no verb, no sum of several."""

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from reid_sql.check.gate import check
from reid_sql.check.masking import Mask
from reid_sql.check.remarks import Count, remark, remark_of_status
from reid_sql.models.attacker.adversary import STATUS_BLANK
from reid_sql.models.classes.disclosure import STATUS_UNCOVERED
from reid_sql.models.people.diagnostics import STATUS_CHECK
from reid_sql.models.population.individual_risk import STATUS_LIGHT_WEIGHTS
from tests.cells import each_cell

Columns = Mapping[str, Sequence[Any]]
K = '{ measure = "k", at_least = 2 }'


def report(folder: Path, columns: Columns, qi: str, *checks: str) -> Any:
    pl.DataFrame(columns).write_csv(folder / "t.csv")
    lines = (
        f'[[tables]]\nfile = "t.csv"\nquasi_identifiers = [{qi}]\nchecks = [{", ".join(checks)}]\n'
    )
    (folder / "p.toml").write_text(lines, encoding="utf-8")
    return check(folder / "p.toml")


def cautions(page: Any) -> list[list[str]]:
    return [each["cautions"] for each in page["checks"]]


def test_the_verb_does_not_show_that_a_masked_count_is_one(tmp_path: Path) -> None:
    found = []
    for codes in (1, 2, 9):
        sexes = ["m"] * 150 + ["f"] * 150 + ["?"] * codes
        people: Columns = {"age": [place % 30 for place in range(300 + codes)], "sex": sexes}
        found.append(cautions(report(tmp_path, people, '"age", "sex"', K)))
    assert found[0] == found[1] == found[2]
    assert found[0][0][0].startswith("fewer than 10 records have '?' in sex")


@pytest.mark.parametrize(("first", "second"), [(10, 1), (12, 9), (300, 5), (10, 10), (20, 30)])
def test_a_total_of_codes_is_shown_where_none_of_them_is_small(
    tmp_path: Path, first: int, second: int
) -> None:
    sexes = ["m"] * 300 + ["f"] * 300 + ["?"] * first + ["unknown"] * second
    people: Columns = {"age": [place % 3 for place in range(len(sexes))], "sex": sexes}
    by_sex = '{ measure = "k", at_least = 2, by = ["sex"] }'
    of_sex = '{ measure = "k", at_least = 2, quasi_identifiers = ["sex"] }'
    [_, [words]] = cautions(report(tmp_path, people, '"age"', by_sex, of_sex))
    assert words.startswith(
        f"{first + second} records" if min(first, second) >= 10 else "some records"
    )


def test_a_total_of_a_code_is_masked_beside_a_masked_group_of_some_of_its_records(
    tmp_path: Path,
) -> None:
    people: Columns = {"sex": ["m"] * 60 + ["?"] * 41, "age": [1, 2, 3] * 20 + [1] * 40 + [2]}
    by_both = '{ measure = "k", at_least = 2, by = ["sex", "age"], quasi_identifiers = ["sex"] }'
    of_sex = '{ measure = "k", at_least = 2, quasi_identifiers = ["sex"] }'
    page = report(tmp_path, people, '"age"', by_both, of_sex)
    assert not any("41 records" in words for each in cautions(page) for words in each)
    assert any(words.startswith("some records have '?' in sex") for words in cautions(page)[1])


def test_all_but_few_records_with_a_code_are_masked(tmp_path: Path) -> None:
    people: Columns = {"a": ["?"] * 300 + ["x"] * 4, "b": [1] * 304}
    [[words]] = cautions(report(tmp_path, people, '"b", "a"', K))
    assert words.startswith("some records have '?' in a")


def test_the_rows_of_a_masked_table_are_not_in_a_caution(tmp_path: Path) -> None:
    people: Columns = {"person_id": [1, 1, 2, 2, 3, 3, 4, 4], "age": [30, 31] * 4}
    [words] = cautions(report(tmp_path, people, '"age"', K))
    assert "(fewer than 10 values in fewer than 10 rows)" in words[0]


def test_a_class_size_does_not_follow_from_the_total(tmp_path: Path) -> None:
    """Of two classes, the records outside a shown one are those of the other."""
    for small, large in product((1, 4, 9), (12, 300)):
        people: Columns = {"a": [1] * large + [2] * small}
        page = report(tmp_path, people, '"a"', '{ measure = "uniqueness", at_most = 0.5 }')
        shown = [each["records"] for each in page["tables"][0]["class_sizes"]]
        assert shown.count(None) >= 2
        assert large not in shown


@each_cell("status", [STATUS_BLANK, STATUS_UNCOVERED, STATUS_LIGHT_WEIGHTS])
@each_cell("number", [1, 9, 10, 12_345])
def test_the_counts_of_statuses_are_figures(status: str, number: int) -> None:
    text = f"sampled: something else; {status.format(number)}"
    assert remark_of_status(text).parts[1] == Count(number, "records")
    shown = str(Mask(10).status(text))
    words = f"{number:,} records" if number >= 10 else "fewer than 10 records"
    assert shown == text.replace(f"{number} records", words)


def test_a_status_has_no_share_of_the_records_beside_small_classes() -> None:
    text = f"few_records: of one; {STATUS_CHECK.format('0.45 %', 2, '1.1 %', '2.3 %')}"
    assert str(Mask(10).status(text, small=True)).startswith(
        "few_records: of one; predictive_check: "
    )
    assert not any(letter.isdigit() for letter in str(Mask(10).status(text, small=True)))
    assert str(Mask(10).status(text)) == str(Mask(1).status(text, small=True)) == text


def test_a_remark_without_a_mask_shows_all() -> None:
    words = remark(Count(1, "records have", "record has", (1,), "sex"), " '?'")
    assert str(Mask(1).sentence(words, {"sex"})) == "1 record has '?'"
    assert str(Mask(10).sentence(words)) == "fewer than 10 records have '?'"
    assert str(Mask(10).sentence(remark(Count(12, "rows", column="sex")), {"sex"})) == "some rows"
