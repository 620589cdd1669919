from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def planning(request: pytest.FixtureRequest) -> Iterator[None]:
    """Spark plans as plainly as it can, but where a test asks for its own defaults."""
    if request.node.get_closest_marker("spark_defaults") is None:
        yield
        return
    from tests.spark_session import DEFAULT_PLANNING, settings_of  # noqa: PLC0415 - only where there is Spark

    with settings_of(request.getfixturevalue("spark"), DEFAULT_PLANNING):
        yield
