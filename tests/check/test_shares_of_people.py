"""With `entity` classes are of rows and figures of people: no share of any face is above 100 %."""

import html
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reid_sql.cli import main

QI = ("birth", "sex", "town")
Row = tuple[int, ...]


def draw(seed: int, people: int, births: int) -> list[Row]:
    """Draw people with one to four rows: the births repeat, the towns differ from row to row."""
    rng = random.Random(seed)  # noqa: S311 - a test
    rows: list[Row] = []
    for person in range(people):
        birth, sex = rng.randrange(births), rng.randrange(2)
        rows += [(person, birth, sex, rng.randrange(9)) for _ in range(rng.choice((1, 1, 2, 4)))]
    return rows


def average_risk(rows: list[Row], places: tuple[int, ...]) -> float:
    """Enumerate the people of each class; an attacker knows the worst row of each."""
    people = defaultdict(set)
    for row in rows:
        people[tuple(row[at] for at in places)].add(row[0])
    worst: dict[int, int] = {}
    for row in rows:
        size = len(people[tuple(row[at] for at in places)])
        worst[row[0]] = min(size, worst.get(row[0], size))
    return sum(1 / size for size in worst.values()) / len(worst)


def shares(node: Any, key: str = "") -> Iterator[tuple[str, float]]:
    """Yield each share of people of a report, by its name."""
    if isinstance(node, dict):
        for name, value in node.items():
            yield from shares(value, name)
    elif isinstance(node, list):
        for each in node:
            yield from shares(each, key)
    elif key in {"average_risk", "uniqueness", "correctness", "below_k"} and node is not None:
        yield key, float(node)


@pytest.mark.parametrize(
    ("town", "mask"),
    [((1, 300, 4000), 10), ((2, 300, 60), 1), ((3, 400, 3), 10), ((4, 120, 2), 1)],
)
@pytest.mark.first(cells=1)
def test_no_share_of_people_is_above_one(
    town: tuple[int, int, int],
    mask: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = draw(*town)
    text = "\n".join([",".join(("person", *QI)), *(",".join(map(str, row)) for row in rows)])
    (tmp_path / "t.csv").write_text(text + "\n", encoding="utf-8")
    measures = ("average_risk", "highest_risk", "uniqueness", "records_at_risk", "distinction")
    checks = [{"measure": name, "at_most": 0.05} for name in measures]
    table = {
        "file": "t.csv",
        "entity": "person",
        "quasi_identifiers": QI,
        "checks": [*checks, {"measure": "k", "at_least": 3}],
    }
    policy = {"mask_below": mask, "cautions": "allow", "tables": [table]}
    (tmp_path / "p.json").write_text(json.dumps(policy), encoding="utf-8")
    written = {name: str(tmp_path / f"p.{name}") for name in ("html", "report", "xml")}
    main(
        [
            *("check", str(tmp_path / "p.json"), "--html", written["html"]),
            *("--json-report", written["report"], "--junit", written["xml"]),
        ]
    )
    listed = ("--entity", "person", "--qi", ",".join(QI), "--points", "1,2", "--population", "1e5")
    main(["risk", str(tmp_path / "t.csv"), *listed])
    main(["prepare", str(tmp_path / "p.json"), "--html", str(tmp_path / "q.html")])
    said = capsys.readouterr().out
    pages = [tmp_path / name for name in ("p.html", "p.xml", "q.html")]
    texts = [re.sub(r"<[^>]+>", " ", html.unescape(page.read_text("utf-8"))) for page in pages]
    for page in (said, *texts):
        assert not [x for x in re.findall(r"([\d.,]+) %", page) if float(x.replace(",", "")) > 100]
    report = json.loads(Path(written["report"]).read_text("utf-8"))
    named = Counter(name for name, share in shares(report) if share <= 1)
    assert named.total() == len(list(shares(report)))
    (reported,) = report["tables"]
    if reported["average_risk"] is not None:
        assert reported["average_risk"] == pytest.approx(average_risk(rows, (1, 2, 3)))
    assert mask > 1 or reported["average_risk"] is not None
