"""Ibis: of which columns of a database's tables a query returns values, and not counts or codes alone.

A query is an expression, so what it returns is known before it runs. A count, a rank and the result of a
comparison contain no value; whatever else is made of a column does. A value that is only ever one of a list
that the query itself contains, such as the codes that stand for nobody, is under the name LISTED.
"""

from functools import reduce
from operator import or_
from typing import Any, Final

import ibis.expr.operations as ops
from ibis.expr.types import Table

Columns = frozenset[str]
NONE: Final[Columns] = frozenset()
LISTED: Final = "reid: listed code"  # the name of no column
WITHOUT_VALUES: Final = (
    ops.Literal,
    ops.Count,
    ops.CountStar,
    ops.CountDistinct,
    ops.CountDistinctStar,
    ops.DenseRank,
    ops.MinRank,
    ops.RowNumber,
    ops.IsNull,
    ops.NotNull,
    ops.IsNan,
    ops.Comparison,
    ops.InValues,
    ops.InSubquery,
    ops.StringContains,
    ops.RegexSearch,
)


def columns_of_values(table: Table) -> list[str]:
    """Return the columns, as the database's tables name them, of which the query returns values."""
    cache: dict[Any, Columns] = {}
    relation = table.op()
    columns = (_in_field(relation, name, cache) for name in relation.schema.names if name != LISTED)
    return sorted(reduce(or_, columns, NONE))


def _in_field(relation: Any, name: str, cache: dict[Any, Columns]) -> Columns:  # noqa: ANN401 - of Ibis
    """The columns whose values a column of a relation has."""
    key = (relation, name)
    if key in cache:
        return cache[key]
    if isinstance(relation, ops.Set):  # by place: the names of both are those of the first
        sides = (relation.left, relation.right)
        cache[key] = reduce(or_, (_in_field(side, name, cache) for side in sides), NONE)
    elif isinstance(relation, ops.Reference):
        cache[key] = _in_field(relation.parent, name, cache)
    elif name in relation.values:
        cache[key] = _in_value(relation.values[name], cache)
    else:  # of a table, or of a statement whose text is the user's
        cache[key] = frozenset({name})
    return cache[key]


def _in_value(value: Any, cache: dict[Any, Columns]) -> Columns:  # noqa: ANN401 - the same
    """The columns whose values an expression has: those of its parts, but for what has none."""
    if isinstance(value, WITHOUT_VALUES):
        return NONE
    if value not in cache:
        if isinstance(value, ops.Field):
            cache[value] = _in_field(value.rel, value.name, cache)
        elif isinstance(value, ops.WindowFunction):
            cache[value] = _in_value(value.func, cache)
        elif isinstance(value, ops.ScalarSubquery):
            cache[value] = _in_field(value.rel, value.rel.schema.names[0], cache)
        else:
            parts = [each for each in value.__children__ if isinstance(each, ops.Value)]
            cache[value] = reduce(or_, (_in_value(each, cache) for each in parts), NONE)
    return cache[value]
