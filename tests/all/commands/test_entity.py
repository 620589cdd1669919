"""What the first tier leaves of tests/commands/test_entity.py."""

import json

import polars as pl
import pytest

from reid_sql.cli import main
from tests.commands.test_entity import *


def test_people_of_visits_are_those_of_one_row_each(
    visits: pl.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    visits.unique(maintain_order=True).write_csv("people.csv")
    for name, arguments in COMMANDS.items():
        main([*arguments, "--format", "json", "--entity", "patient_id"])
        counted = json.loads(capsys.readouterr().out)
        main([each.replace("visits", "people") for each in arguments] + ["--format", "json"])
        plain = json.loads(capsys.readouterr().out)
        if isinstance(counted, dict):
            for page in (counted, plain):
                page.pop("counted", None)
        assert counted == plain, name
