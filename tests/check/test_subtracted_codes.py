"""Counts of missing-value codes next to masked class sizes: no difference of shown numbers is masked."""

import itertools
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from reid_sql.check.gate import check
from tests.cells import each_cell

NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?![\w.])")
BOUND = re.compile(r"fewer than [\d,]+")


def shown_numbers(node: Any, key: str = "") -> Iterator[int]:
    """Whole numbers of a report, in figures and sentences; not the bounds below which a count lies."""
    if isinstance(node, dict):
        for name, each in node.items():
            if name not in {"parameters", "limit", "from", "to"}:
                yield from shown_numbers(each, name)
    elif isinstance(node, list):
        for each in node:
            yield from shown_numbers(each, key)
    elif isinstance(node, str) and "caution" in key:
        yield from (int(number.replace(",", "")) for number in NUMBER.findall(BOUND.sub("", node)))
    elif isinstance(node, int) and not isinstance(node, bool):
        yield node


@each_cell("small", [1, 3, 9])
@each_cell("code", ["?", "unknown"])
@each_cell("asked", [["a", "b"], ["b"]])
def test_no_difference_with_the_count_of_a_code_is_a_small_class(
    tmp_path: Path, small: int, code: str, asked: list[str]
) -> None:
    rng = random.Random(small)  # noqa: S311 - no secret
    columns = {
        "a": [rng.choice("pqrs") for _ in range(4902)],
        "b": ["x"] * 1614
        + ["y"] * 1569
        + ["z"] * (1719 - 169 - small)
        + [code] * 169
        + ["w"] * small,
    }
    assert Counter(columns["b"])["w"] == small
    pl.DataFrame(columns).write_parquet(tmp_path / "people.parquet")
    policy = tmp_path / "policy.toml"
    policy.write_text(
        'cautions = "allow"\n[[tables]]\nfile = "people.parquet"\nquasi_identifiers = ["b"]\n'
        f'[[tables.checks]]\nmeasure = "average_risk"\nat_most = 0.5\nquasi_identifiers = {asked}\n'
    )
    page = check(policy)
    numbers = sorted({*shown_numbers({"t": page["tables"], "c": page["checks"]})})
    assert any(
        "missing-value code" in words for each in page["checks"] for words in each["cautions"]
    )
    large = [number for number in numbers if number >= 10]
    for one, other, rest in itertools.product(large, [0, *large], [0, *large]):
        assert other == 0 or one - other - rest != small, (one, other, rest)
