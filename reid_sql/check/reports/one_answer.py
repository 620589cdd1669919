"""The one answer of a table in its report: unique people, right matches, people below k, and a sentence."""

from collections.abc import Mapping
from typing import Any, Final

from reid_sql.check.judging.masking import few_masked, round_above
from reid_sql.check.measures.answers import STOPPED, Answers, unmeasured
from reid_sql.check.measures.catalogue import MEASURES
from reid_sql.check.policy.policy import Check
from reid_sql.models.numerics.quantiles import percent
from reid_sql.runner import sentence

Page = dict[str, Any]
MEASURE: Final = "population_below_k"
SHARES: Final = {
    "uniqueness": "unique people",
    "correctness": "right matches",
    "below_k": "people in classes smaller than {k}",
}


def one_answer(
    release: Answers, population: float | None, seed: int, *, below: int, small: bool
) -> Page | None:
    """Ask what becomes of the table in a population: nothing where none is named, else shares or a status."""
    if population is None or population <= release.records or not release.table.quasi_identifiers:
        return None
    check = _check(release, population, seed)
    try:
        row = release.answer(check)[0]
    except STOPPED:
        raise
    except unmeasured(release) as error:
        told = few_masked(sentence(error), below)
        return {"population": population, "method": None, "status": told, "sentence": None}
    found = {name: row[name] for name in ("population", *_columns())} | {"k": check.parameters["k"]}
    if small:
        found |= {name: _up(row[name], release.records, below) for name in _columns()}
    said = {
        "rounded": small,
        "method": row["method"],
        "status": few_masked(row["status"], below),
        "sentence": None if small else row["sentence"],
    }
    return found | said


def _columns() -> list[str]:
    return [f"{name}{end}" for name in SHARES for end in ("", "_low", "_high")]


def _check(release: Answers, population: float, seed: int) -> Check:
    """The check that a policy would write for it, so that its answer is asked for once."""
    measure = MEASURES[MEASURE]
    defaults = {name: each.default for name, each in measure.parameters.items()}
    return Check(
        measure=measure,
        parameters=defaults | {"population": population, "seed": seed},
        quasi_identifiers=release.table.quasi_identifiers,
        sensitive=None,
        limit=None,
        no_worse=False,
        by=(),
        judge_by="interval",
    )


def _up(share: float, records: int, below: int) -> float:
    """Round a share up, where an exact one would tell how few records there are of a class size."""
    return share if not 0 < share < 1 else min(1.0, round_above(share, records, below))


def told(answer: Mapping[str, Any]) -> dict[str, str]:
    """Give the shares in words, each with its interval; of rounded ones the upper end alone.

    >>> shares = dict.fromkeys(("correctness", "correctness_low", "correctness_high"), 0.5)
    >>> shares |= dict.fromkeys(("below_k", "below_k_low", "below_k_high"), 0.7)
    >>> page = {"uniqueness": 0.2, "uniqueness_low": 0.1, "uniqueness_high": 0.3} | shares
    >>> page |= {"k": 5, "rounded": False}
    >>> told(page)["unique people"], told(page | {"rounded": True})["unique people"]
    ('20.0 % (10.0 % to 30.0 %)', 'at most 30.0 %')
    """
    found = {}
    for name, words in SHARES.items():
        middle, low, high = (answer[f"{name}{end}"] for end in ("", "_low", "_high"))
        interval = f"{percent(middle)} ({percent(low)} to {percent(high)})"
        found[words.format(k=answer["k"])] = f"at most {percent(high)}" if answer["rounded"] else interval
    return found
