"""What is written about the functions is run, and what is generated is up to date."""

import doctest
import importlib
import inspect
import pkgutil
import re
import shlex
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Final

import duckdb
import jsonschema
import pytest
import yaml

import reid_sql
import reid_sql_udfs
from reid_sql.commands import functions as listing
from reid_sql.commands.parser import COMMANDS, parser
from reid_sql.demo import generate as town
from reid_sql.engines import registry
from reid_sql.models.attacker.scenario import scenario
from reid_sql_udfs import declared
from tests import examples
from tests.cells import each_cell
from tests.outputs import outputs
from tests.sessions import shown_on_page, try_session
from tests.tiers import representatives
from tools import function_facts, pages
from tools.documents import DOCUMENTS, PAGES
from tools.faces import FACES, Face
from tools.generate import GENERATED, SCRIPTS
from tools.schemas import policy_schema

ROOT = Path(__file__).parents[1]
ON_SPARK = {
    "README.md",
    "docs/spark.md",
}  # whose blocks for Spark are run by tests/all/engines/spark/test_catalogue.py
# of which tests/all asks whether they are up to date: half of the time of 122 files
LONG = {"docs/rows_per_person.md", "docs/images/plot_class_sizes.svg"}
MODULES = sorted(
    name
    for package in (reid_sql, reid_sql_udfs)
    for _, name, _ in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if name
    not in {
        "reid_sql.polars",
        "reid_sql.spark",
        "reid_sql.ibis",
    }  # these carry the words of the bodies, tried where they stand
    and (find_spec("pyspark") or "spark" not in name)
    # these have environments of their own
    and not name.startswith(("reid_sql.dbt", "reid_sql.harlequin"))
)


def short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def blocks(document: Path) -> Iterator[tuple[str, str]]:
    """Language and text of each fenced block; a shown file has its path behind the language."""
    yield from re.findall(
        r"^```(\S[^\n]*)\n(.*?)^```$",
        document.read_text(encoding="utf-8"),
        re.DOTALL | re.MULTILINE,
    )


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    monkeypatch.chdir(root)
    forget_models(monkeypatch)


