"""The functions for Ibis: `import reid_sql.ibis as ri`, then the same names as in SQL, where the table lives.

Table functions take an Ibis table first and give one. The warehouse counts, and nothing is created in it;
what comes to the client is the reduced statistics, or the distinct records where DuckDB answers there, never
more than a stated size.
"""

try:
    from ibis.expr.types import Table
except ModuleNotFoundError:
    raise ModuleNotFoundError(
        "reid_sql.ibis must have ibis, got none; pip install 'reid-sql[ibis]'"
    ) from None

from reid_sql.client.calls import answer_by_duckdb
from reid_sql.engines.ibis import adapter
from reid_sql.engines.public_api import public
from reid_sql.function import Function
from reid_sql.parameters import Arguments
from reid_sql_udfs import declared


def _at_client(function: Function, arguments: Arguments) -> Table:
    """What DuckDB answers of what the warehouse counted, as a table that the client holds."""
    adapter.warn_of_people(function, arguments)
    place = adapter.CodedRecords(function.needs, arguments)
    return adapter.framed(answer_by_duckdb(function, arguments, place))


FUNCTIONS = declared()
__all__ = list(FUNCTIONS)
__getattr__ = public(__name__, adapter, FUNCTIONS, _at_client)


def __dir__() -> list[str]:
    return __all__
