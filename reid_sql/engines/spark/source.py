"""Spark: the shared SQL texts of plans, run over a frame whose columns are checked and numbered before."""

from typing import Any, Final

import sqlglot
from pyspark.sql import DataFrame
from sqlglot import exp

from reid_sql.engines.spark.frames import Rows
from reid_sql.sql.text import Source

TABLE: Final = "reid_table"
NAMES: Final = {  # of functions that sqlglot leaves as they are
    "LIST_EXTRACT": "TRY_ELEMENT_AT",
    "LIST_SLICE": "SLICE",
    "ERROR": "RAISE_ERROR",
}


# A frame under the word TABLE, so that a text has no name of a user's. Spark groups by values as they are
# compared here: NaN is one value, -0.0 is 0.0, and `read_rows` refuses collations and types without order. It
# computes a common table expression wherever it is used.
SOURCE: Final = Source(TABLE, is_materialized=False)


def run_text(rows: Rows, text: str) -> DataFrame:
    """Run the text of a plan over the numbered rows; Spark sorts only where an answer is listed."""
    tree = sqlglot.parse_one(text, read="duckdb").transform(_translate)
    tree.set("order", None)
    query = tree.sql("spark", comments=False).replace(TABLE, f"{{{TABLE}}}")
    return rows.frame.sparkSession.sql(query, reid_table=rows.frame)


def _translate(node: Any) -> Any:  # noqa: ANN401 - a node of sqlglot's tree
    """Write what Spark has in other words; a setting of it may refuse a join that has no condition."""
    if isinstance(node, exp.CTE):
        node.set("materialized", None)
    if isinstance(node, exp.Join) and _is_unconditional(node):
        node.set("on", None)
        node.set("kind", "CROSS")
    if isinstance(node, exp.IgnoreNulls):
        return node.this
    if isinstance(node, exp.Anonymous):
        node.set("this", NAMES.get(node.name.upper(), node.name))
    return node


def _is_unconditional(join: exp.Join) -> bool:
    condition = join.args.get("on")
    return not join.args.get("using") and (condition is None or condition == exp.true())
