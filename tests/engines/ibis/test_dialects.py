"""Every reduction in the words of databases that cannot be run here, as far as reading them tells."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

import ibis
import pytest
import sqlglot

import reid_sql.ibis as ri
from reid_sql.engines.ibis.alike import BY_BYTES
from reid_sql.engines.ibis.reductions.disclosure import FINITE
from reid_sql.reduction import implementation, reductions
from reid_sql.reductions.classes import CLASS_SIZE
from tests.cells import each_cell

# Of Redshift there is no dialect in Ibis 12: it is asked in that of PostgreSQL.
DIALECTS: Final = (
    *(
        "athena",
        "bigquery",
        "clickhouse",
        "databricks",
        "exasol",
        "mssql",
        "mysql",
        "oracle",
        "postgres",
    ),
    *("snowflake", "trino"),
)
COLUMNS: Final = {
    "person": "int64",
    "age": "int32",
    "name": "string",
    "height": "float64",
    "disease": "string",
    "select": "date",
}
PEOPLE: Final = ibis.table(COLUMNS, name="people")
COUNTRY: Final = ibis.table(COLUMNS, name="country")
QI: Final = ["age", "name", "height"]
INFINITE: Final = ("beta_likeness enhanced", "delta_disclosure all")


def _reduced(name: str, **arguments: Any) -> Callable[[], Any]:
    return lambda: implementation(reductions()[name], "ibis")(tbl=PEOPLE, **arguments)


def _of_classes(name: str, **options: Any) -> Callable[[], Any]:
    return _reduced(name, qi=QI, sensitive="disease", nulls="value", **options)


QUERIES: Final[Mapping[str, Callable[[], Any]]] = {
    "class_size": lambda: ri.equivalence_class_size(PEOPLE, *QI, "select", name="k"),
    "class_size of people": lambda: implementation(CLASS_SIZE, "ibis")(PEOPLE, QI, "k", "person"),
    "classes": _reduced("classes", qi=QI, nulls="value"),
    "classes of people": _reduced("classes", qi=QI, nulls="drop", entity="person"),
    "histogram": _reduced("histogram", qi=QI, nulls="value"),
    "histogram without NULL": _reduced("histogram", qi=QI, nulls="drop"),
    "histogram of people": _reduced("histogram", qi=QI, nulls="value", entity="person"),
    "histogram by group": _reduced("histogram", qi=QI, nulls="drop", by=["disease"]),
    "histogram of people by group": _reduced(
        "histogram", qi=QI, nulls="value", by=["disease"], entity="person"
    ),
    "population_histogram": _reduced(
        "population_histogram", population_tbl=COUNTRY, qi=QI, nulls="value"
    ),
    "population_histogram of people": _reduced(
        "population_histogram", population_tbl=COUNTRY, qi=QI, nulls="value", entity="person"
    ),
    "l_diversity distinct": _of_classes("l_diversity", variant="distinct", c=3),
    "l_diversity entropy": _of_classes("l_diversity", variant="entropy", c=3),
    "l_diversity recursive": _of_classes("l_diversity", variant="recursive", c=3),
    "disclosing_classes": _of_classes(
        "disclosing_classes", measure="l_diversity", variant=None, threshold=2, c=3, k=None
    ),
    "t_closeness equal": _of_classes("t_closeness", variant="equal"),
    "alpha_k_anonymity": _of_classes("alpha_k_anonymity"),
    "beta_likeness basic": _of_classes("beta_likeness", variant="basic"),
    "beta_likeness enhanced": _of_classes("beta_likeness", variant="enhanced"),
    "delta_disclosure present": _of_classes("delta_disclosure", variant="present"),
    "delta_disclosure all": _of_classes("delta_disclosure", variant="all"),
}


def had(dialect: str) -> list[str]:
    """The queries that the dialect has, by name."""
    return [name for name in QUERIES if dialect not in FINITE or name not in INFINITE]


@cache
def query(name: str, dialect: str) -> str:
    """The query in the dialect."""
    return str(ibis.to_sql(QUERIES[name](), dialect=dialect))


NAMED = {"mssql": "tsql"}  # as sqlglot names a dialect


@pytest.mark.newest
@each_cell("dialect", DIALECTS)
@pytest.mark.first(cells=3)
def test_a_query_reads_as_the_dialect_and_changes_nothing(dialect: str) -> None:
    for name in had(dialect):
        (tree,) = sqlglot.parse(query(name, dialect), read=NAMED.get(dialect, dialect))
        assert isinstance(tree, sqlglot.exp.Query)
        assert not list(tree.find_all(sqlglot.exp.Create, sqlglot.exp.Insert, sqlglot.exp.Drop))
        tables = {table.name for table in tree.find_all(sqlglot.exp.Table)}
        asked = {"people", "country"} if name.startswith("population") else {"people"}
        others = {cte.alias for cte in tree.find_all(sqlglot.exp.CTE)}
        assert tables - others == asked


@each_cell("dialect", sorted(each.lower() for each in BY_BYTES))
def test_texts_are_never_compared_as_they_are(dialect: str) -> None:
    """Where the database's own comparison may ignore case, the text is compared in other words."""
    if dialect in {"duckdb", "sqlite", "singlestore"}:  # run elsewhere, or not kept
        return
    tree = sqlglot.parse_one(query("histogram", dialect), read=NAMED.get(dialect, dialect))
    named = [column for column in tree.find_all(sqlglot.exp.Column) if column.name == "name"]
    assert named
    assert all(
        not isinstance(column.parent, sqlglot.exp.Alias | sqlglot.exp.Group) for column in named
    )
