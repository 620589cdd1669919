"""The gate goes one way: a step cannot call back one before it, nor the engines, as it does not know them."""

import ast
from pathlib import Path

CHECK = Path(__file__).parents[2] / "reid_sql" / "check"
COUNTING = {"evaluation", "table_counts", "small_counts", "cautions", "table_engine"} | {
    path.stem for path in CHECK.glob("*_table.py")
}
JUDGING = {"verdicts"}
MASKING = {path.stem for path in CHECK.glob("masked_*.py")} | {"inference"}
REPORTING = {"report", "sentences", "html", "terminal"}


def imported(name: str) -> set[str]:
    """All modules of the gate that one of them needs, directly or through others."""
    found: set[str] = set()
    left = {name}
    while left:
        source = (CHECK / f"{left.pop()}.py").read_text(encoding="utf-8")
        nodes = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom))
        names = {
            str(node.module).split(".")[-1]
            for node in nodes
            if "reid_sql.check." in str(node.module)
        }
        left |= names - found
        found |= names
    return found


def test_each_step_knows_only_those_whose_answers_it_sees() -> None:
    later: set[str] = set()
    for step in (REPORTING, MASKING, JUDGING, COUNTING):
        assert not {name: imported(name) & later for name in step if imported(name) & later}
        later |= step


def test_nothing_is_counted_after_it_was_measured() -> None:
    for name in JUDGING | MASKING | REPORTING:
        assert not imported(name) & COUNTING, name
