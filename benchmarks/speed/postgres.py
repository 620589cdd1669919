"""PostgreSQL through Ibis against a bare double GROUP BY: python -m benchmarks.speed.postgres --help.

It starts a server of its own, and stops it. Seconds are the client's, processor time the server's, peaks the
client's; `--rows 50000 500000 5000000` tells whether these stay flat.
"""

import sys
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser, Namespace
from collections.abc import Iterator
from typing import Any, Final

import psycopg
from rich.console import Console

from benchmarks.speed.compare import Case, compare
from benchmarks.speed.measure import Job
from benchmarks.speed.table import table
from tests.postgres import postgres_server

SENSITIVE: Final = {"sensitive": "diagnosis"}
QUESTIONS: Final[tuple[tuple[str, dict[str, Any], float], ...]] = (
    ("class_size_histogram", {}, 1.1),
    ("risk_summary", {}, 1.1),
    ("l_diversity", SENSITIVE, 3.0),
    ("l_diversity", SENSITIVE | {"variant": "recursive"}, 3.0),
    ("t_closeness", SENSITIVE, 3.0),
    ("attribute_disclosure", SENSITIVE | {"measure": "beta_likeness"}, 3.0),
)
# About ten records a class; the most frequent of 21 diagnoses is that of a third.
PEOPLE: Final = """CREATE TABLE people AS SELECT floor(95 * random() ^ 0.9)::int AS age,
    CASE WHEN random() < 0.5 THEN 'F' ELSE 'M' END AS sex,
    lpad(floor({} * random() ^ 1.3)::int::text, 5, '0') AS postcode,
    'diagnosis ' || floor(21 * random() ^ 3) AS diagnosis FROM generate_series(1, {})"""


def main() -> int:
    """Measure at each number of rows; 1 where two sides disagreed or a run failed."""
    asked, failed = _arguments(), False
    for rows in asked.rows:
        with postgres_server() as folder:
            _fill(folder, rows)
            outcomes = [compare(case, asked.repeat) for case in _cases(folder)]
        title = f"PostgreSQL through Ibis, {rows:,} rows, {asked.repeat} pairs"
        Console(width=None if sys.stdout.isatty() else 210).print(table(outcomes, title))
        failed |= any(outcome.is_error for outcome in outcomes)
    return int(failed)


def _arguments() -> Namespace:
    parser = ArgumentParser(
        prog="python -m benchmarks.speed.postgres",
        description=__doc__,
        formatter_class=ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[50_000, 500_000, 5_000_000])
    parser.add_argument("--repeat", type=int, default=3, help="pairs of runs of a case")
    return parser.parse_args()


def _fill(folder: str, rows: int) -> None:
    with psycopg.connect(
        host=folder, user="reid", dbname="postgres", autocommit=True
    ) as connection:
        connection.execute("SELECT setseed(0.5)")
        connection.execute(PEOPLE.format(rows // 1667, rows))
        connection.execute("VACUUM ANALYZE people")


def _cases(folder: str) -> Iterator[Case]:
    for function, options, target in QUESTIONS:
        given = {"folder": folder, "function": function, "options": options}
        ours, rival = (Job("in_postgres", given | {"ours": mine}) for mine in (True, False))
        words = ", ".join(
            [function, *(str(options[name]) for name in options if name == "variant")]
        )
        yield Case("postgres", words, ours, rival, target)


if __name__ == "__main__":
    sys.exit(main())
