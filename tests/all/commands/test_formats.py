"""What the first tier leaves of tests/commands/test_formats.py."""

import json

from reid_sql_udfs import declared
from tests.processes import command


def test_json_tells_the_parameters_and_the_meanings_of_every_function() -> None:
    page = json.loads(command("functions", "--json").stdout)
    assert [each["name"] for each in page] == list(declared())
    for each in page:
        assert set(each["meanings"]) == set(each["columns"])
        assert all(each["meanings"].values()), each["name"]
