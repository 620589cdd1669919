"""How many values may come to the client is a whole number, or refused."""

import pytest

from reid_sql.engines.contract import read_limit
from reid_sql.errors import OutOfDomainError
from tests.cells import each_cell


@each_cell("value", ["inf", "-inf", "nan", "0", "0.5", "-3", "many", ""])
def test_a_limit_that_is_no_number_of_values_is_refused(value: str) -> None:
    with pytest.raises(OutOfDomainError, match="most must be a whole number of at least 1, got"):
        read_limit("most", value, 7)


def test_a_limit_may_be_written_as_a_float() -> None:
    assert (read_limit("most", "12", 7), read_limit("most", "1e6", 7)) == (12, 1_000_000)
