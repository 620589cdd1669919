"""The model of people: fitting, scoring and the one answer, the copula's fit and scores beside it."""

from collections.abc import Iterator
from typing import Final

from benchmarks.speed.compare import Case
from benchmarks.speed.measure import Job
from benchmarks.speed.qar import table

LEVELS: Final = (90, 2, 50, 15, 7, 5, 800, 40, 12, 30)
SCORED, ANSWERED = 100_000, 1_000_000  # records


def cases(threads: int) -> Iterator[Case]:
    """Fit and score a hundred thousand records; answer for a population from a million."""
    columns = [f"c{place}" for place in range(len(LEVELS))]
    settings = {"threads": str(threads)}
    scored = {"settings": settings, "prepare": table(SCORED, LEVELS)}
    ours, rival = (
        Job(
            "in_duckdb",
            scored
            | {
                "prepare": f"{scored['prepare']}; CREATE TEMP TABLE fitted AS "
                f"FROM fit_{model}('town', people, {columns})",
                "sql": f"SELECT count(cell_probability) AS records FROM {score}(people, 'town', 1e7)",
            },
        )
        for model, score in (("people", "score_records"), ("copula", "score_copula"))
    )
    yield Case("people", "scores of 100,000 records × 10 / of the copula", ours, rival)
    fitted = f"SELECT {SCORED} AS records FROM fit_{{}}('town', people, {columns})"
    ours, rival = (Job("in_duckdb", scored | {"sql": fitted.format(model)}) for model in ("people", "copula"))
    yield Case("people", "fit to 100,000 records × 10 / of the copula", ours, rival)
    sql = f"SELECT {ANSWERED} AS records FROM population_risk(people, {columns}, [67e6])"
    answered = {"settings": settings, "prepare": table(ANSWERED, LEVELS), "sql": sql}
    yield Case("people", "population_risk of 1,000,000 × 10", Job("in_duckdb", answered))