def forget_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Know no model: other tests of this process keep some, and other documents of a case."""
    monkeypatch.setattr(registry, "_MODELS", {})


@pytest.mark.first(cells=8)
@each_cell("script", SCRIPTS)
def test_each_example_states_the_result_it_has(
    script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget_models(monkeypatch)
    text = script.read_text(encoding="utf-8")
    assert examples.RESULT in text
    assert examples.renew(text) == text


def test_examples_are_numbered_without_gaps() -> None:
    assert [int(script.stem[:2]) for script in SCRIPTS] == list(range(1, len(SCRIPTS) + 1))


@pytest.mark.first(path=[path for path in GENERATED if short(path) not in LONG])
@each_cell("path", [path for path in GENERATED if path not in SCRIPTS])
def test_what_is_generated_or_run_is_up_to_date(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget_models(monkeypatch)
    assert GENERATED[path]() == path.read_text(encoding="utf-8")


def test_the_readme_states_results_and_the_functions_index_every_function(root: Path) -> None:
    text = (root / "README.md").read_text(encoding="utf-8")
    assert text.count(examples.RESULT) > 5
    assert text.count("\n") <= 150
    index = (root / "docs" / "functions" / "index.md").read_text(encoding="utf-8")
    for function in declared().values():
        assert f"| [`{function.name}`]({function.name}.md) | {function.words} |" in index
    assert {path.stem for path in (root / "docs" / "functions").iterdir()} == {*declared(), "index"}


def test_every_function_is_shown_in_an_example_that_runs() -> None:
    shown = {
        statement for script in SCRIPTS for statement in listing.statements(script.read_text())
    }
    for name in declared():
        assert any(function_facts.calls(statement, name) for statement in shown), name


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect()
    yield connection
    connection.close()


@pytest.mark.first(name=representatives())
@each_cell("name", declared())
def test_sql_on_the_page_of_a_function_runs_by_itself(
    name: str, database: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget_models(monkeypatch)
    text = (ROOT / "docs" / "functions" / f"{name}.md").read_text(encoding="utf-8")
    [block] = re.findall(r"```sql\n(.*?)```", text, re.DOTALL)
    assert function_facts.calls(block, name)
    cursor = database.cursor()  # with temporary tables of its own
    reid_sql.register(cursor)
    assert examples.renew(block, cursor) == block


@pytest.mark.first(face=[each for each in FACES if each.engine == "polars"], name=representatives())
@each_cell("face", [face for face in FACES if face.engine != "spark"])
@each_cell("name", declared())
def test_a_page_shows_an_example_in_the_language_of_the_face(face: Face, name: str) -> None:
    tried = shown_on_page(face, name)
    if not face.has(declared()[name]):
        assert not tried
    else:
        assert f"{face.alias}.{name}(" in tried
        try_session(face, tried)


def test_help_has_the_words_and_the_source_on_every_face() -> None:
    """Editors show what a function has where it is made; the stubs have the types alone."""
    modules = ("reid_sql", *(f"reid_sql.{engine}" for engine in ("polars", "spark", "ibis")))
    for module, (name, function) in product(modules, declared().items()):
        shown = inspect.getdoc(getattr(importlib.import_module(module), name)) or ""
        assert shown.startswith(function.words[:40]), (module, name)
        assert f"Source: {function.source}." in shown, (module, name)
        assert " := " not in shown, (module, name)


WITH_PYTHON = [
    path
    for path in DOCUMENTS
    if any(kind == "python" and ">>> " in text for kind, text in blocks(path))
]


@each_cell("document", WITH_PYTHON)
def test_python_in_the_documents_runs(document: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forget_models(monkeypatch)
    tried = doctest.testfile(str(document), module_relative=False, encoding="utf-8")
    assert tried.attempted > 3
    assert tried.failed == 0


def test_python_in_the_readme_runs(root: Path) -> None:
    tried = doctest.testfile(str(root / "README.md"), module_relative=False, encoding="utf-8")
    assert tried.attempted > 3
    assert tried.failed == 0


def test_no_block_is_left_untried() -> None:
    every = [(document, *block) for document in DOCUMENTS for block in blocks(document)]
    for document, language, text in every:
        kind, _, shown = language.partition(" ")
        where = f"{short(document)}: {text[:80]}"
        if shown:
            assert shown.startswith("file="), where
        elif kind == "python":
            is_on_spark = short(document) in ON_SPARK and text.startswith("import reid_sql.spark")
            assert ">>> " in text or is_on_spark, where
        elif kind == "toml":
            _try_toml(text)
        elif kind == "yaml":
            assert yaml.safe_load(text), where
        elif kind == "console":
            assert text.startswith("$ reid-sql "), where
        else:
            assert kind == "sql", where


def _try_toml(text: str) -> None:
    reported = tomllib.loads(text)
    if "tables" in reported:
        jsonschema.validate(reported, policy_schema())
    else:
        assert scenario(reported).groups


def test_commands_and_make_targets_in_the_documents_are_there() -> None:
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        for line in re.findall(r"^    reid-sql (.*)$", text, re.MULTILINE):
            parser().parse_args(shlex.split(line.partition(" > ")[0], comments=True))
        named = set(re.findall(r"(?:`|^    )make ([\w-]+)", text, re.MULTILINE))
        assert named <= targets(), short(document)


def test_every_command_that_a_sentence_names_is_there() -> None:
    """Also those of hints, of lists of attacks and of starter files, which print a command to run."""
    history = ROOT / "CHANGELOG.md"
    texts = [
        *(path for path in DOCUMENTS if path != history),
        *(ROOT / "reid_sql").rglob("*.toml"),
        *(ROOT / "reid_sql").rglob("*.py"),
    ]
    names = (
        (name, short(path))
        for path in texts
        for name in re.findall(
            r"(?:`|^ {4}|command = \"|^# {2,})reid-sql ([a-z][a-z-]+)",
            path.read_text(encoding="utf-8"),
            re.MULTILINE,
        )
    )
    assert [each for each in names if each[0] not in {*COMMANDS, "help"}] == []


def targets() -> set[str]:
    return set(
        re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    )


def test_the_citation_is_of_this_version(root: Path) -> None:
    reported = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    assert (reported["version"], reported["license"]) == (reid_sql.__version__, "Apache-2.0")
    package = yaml.safe_load(
        (root / "reid_sql" / "dbt" / "dbt_project.yml").read_text(encoding="utf-8")
    )
    assert package["version"] == reid_sql.__version__


def test_what_machines_run_before_a_merge_is_there(root: Path) -> None:
    hooks = yaml.safe_load((root / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"][
        0
    ]["hooks"]
    flows = [
        yaml.safe_load(path.read_text(encoding="utf-8"))
        for path in (root / ".github").rglob("*.yml")
    ]
    jobs = [job for flow in flows for job in flow["jobs"].values()]
    steps = [step["run"] for job in jobs for step in job["steps"] if "run" in step]
    assert steps
    for command in [*(hook["entry"] for hook in hooks), *steps]:
        program, word = command.split()
        if program == "make":
            assert word in targets()
        else:
            assert (root / word).is_file()


def test_links_in_the_documents_lead_somewhere() -> None:
    lost = []
    for document in (*DOCUMENTS, *PAGES):
        text = document.read_text(encoding="utf-8")
        text = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
        for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", text):
            place, _, anchor = link.partition("#")
            target = (document.parent / place).resolve() if place else document
            if not target.exists() or (
                anchor and anchor not in anchors(target.read_text(encoding="utf-8"))
            ):
                lost.append(f"{short(document)}: {link}")
    assert lost == []


def test_the_pages_have_no_more_words_than_a_reader_takes(root: Path) -> None:
    pages_read = [root / "README.md", *(root / "docs").rglob("*.md")]
    assert sum(len(each.read_text(encoding="utf-8").split()) for each in pages_read) <= 105_000


def test_the_readme_and_the_front_page_lead_to_every_page(root: Path) -> None:
    """README names what four kinds of readers need, and the front page all others."""
    text = (root / "README.md").read_text(encoding="utf-8")
    front = (root / "docs" / "index.md").read_text(encoding="utf-8").replace("](", "](docs/")
    assert "](docs/index.md" in text
    for document in DOCUMENTS:
        assert document.name in {"README.md", "index.md"} or f"]({short(document)})" in text + front


EXISTING = {  # words for what a function or command does, which no page may list as missing
    "household": "household_risk",
    "suda": "suda_scores",
    "special unique": "suda_scores",
    "k-map": "journalist_risk",
    "replicated unique": "audit_synthetic",
    "disco": "audit_synthetic",
    "membership": "audit_synthetic",
    "l-diversity": "l_diversity",
    "t-closeness": "t_closeness",
    "unique column combination": "quasi_identifiers",
    "generali": "prepare",
    "hierarch": "prepare",
    "least loss": "prepare",
    "utility;": "compare",
}


@each_cell("word, name", EXISTING.items())
def test_no_page_lists_as_missing_what_exists(root: Path, word: str, name: str) -> None:
    commands = next(action for action in parser()._actions if isinstance(action.choices, dict))  # noqa: SLF001 - no other way
    assert name in {*declared(), *(commands.choices or {})}
    rows = re.findall(
        r"^\| \[?[A-Z].*$",
        (root / "docs" / "comparison.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert len(rows) > 5
    for row in rows:
        tool, theirs, _ = row.strip("| ").split(" | ")
        # which make tables, and train attacks
        if not tool.startswith(("[synthpop]", "[Synth-MIA]")):
            assert word not in theirs.lower(), tool


def anchors(text: str) -> set[str]:
    """Anchors of the headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_first_screen_of_the_readme_names_demo_and_test(root: Path) -> None:
    first_screen = (root / "README.md").read_text(encoding="utf-8").splitlines()[:24]
    assert {"make demo", "make test"} <= set(re.findall(r"make \w+", "\n".join(first_screen)))


