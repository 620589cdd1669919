"""Attackers who know several rows of a person, against a self-join that a user would write."""

from collections.abc import Iterator
from typing import Final

from benchmarks.speed.compare import Case
from benchmarks.speed.measure import Job

ROWS_OF_A_PERSON: Final = 10
SAMPLES: Final = 10_000
CPU_SECONDS: Final = 2.0  # for 1,000,000 rows
SIZES: Final = 1_000_000, 10_000_000
# Some places are popular: a join on them alone makes many pairs.
PREPARE: Final = """SELECT setseed(0.5);
    CREATE TEMP TABLE visits AS
    SELECT range // {each} AS person, floor(1000 * pow(random(), 3))::INTEGER AS place,
      floor(168 * random())::INTEGER AS hour
    FROM range({rows})"""
OURS: Final = """SELECT count(*) AS lines, max(people) AS people
    FROM unicity(visits, 'person', ['place', 'hour'], points := [1, 2, 3, 4], samples := {samples})"""
# The first p rows of a person, in the order of a hash; those match who have all of them.
RIVAL: Final = """WITH each AS (SELECT DISTINCT person, place, hour FROM visits),
    drawn AS (SELECT DISTINCT person FROM visits ORDER BY hash(person) LIMIT {samples}),
    known AS (
      SELECT person, place, hour,
        row_number() OVER (PARTITION BY person ORDER BY hash(place, hour)) AS number
      FROM each JOIN drawn USING (person)
    ),
    matching AS (
      SELECT points, known.person, other.person AS other
      FROM known JOIN range(1, 5) AS p(points) ON number <= points
      JOIN each AS other ON other.place = known.place AND other.hour = known.hour
      GROUP BY ALL HAVING count(*) = points
    ),
    singled AS (SELECT points, person, count(*) AS matches FROM matching GROUP BY ALL),
    shares AS (SELECT points, avg((matches = 1)::INTEGER) AS uniqueness FROM singled GROUP BY points)
    SELECT count(uniqueness) AS lines, (SELECT count(DISTINCT person) FROM visits) AS people FROM shares"""


def cases(threads: int) -> Iterator[Case]:
    """Four numbers of known rows, of drawn people."""
    for rows in SIZES:
        given = {
            "settings": {"threads": str(threads)},
            "prepare": PREPARE.format(each=ROWS_OF_A_PERSON, rows=rows),
        }
        ours, rival = (
            Job("in_duckdb", {"sql": sql.format(samples=SAMPLES), **given}) for sql in (OURS, RIVAL)
        )
        words = f"{rows:,} rows of {rows // ROWS_OF_A_PERSON:,} people, {SAMPLES:,} draws"
        yield Case("unicity", words, ours, rival, cpu_target=CPU_SECONDS * rows / 1e6)
