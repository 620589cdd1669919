"""A made-up town to try things on: people.csv, and the generator that made it."""

from pathlib import Path


def people() -> str:
    """Path of the town's 3,000 people, a CSV file that is installed with the package.

    >>> import duckdb
    >>> duckdb.sql(f"SELECT count(*) FROM '{people()}'").fetchall()
    [(3000,)]
    """
    return str(Path(__file__).parent / "people.csv")