def test_the_schema_that_the_example_policy_names_is_there(root: Path) -> None:
    policy = root / "docs" / "people_release.toml"
    named = re.match(r"#:schema (\S+)", policy.read_text(encoding="utf-8"))
    assert named
    assert (policy.parent / named[1]).is_file()


def test_result_columns_are_those_that_duckdb_answers(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("CREATE TEMP TABLE people AS FROM 'reid_sql/demo/people.csv'")
    con.execute("SELECT * FROM fit_copula('town', people, ['age', 'sex'])").fetchall()
    con.execute("CREATE TEMP TABLE saved AS FROM model_json('town')")
    con.execute("CREATE TEMP TABLE published AS FROM safe_table(people, ['sex'])")
    for function in declared().values():
        if not function_facts.answers_a_table(function):
            continue
        known = ARGUMENTS | ({"tbl": "saved"} if function.name == "load_model" else {})
        assert set(function_facts.needed(function)) <= set(known), (
            f"say what stands for them in ARGUMENTS: {function.name}"
        )
        given = ", ".join(known[name] for name in function_facts.needed(function))
        rows = con.execute(f"DESCRIBE FROM {function.name}({given})").fetchall()
        answered = {row[0]: row[1] for row in rows}
        for column, kind in function_facts.result_columns(function):
            answer = answered.pop(column)
            assert kind == listing.BY_PERSON or kind.startswith(answer), (
                f"{column} of {function.name}"
            )
        assert bool(answered) == bool(function_facts.columns_beside(function)), function.name


ARGUMENTS = {
    "tbl": "people",
    "population_tbl": "people",
    "original": "people",
    "released": "people",
    "synthetic": "people",
    "first": "people",
    "second": "people",
    "left": "people",
    "right": "people",
    "on": "'postcode'",
    "right_qi": "['education']",
    "tables": "['published']",
    "by": "['sex']",
    "qi": "['age', 'sex']",
    "columns": "['age', 'sex', 'postcode']",
    "sensitive": "'diagnosis'",
    "household": "'occupation'",
    "name": "'town'",
    "model": "'town'",
    "values": "['47', 'F']",
    "n": "5",
    "population": "1e6",
    "populations": "[1e6]",
    "sizes": "[10, 20]",
    "correctness": "[0.9, 0.8]",
    "sampling_fraction": "0.1",
    "entity": "'occupation'",
    "person": "'age'",
    "item": "'sex'",
    "true_scores": "[0.9, 0.4]",
    "false_scores": "[0.1, 0.2]",
    "scenario": "{'population': 100000, 'groups': [{'columns': ['age'], 'probability': 0.5}]}",
}


def test_every_result_column_has_a_meaning_and_every_meaning_a_column() -> None:
    columns = {key: dict(function_facts.result_columns(each)) for key, each in outputs().items()}
    for name, known in columns.items():
        for column in known:
            where = "at its field, or in reid_sql/commands/result_columns.toml"
            assert listing.meaning(outputs()[name], column), (
                f"say what {column} of {name} is, {where}"
            )
    for name, reported in listing.meanings().items():
        own = columns.get(name, {})
        there = (
            {column for found in columns.values() for column in found}
            if name == "every"
            else set(own)
        )
        assert set(reported) <= there, name


WITH_EXAMPLES: Final = [
    name
    for name in MODULES
    if ">>> " in Path(find_spec(name).origin).read_text(encoding="utf-8")  # type: ignore[union-attr, arg-type]
]


@each_cell("name", WITH_EXAMPLES)
def test_examples_in_docstrings_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    forget_models(monkeypatch)
    tried = doctest.testmod(importlib.import_module(name))
    assert (tried.attempted > 0, tried.failed) == (True, 0)


def test_examples_of_the_generators_run() -> None:
    tried = doctest.testmod(pages)
    assert tried.attempted
    assert tried.failed == 0


def test_every_function_has_words_a_source_and_an_example_that_calls_it() -> None:
    for function in declared().values():
        doc = function.body.__doc__ or ""
        assert function.words.endswith(".")
        assert function.source
        assert f">>> {function.name}(" in doc or f"{function.name}(" in doc
        assert not re.search(r":=\s*\n|\n\s*:=", doc), f"{function.name}: := at the end of a line"
        assert (
            importlib.import_module(f"reid_sql_udfs.{function.name}").__dict__[function.name]
            is function.body
        )


def test_the_shipped_town_is_what_its_generator_makes(root: Path) -> None:
    lines = (root / "reid_sql" / "demo" / "people.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == ",".join(town.COLUMNS)
    assert lines[1:] == [",".join(str(value) for value in person) for person in town.people()]
