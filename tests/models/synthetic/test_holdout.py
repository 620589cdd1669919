"""A holdout that has people of the original is doubted; one that was divided at random is not."""

import random

import pytest

from reid_sql.models.synthetic.audit import has_people_of_both
from tests.audited import Row, encode, encode_people


def town(rng: random.Random, records: int) -> list[Row]:
    """Records of which some are unique, some are shared by few, and some are common."""
    return [
        (rng.choice("abc"), round(rng.expovariate(0.03)), rng.randrange(4), "x")
        for _ in range(records)
    ]


@pytest.mark.parametrize("sizes", [(200, 200), (360, 40), (40, 360)])
@pytest.mark.first(cells=1)
def test_random_divisions_are_not_doubted(sizes: tuple[int, int]) -> None:
    rng = random.Random(1)  # noqa: S311 - no secret
    for _ in range(300):
        people = town(rng, sum(sizes))
        tables = encode(people[: sizes[0]], people[:1], people[sizes[0] :]).in_order()
        assert not has_people_of_both(tables)


@pytest.mark.parametrize(
    ("sizes", "both"), [((400, 400), 400), ((400, 400), 200), ((800, 200), 200)]
)
def test_people_of_both_tables_are_found(sizes: tuple[int, int], both: int) -> None:
    rng = random.Random(2)  # noqa: S311 - no secret
    for _ in range(20):
        used, unused = town(rng, sizes[0]), town(rng, sizes[1])
        tables = encode(used, used[:1], used[:both] + unused[both:]).in_order()
        assert has_people_of_both(tables)


def test_people_are_equal_if_all_of_their_rows_are() -> None:
    """Two people who share one row of three are two, however often that happens."""
    rng = random.Random(3)  # noqa: S311 - no secret
    people = [town(rng, 3) for _ in range(200)]
    twins = [[own[0], *town(rng, 2)] for own in people]
    assert has_people_of_both(encode_people(people, people[:1], people).in_order())
    assert not has_people_of_both(encode_people(people, people[:1], twins).in_order())


def test_tables_without_equal_people_say_nothing() -> None:
    used: list[Row] = [(f"u{n}", n, n, "x") for n in range(50)]
    unused: list[Row] = [(f"n{n}", n, n, "x") for n in range(50)]
    assert not has_people_of_both(encode(used, used, unused).in_order())
