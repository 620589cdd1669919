"""The functions for Ibis: `import reid_sql.ibis as ri`, then the same names as in SQL, where the table lives.

Table functions take an Ibis table first and give one. The warehouse counts, and nothing is created in it;
what comes to the client is the reduced statistics, never more than a stated size.
"""

from reid_sql.engines.face import public
from reid_sql.engines.ibis import kit
from reid_sql_udfs import declared

FUNCTIONS = declared()
__all__ = list(FUNCTIONS)
__getattr__ = public(__name__, kit, FUNCTIONS)


def __dir__() -> list[str]:
    return __all__
