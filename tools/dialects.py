"""Write what reductions are in the words of databases that cannot be run here.

tests/engines/ibis/dialects/*.sql. python -m tools.dialects
"""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import ibis

import reid_sql.ibis as ri
from reid_sql.engines.ibis.reductions.disclosure import FINITE
from reid_sql.engines.ibis.reductions.subsets import sizes_of_subset
from reid_sql.reduction import implementation, reductions
from reid_sql.reductions.classes import CLASS_SIZE

FOLDER: Final = Path(__file__).parents[1] / "tests" / "engines" / "ibis" / "dialects"
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
# Those that are stored for review: how each dialect compares values, and each kind of query in one dialect.
STORED: Final = "class_size"
STORED_DIALECT: Final = "snowflake"
STORED_KINDS: Final = ("histogram by group", "l_diversity recursive", "t_closeness equal")
INFINITE: Final = ("beta_likeness enhanced", "delta_disclosure all")


def _reduced(name: str, **arguments: Any) -> Callable[[], Any]:  # noqa: ANN401 - a reduction's own
    return lambda: implementation(reductions()[name], "ibis")(tbl=PEOPLE, **arguments)


def _of_classes(name: str, **options: Any) -> Callable[[], Any]:  # noqa: ANN401 - the same
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
    "subsets": lambda: sizes_of_subset(PEOPLE, QI),
    "subsets of people": lambda: sizes_of_subset(PEOPLE, QI, "person"),
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


def stored(dialect: str) -> str:
    """The queries that are stored of the dialect, each under its name."""
    names = [STORED, *(STORED_KINDS if dialect == STORED_DIALECT else ())]
    return "\n".join(f"-- {name}\n{query(name, dialect)}\n;\n" for name in names)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each in DIALECTS:
        (FOLDER / f"{each}.sql").write_text(stored(each), encoding="utf-8")
