"""Which expressions of a column are bands: what they group follows from their form, not from one value.

Whoever asks `name <> 'Ann'` learns whether somebody is called Ann, even if the answer is NULL: it is shown
where nobody is. So each side of a condition must have people, and nobody is as few as a few are. Of other
expressions only those are bands that keep the order of the values, or are parts of a date or a text:
`age // 10`, not `age % 97` or `age // 97`.
"""

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import Any, Final

from reid_sql.serve.allowed import ALLOWED
from reid_sql.serve.tree import Node, arguments_of, columns_in, name_of, parts_of, type_of

BANDS: Final = ALLOWED["bands"]
ALONE, BEFORE, BEHIND, ANYWHERE = (
    frozenset(BANDS[key].split()) for key in ("alone", "before", "behind", "anywhere")
)  # functions, by where their column is among their arguments
CONNECTIVES: Final = frozenset(BANDS["connectives"].split())
COMPARISONS: Final = frozenset(BANDS["comparisons"].split())
NULL_TESTS: Final = frozenset(["OPERATOR_IS_NULL", "OPERATOR_IS_NOT_NULL"])
OF_TEXTS: Final = frozenset(BANDS["of_texts"].split())
CONSTANTS: Final = frozenset(BANDS["constants"].split())
SHIFTS: Final = frozenset("*+-")
DIVISIONS: Final = frozenset(["/", "//"])
MAX_PARTS: Final = (
    200  # of an expression, so that one that fails for a value takes no longer than others
)
SIDES: Final = 2  # of a condition
MIN_WIDTH: Final = 1e-9  # of a band: quotients by less are infinite, or too large for a type
CASTS: Final = frozenset(BANDS["casts"].split())
ROUNDINGS: Final = frozenset(BANDS["roundings"].split())


def is_plain(part: Node) -> bool:
    """Whether an expression is short, and its constants are plain ones."""
    parts = [each for each in parts_of(part) if "class" in each]
    of_constants = [each for each in parts if not columns_in(each)]
    names = {name_of(each) for each in of_constants} - {""}
    return (
        len(parts) <= MAX_PARTS
        and {each["type"] for each in of_constants} <= CONSTANTS
        and (names <= {"+", "-", "*", "/"})
    )


def is_band(part: Node) -> bool:
    """Whether an expression is a column, or a band of one band."""
    if part["type"] == "COLUMN_REF":
        return True
    if part["type"] == "OPERATOR_CAST":
        return is_band(part["child"])
    name, arguments = name_of(part), [each for _, each in arguments_of(part)]
    places = [place for place, each in enumerate(arguments) if columns_in(each)]
    if len(places) != 1 or not is_band(arguments[places[0]]):
        return False
    is_last = places[0] == len(arguments) - 1
    return (
        name in ANYWHERE
        or (name in ALONE and len(arguments) == 1)
        or (name in BEFORE and places == [0])
        or (name in BEHIND and is_last)
    )


def is_condition(part: Node) -> bool:
    """Whether an expression says yes or no of each value, by comparisons with constants."""
    if part["type"] == "COLUMN_REF" or not columns_in(part):
        return True
    if part["type"] in CONNECTIVES:
        return all(map(is_condition, _parts_below(part)))
    if part["type"] in NULL_TESTS:
        return all(map(is_band, _parts_below(part)))
    if part["type"] in COMPARISONS or name_of(part) in OF_TEXTS:
        return all(
            not columns_in(each) or is_band(each) or is_choice(each) for each in _parts_below(part)
        )
    return False


def count_bands(part: Node, compute: Callable[[Sequence[Node]], Sequence[Any]]) -> int | None:
    """Count the groups that an expression lists: 0 where it lists none, None where it is no band."""
    # whether a column has NULL is no secret
    if part["type"] in NULL_TESTS and _parts_are_columns(part):
        return 0
    if is_band(part):
        return 0 if has_round_ends(part, compute) else None
    if is_choice(part):
        return len(set(compute(_list_choices(part))))
    return SIDES if is_condition(part) else None


def has_casts(part: Node) -> bool:
    """Whether a part of an expression is a cast."""
    return any(each.get("type") == "OPERATOR_CAST" for each in parts_of(part))


def has_round_ends(part: Node, compute: Callable[[Sequence[Node]], Sequence[Any]]) -> bool:
    """Whether bands end where any others of their width do.

    A last band of a few people is hidden, and one of nobody is not: whoever shifts the ends, or tries widths
    of 95, 96 and 97, finds the largest value. So a column is divided once, by 1, 2, 2.5 or 5 and powers of
    ten, and numbers are added only to what was rounded.
    """
    is_rounded, is_cast, divisions = False, False, 0
    while part["type"] != "COLUMN_REF":
        if part["type"] == "OPERATOR_CAST":
            if not _is_safe_cast(part):
                return False
            is_rounded, is_cast, part = True, True, part["child"]
            continue
        name, arguments = name_of(part), [each for _, each in arguments_of(part)]
        is_shift = name in SHIFTS and len(arguments) > 1
        if name in DIVISIONS:
            divisions += 1
            if divisions > 1 or not _is_round(
                compute(arguments[1:])[0], 1 if is_cast else MIN_WIDTH
            ):
                return False
        if is_shift and is_rounded:
            return False
        is_rounded |= not is_shift
        part = next(each for each in arguments if columns_in(each))
        if is_shift and part["type"] == "COLUMN_REF":
            return False
    return True


def _is_safe_cast(part: Node) -> bool:
    """Whether a cast fails for no value in the middle of others, and gives no digits that a division made.

    A band of the values for which it fails, or does not, would single them out.
    """
    kind, child = type_of(part), part["child"]
    if child["type"] == "COLUMN_REF":
        return kind in CASTS
    return kind in CASTS - {"VARCHAR"} and name_of(child) in ROUNDINGS


def _is_round(width: object, least: float) -> bool:
    """Whether a width is 1, 2, 2.5 or 5, or one of these times a power of ten, and not too small.

    >>> [width for width in range(1, 101) if _is_round(width, 1)]
    [1, 2, 5, 10, 20, 25, 50, 100]
    """
    if not isinstance(width, int | float | Decimal) or not width >= least:
        return False
    digits = str(Decimal(str(width)).normalize().as_tuple().digits)
    return digits in {"(1,)", "(2,)", "(2, 5)", "(5,)"}


def _parts_are_columns(part: Node) -> bool:
    return all(each["type"] == "COLUMN_REF" for each in _parts_below(part))


def is_choice(part: Node) -> bool:
    """Whether an expression is CASE with conditions and constants."""
    return part["type"] == "CASE_EXPR" and (
        all(is_condition(each["when_expr"]) for each in part["case_checks"])
        and not columns_in(_list_choices(part))
    )


def _list_choices(part: Node) -> list[Node]:
    return [*(each["then_expr"] for each in part["case_checks"]), part["else_expr"]]


def _parts_below(part: Node) -> Iterator[Node]:
    """Yield what an expression is made of, but for the type of a cast."""
    for each in part.values():
        for below in each if isinstance(each, list) else [each]:
            if isinstance(below, dict) and "class" in below:
                yield below
            elif isinstance(below, dict) and "expression" in below:  # of DuckDB 2.0
                yield below["expression"]
