"""Ibis: a number before the keys that PostgreSQL sorts by.

It compares texts one after another, column by column; a number made of them mostly decides at once, and
where two are the same, the values do.
"""

from collections.abc import Sequence
from functools import reduce
from typing import Final

import ibis
from ibis.expr.types import Column, IntegerValue, Table

from reid_sql.engines.ibis.frames import POSTGRES, WHOLE, backend, sources, whole

NUMBER: Final = "reid_scatter"
HASH: Final = "hashtextextended"  # of a text and a number, since PostgreSQL 11
PLACE: Final = "pg_catalog"


@ibis.udf.scalar.builtin(name=HASH, database=PLACE, signature=((str, int), int))  # type: ignore[untyped-decorator]
def _hash(text: str, seed: int) -> int:  # type: ignore[empty-body]
    """The database's own number of a text and another number."""


def sorted_fast(rows: Table, names: Sequence[str]) -> tuple[Table, list[str]]:
    """The rows, and the keys to sort them by where only equal rows are to stand together."""
    found = [each.name(NUMBER) for each in scattered(rows, [rows[name] for name in names])]
    return (rows.mutate(*found) if found else rows), [*(each.get_name() for each in found), *names]


def scattered(rows: Table, keys: Sequence[Column]) -> list[Column]:
    """The number, where PostgreSQL holds the rows.

    The keys are as `compared` makes them: equal texts have the same bytes, and so the same number.
    """
    numbers = [key for key in keys if key.type().is_integer()]
    texts = [key for key in keys if key.type().is_string()]
    if not texts or len(numbers) + len(texts) == 1 or not _has_hash(rows):
        return []
    return [reduce(_with_text, texts, reduce(_with_number, numbers, ibis.literal(0, WHOLE)))]


def _with_number(mixed: IntegerValue, key: Column) -> IntegerValue:
    return mixed ^ ibis.coalesce(whole(key), 0)


def _with_text(mixed: IntegerValue, key: Column) -> IntegerValue:
    found: IntegerValue = _hash(ibis.coalesce(key, ""), mixed)
    return found


def _has_hash(rows: Table) -> bool:
    """Whether the server has PostgreSQL's own function: others that speak as it does may not."""
    if backend(rows) != POSTGRES:
        return False
    asked = f"SELECT count(*) AS found FROM {PLACE}.pg_proc WHERE proname = '{HASH}'"
    found = next(sources(rows)).sql(asked, schema={"found": WHOLE})
    return bool(found.to_pyarrow()["found"][0].as_py())
