"""The tiers of the tests: each shape of answer is in the first."""

from reid_sql_udfs import declared
from tests.tiers import representatives


def test_each_shape_of_answer_has_a_representative() -> None:
    shapes = {each.answer for each in declared().values()}
    assert {declared()[name].answer for name in representatives()} == shapes
