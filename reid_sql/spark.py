"""The functions for Spark: `import reid_sql.spark as rs`, then the same names as in SQL.

Table functions take a DataFrame first and give a DataFrame. Spark counts; what comes to the driver is the
reduced statistics, never more than a stated size. Row functions take column names, Columns or numbers and are
Columns; `register(spark)` puts them into Spark SQL under the same names.
"""

try:
    from pyspark.sql import DataFrame, SparkSession
except ModuleNotFoundError:
    raise ModuleNotFoundError(
        "reid_sql.spark must have pyspark, got none; pip install 'reid-sql[spark]', and Java 17"
    ) from None

from reid_sql.client.calls import Place, answer_by_duckdb
from reid_sql.engines.public_api import public
from reid_sql.engines.spark import adapter
from reid_sql.engines.spark.adapter import SparkTexts
from reid_sql.engines.spark.functions import register as register_functions
from reid_sql.function import Answer, Function
from reid_sql.parameters import Arguments
from reid_sql_udfs import declared


def _on_driver(function: Function, arguments: Arguments) -> DataFrame:
    """What DuckDB answers on the driver of what Spark counted."""
    adapter.refuse_unordered(function, arguments)
    adapter.warn_of_people(function, arguments)
    place: Place = adapter.CodedRecords(function.needs, arguments)
    if function.models and function.answer is Answer.ROW:
        # the text of NaN would identify people
        adapter.refuse_unidentified_tables(function, arguments)
        place = SparkTexts()
    return adapter.frame_answer(answer_by_duckdb(function, arguments, place), arguments)


FUNCTIONS = declared()
__all__ = ["register", *FUNCTIONS]  # noqa: PLE0604 - names they are
__getattr__ = public(__name__, adapter, FUNCTIONS, _on_driver)


def __dir__() -> list[str]:
    return __all__


def register(spark: SparkSession) -> list[str]:
    """Put the row functions and the table functions without tables into the session's SQL.

    The latter are those that need no table. Gives their names. They are temporary functions of this session
    and leave nothing in the catalogue. Twice is harmless.
    """
    return register_functions(spark, FUNCTIONS.values())
