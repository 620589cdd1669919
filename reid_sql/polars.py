"""The functions for Polars: `import reid_sql.polars as rp`, then the same names as in SQL.

Row functions take column names, expressions or numbers and are expressions; table functions take a LazyFrame
or DataFrame first and give a LazyFrame. Nothing is collected before you collect.
"""

from reid_sql.engines.polars import adapter
from reid_sql.engines.public_api import public
from reid_sql_udfs import declared

FUNCTIONS = declared()
__all__ = list(FUNCTIONS)
__getattr__ = public(__name__, adapter, FUNCTIONS)


def __dir__() -> list[str]:
    return __all__
