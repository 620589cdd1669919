"""The figures of docs/accuracy_people.md: the model of people on corpora that did not shape its constants.

- `python -m benchmarks.accuracy.people measure CASES.json [choices of columns a corpus] [seed]`
- `python -m benchmarks.accuracy.people generate CASES.json [populations a family] [seed]`
- `python -m benchmarks.accuracy.people kinds CASES.json [populations a kind] [seed] [kind …]`
- `python -m benchmarks.accuracy.people persons PERSONS.json [populations a corpus]`
- `python -m benchmarks.accuracy.people tell RESULTS.json CASES.json [CASES.json …] [PERSONS.json]`
- `python -m benchmarks.accuracy.people page RESULTS.json` prints the tables of docs/accuracy_people.md
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from benchmarks.accuracy import generated, kinds, people_page, people_persons
from benchmarks.accuracy.people_cases import FOREIGN, OF_PEOPLE, Case, cases
from benchmarks.accuracy.people_judge import Judged, judged, learnt
from reid_sql.models.population_risk.answer import (
    STATUS_GROUP_SAMPLE,
    STATUS_NO_REPEATS,
    STATUS_OVERDISPERSED,
    STATUS_SMALL_SAMPLE,
    STATUS_UNCERTAIN_DEPENDENCIES,
    STATUS_UNLIKE_PEOPLE,
)
from reid_sql.models.population_risk.shares import KINDS

CHOICES: Final = 16
DOUBTS: Final = (
    STATUS_UNLIKE_PEOPLE,
    STATUS_OVERDISPERSED,
    STATUS_UNCERTAIN_DEPENDENCIES,
    STATUS_NO_REPEATS,
    STATUS_SMALL_SAMPLE,
    STATUS_GROUP_SAMPLE,
)
PERSONS_AT: Final = (
    ("adult", 0.01),
    ("adult", 0.1),
    ("census_income_kdd", 0.01),
    ("cps_tax_units", 0.01),
    ("hdv2003", 0.1),
)


def main() -> None:
    """Do what is asked for."""
    command, path, *rest = sys.argv[1:]
    file = Path(path)
    if command == "measure":
        found = [asdict(case) for case in measured(*(int(number) for number in rest))]
        file.write_text(json.dumps(found), encoding="utf-8")
    elif command == "generate":
        found = [asdict(case) for case in generated_cases(*(int(number) for number in rest))]
        file.write_text(json.dumps(found), encoding="utf-8")
    elif command == "kinds":
        count, seed, *some = [*rest, *("4", "1")[len(rest) :]]
        found = [asdict(case) for case in cases_of_kinds(int(count), int(seed), some)]
        file.write_text(json.dumps(found), encoding="utf-8")
    elif command == "persons":
        file.write_text(json.dumps(persons(int(rest[0]) if rest else 24)), encoding="utf-8")
    elif command == "tell":
        file.write_text(json.dumps(told([Path(name) for name in rest]), indent=1), encoding="utf-8")
    else:
        print(people_page.page(json.loads(file.read_text(encoding="utf-8"))))


def measured(choices: int = CHOICES, seed: int = 1) -> list[Case]:
    """Measure every corpus."""
    found = []
    for corpus in (*OF_PEOPLE, *FOREIGN):
        found += list(cases(corpus, choices, seed))
        print(f"{corpus}: {len(found)} cases", file=sys.stderr, flush=True)
    return found


def generated_cases(count: int = 4, seed: int = 1) -> list[Case]:
    """Measure every family of generators."""
    found = []
    for family in generated.FAMILIES:
        found += list(generated.cases(family, count, seed))
        print(f"{family}: {len(found)} cases", file=sys.stderr, flush=True)
    return found


def cases_of_kinds(count: int = 4, seed: int = 1, some: Sequence[str] = ()) -> list[Case]:
    """Measure every kind, or some."""
    found = []
    for kind in some or kinds.KINDS:
        found += list(kinds.cases(kind, count, seed))
        print(f"{kind}: {len(found)} cases", file=sys.stderr, flush=True)
    return found


def persons(count: int) -> dict[str, dict[str, float]]:
    """Score persons of each corpus, by caution that the other corpora taught."""
    scored = []
    for corpus, fraction in PERSONS_AT:
        scored += people_persons.scored(corpus, count, fraction)
        print(corpus, fraction, file=sys.stderr, flush=True)
    found: dict[str, list[people_persons.Scored]] = {}
    for one in people_persons.held_out(scored):
        found.setdefault(f"{one.corpus} {one.fraction}", []).append(one)
    return {name: people_persons.figures(some) for name, some in found.items()}


def told(files: Sequence[Path]) -> dict[str, Any]:
    """Judge the cases by constants of other corpora, and keep what the page needs."""
    read = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    found = [Case(**case) for one in read if isinstance(one, list) for case in one]
    of_people = [case for case in found if case.corpus in OF_PEOPLE]
    corpora = list(dict.fromkeys(case.corpus for case in of_people))
    taught = {corpus: learnt([case for case in of_people if case.corpus != corpus]) for corpus in corpora}
    taught |= {"all": learnt(of_people)} if of_people else {}
    return {
        "cases": [_row(one) for one in judged(found)],
        "learnt": {name: asdict(one) for name, one in taught.items()},
        "persons": next((one for one in read if isinstance(one, dict)), {}),
    }


def _row(one: Judged) -> dict[str, Any]:
    case = one.case
    row: dict[str, Any] = {
        "corpus": case.corpus,
        "seed": case.seed,
        "fraction": case.fraction,
        "records": case.records,
        "columns": len(case.columns),
        "seconds": round(case.seconds, 3),
        "doubts": [DOUBTS.index(note) for note in one.doubts],
    }
    for name in KINDS:
        share = one.shares[name]
        row[name] = [round(v, 6) for v in (case.truth[name], share.estimate, share.low, share.high)]
        row[f"{name} in the sample"] = round(case.sample[name], 6)
    return row | {
        name: [None if v is None else round(v, 6) for v in values] for name, values in case.rivals.items()
    }


if __name__ == "__main__":
    main()
