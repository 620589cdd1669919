"""Sums that give, with earlier ones, a sum that would be refused itself.

Pay less basic pay is what few people have besides, and so is pay less basic pay and allowances; age and the
year of birth add up to one of two years. Sums are shown as DOUBLE, so they are judged as such.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations, product
from typing import Any, Final

import duckdb
import numpy as np

from reid_sql.errors import OutOfDomainError
from reid_sql.parameters import Floats, quoted
from reid_sql.serve.audited_counts import RevealingError
from reid_sql.serve.record import EarlierSums

DIGITS: Final = 6  # beyond which differences of FLOAT are rounding, of the largest value of a group
ROUNDING: Final = 1e-12  # of that value: differences of DOUBLE that differ by less are one
LARGEST_CONTRIBUTOR: Final = [1, 0.5]  # of a sum: one person has at most half of it
MAX_EARLIER: Final = 3  # sums that a new one is compared with at once
FACTORS: Final = (10.0, 12.0, 100.0, 1000.0)  # between units: months of a year, cents
DRAWN: Final = 2000  # people, of whom a relation of columns is seen
MIN_SHARE: Final = 0.1  # of the people drawn whose numbers cancel: more than by chance
BLOCK: Final = 500  # relations that are looked at at once
REFUSAL_EARLIER_SUM: Final = (
    "a sum must be compared with those before, got one before of a column that is no column of numbers now; "
    "ask the owner for a new record"
)
Relation = Mapping[str, float]  # the factor of each column in a sum of several


def refuse_linked_sums(
    data: duckdb.DuckDBPyConnection, arguments: Mapping[str, Any], before: EarlierSums
) -> None:
    """Refuse a sum that gives, with earlier ones, a sum that would be refused itself.

    Each single column is compared; several, or other units, where the numbers of some people cancel.
    """
    names = {name.casefold(): name for name in data.sql(f"FROM {before.source} LIMIT 0").columns}
    arguments = {**arguments, "source": before.source}
    value = names[arguments["value"].casefold()]
    shared: dict[str, set[frozenset[str]]] = {}
    for columns, earlier in before.sums:
        if earlier not in names:
            raise OutOfDomainError(REFUSAL_EARLIER_SUM)
        shared.setdefault(names[earlier], set()).add(frozenset(names[each] for each in columns))
    try:
        related = _find_related(data, arguments, value, list(shared))
        for relation in chain(_list_pairs(value, list(shared)), related):
            earlier_columns = [name for name in relation if name != value]
            sets = product(*(shared[name] for name in earlier_columns))
            for groups in sorted({tuple(sorted(frozenset.intersection(*each))) for each in sets}):
                if _is_few(data, arguments, relation, groups):
                    raise RevealingError(
                        f"a sum must not give another one of few people with those before, got that of "
                        f"{arguments['value']} after {' and '.join(earlier_columns)}; ask for fewer of them"
                    )
    except (duckdb.ConversionException, duckdb.BinderException):  # numbers then, texts now
        raise OutOfDomainError(REFUSAL_EARLIER_SUM) from None


def _list_pairs(value: str, earlier: Sequence[str]) -> Iterator[Relation]:
    """The difference and the sum of the new column and each earlier one."""
    return ({value: 1.0, other: sign} for other in earlier for sign in (-1.0, 1.0))


def _find_related(
    data: duckdb.DuckDBPyConnection,
    arguments: Mapping[str, Any],
    value: str,
    earlier: Sequence[str],
) -> Iterator[Relation]:
    """Find sums of several columns, or of other units, in which the numbers of some people cancel.

    What is left is then of the others alone: a bonus, that few have. Numbers that are all 0 do not cancel.
    """
    if not earlier:
        return
    columns = [value, *earlier]
    drawn = f"SELECT * FROM ({_rows(arguments, columns, [])}) USING SAMPLE reservoir({DRAWN} ROWS) REPEATABLE (0)"
    fetched = data.sql(drawn).fetchnumpy()
    numbers = np.column_stack(
        [np.asarray(fetched[f"reid_{at}"], dtype=np.float64) for at in range(len(columns))]
    )
    rows = numbers[np.isfinite(numbers).all(axis=1)]
    if not len(rows):
        return
    relations = np.array(list(_list_factors(len(columns))))
    for block in np.split(relations, range(BLOCK, len(relations), BLOCK)):
        for factors in block[_cancel(rows, block)]:
            yield {columns[at]: float(factors[at]) for at in np.flatnonzero(factors)}


def _list_factors(columns: int) -> Iterator[Floats]:
    """The factors of the columns, the new one first: of two or three earlier ones, or one in other units."""
    for number in range(2, MAX_EARLIER + 1):
        for places in combinations(range(1, columns), number):
            for signs in product((-1.0, 1.0), repeat=number):
                yield _factors(columns, 1.0, dict(zip(places, signs, strict=True)))
    for place in range(1, columns):
        for factor in FACTORS:
            yield _factors(columns, 1.0, {place: -factor})
            yield _factors(columns, factor, {place: -1.0})


def _factors(columns: int, first: float, others: Mapping[int, float]) -> Floats:
    factors = np.zeros(columns)
    factors[0] = first
    factors[list(others)] = list(others.values())
    return factors


def _cancel(rows: Floats, relations: Floats) -> Floats:
    """Whether the numbers of some people cancel in each relation, or add up to what is usual."""
    sums, sizes = rows @ relations.T, np.abs(rows) @ np.abs(relations).T
    is_there = sizes > 0
    is_zero = (np.abs(sums) <= ROUNDING * sizes) & is_there
    usual = np.abs(sums - np.median(sums, axis=0)) <= ROUNDING * sizes
    shares = np.maximum(is_zero.mean(axis=0), (usual & is_there).mean(axis=0))
    return np.asarray(shares >= MIN_SHARE)


def _rows(arguments: Mapping[str, Any], columns: Sequence[str], groups: Sequence[str]) -> str:
    """Write the numbers of each person, by groups."""
    named = [quoted(each) for each in groups]
    person = arguments.get("entity")
    numbers = [f"coalesce({quoted(name)}::DOUBLE, 0)" for name in columns]
    if person is not None:
        numbers = [f"sum({each})" for each in numbers]
    listed = [*named, *(f"{each} AS reid_{at}" for at, each in enumerate(numbers))]
    by = "" if person is None else f" GROUP BY {', '.join([*named, quoted(person)])}"
    return f"SELECT {', '.join(listed)} FROM {arguments['source']}{by}"


def _is_few(
    data: duckdb.DuckDBPyConnection,
    arguments: Mapping[str, Any],
    relation: Relation,
    groups: Sequence[str],
) -> bool:
    """Whether a sum of columns is mostly of one person in a group, or of few values, but not all the same."""
    named = ", ".join(quoted(each) for each in groups)
    terms = [f"{factor!r} * reid_{at}" for at, factor in enumerate(relation.values())]
    largest = f"max(greatest({', '.join(f'abs({each})' for each in terms)}))"
    over = f"OVER ({f'PARTITION BY {named}' if named else ''})"
    scaled = f"({' + '.join(terms)}) / nullif({largest} {over}, 0) AS reid_sum"
    rows = f"SELECT {f'{named}, ' if named else ''}{scaled} FROM ({_rows(arguments, list(relation), groups)})"
    few = (
        f"max(reid_sum) - min(reid_sum) > {ROUNDING} AND ("
        f"max(abs(reid_sum)) > {LARGEST_CONTRIBUTOR[1]} * sum(abs(reid_sum)) "
        f"OR count(DISTINCT round(reid_sum, {DIGITS})) < {arguments['k']})"
    )
    by = f" GROUP BY {named}" if named else ""
    return data.sql(
        f"SELECT bool_or(few) FROM (SELECT {few} AS few FROM ({rows}){by})"
    ).fetchall() == [(True,)]
