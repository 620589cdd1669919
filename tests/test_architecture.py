"""The house stands as it was drawn: imports run one way, rooms stay small."""

import ast
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted([*(ROOT / "reid_sql").rglob("*.py"), *(ROOT / "udfs").rglob("*.py")])

# Each layer may import the layers before it, and its own.
LAYERS = [
    (
        "reid_sql._version",
        "reid_sql.errors",
        "reid_sql.interruption",
        "reid_sql.control_characters",
        "reid_sql.demo",
    ),
    ("reid_sql.suggestion",),
    ("reid_sql.parameters",),
    ("reid_sql.document",),
    ("reid_sql.fitted_model",),
    ("reid_sql.registry",),
    ("reid_sql.models",),
    ("reid_sql.hierarchies",),
    ("reid_sql.scenario",),
    ("reid_sql.reduction", "reid_sql.function"),
    ("reid_sql.reductions", "reid_sql.engines"),  # a room holds what an engine's kit is for
    ("reid_sql_udfs",),
    ("reid_sql.polars", "reid_sql.spark"),
    (
        "reid_sql.sources",
        "reid_sql.terminal",
        "reid_sql.runner",
        "reid_sql.charts",
        "reid_sql.plot",
    ),
    ("reid_sql.client_fallback",),
    ("reid_sql.ibis",),  # a face of two engines: what the warehouse does not say, DuckDB answers
    ("reid_sql.python_api", "reid_sql.facts", "reid_sql.notebook"),
    ("reid_sql.check",),
    ("reid_sql.release",),
    ("reid_sql",),  # the face, which shows the gate
    ("reid_sql.commands",),
    ("reid_sql.dbt",),
    ("reid_sql.cli", "reid_sql.__main__"),
]


def module(path: Path) -> str:
    root = ROOT / "udfs" if "udfs" in path.relative_to(ROOT).parts else ROOT
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def layer(name: str) -> int:
    """A spelling, which stands beside its reduction's declaration, is made of its engine's kit."""
    if re.fullmatch(r"reid_sql\.reductions\.\w+\.(?!duckdb)\w+", name):
        return layer("reid_sql.engines.face")
    exact = [place for place, names in enumerate(LAYERS) if name in names]
    within = [
        place
        for place, names in enumerate(LAYERS)
        for known in names
        if known != "reid_sql" and name.startswith(f"{known}.")
    ]
    return (exact or within)[-1]


NAMES = {module(source) for source in SOURCES}


def imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {
                name if name in NAMES else node.module
                for name in (f"{node.module}.{alias.name}" for alias in node.names)
            }
    return {name for name in found if name.split(".")[0] in ("reid_sql", "reid_sql_udfs")}


@pytest.mark.parametrize("path", [p for p in SOURCES if "demo" not in p.parts], ids=module)
def test_imports_run_one_way(path: Path) -> None:
    for name in imported(path):
        assert layer(name) <= layer(module(path)), f"{module(path)} imports {name}"


def test_no_files_import_each_other_in_a_loop() -> None:
    """Nor where a function imports when it is called."""
    graph = {module(source): imported(source) & NAMES - {module(source)} for source in SOURCES}
    assert set(TopologicalSorter(graph).static_order()) == NAMES  # else it raises, and names the loop


ENGINES = sorted(path.parent.name for path in (ROOT / "reid_sql" / "engines").glob("*/__init__.py"))


def engine(name: str) -> str | None:
    """The engine that the module is a part of: of its kit, of what it says of a reduction, or its face."""
    parts = name.split(".")
    own = parts[2:3] if parts[:2] == ["reid_sql", "engines"] else parts[-1:]
    return next((each for each in own if each in ENGINES), None)


@pytest.mark.parametrize("path", [p for p in SOURCES if engine(module(p))], ids=module)
def test_no_engine_imports_another(path: Path) -> None:
    """What an engine is made of imports no part of another; what is common imports no engine.

    The face is such a common module.
    """
    assert {engine(name) for name in imported(path)} <= {engine(module(path)), None}


@pytest.mark.parametrize("path", sorted((ROOT / "reid_sql" / "engines").glob("*.py")), ids=module)
def test_what_engines_share_knows_none_of_them(path: Path) -> None:
    assert module(path) == "reid_sql.engines.duckdb" or {engine(name) for name in imported(path)} <= {None}


def test_a_room_declares_before_it_is_said() -> None:
    for path in (ROOT / "reid_sql" / "reductions").glob("*/__init__.py"):
        assert not any(name.startswith("reid_sql.engines") for name in imported(path))


def test_models_know_no_engine() -> None:
    for path in (ROOT / "reid_sql" / "models").rglob("*.py"):
        names = {
            alias.name
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Import)
            for alias in node.names
        }
        assert not names & {"duckdb", "polars", "pyspark", "pyarrow"}


@pytest.mark.parametrize("path", SOURCES, ids=module)
def test_rooms_and_functions_stay_small(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 450
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            assert (node.end_lineno or 0) - node.body[0].lineno < 50, node.name


MADE = ("plans", "dialects")  # folders of queries that are generated


def written_by_people() -> list[Path]:
    """Texts other than Python, whose lines ruff holds; the queries that plans make are generated."""
    roots = (ROOT / name for name in ("reid_sql", "udfs", "tests", "benchmarks", "tools", "sql_examples"))
    texts = [path for root in roots for kind in ("sql", "toml", "css") for path in root.rglob(f"*.{kind}")]
    return sorted([ROOT / "pyproject.toml", *(path for path in texts if path.parent.name not in MADE)])


@pytest.mark.parametrize("path", written_by_people(), ids=lambda path: str(path.relative_to(ROOT)))
def test_lines_have_at_most_110_columns(path: Path) -> None:
    """What an example answers is generated, as `-- | cell |`, and as long as it is."""
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > 110 and not line.startswith("-- |")] == []


def test_nothing_is_importable_as_top_level_udfs() -> None:
    assert not (ROOT / "udfs" / "__init__.py").exists()
    assert {path.name for path in (ROOT / "udfs").iterdir() if not path.name.startswith((".", "__"))} == {
        "reid_sql_udfs"
    }
