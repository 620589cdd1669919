"""A scenario of the models is what it says: no file is looked at."""

import pytest

from reid_sql.errors import OutOfDomainError
from reid_sql.models.attacker.scenario import scenario
from tests.test_scenario import GOOD, by


def test_a_mapping_its_text_and_the_scenario_are_one() -> None:
    found = scenario(GOOD)
    assert scenario(found) == scenario(found.text()) == found


def test_what_would_need_a_file_is_refused() -> None:
    with pytest.raises(
        OutOfDomainError, match=r"groups\[1\].table must have been read from its file, got 's.csv'"
    ):
        scenario(by(table="s.csv"))
    with pytest.raises(OutOfDomainError, match="scenario must be valid JSON, got an error"):
        scenario("adult_worst_case")
    with pytest.raises(
        OutOfDomainError, match="scenario must be JSON text or a mapping, got 3; pass its contents"
    ):
        scenario(3)
