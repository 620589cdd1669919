"""People of two releases whom an attacker follows by values that lie within a tolerance.

Matching within a tolerance makes no classes: each person of the first release has the people of the second
who match, and each of those has the people of the first.
"""

from collections.abc import Iterator, Mapping
from math import fsum
from typing import Any, Final

import numpy as np

DEFINITIONS: Final[Mapping[str, str]] = {
    "followed_within": "people linked one to one, as only they are within the tolerance of each other",
    "followed_within_right": "people followed within the tolerance whose link is right",
    "expected_links_within": "right links to expect within the tolerance: a person counts 1/(candidates)",
}


def links_within(
    lines: Any,  # noqa: ANN401 - ReleaseClasses
    smaller: int,
    stayed: int,
) -> Iterator[tuple[str, float, int, bool]]:
    """Give each figure with its total and whether it needs a key; none without a tolerance.

    Of a line, `first_size` people of the second release match its people, whose own records there match
    `second_size` people of the first; `people` is 1 if these are within the tolerance.
    """
    if not len(lines.kind):
        return
    followed = int((lines.number * lines.is_followed_first).sum())
    candidates = np.maximum(1, np.maximum(lines.first_size, lines.second_size))
    yield "followed_within", followed, smaller, False
    yield (
        "followed_within_right",
        int((lines.number * lines.is_followed_second).sum()),
        followed,
        True,
    )
    yield "expected_links_within", fsum(lines.number * lines.people / candidates), stayed, True
