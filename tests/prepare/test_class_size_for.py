"""The class size that a limit of the highest risk asks for, by trying every size."""

from reid_sql.prepare.problem import _class_size_for
from tests.cells import each_cell


@each_cell("records", [1, 7, 100, 1000])
@each_cell("risk", [1.0, 0.5, 1 / 3, 0.2, 0.09, 0.01, 1 / 49, 1e-3, 9.99e-4, 1e-6])
def test_it_is_the_smallest_size_with_at_most_the_risk(risk: float, records: int) -> None:
    tried = [size for size in range(1, records + 1) if 1 / size <= risk * (1 + 1e-9)]
    assert _class_size_for(risk, records) == (tried[0] if tried else records + 1)
