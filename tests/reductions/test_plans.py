"""Every plan writes the SQL that is stored for reviews; `python -m tools.plans` writes it anew."""

from reid_sql.reduction import has_implementation, reductions
from tools.plans import files, renew


def test_a_plan_writes_the_sql_that_is_stored() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in files()}
    assert [path for path, text in texts.items() if renew(text) != text] == []


def test_every_reduction_has_a_plan_and_one_is_stored() -> None:
    """Class sizes are counted by a window, which has no plan of its own."""
    stored = {
        path.read_text(encoding="utf-8").split("(", 1)[0].removeprefix("-- ") for path in files()
    }
    planned = {
        name
        for name, each in reductions().items()
        if each.arguments and has_implementation(each.family, "duckdb")
    }
    assert planned == stored
    assert set(reductions()) - planned == {"class_size"}
