"""What the page of a function shows for Spark is answered by Spark."""

import pytest

from reid_sql_udfs import declared
from tests.cells import each_cell
from tests.sessions import shown_on_page, try_session
from tools.faces import SPARK

pytestmark = pytest.mark.spark


@pytest.mark.usefixtures("spark")
@each_cell("name", declared())
def test_the_example_for_spark_runs(name: str) -> None:
    tried = shown_on_page(SPARK, name)
    if declared()[name].absence("spark"):
        assert not tried
    else:
        assert f"rs.{name}(" in tried
        try_session(SPARK, tried)
