"""Explorations of made-up files, and what a reader counts of the release without this project."""

import io
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path

import polars as pl

from reid_sql.commands.proposals import propose
from reid_sql.commands.starter import Starter
from reid_sql.engines.counted_rows import report_people
from reid_sql.errors import OutOfDomainError
from reid_sql.explore.choice import KNOWN, OMITTED, PERSON, PRIVATE, SENSITIVE, Choice
from reid_sql.explore.exploration import Exploration, explore
from reid_sql.sources.files import open_source

COLUMNS = ("age", "sex", "postcode", "birth", "income", "diagnosis")
MARK = "zqx"  # begins values that no page may contain


def people(count: int = 240, seed: int = 3) -> pl.DataFrame:
    """People with values that no page may contain."""
    rng = random.Random(seed)  # noqa: S311 - drawn alike
    first = date(1940, 1, 1)
    return pl.DataFrame(
        {
            "age": [rng.choice([None, *range(20, 60)]) for _ in range(count)],
            "sex": [rng.choice(["f", "m"]) for _ in range(count)],
            "postcode": [f"{rng.choice([101, 102, 207])}{rng.randrange(3)}" for _ in range(count)],
            "birth": [first + timedelta(rng.randrange(2000)) for _ in range(count)],
            "income": [rng.randrange(10_000, 99_999) / 7 for _ in range(count)],
            "diagnosis": [f"{MARK}{rng.choice(['flu', 'hiv', 'cold'])}" for _ in range(count)],
        }
    )


def _starter(file: Path) -> Starter:
    con, table = open_source(str(file))
    try:
        return propose(con, table, {"file": str(file)})
    finally:
        con.close()


@contextmanager
def explored(file: Path, mask: int = 1) -> Iterator[Exploration]:
    """Open a file as the command does."""
    with report_people(), explore(_starter(file), mask) as exploration:
        yield exploration


def chosen(exploration: Exploration, **roles: str) -> Choice:
    """A choice of these roles; all other columns are left out."""
    names = exploration.proposed.columns
    return replace(exploration.proposed, roles=tuple(roles.get(name, OMITTED) for name in names))


def random_choice(exploration: Exploration, rng: random.Random) -> Choice:
    """A random choice that can be measured."""
    names = exploration.proposed.columns
    roles = {name: rng.choice([KNOWN, KNOWN, PRIVATE, SENSITIVE, OMITTED]) for name in names}
    roles[rng.choice([name for name in names if name != "diagnosis"])] = KNOWN
    return replace(
        chosen(exploration, **roles),
        levels=tuple(rng.randrange(4) for _ in names),
        smallest_group=rng.choice([2, 3, 5, 8]),
        leaves_out=rng.random() < 0.5,
    )


def measurable_choice(exploration: Exploration, rng: random.Random) -> Choice:
    """The first random choice that leaves somebody in the release."""
    for choice in (random_choice(exploration, rng) for _ in range(100)):
        with suppress(OutOfDomainError):
            exploration.answer(choice)
            return choice
    raise AssertionError("no choice could be measured")


@dataclass(frozen=True)
class Counted:
    """What a reader counts of a released file: people alone, in small groups, and whose secret is known."""

    rows: int
    alone: int
    small: int
    learned: dict[str, int]


def read(content: bytes) -> list[dict[str, object]]:
    """The rows of a Parquet file."""
    return pl.read_parquet(io.BytesIO(content)).to_dicts()


def counted(
    rows: Sequence[dict[str, object]], choice: Choice, person: str | None = None
) -> Counted:
    """Count rows, or people by the smallest of their groups, one after the other."""
    known = choice.of_role(KNOWN)
    groups: dict[tuple[object, ...], list[dict[str, object]]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in known)].append(row)
    sizes: Counter[object] = Counter()
    for number, group in enumerate(groups.values()):
        inside = {row[person] for row in group} if person else set(range(len(group)))
        for each in inside:
            key = each if person else (number, each)
            sizes[key] = min(sizes.get(key, len(rows) + 1), len(inside))
    return Counted(
        len(sizes),
        sum(size == 1 for size in sizes.values()),
        sum(size < choice.smallest_group for size in sizes.values()),
        {
            name: sum(len(g) for g in groups.values() if len({row[name] for row in g}) == 1)
            for name in choice.of_role(SENSITIVE)
        },
    )


__all__ = [
    "COLUMNS", "KNOWN", "MARK", "OMITTED", "PERSON", "PRIVATE", "SENSITIVE", "Counted", "chosen", "counted",
    "explored",
    "measurable_choice", "people", "read",
]  # fmt: skip
