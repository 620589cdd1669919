"""What joining two tables singles out that neither table does alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from reid_sql.errors import NoRecordsError
from reid_sql.models.classes.disclosure import OK
from reid_sql.models.numerics.quantiles import percent
from reid_sql.parameters import Integers, Number

JOINED_CLASS: Final = Number(
    "a whole number of people from 2 to 1e+6",
    "pass the size from which a class protects, such as 2 for unique people",
    2.0,
    1e6,
    whole=True,
)
ALL, ALONE, WITHOUT = range(3)  # which columns of the right table a line joins
STATUS_NO_MATCH: Final = "no_match: no value of on is in both tables, so nothing is joined"
STATUS_FEW_MATCH: Final = "few_match: more than half of the people of each table match nothing"
STATUS_WRITTEN: Final = "few_comparable: {:,} values of on match nothing, and differ by capitals, spaces, zeros or accents alone"
STATUS_REPEATED: Final = (
    "repeated_key: {:,} values of on repeat in left, and each counts as one person"
)


@dataclass(frozen=True)
class JoinLines:
    """Counts of each join: with all columns of the right table, with one alone, with all but one."""

    kind: Integers
    column_name: Sequence[str | None]
    k: Integers
    people: Integers
    below_left: Integers
    below_right: Integers
    below_joined: Integers
    singled_out: Integers
    several_rows: Integers
    left_people: Integers
    right_people: Integers
    matched_right: Integers
    without_key: Integers
    repeated_keys: Integers
    written_otherwise: Integers


@dataclass(frozen=True)
class JoinRisk:
    """The join with some columns of the right table: all, or one of them alone."""

    # the columns of `right` that are joined: all in the first row, then one alone
    columns: list[str]
    people: int  # people of the join
    # people of the join who are in a class of fewer than k people in `left` alone
    below_k_left: int
    below_k_right: int  # the same in `right` alone, by `columns`
    below_k_joined: int  # the same in the join
    singled_out: int  # people who are in a class of fewer than k people only in the join
    share: float | None  # `singled_out` as a share of `people`; NULL if nothing is joined
    # `singled_out` if all columns but this one are joined; NULL in the first row
    without: int | None
    several_rows: int  # people with several different rows in the join; an attacker knows the worst
    # people of `left` who match nothing, each row without a value of `on` counted as one
    left_only: int
    right_only: int  # values of `on` that are in `right` alone, and its rows without one
    without_key: int  # rows of both tables without a value of `on`, which match nothing
    status: str
    sentence: str  # the row in a sentence


def join_risk(lines: JoinLines) -> list[JoinRisk]:
    """Describe the join with all columns, then with each alone, the one that adds most first.

    A column adds what is no longer singled out without it; of those that add as much, the one that singles
    out most alone comes first.
    """
    whole = lines.kind.tolist().index(ALL)
    if not min(lines.left_people[whole], lines.right_people[whole]):
        raise NoRecordsError
    places = {
        (int(kind), name): place
        for place, (kind, name) in enumerate(zip(lines.kind, lines.column_name, strict=True))
    }
    names = [name for kind, name in places if kind == ALONE and name is not None]
    singled = {key: int(lines.singled_out[place]) for key, place in places.items()}
    order = sorted(names, key=lambda name: (singled[WITHOUT, name], -singled[ALONE, name], name))
    most = order[0], singled[WITHOUT, order[0]]
    rows = [_row(lines, whole, names, None, most if len(names) > 1 else None)]
    rows += [
        _row(lines, places[ALONE, name], [name], singled[WITHOUT, name], None) for name in order
    ]
    return rows


def _row(
    lines: JoinLines,
    place: int,
    columns: list[str],
    without: int | None,
    most: tuple[str, int] | None,
) -> JoinRisk:
    people, singled_out = int(lines.people[place]), int(lines.singled_out[place])
    left, right = int(lines.left_people[place]), int(lines.right_people[place])
    repeated, written = int(lines.repeated_keys[place]), int(lines.written_otherwise[place])
    matched = int(lines.matched_right[place])
    has_few = 2 * people < left and 2 * matched < right
    status = STATUS_REPEATED.format(repeated) if repeated else STATUS_FEW_MATCH if has_few else OK
    status = status if people else STATUS_NO_MATCH
    status = STATUS_WRITTEN.format(written) if written else status
    return JoinRisk(
        columns,
        people,
        int(lines.below_left[place]),
        int(lines.below_right[place]),
        int(lines.below_joined[place]),
        singled_out,
        singled_out / people if people else None,
        without,
        int(lines.several_rows[place]),
        left - people,
        right - matched,
        int(lines.without_key[place]),
        status,
        describe_join(int(lines.k[place]), people, singled_out, most),
    )


def describe_join(k: int, people: int, singled_out: int, most: tuple[str, int] | None) -> str:
    """State what the join singles out, and which column adds most.

    >>> describe_join(2, 2940, 312, ("job", 41))[:89]
    'Of 2,940 people in both tables, the join singles out 312 (10.6 %) whom neither table sing'
    """
    if not people:
        return "No value of on is in both tables, so the join shows nothing."
    is_some = bool(singled_out)
    who = f"{singled_out:,} ({percent(singled_out / people)})" if is_some else "nobody"
    added = (
        f"; '{most[0]}' adds most: without it, {most[1]:,}" if is_some and most is not None else ""
    )
    if k == 2:  # noqa: PLR2004 - a class of one person
        what = f"singles out {who} whom neither table singles out alone"
    else:
        what = f"puts {who} in classes of fewer than {k:,} whom neither table puts there alone"
    return f"Of {people:,} people in both tables, the join {what}{added}."
