"""LIMIT and OFFSET of a SELECT from cells: they count what is shown, and leave the row that is hidden.

The group with the fewest people is often a hidden one: `ORDER BY count(*) LIMIT 1` alone would name another.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from reid_sql.errors import OutOfDomainError
from reid_sql.serve.tree import Node, replaced

ORDERED: Final = "orders"  # of a window, and of ORDER BY
HUGE: Final = 2**62  # rows: no limit


def limit_shown(
    select: Node,
    parse: Callable[[str], Node],
    compute: Callable[[Sequence[Node]], Sequence[Any]],
) -> Node:
    """Number the shown rows of a SELECT from cells in place of LIMIT; `reid_hidden` says which are others."""
    limits = [each for each in select["modifiers"] if each["type"] == "LIMIT_MODIFIER"]
    if not limits:
        return select
    first = _compute(limits[0].get("offset"), compute, 0)
    last = first + _compute(limits[0].get("limit"), compute, HUGE)
    orders = [
        order
        for each in select["modifiers"]
        for part in each.get(ORDERED, [])
        for order in _list_orders(part, select["select_list"], compute)
    ]
    order = "ORDER BY reid_order" * bool(orders)
    place = f"row_number() OVER (PARTITION BY reid_hidden {order})"
    template = parse(f"SELECT 1 QUALIFY reid_hidden OR {place} BETWEEN {first + 1} AND {last}")
    qualify = replaced(
        template["qualify"],
        lambda part: {**part, ORDERED: orders} if part.get(ORDERED) else None,
    )
    modifiers = [*select["modifiers"]]
    modifiers.remove(limits[0])
    if not orders:
        modifiers += parse("SELECT 1 ORDER BY reid_hidden")["modifiers"]
    return {**select, "qualify": qualify, "modifiers": modifiers}


def _compute(
    part: Node | None, compute: Callable[[Sequence[Node]], Sequence[Any]], default: int
) -> int:
    """Compute a number of rows; the default where there is none."""
    [number] = compute([part]) if part else [None]
    if number is None:
        return default
    if type(number) is not int or not 0 <= number < HUGE:
        raise OutOfDomainError(
            "LIMIT and OFFSET must be whole numbers of rows, got another value; write it like LIMIT 10"
        )
    return number


def _list_orders(
    order: Node,
    selected: Sequence[Node],
    compute: Callable[[Sequence[Node]], Sequence[Any]],
) -> list[Node]:
    """List what is ordered by: a window knows no names and no numbers of the columns of the answer."""
    by, names = order["expression"], [str(each["alias"]).casefold() for each in selected]
    found: Sequence[Node] = [by]
    if by["type"] == "STAR":
        found = list(selected)
    elif by["type"] == "VALUE_CONSTANT":
        [place] = compute([by])
        found = selected[place - 1 : place] if type(place) is int and place > 0 else []
    elif by["type"] == "COLUMN_REF" and str(by["column_names"][0]).casefold() in names:
        found = [selected[names.index(str(by["column_names"][0]).casefold())]]
    return [{**order, "expression": {**each, "alias": ""}} for each in found]
