"""`reid_sql.models` stands alone: no engine, no file, nothing heavy, and every name has words."""

import inspect
import subprocess
import sys

import pytest

from reid_sql import models
from reid_sql.models import public_api
from tests.cells import each_cell

ENGINES = ("duckdb", "polars", "pyspark", "pyarrow", "pandas", "reid_sql.engines", "reid_sql_udfs")
SLOW = ("scipy.optimize", "scipy.stats")

EVERY_MODULE = """
import importlib, pkgutil, sys
import reid_sql.models
for _, name, _ in pkgutil.walk_packages(reid_sql.models.__path__, "reid_sql.models."):
    if name not in sys.argv[1:]:
        importlib.import_module(name)
print("\\n".join(sys.modules))
"""
NO_FILE = """
import sys
import numpy as np
from reid_sql import models
people = models.KnownRecords(np.array([1, 1, 2]), np.array([[1], [2], [3]]), [[], [], []])
opened = []
sys.addaudithook(lambda event, told: opened.append(str(told[0])) if event == "open" else None)
found = models.adversary_risk(people, {"population": 4, "groups": [{"columns": ["age"], "probability": 0.5}]})
print(found.prosecutor.tolist(), [name for name in opened if not name.endswith((".py", ".pyc", ".so"))])
"""


def asked(script: str, *arguments: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def test_importing_any_model_loads_no_engine() -> None:
    loaded = asked(EVERY_MODULE)
    assert "reid_sql.models.copula.gaussian_copula" in loaded
    assert [name for name in loaded if name.startswith(ENGINES)] == []


def test_importing_models_loads_none_of_what_only_searches_need() -> None:
    loaded = asked(EVERY_MODULE)
    assert [name for name in SLOW if name in loaded] == []


def test_a_model_opens_no_file() -> None:
    assert asked(NO_FILE) == ["[0.5, 0.5, 0.0] []"]


@each_cell("name", public_api.__all__)
def test_every_name_is_there_and_has_words(name: str) -> None:
    found = getattr(models, name)
    assert found is getattr(public_api, name)
    assert inspect.getdoc(found)
    assert f"`{name}`" in (models.__doc__ or "")


def test_there_is_nothing_else() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'class_risks'"):
        _ = models.class_risks
    assert set(public_api.__all__) <= set(dir(models))
