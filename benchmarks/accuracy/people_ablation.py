"""What each part of the model of people is worth: the same cases with the part switched off.

`python -m benchmarks.accuracy.people_ablation CASES.json [tables or choices of columns] [part …]` measures
and prints the table of docs/accuracy_people.md. Parts that CASES.json contains are not measured again.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import numpy as np

from benchmarks.accuracy.people import source_of
from benchmarks.accuracy.people_cases import Case
from benchmarks.accuracy.people_families import FAMILIES
from benchmarks.accuracy.people_judge import balance
from reid_sql.models.people.repeated_people import NO_GROUPS, NO_REPEATED_PEOPLE
from reid_sql.models.population_risk.intervals import NO_COMPARISON

ALL: Final = "all parts"
MEASURED_ON: Final = ("people", "lists", "other laws", "panels", "postcodes")
SEED: Final = 7
Patch = tuple[str, Any]


PARTS: Final[Mapping[str, Sequence[Patch]]] = {
    ALL: (),
    "latent classes": (("reid_sql.models.people.fit.is_list", lambda _: False),),
    "sub-tables": (("reid_sql.models.people.fit.subtable_likelihoods", lambda *_: []),),
    "prediction by the sample": (
        ("reid_sql.models.population_risk.shares.join_predictions", lambda by_model, *_: by_model),
    ),
    "functional dependencies": (
        ("reid_sql.models.people.fit.find_dependencies", lambda _: []),
        ("reid_sql.models.people.functional_dependencies.find_dependencies", lambda _: []),
    ),
    "comparison with reference tables": (
        ("reid_sql.models.population_risk.answer.compare", lambda *_: NO_COMPARISON),
    ),
    "repeated people": (
        ("reid_sql.models.people.fit.find_repeated_people", lambda *_: NO_REPEATED_PEOPLE),
    ),
    "groups": (("reid_sql.models.people.fit.find_groups", lambda *_: NO_GROUPS),),
}


def main() -> None:
    """Measure the parts that a file lacks, and print the table."""
    path, count = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    measured = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for part in sys.argv[3:] or PARTS:
        if part not in measured:
            measured[part] = [asdict(case) for case in measure(part, count)]
            path.write_text(json.dumps(measured), encoding="utf-8")
            print(part, file=sys.stderr, flush=True)
    cases = {part: [Case(**case) for case in some] for part, some in measured.items()}
    print("\n".join(table(cases)))


def measure(part: str, count: int) -> Iterator[Case]:
    """Measure the tables of some families without a part of the model."""
    with ExitStack() as stack:
        for name, other in PARTS[part]:
            stack.enter_context(patch(name, other))
        for family in MEASURED_ON:
            for name in FAMILIES[family].names:
                yield from source_of(name)(name, count, SEED)


def table(cases: Mapping[str, Sequence[Case]]) -> Iterator[str]:
    """A row for each part: contained, above, width and error of Ξ by family."""
    head = ["without", *(f"{family}: contained, above, width, error" for family in MEASURED_ON)]
    yield f"| {' | '.join(head)} |"
    yield f"| {' | '.join('---' for _ in head)} |"
    for part in filter(cases.__contains__, PARTS):
        cells = [part if part != ALL else "nothing"]
        for family in MEASURED_ON:
            some = [case for case in cases[part] if case.name in FAMILIES[family].names]
            cells.append(", ".join(f"{figure:.1f}" for figure in judge(some)))
        yield f"| {' | '.join(cells)} |"


def judge(cases: Sequence[Case]) -> list[float]:
    """Share of intervals that contain Ξ, share of truths above, mean width and mean error, in per cent."""
    weight = balance([case.name for case in cases])
    estimate, low, high = np.array([case.answer["uniqueness"] for case in cases]).T
    truth = np.array([case.truth["uniqueness"] for case in cases])
    figures = (low <= truth) & (truth <= high), truth > high, high - low, np.abs(estimate - truth)
    return [100 * float(weight @ figure) for figure in figures]


if __name__ == "__main__":
    main()
