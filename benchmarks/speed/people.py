"""The model of people: fitting, scoring and the one answer, the copula's fit and scores beside it."""

from collections.abc import Iterator
from typing import Final

from benchmarks.speed.compare import Case
from benchmarks.speed.measure import Job
from benchmarks.speed.qar import table

LEVELS: Final = (90, 2, 50, 15, 7, 5, 800, 40, 12, 30)
SCORED, ANSWERED = 100_000, 1_000_000  # records, of which those scored are distinct
MODELS: Final = ("people", "copula")


def cases(threads: int) -> Iterator[Case]:
    """Fit and score a hundred thousand records; answer for a population from a million."""
    columns, settings = [f"c{place}" for place in range(len(LEVELS))], {"threads": str(threads)}
    given = table(SCORED, LEVELS)
    fits = {model: f"FROM fit_{model}('town', people, {columns})" for model in MODELS}
    kept = {model: f"CREATE TEMP TABLE fitted AS {fit}" for model, fit in fits.items()}
    scores = dict.fromkeys(
        MODELS, "SELECT count(cell_probability) AS records FROM score_records(people, 'town', 1e7)"
    )
    for words, asked in (
        ("fit and score", {model: (given, f"{kept[model]}; {scores[model]}") for model in kept}),
        ("scores of", {model: (f"{given}; {kept[model]}", scores[model]) for model in kept}),
        ("fit to", {model: (given, f"SELECT {SCORED} AS records {fits[model]}") for model in kept}),
    ):
        ours, rival = (
            Job("in_duckdb", {"settings": settings, "prepare": prepare, "sql": sql})
            for prepare, sql in asked.values()
        )
        yield Case("people", f"{words} 100,000 distinct records × 10 / of the copula", ours, rival)
    sql = f"SELECT {ANSWERED} AS records FROM population_risk(people, {columns}, [67e6])"
    answered = {"settings": settings, "prepare": table(ANSWERED, LEVELS), "sql": sql}
    yield Case("people", "population_risk of 1,000,000 × 10", Job("in_duckdb", answered))
