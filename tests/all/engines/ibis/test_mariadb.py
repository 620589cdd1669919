"""What is written for MySQL, run on MariaDB, finds what Polars finds."""

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import ibis
import polars as pl
import pymysql
import pytest

import reid_sql.ibis as ri
import reid_sql.polars as rp
from reid_sql.check import gate
from reid_sql.check.policy import read_policy
from reid_sql.engines.ibis.frames import collected
from reid_sql.errors import ReidError
from tests.all.dbt.odd import plain_tables
from tests.cells import each_cell
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
    *(
        ("class_size_histogram", [TWO], {"by": ["disease"], "nulls": nulls})
        for nulls in ("value", "drop")
    ),
    ("disclosing_classes", [TWO, "disease"], {"threshold": 5}),
    ("disclosing_classes", [TWO, "disease"], {"threshold": 4, "variant": "entropy"}),
    ("disclosing_classes", [TWO, "disease"], {"threshold": 4, "variant": "recursive"}),
    ("disclosing_classes", [TWO, "disease"], {"measure": "t_closeness", "threshold": 0.1}),
    (
        "disclosing_classes",
        [TWO, "disease"],
        {"measure": "alpha_k_anonymity", "threshold": 0.4, "k": 5},
    ),
    ("disclosing_classes", [TWO, "disease"], {"measure": "beta_likeness", "threshold": 0.1}),
    ("disclosing_classes", [TWO, "disease"], {"measure": "delta_disclosure", "threshold": 0.1}),
]


@pytest.mark.parametrize("name", ["equivalence_classes", "class_size_histogram"])
def test_people_of_a_table_without_a_database_are_refused(name: str) -> None:
    """Whether each row names a person is counted first, which needs the database."""
    with pytest.raises(ReidError, match="entity must name a column of a table in a database"):
        getattr(ri, name)(TABLE, TWO, entity="disease")


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


@each_cell("name, arguments, options", ASKED)
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


ODD = """quasi_identifiers = ["age"]
nulls = "drop"
checks = [{ measure = "k", at_least = 1, by = ["mood"] }, { measure = "k", at_least = 1, by = ["name"] }]"""


def test_groups_are_values_as_they_are_compared(mariadb: str, tmp_path: Path) -> None:
    """An enum has the empty text for a value that is none of its members, and may have it as one.

    Groups that would be written alike are refused, and none is one to which a collation adds others.
    """
    with (
        pymysql.connect(unix_socket=mariadb, user="root", autocommit=True) as other,
        other.cursor() as cursor,
    ):
        cursor.execute("CREATE OR REPLACE DATABASE alike COLLATE utf8mb4_general_ci")
        cursor.execute("USE alike")
        cursor.execute("SET sql_mode = ''")
        cursor.execute("CREATE TABLE odd (age INT, mood ENUM('x', ''), name VARCHAR(9))")
        rows = "(1, 'no member', 'a'), (1, '', 'A'), (NULL, '', 'a'), (2, 'x', 'a'), (2, 'no member', 'A ')"
        cursor.execute(f"INSERT INTO odd VALUES {rows}")
        pymysql.install_as_MySQLdb()
        with pytest.warns(UserWarning, match="time zone"):  # a server without names of zones
            con = ibis.mysql.connect(
                user="root", unix_socket=mariadb, host="localhost", database="alike"
            )
        table = con.table("odd")
        with pytest.raises(ReidError, match="'mood' must come to the client as values that differ"):
            collected(ri.risk_summary(table, ["age"], by=["mood"]), "")
        (tmp_path / "p.toml").write_text(
            f"mask_below = 1\n[[tables]]\nname = 't'\n{ODD}", encoding="utf-8"
        )
        page = gate.run(tmp_path / "p.toml", tables={"t": table}).page
        assert [each["verdict"] for each in page["checks"]] == ["not judged", "pass"]
        groups = [(each["group"]["name"], each["records"]) for each in page["checks"][1]["groups"]]
        assert groups == [
            ("A", 1),
            ("A ", 1),
            ("a", 3),
        ]
        with gate.open_with_engine(
            None, read_policy(tmp_path / "p.toml", ["t"]), tables={"t": table}
        ) as releases:
            gaps = sorted(releases[0].engine.count_gaps(["age"], ["name"]))
        assert gaps == [("A", False, 1), ("A ", False, 1), ("a", False, 2), ("a", True, 1)]
        con.disconnect()
        cursor.execute("DROP DATABASE alike")
