"""The functions for Polars: `import reid_sql.polars as rp`, then the same names as in SQL.

Row functions take column names, expressions or numbers and are expressions; table functions take a LazyFrame
or DataFrame first and give a LazyFrame. Nothing is collected before you collect.
"""

from collections.abc import Sequence

import polars as pl
import pyarrow as pa

from reid_sql.client.calls import open_shared_client, plan_call, run_call
from reid_sql.engines.polars import adapter
from reid_sql.engines.public_api import public
from reid_sql.function import Function
from reid_sql.parameters import Arguments
from reid_sql_udfs import declared


def _by_duckdb(function: Function, arguments: Arguments) -> pl.LazyFrame:
    """What DuckDB answers, in this process, from the columns that the call needs, when they are collected."""
    call = plan_call(function, arguments, adapter)

    def answer(frames: Sequence[pl.DataFrame]) -> pa.Table:
        rows = [
            adapter.read(each, table.columns)
            for each, table in zip(frames, call.tables, strict=True)
        ]
        with open_shared_client() as con:
            return run_call(con, call, rows)

    tables = [(table.frame, table.columns) for table in call.tables]
    return adapter.answer_when_collected(function, arguments, tables, answer)


FUNCTIONS = declared()
__all__ = list(FUNCTIONS)
__getattr__ = public(__name__, adapter, FUNCTIONS, _by_duckdb)


def __dir__() -> list[str]:
    return __all__
