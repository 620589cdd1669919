"""Imports run one way, files and functions stay small; each test lists all that break its rule."""

import ast
import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = sorted([*(ROOT / "reid_sql").rglob("*.py"), *(ROOT / "udfs").rglob("*.py")])

# Each layer may import the layers before it, and its own.
LAYERS = [
    (
        "reid_sql._version",
        "reid_sql.errors",
        "reid_sql.models.interruption",
        "reid_sql.terminal.control_characters",
        "reid_sql.demo",
    ),
    ("reid_sql.parameters",),
    ("reid_sql.models.fitted_model",),
    ("reid_sql.engines.registry",),
    ("reid_sql.models",),
    ("reid_sql.hierarchies",),
    ("reid_sql.scenarios",),
    ("reid_sql.reduction", "reid_sql.function"),
    ("reid_sql.sql",),
    ("reid_sql.reductions",),
    ("reid_sql.engines",),
    ("reid_sql_udfs",),
    ("reid_sql.sources", "reid_sql.terminal", "reid_sql.charts", "reid_sql.plot"),
    ("reid_sql.client",),
    (
        "reid_sql.polars",
        "reid_sql.spark",
        "reid_sql.ibis",
    ),  # what the place does not answer, DuckDB does
    ("reid_sql.python_api", "reid_sql.notebook", "reid_sql.harlequin"),
    ("reid_sql.check",),
    ("reid_sql.prepare", "reid_sql.dossier"),
    ("reid_sql.serve",),
    ("reid_sql",),  # the face, which shows the gate
    ("reid_sql.commands", "reid_sql.explore"),
    ("reid_sql.dbt", "reid_sql.harlequin"),  # plug-ins of other programs
    ("reid_sql.cli", "reid_sql.__main__"),
]


def module(path: Path) -> str:
    root = ROOT / "udfs" if "udfs" in path.relative_to(ROOT).parts else ROOT
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def layer(name: str) -> int:
    exact = [place for place, names in enumerate(LAYERS) if name in names]
    within = [
        place
        for place, names in enumerate(LAYERS)
        for known in names
        if known != "reid_sql" and name.startswith(f"{known}.")
    ]
    return (exact or within)[-1]


NAMES = {module(source) for source in SOURCES}


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {
                name if name in NAMES else node.module
                for name in (f"{node.module}.{alias.name}" for alias in node.names)
            }
    return {name for name in found if name.split(".")[0] in ("reid_sql", "reid_sql_udfs")}


def test_imports_run_one_way() -> None:
    assert not [
        f"{module(path)} imports {name}"
        for path in SOURCES
        if "demo" not in path.parts
        for name in imported(path)
        if layer(name) > layer(module(path))
    ]


def test_no_files_import_each_other_in_a_loop() -> None:
    """Nor where a function imports when it is called."""
    graph = {module(source): imported(source) & NAMES - {module(source)} for source in SOURCES}
    assert (
        set(TopologicalSorter(graph).static_order()) == NAMES
    )  # else it raises, and names the loop


ENGINES = sorted(path.parent.name for path in (ROOT / "reid_sql" / "engines").glob("*/__init__.py"))


def engine(name: str) -> str | None:
    """The engine that the module belongs to: its adapter, its implementations, or its public module."""
    parts = name.split(".")
    own = parts[2:3] if parts[:2] == ["reid_sql", "engines"] else parts[-1:]
    return next((each for each in own if each in ENGINES), None)


def test_no_engine_imports_another() -> None:
    """What an engine is made of imports no part of another; what is common imports no engine."""
    assert not [
        f"{module(path)} imports {name}"
        for path in SOURCES
        if engine(module(path))
        for name in imported(path)
        if engine(name) not in {engine(module(path)), None}
    ]


def test_what_engines_share_imports_none_of_them() -> None:
    shared = [path for path in SOURCES if path.parent == ROOT / "reid_sql" / "engines"]
    assert shared
    assert not [
        f"{module(path)} imports {name}"
        for path in shared
        for name in imported(path)
        if engine(name)
    ]


def test_models_know_no_engine() -> None:
    for path in (ROOT / "reid_sql" / "models").rglob("*.py"):
        names = {
            alias.name
            for node in ast.walk(tree(path))
            if isinstance(node, ast.Import)
            for alias in node.names
        }
        assert not names & {"duckdb", "polars", "pyspark", "pyarrow"}


def test_the_folder_of_the_package_has_at_most_14_files_of_its_own() -> None:
    """Besides types for editors: what a reader looks for first."""
    own = [each.name for each in (ROOT / "reid_sql").iterdir() if each.suffix in {".py", ".sql"}]
    assert len(own) <= 14, sorted(own)


def test_a_file_is_a_chapter() -> None:
    """A chapter has 150 to 500 lines; a formatter's line breaks alone must not split one."""
    lines = {module(path): path.read_text(encoding="utf-8").count("\n") for path in SOURCES}
    assert not {name: count for name, count in lines.items() if count > 550}


def test_functions_fit_on_a_screen() -> None:
    """80 lines hold a derivation or the text of a query whole; arguments on lines of their own are free."""
    assert not [
        f"{module(path)}.{node.name}"
        for path in SOURCES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) - node.body[0].lineno >= 80
    ]


MADE = ("plans", "dialects")  # folders of queries that are generated


def written_by_people() -> list[Path]:
    """Texts other than Python, whose lines ruff holds; the queries that plans make are generated."""
    roots = (
        ROOT / name for name in ("reid_sql", "udfs", "tests", "benchmarks", "tools", "sql_examples")
    )
    texts = [
        path
        for root in roots
        for kind in ("sql", "toml", "css")
        for path in root.rglob(f"*.{kind}")
    ]
    return sorted(
        [ROOT / "pyproject.toml", *(path for path in texts if path.parent.name not in MADE)]
    )


def test_lines_have_at_most_110_columns() -> None:
    """What an example answers is generated, as `-- | cell |`, and as long as it is."""
    assert not [
        f"{path.relative_to(ROOT)}:{number}"
        for path in written_by_people()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > 110 and not line.startswith("-- |")
    ]


def test_nothing_is_importable_as_top_level_udfs() -> None:
    assert not (ROOT / "udfs" / "__init__.py").exists()
    assert {
        path.name for path in (ROOT / "udfs").iterdir() if not path.name.startswith((".", "__"))
    } == {"reid_sql_udfs"}


def test_each_answer_to_where_is_there() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| .*? \| `(reid_sql/[\w/]+\.py)` \| `(\w+)` \|$", text, re.MULTILINE)
    assert len(rows) >= 30
    for file, name in rows:
        body = ast.parse((ROOT / file).read_text(encoding="utf-8")).body
        named = {each.name for each in body if isinstance(each, ast.FunctionDef | ast.ClassDef)}
        assert name in named, file
