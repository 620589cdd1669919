"""What help() shows of the functions on Spark is what Spark says."""

import pytest

from reid_sql_udfs import declared
from tests.sessions import helped, try_session
from tools.faces import SPARK

pytestmark = pytest.mark.spark


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("name", declared())
def test_help_shows_an_example_for_spark(name: str) -> None:
    tried = helped(SPARK, name)
    if declared()[name].absence("spark"):
        assert not tried
    else:
        assert f"rs.{name}(" in tried
        try_session(tried)  # where it fails: python -m tools.answers
