"""Values that a policy declares to mean "missing": `missing = { pregnant = ["97", "98"] }`.

A quasi-identifier's code is a value of its own, as NULL is: the released table shows it, and codes made equal
would understate the risk. So codes become NULL only where NULL is no value of its own (`wildcard`, `drop`),
and in columns that no check counts by, such as sensitive ones, where a code is no second diagnosis.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any, Final

from reid_sql.errors import OutOfDomainError
from reid_sql.parameters import fold_case, quoted, sql_text
from reid_sql.parameters.document import Place, shown

NUMERIC_TYPES: Final = (
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER"),
    *("UBIGINT", "UHUGEINT", "FLOAT", "DOUBLE", "DECIMAL"),
)
Codes = Mapping[str, tuple[str, ...]]  # by column


def read_missing(place: Place) -> dict[str, tuple[str, ...]]:
    """Read the table `missing`: for a column, its codes as texts or numbers."""
    given = place.table("missing")
    return {name: tuple(_read_codes(given.at(name), value)) for name, value in given.values.items()}


def _read_codes(where: str, given: Any) -> Iterable[str]:  # noqa: ANN401 - whatever the document contains
    is_code = [isinstance(each, str | int | float) and not isinstance(each, bool) for each in given or ()]
    if not isinstance(given, list) or not given or not all(is_code):
        rule = f"{where} must be a list of values that mean missing, got {shown(given)}"
        raise OutOfDomainError(f'{rule}; write it like ["97", "98"]')
    return map(str, given)


def without_declared(row: Mapping[str, Any], codes: Codes) -> dict[str, Any]:
    """Leave the declared codes out of a column's profile: they are known to mean missing."""
    known = codes_of(codes, row["column_name"])
    numbers = {*numbers_of(known)}
    listed = zip(row["sentinels"], row["sentinel_records"], strict=True)
    others = [each for each in listed if each[0] not in known and not numbers & {*numbers_of(each[:1])}]
    sentinels, records = zip(*others, strict=True) if others else ((), ())
    return {**row, "sentinels": [*sentinels], "sentinel_records": [*records]}


def codes_of(codes: Codes, column: str) -> tuple[str, ...]:
    """Return the codes of a column, whose name is compared without case."""
    return next((each for name, each in codes.items() if fold_case(name) == fold_case(column)), ())


def numbers_of(codes: Sequence[str]) -> list[float]:
    """Return the codes that are numbers, which a column of numbers has.

    >>> numbers_of(["97", "?", "9.5", "nan"])
    [97.0, 9.5]
    """
    numbers = []
    for code in codes:
        try:
            number = float(code)
        except ValueError:
            continue
        if isfinite(number):
            numbers.append(number)
    return numbers


def select_known(view: str, types: Mapping[str, str], codes: Codes) -> str:
    """Write a query of a table of DuckDB in which the codes are NULL; `types` are those of its columns."""
    replaced = [
        f"CASE WHEN {_is_code(name, kind, codes_of(codes, name))} THEN NULL ELSE {quoted(name)} END "
        f"AS {quoted(name)}"
        for name, kind in types.items()
        if codes_of(codes, name)
    ]
    return f"SELECT * REPLACE ({', '.join(replaced)}) FROM {view}" if replaced else f"FROM {view}"


def _is_code(name: str, kind: str, codes: Sequence[str]) -> str:
    """Test whether a cell is one of the codes: a number by its value, a time by its date, else its text."""
    if kind.startswith(NUMERIC_TYPES):
        numbers = ", ".join(map(repr, numbers_of(codes))) or "NULL"
        return f"{quoted(name)}::DOUBLE IN ({numbers})"
    cell = f"{quoted(name)}::VARCHAR"
    cell = f"left({cell}, 10)" if kind.startswith(("DATE", "TIMESTAMP")) else cell
    return f"{cell} IN ({', '.join(sql_text(code) for code in codes)})"
