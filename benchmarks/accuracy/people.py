"""The figures of docs/accuracy_people.md: population_risk on tables whose people are all known.

- `python -m benchmarks.accuracy.people measure CASES.json FAMILY [tables or choices] [seed] [role]`
- `python -m benchmarks.accuracy.people persons PERSONS.json [populations a corpus]`
- `python -m benchmarks.accuracy.people choose CASES.json …` prints constants, by the families for choosing
- `python -m benchmarks.accuracy.people page CASES.json … [PERSONS.json]` prints the tables of the page

`surveys` reads the CSV files of the Python package pydataset 0.2.0, below the folder REID_SQL_SURVEYS.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from benchmarks.accuracy import (
    generated,
    in_sql,
    kinds,
    lists,
    peculiar,
    people_judge,
    people_page,
    people_persons,
    places,
)
from benchmarks.accuracy.people_cases import (
    Case,
    Coded,
    cases_of_samples,
    cases_of_table,
    code_frame,
    table,
)
from benchmarks.accuracy.people_families import FAMILIES, SURVEYS

FRACTIONS: Final = (0.1, 0.01, 0.003, 0.001)
SURVEY_FRACTIONS: Final = (0.2, 0.05, 0.015)
PERSONS_AT: Final = (
    ("adult", 0.01),
    ("adult", 0.1),
    ("census_income_kdd", 0.01),
    ("cps_tax_units", 0.01),
    ("hdv2003", 0.1),
)
Source = Callable[[str, int, int], Iterator[Case]]


def main() -> None:
    """Do what is asked for."""
    command, path, *rest = sys.argv[1:]
    if command == "measure":
        family, count, seed, role = [*rest, *("", "4", "1", "both")[len(rest) :]]
        names = FAMILIES[family].names_of(role)
        measured = [asdict(case) for case in measure(names, int(count), int(seed))]
        Path(path).write_text(json.dumps(measured), encoding="utf-8")
    elif command == "persons":
        found = persons(int(rest[0]) if rest else 24)
        Path(path).write_text(json.dumps(found), encoding="utf-8")
    elif command == "choose":
        cases, _ = read([path, *rest])
        chosen = {name: family.choose(cases) for name, family in FAMILIES.items()}
        print(people_judge.choose({name: some for name, some in chosen.items() if some}))
    else:
        print(people_page.page(*read([path, *rest])))


def measure(names: Sequence[str], count: int, seed: int) -> Iterator[Case]:
    """Measure tables of these names."""
    for name in names:
        yield from source_of(name)(name, count, seed)
        print(name, file=sys.stderr, flush=True)


def source_of(name: str) -> Source:
    """Where the cases of a table, or of a generator, come from."""
    of_generators: dict[str, Source] = dict.fromkeys(generated.FAMILIES, generated.cases)
    of_generators |= dict.fromkeys(kinds.KINDS, kinds.cases) | dict.fromkeys(
        places.KINDS, places.cases
    )
    of_generators |= dict.fromkeys(lists.KINDS, lists.cases)
    of_generators |= dict.fromkeys(peculiar.KINDS, peculiar.cases)
    of_generators |= dict.fromkeys(lists.REAL, lists.cases_of_baskets)
    of_generators |= {kind.__name__: _of_kind_in_sql for kind in in_sql.KINDS}
    if name in of_generators:
        return of_generators[name]
    if name in SURVEYS:
        return partial(_of_table, survey, SURVEY_FRACTIONS)
    return partial(_of_table, table, FRACTIONS)


def _of_kind_in_sql(name: str, count: int, seed: int) -> Iterator[Case]:
    """Draw populations of a kind of `in_sql`, and nested samples of each."""
    make = next(kind for kind in in_sql.KINDS if kind.__name__ == name)
    for place in range(count):
        rng = np.random.default_rng([seed, place, *name.encode()])
        people = round(float(np.exp(rng.uniform(*np.log(kinds.PEOPLE)))))
        whole = code_frame(pl.DataFrame(dict(make(rng, people))))
        yield from cases_of_samples(name, whole, rng.permutation(people), kinds.SAMPLES, place)


def _of_table(
    read: Callable[[str], Coded], fractions: tuple[float, ...], name: str, count: int, seed: int
) -> Iterator[Case]:
    return cases_of_table(name, read(name), count, seed, fractions)


def survey(name: str) -> Coded:
    """Read a survey of the package pydataset, without its column of row numbers and keys of persons."""
    path, dropped = SURVEYS[name]
    frame = pl.read_csv(
        Path(os.environ["REID_SQL_SURVEYS"]) / path, infer_schema_length=None, null_values=["NA"]
    )
    return code_frame(frame.drop(frame.columns[0], *dropped))


def read(files: list[str]) -> tuple[list[Case], dict[str, Any]]:
    """Read cases, and the figures of persons."""
    found = [json.loads(Path(name).read_text(encoding="utf-8")) for name in files]
    cases = [Case(**case) for one in found if isinstance(one, list) for case in one]
    return cases, next((one for one in found if isinstance(one, dict)), {})


def persons(count: int) -> Mapping[str, dict[str, float]]:
    """Score persons of each corpus, by shrinkage that the other corpora taught."""
    scored = []
    for corpus, fraction in PERSONS_AT:
        scored += people_persons.scored(corpus, count, fraction)
        print(corpus, fraction, file=sys.stderr, flush=True)
    found: dict[str, list[people_persons.Scored]] = {}
    for one in people_persons.held_out(scored):
        found.setdefault(f"{one.corpus} {one.fraction}", []).append(one)
    return {name: people_persons.figures(some) for name, some in found.items()}


if __name__ == "__main__":
    main()
