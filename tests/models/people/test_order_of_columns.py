"""The order of columns and of records moves no figure of a model of people."""

from dataclasses import asdict
from itertools import permutations

import numpy as np

from reid_sql.models.evidence import rows_from_columns
from reid_sql.models.people.diagnostics import find_synergy
from reid_sql.models.people.evidence import PeopleEvidence, evidence_from_rows
from reid_sql.models.people.fit import fit, from_json, to_json
from reid_sql.models.population_risk.answer import answer
from tests.cells import each_cell

NAMES = ("age", "sex", "town", "region")  # a town determines its region


def draw_table(records: int = 300) -> dict[str, list[str]]:
    rng = np.random.default_rng(4)
    town = rng.integers(0, 12, records)
    columns = rng.integers(20, 80, records), rng.integers(0, 2, records), town, town // 4
    return {name: [str(value) for value in own] for name, own in zip(NAMES, columns, strict=True)}


TABLE = draw_table()


def count_in_order(names: tuple[str, ...], rows: list[int]) -> PeopleEvidence:
    return evidence_from_rows(
        rows_from_columns({name: [TABLE[name][row] for row in rows] for name in names})
    )


ORDERS = [(names, list(range(300))) for names in list(permutations(NAMES))[::5]]
ORDERS += [(NAMES, np.random.default_rng(seed).permutation(300).tolist()) for seed in (1, 2)]


@each_cell("names, rows", ORDERS)
def test_the_answer_for_a_population_is_the_same(names: tuple[str, ...], rows: list[int]) -> None:
    first, other = (
        answer(count_in_order(*order), [5000])[0]
        for order in ((NAMES, ORDERS[0][1]), (names, rows))
    )
    texts = {"sentence", "status"}  # these list the columns in the order of the table
    assert {k: v for k, v in asdict(first).items() if k not in texts} == {
        k: v for k, v in asdict(other).items() if k not in texts
    }


@each_cell("names, rows", ORDERS)
def test_the_score_of_a_record_is_the_same_also_from_a_file(
    names: tuple[str, ...], rows: list[int]
) -> None:
    model = fit(count_in_order(names, rows))
    records = [[TABLE[name][row] for row in range(40)] for name in names]
    scores = model.cell_probability(records).probability
    first = fit(count_in_order(NAMES, ORDERS[0][1]))
    expected = first.cell_probability([TABLE[name][:40] for name in NAMES]).probability
    assert scores.tolist() == expected.tolist()
    read = from_json(to_json(model))
    assert read.columns == names
    of_tree = model.mixture.tree.log_q(model.codes(records)[:, list(model.free_columns)])
    of_file = read.mixture.tree.log_q(read.codes(records)[:, list(read.free_columns)])
    np.testing.assert_allclose(of_file, of_tree, rtol=1e-5)


def test_the_triple_of_the_least_interaction_is_the_same_of_many_columns() -> None:
    """Of 12 columns not all triples are compared; c10 is the sum of c3 and c7 modulo 2."""
    rng = np.random.default_rng(6)
    columns = {f"c{j}": rng.integers(0, 2, 400) for j in range(12)}
    columns["c10"] = (columns["c3"] + columns["c7"]) % 2
    found = set()
    for seed in range(4):
        names = np.random.default_rng(seed).permutation(list(columns)).tolist()
        texts = {name: [str(value) for value in columns[name]] for name in names}
        least = find_synergy(evidence_from_rows(rows_from_columns(texts)))
        assert least is not None
        found.add((frozenset(names[j] for j in least.columns), round(least.nats, 12)))
    assert len(found) == 1
