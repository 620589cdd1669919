"""Ten plans are stored for reviews, one of each large family; `python -m tools.plans` writes them anew."""

from tools.plans import files, renew

STORED = (
    10  # what a review reads; the scans, groups and joins of all are held by test_shape_of_plans.py
)


def test_a_plan_writes_the_sql_that_is_stored() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in files()}
    assert len(texts) == STORED
    assert [path for path, text in texts.items() if renew(text) != text] == []
