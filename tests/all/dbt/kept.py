"""The queries of each dialect, and what reid-sql's own functions find in their place."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import duckdb
import polars as pl

import reid_sql

FOLDER: Final = Path(__file__).parent / "dialects"
QI: Final = "['age', 'name', 'height', 'select']"
SIZES: Final = (
    'SELECT class_size, age, name, height, "select" FROM equivalence_classes(people, {}) WHERE '
)
VALUES: Final = 'SELECT class_size, value, age, name, height, "select" FROM '
BESIDE: Final = " AND ".join(
    f'people."{name}" IS NOT DISTINCT FROM country."{name}"'
    for name in ("age", "name", "height", "select")
)
EXPECTED: Final[Mapping[str, str]] = {
    "k_anonymity": SIZES.format(QI) + "class_size < 5",
    "k_anonymity of records": "SELECT country.class_size, people.* FROM people JOIN "
    f"(FROM equivalence_classes('people', {QI}, nulls := 'drop') WHERE class_size < 5) AS country "
    f"ON {BESIDE}",
    "k_anonymity of counts": "SELECT sum(class_size) AS failures "
    f"FROM equivalence_classes(people, {QI}) WHERE class_size < 5",
    "records_at_risk": SIZES.format(QI) + "1 / class_size > 0.2",
    "uniqueness": SIZES.format(QI) + "class_size = 1",
    "average_risk": f"SELECT classes AS failures FROM risk_summary(people, {QI})",
    "l_diversity distinct": VALUES + f"disclosing_classes(people, {QI}, 'disease')",
    "l_diversity entropy": VALUES
    + f"disclosing_classes(people, {QI}, 'disease', variant := 'entropy')",
    "l_diversity recursive": VALUES
    + f"disclosing_classes(people, {QI}, 'disease', variant := 'recursive')",
    "t_closeness": VALUES
    + f"disclosing_classes(people, {QI}, 'disease', measure := 't_closeness')",
    "alpha_k_anonymity": VALUES
    + f"disclosing_classes(people, {QI}, 'disease', measure := 'alpha_k_anonymity')",
    "journalist_risk": "SELECT people.class_size AS failures, "
    "greatest(people.class_size, country.class_size) AS class_size, people.age, people.name, people.height, "
    f"people.\"select\" FROM equivalence_classes('people', {QI}) AS people "
    f"JOIN equivalence_classes('country', {QI}) AS country "
    f"ON {BESIDE} WHERE greatest(people.class_size, country.class_size) < 5",
    "no_worse": "SELECT 'average_risk' AS measure, people.average_risk AS figure, country.average_risk "
    f"AS figure_before FROM risk_summary(people, {QI}) AS people, risk_summary(country, {QI}) AS country "
    "UNION ALL SELECT 'records_at_risk', people.records_at_risk, country.records_at_risk "
    f"FROM risk_summary(people, {QI}) AS people, risk_summary(country, {QI}) AS country "
    "UNION ALL SELECT 'uniqueness', people.uniqueness, country.uniqueness "
    f"FROM risk_summary(people, {QI}) AS people, risk_summary(country, {QI}) AS country",
}


def queries(dialect: str, folder: Path = FOLDER) -> dict[str, str]:
    """Each query of a dialect by its name, as stored or in a folder of all."""
    statements = (folder / f"{dialect}.sql").read_text(encoding="utf-8").split("\n;\n")
    named = (statement.strip().split("\n", 1) for statement in statements if statement.strip())
    return {name.removeprefix("-- "): query for name, query in named}


@contextmanager
def oracle(frames: Mapping[str, pl.DataFrame]) -> Iterator[duckdb.DuckDBPyConnection]:
    """The tables where reid-sql's own functions are."""
    with duckdb.connect() as con:
        reid_sql.register(con)
        for name, frame in frames.items():
            con.register("given", frame)
            con.execute(f"CREATE TABLE {name} AS FROM given")
        yield con
