"""Write the SQL of the reductions' plans for reviews: tests/**/plans/*.sql.

Each from the call in its first line, a Python call with tables as bare names. The checks of a connection and
of columns are left out, as they are the same everywhere, unless the first line says so.
python -m tools.plans
"""

import ast
from pathlib import Path
from typing import Any, Final

from reid_sql.engines.duckdb.plain_sql import lay_out
from reid_sql.engines.duckdb.source import table_source
from reid_sql.reduction import implementation, reductions

CHECKED: Final = "  # with the checks"
TESTS: Final = Path(__file__).parents[1] / "tests"


def files() -> list[Path]:
    """Every stored plan, in the order of their paths."""
    return sorted(TESTS.glob("**/plans/*.sql"))


def renew(text: str) -> str:
    """Write the stored plan anew from the call in its first line, a comment."""
    call = text.split("\n", 1)[0]
    is_checked = call.endswith(CHECKED)
    written = call.removeprefix("-- ").removesuffix(CHECKED)
    parsed = ast.parse(written, mode="eval").body
    if not isinstance(parsed, ast.Call) or not isinstance(parsed.func, ast.Name):
        raise TypeError(f"a stored plan must begin with a call of a reduction, got {call}")
    reduction = reductions()[parsed.func.id]
    given = {
        argument.name: _value(value, is_plain=not is_checked)
        for argument, value in zip(reduction.arguments, parsed.args, strict=True)
    }
    planned: str = implementation(reduction, "duckdb")(**given)
    return f"{call}\n{lay_out(planned)}\n"


def _value(argument: ast.expr, *, is_plain: bool) -> Any:  # noqa: ANN401 - a literal
    if isinstance(argument, ast.Name):
        return table_source(argument.id, is_plain=is_plain)
    if isinstance(argument, ast.List) and all(isinstance(each, ast.Name) for each in argument.elts):
        return [_value(each, is_plain=is_plain) for each in argument.elts]
    return ast.literal_eval(argument)


if __name__ == "__main__":
    for path in files():
        path.write_text(renew(path.read_text(encoding="utf-8")), encoding="utf-8")
