"""No cell of a matrix is lost between the two tiers."""

import re

from reid_sql_udfs import declared
from tests.tiers import ALL, FIRST, representatives


def test_a_matrix_of_the_first_tier_is_asked_in_full_in_the_second() -> None:
    divided = [
        path.relative_to(FIRST)
        for path in FIRST.rglob("test_*.py")
        if not path.is_relative_to(ALL)
        and re.search(r"mark\.first\(\w", path.read_text(encoding="utf-8"))
    ]
    assert divided
    for path in divided:
        module = ".".join(("tests", *path.with_suffix("").parts))
        rest = ALL / path
        assert rest.is_file(), f"{rest} must import all of {module}"
        assert f"from {module} import *\n" in rest.read_text(encoding="utf-8"), rest


def test_each_shape_of_answer_has_a_representative() -> None:
    shapes = {each.answer for each in declared().values()}
    assert {declared()[name].answer for name in representatives()} == shapes
