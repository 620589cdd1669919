"""Polars: a bound of memory for bodies that get all distinct records at once, as it has none of its own."""

from functools import cache
from typing import Final

from reid_sql.errors import OutOfDomainError

SMALL: Final = 100_000_000  # bytes that are not worth asking about
UNITS: Final = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")


@cache
def bound() -> float:
    """What DuckDB allows itself unless it is set, in bytes: 80 % of the memory that the process may have."""
    import duckdb  # noqa: PLC0415 - only where there is much to hold

    with duckdb.connect() as con:
        number, unit = con.execute("SELECT current_setting('memory_limit')").fetchall()[0][0].split()
    return float(number) * 1024.0 ** UNITS.index(unit)


def refuse_beyond(records: int, each: int) -> None:
    """Refuse so many distinct records, of so many bytes each, where they do not fit."""
    if records * each > SMALL and records * each > bound():
        rule = (
            f"memory must be at least {-(-records * each // 1_000_000)} MB for {records} distinct records, "
            f"got {bound() / 1_000_000:.0f} MB, 80 % of what this process may have"
        )
        raise OutOfDomainError(f"{rule}; pass fewer or coarser columns, or a smaller sample")
