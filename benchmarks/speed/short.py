"""Functions of a thousand records, against the plain GROUP BY: what a call costs beside the counting."""

from collections.abc import Iterator
from typing import Final

from benchmarks.speed.compare import Case
from benchmarks.speed.measure import Job

PREPARE: Final = """CREATE TEMP TABLE people AS SELECT i % 50 AS age, i % 2 AS sex, i % 7 AS diagnosis
    FROM range(1000) numbers(i)"""
QI: Final = "['age', 'sex']"
PLAIN: Final = (
    "SELECT sum(n)::BIGINT AS records FROM (SELECT count(*) AS n FROM people GROUP BY age, sex)"
)
CALLS: Final = {
    "equivalence_class_size": "SELECT count(k) AS records FROM "
    "(SELECT equivalence_class_size(age, sex) AS k FROM people)",
    "class_size_histogram": f"SELECT sum(records) AS records FROM class_size_histogram(people, {QI})",
    "risk_summary": f"SELECT records FROM risk_summary(people, {QI})",
    "journalist_risk": f"SELECT records FROM journalist_risk(people, people, {QI})",
    "l_diversity": f"SELECT records FROM l_diversity(people, {QI}, 'diagnosis')",
    "t_closeness": f"SELECT records FROM t_closeness(people, {QI}, 'diagnosis')",
    "pyc_fit": f"SELECT 1000 AS records FROM pyc_fit(people, {QI})",
    "population_risk": f"SELECT 1000 AS records FROM population_risk(people, {QI}, [67e6])",
}


def cases(threads: int) -> Iterator[Case]:
    """Each function once, in a connection that has registered and asked nothing before."""
    given = {"settings": {"threads": str(threads)}, "prepare": PREPARE}
    for name, sql in CALLS.items():
        ours, rival = (Job("in_duckdb", {"sql": asked, **given}) for asked in (sql, PLAIN))
        yield Case("few_records", f"{name}, 1,000 records", ours, rival)
