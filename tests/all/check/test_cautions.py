"""What the first tier leaves of tests/check/test_cautions.py."""

import itertools
from pathlib import Path

from reid_sql.check.gate import check
from tests.check.test_cautions import AB, LINES, K

MISSING = ["9999,0,1"] * 60 + ["unknown,1,2"] * 40
TABLES = (LINES, LINES + MISSING, LINES + [",,1"] * 40)
OTHERS = ("", "population = 100_000", "population = 201", 'nulls = "drop"', 'nulls = "wildcard"')


def test_no_check_passes_beside_a_caution_that_is_refused(tmp_path: Path) -> None:
    """Whatever is shown next to a check is refused: no list of some cautions."""
    checks = [
        K,
        '{measure = "uniqueness", at_most = 1}',
        '{measure = "k", at_least = 2, by = ["b"], quasi_identifiers = ["a"]}',
        '{measure = "records_at_risk", threshold = 0.2, at_most = 0.5}',
    ]
    tables = []
    for place, (more, lines) in enumerate(itertools.product(OTHERS, TABLES)):
        (tmp_path / f"t{place}.csv").write_text(
            "\n".join(["a,b,c", *lines]) + "\n", encoding="utf-8"
        )
        tables.append(
            f'[[tables]]\nfile = "t{place}.csv"\n{AB}\n{more}\nchecks = [{", ".join(checks)}]\n'
        )
    file = tmp_path / "p.toml"
    file.write_text("".join(tables), encoding="utf-8")
    before = check(file)
    file.write_text('cautions = "refuse"\n' + file.read_text(encoding="utf-8"), encoding="utf-8")
    after = check(file)
    for allowed, refused in zip(before["checks"], after["checks"], strict=True):
        assert (refused["verdict"] == "not judged") == (
            bool(allowed["cautions"]) or allowed["verdict"] == "not judged"
        )
    assert {bool(allowed["cautions"]) for allowed in before["checks"]} == {False, True}
