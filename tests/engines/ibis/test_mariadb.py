"""What is written for MySQL, run on MariaDB, finds what Polars finds."""

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import ibis
import polars as pl
import pytest

import reid_sql.ibis as ri
import reid_sql.polars as rp
from tests.dbt.odd import plain_tables
from tests.mariadb import town

TYPES = ["INT", "VARCHAR(9)", "DOUBLE", "DATE", "VARCHAR(9)"]
TABLE = ibis.table(
    {"age": "int32", "name": "string", "height": "float64", "select": "date", "disease": "string"},
    name="country",
)
QI, TWO = ["age", "name", "height", "select"], ["name", "height"]
ASKED: list[tuple[str, list[Any], dict[str, Any]]] = [
    *(("equivalence_classes", [QI], {"nulls": nulls}) for nulls in ("value", "drop")),
    *(("class_size_histogram", [QI], {"nulls": nulls}) for nulls in ("value", "drop")),
    *(("class_size_histogram", [TWO], {"by": ["disease"], "nulls": nulls}) for nulls in ("value", "drop")),
    ("equivalence_classes", [TWO], {"entity": "disease"}),
    ("class_size_histogram", [TWO], {"entity": "disease"}),
    ("l_diversity_classes", [TWO, "disease"], {"l": 5}),
    ("l_diversity_classes", [TWO, "disease"], {"l": 4, "variant": "entropy"}),
    ("l_diversity_classes", [TWO, "disease"], {"l": 4, "variant": "recursive"}),
    ("t_closeness_classes", [TWO, "disease"], {"t": 0.1}),
    ("alpha_k_anonymity_classes", [TWO, "disease"], {"alpha": 0.4, "k": 5}),
    ("beta_likeness_classes", [TWO, "disease"], {"beta": 0.1}),
    ("delta_disclosure_classes", [TWO, "disease"], {"delta": 0.1}),
]


@pytest.fixture(scope="module")
def country() -> pl.DataFrame:
    """Records without NaN, which the database has not."""
    return plain_tables()["country"].with_columns(pl.col("height").fill_nan(2.5))


@pytest.fixture(scope="module")
def cursor(mariadb: str, country: pl.DataFrame) -> Iterator[Any]:
    with town(mariadb, {"country": country}, TYPES) as opened:
        yield opened


def test_the_database_itself_would_merge_classes(cursor: Any, country: pl.DataFrame) -> None:
    cursor.execute("SELECT count(DISTINCT name) FROM country")
    assert cursor.fetchone()[0] == 3 < country["name"].drop_nulls().n_unique()


def answer(cursor: Any, table: Any, columns: list[str]) -> Counter[tuple[Any, ...]]:
    cursor.execute(str(ibis.to_sql(table.select(columns), dialect="mysql")))
    return Counter(tuple(map(_plain, row)) for row in cursor.fetchall())


def _plain(value: Any) -> Any:
    return round(float(value), 9) + 0.0 if isinstance(value, float | Decimal) else value


@pytest.mark.parametrize(("name", "arguments", "options"), ASKED)
def test_mariadb_finds_what_polars_finds(
    cursor: Any, country: pl.DataFrame, name: str, arguments: list[Any], options: dict[str, Any]
) -> None:
    expected = getattr(rp, name)(country.lazy(), *arguments, **options).collect()
    found = answer(cursor, getattr(ri, name)(TABLE, *arguments, **options), expected.columns)
    assert found == Counter(tuple(map(_plain, row)) for row in expected.rows())
    assert found


def test_records_stand_beside_the_size_of_their_class(cursor: Any, country: pl.DataFrame) -> None:
    expected = country.lazy().with_columns(k=rp.equivalence_class_size(*QI)).collect()
    found = answer(cursor, ri.equivalence_class_size(TABLE, *QI, name="k"), expected.columns)
    assert found == Counter(tuple(map(_plain, row)) for row in expected.rows())
