"""On the hierarchies that ARX publishes, the search finds ARX's optimal forms of adult, and their losses.

The figures are those that ARX's own tests expect (TestAnonymizationKAnonymity, …LDiversity, …TCloseness):
bits of entropy and discernibility of the form alone, without what is lost by leaving records out.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from reid_sql.check import gate
from reid_sql.check.policy import read_policy
from reid_sql.models.generalization.criteria import Close, Criterion, Diverse
from reid_sql.models.generalization.lattice import Discernibility, DistinctRecords, Entropy, Node
from reid_sql.models.generalization.search import Search
from reid_sql.models.generalization.suppression import Requirement, Rule, Rules
from reid_sql.prepare.preparation import prepare as run
from reid_sql.prepare.problem import Generalization, generalize
from tests.conftest import DATA
from tests.prepare.brute import K, class_sizes, made_by, policy, written
from tests.prepare.published import ORDER, hierarchies, records

pytestmark = pytest.mark.real_data
OTHERS = [column for column in ORDER if column != "occupation"]


class Alone(Entropy):
    """Bits that the coarser values lose, whatever is left out."""

    def of(self, node: Node, found: DistinctRecords, gone: NDArray[np.bool_]) -> float:  # noqa: ARG002 - as a loss
        return float(self.base[node])

    def extra_loss(self, node: Node, found: DistinctRecords, unsavable: NDArray[np.bool_]) -> float:  # noqa: ARG002 - as a loss
        return 0.0


@contextmanager
def generalized(folder: Path, columns: list[str], beside: list[str]) -> Iterator[Generalization]:
    records(DATA, folder)
    asked = read_policy(
        written(folder, policy("adult.parquet", columns, K.format(5), prepare=hierarchies(columns)))
    )
    with gate.open_tables(asked) as (release,):
        yield generalize(release, columns, asked.preparing, beside)


PUBLISHED = [
    (5, 0.04, (1, 0, 1, 1, 3, 2, 2, 0, 1), 255559.85455731067),
    (100, 0.04, (1, 1, 1, 1, 3, 2, 2, 1, 1), 379417.3460570988),
    (5, 0.0, (1, 2, 1, 1, 3, 2, 2, 1, 1), 407289.5388925293),
    (100, 0.0, (0, 4, 1, 1, 3, 2, 2, 1, 1), 453196.8932458743),
]


def test_k_anonymity_of_nine_columns(tmp_path: Path) -> None:
    with generalized(tmp_path, ORDER, []) as found:
        lattice = found.lattice
    assert (lattice.records, lattice.nodes) == (30162, 12960)
    for k, share, node, bits in PUBLISHED:
        asked = Requirement(30162, int(share * 30162), k)
        loss = Alone(lattice)
        best = Search(lattice, asked, loss).run().best
        assert best is not None
        assert best.node == node
        assert best.loss * loss.whole == pytest.approx(bits, rel=1e-11)
        ours = Search(lattice, asked, Entropy(lattice)).run()
        assert ours.optimal
        assert ours.best is not None
        assert ours.best.node == node  # also where records that go lose all of theirs


RULED: list[tuple[Criterion, int, float, Node]] = [
    (Diverse(5), 1, 0.04, (1, 0, 1, 1, 2, 2, 2, 1)),
    (Diverse(5), 1, 0.0, (1, 1, 1, 1, 3, 2, 2, 1)),
    (Close(0.2), 5, 0.04, (1, 4, 1, 0, 3, 2, 2, 1)),
    (Close(0.2), 5, 0.0, (1, 4, 1, 1, 3, 2, 2, 1)),
]


def test_diversity_and_closeness_of_the_occupation(tmp_path: Path) -> None:
    with generalized(tmp_path, OTHERS, ["occupation"]) as found:
        lattice, beside = found.lattice, found.wider
    assert beside is not None
    losses = {}
    for criterion, k, share, node in RULED:
        rules = Rules(beside, len(OTHERS), [Rule(0, criterion)])
        asked = Requirement(30162, int(share * 30162), k)
        loss = Entropy(lattice) if isinstance(criterion, Diverse) else Discernibility(lattice)
        best = Search(lattice, asked, loss, rules=rules).run().best
        assert best is not None
        assert best.node == node
        unit = loss.whole if isinstance(loss, Entropy) else 30162**2
        losses[type(criterion), share] = best.loss * unit
    assert losses[Diverse, 0.0] == pytest.approx(324620.5269918692, rel=1e-11)
    assert losses[Close, 0.0] == pytest.approx(456853172, rel=1e-11)
    classes = lattice.records_at((1, 4, 1, 0, 3, 2, 2, 1)).counts.astype(float)
    assert float(classes @ classes) == 311880088  # that of the form with 4 %, before any goes


def test_prepare_writes_the_published_form(tmp_path: Path) -> None:
    records(DATA, tmp_path)
    prepare = f"suppression = 0.04\n{hierarchies(ORDER)}"
    made = run(written(tmp_path, policy("adult.parquet", ORDER, K.format(5), prepare=prepare)))
    assert made.passed
    form = made.tables[0].transformation
    assert form is not None
    assert form.node == PUBLISHED[0][2]
    released = made_by(made.sql, "adult_released")
    assert class_sizes(released, ORDER)[0] >= 5
    assert len(released) >= 0.96 * 30162
