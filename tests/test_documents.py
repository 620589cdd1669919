"""What is written about the functions is run, and what is generated is up to date."""

import doctest
import importlib
import pkgutil
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

import reid_sql
import reid_sql_udfs
from reid_sql.demo import generate as town
from reid_sql_udfs import declared
from tests import examples
from tools import generate

SCRIPTS = sorted((Path(__file__).parents[1] / "sql_examples").glob("*.sql"))
MODULES = sorted(
    name
    for package in (reid_sql, reid_sql_udfs)
    for _, name, _ in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if name
    not in {
        "reid_sql.polars",
        "reid_sql.spark",
    }  # these carry the words of the bodies, tried where they stand
    and (find_spec("pyspark") or not name.startswith(("reid_sql.engines.spark", "reid_sql.check.spark")))
    and not name.startswith("reid_sql.dbt")  # needs dbt, which has an environment of its own
)


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    monkeypatch.chdir(root)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_each_example_states_the_result_it_has(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    assert examples.RESULT in text
    assert examples.renew(text) == text


def test_examples_are_numbered_without_gaps() -> None:
    assert [int(script.stem[:2]) for script in SCRIPTS] == list(range(1, len(SCRIPTS) + 1))


def test_the_readme_states_the_results_it_has_and_the_functions_there_are(root: Path) -> None:
    text = (root / "README.md").read_text(encoding="utf-8")
    assert text.count(examples.RESULT) > 5
    assert all(f"| `{function.signature}` |" in text for function in declared().values())
    assert generate.readme() == text


def test_python_in_the_readme_runs(root: Path) -> None:
    tried = doctest.testfile(str(root / "README.md"), module_relative=False, encoding="utf-8")
    assert tried.attempted > 5
    assert tried.failed == 0


def test_the_release_gate_is_described_as_it_is(root: Path) -> None:
    assert (root / "docs" / "release_gate.md").read_text(encoding="utf-8") == generate.gate()


def test_the_first_screen_of_the_readme_names_demo_and_test(root: Path) -> None:
    first_screen = (root / "README.md").read_text(encoding="utf-8").splitlines()[:24]
    assert {"make demo", "make test"} <= set(re.findall(r"make \w+", "\n".join(first_screen)))


def test_the_types_of_the_polars_functions_are_up_to_date(root: Path) -> None:
    assert (root / "reid_sql" / "polars.pyi").read_text(encoding="utf-8") == generate.stub()


def test_the_types_and_the_gaps_of_the_spark_functions_are_up_to_date(root: Path) -> None:
    assert (root / "reid_sql" / "spark.pyi").read_text(encoding="utf-8") == generate.spark_stub()
    text = (root / "docs" / "spark.md").read_text(encoding="utf-8")
    assert generate.spark_document(text) == text


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_every_function_has_words_a_source_and_an_example_that_calls_it() -> None:
    for function in declared().values():
        assert function.words.endswith(".")
        assert function.source
        assert f">>> {function.name}(" in (function.body.__doc__ or "") or f"{function.name}(" in (
            function.body.__doc__ or ""
        )
        assert (
            importlib.import_module(f"reid_sql_udfs.{function.name}").__dict__[function.name] is function.body
        )


def test_the_shipped_town_is_what_its_generator_makes(root: Path) -> None:
    lines = (root / "reid_sql" / "demo" / "people.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == ",".join(town.COLUMNS)
    assert lines[1:] == [",".join(str(value) for value in person) for person in town.people()]
