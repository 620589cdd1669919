"""What becomes of the risk in larger populations: a share over people, in its 95 % interval."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any, Final

from reid_sql.charts.marks import ROOM, Axis, Band, Line, Look, Mark, Picture, Rule, Scale, per_cent

Row = Mapping[str, Any]
SHARES: Final[Mapping[str, str]] = {
    "correctness": "matches that name the right person",
    "uniqueness": "people who are alone with their values",
    "below_k": "people in classes smaller than k",
    "k_violation": "people in classes smaller than k",
}
BESIDE: Final = (Look.DOTTED, Look.DASHES_AND_DOTS)  # other methods
WIDE: Final = 30  # times a single population that the axis reaches to either side
MARKED: Final = 12  # points up to which each has a mark


def forecast(
    share: str,
    rows: Sequence[Row],
    *,
    measured: Sequence[Row] = (),
    beside: Mapping[str, Sequence[Row]] | None = None,
    limit: float | None = None,
) -> Picture:
    """Describe what is foretold of a share, what was measured of it, what others foretell, and a limit."""
    curve = measured if share == "correctness" else ()
    known = [row for row in rows if row[share] is not None]
    marks = [*_before(curve), *_ahead(share, known), *_others(share, beside or {})]
    highest = max([limit or 0.0, *(value for mark in marks for value in _values(mark))])
    if limit is not None:
        marks.append(Rule(limit, upright=False, look=Look.LIMIT, words=f"limit {per_cent(limit)}"))
    told = (*rows, *(row for other in (beside or {}).values() for row in other))
    sizes = [*(row["n"] for row in curve), *(row["population"] for row in told)]
    widened = WIDE if min(sizes) == max(sizes) else 1
    return Picture(
        SHARES[share].capitalize(),
        Axis("people in the population", Scale.PEOPLE, min(sizes) / widened, max(sizes) * widened),
        Axis(
            f"share of {SHARES[share].split()[0]}",
            Scale.SHARE,
            0.0,
            min(1.0, ROOM * highest) if highest > 0 else 1.0,
        ),
        marks,
        "" if known else str(rows[0].get("status")),
    )


def _values(mark: Mark) -> Sequence[float]:
    return mark.up if isinstance(mark, Line) else mark.high if isinstance(mark, Band) else ()


def _before(curve: Sequence[Row]) -> list[Mark]:
    """What was measured, up to the table."""
    if not curve:
        return []
    sizes = [row["n"] for row in curve]
    line = Line(sizes, [row["correctness"] for row in curve], Look.SOLID, "measured")
    return [line, Rule(sizes[-1], upright=True, look=Look.HERE, words="the table")]


def _ahead(share: str, known: Sequence[Row]) -> list[Mark]:
    """What is foretold, in its band where it has one."""
    if not known:
        return []
    ends = (f"{share}_low", f"{share}_high")
    within = [row for row in known if all(row.get(end) is not None for end in ends)]
    low, high = ([row[end] for row in within] for end in ends)
    band = [Band([row["population"] for row in within], low, high, "95 % interval")] if within else []
    places, values = [row["population"] for row in known], [row[share] for row in known]
    return [*band, Line(places, values, Look.DASHED, "forecast", marked=len(known) <= MARKED)]


def _others(share: str, others: Mapping[str, Sequence[Row]]) -> list[Mark]:
    lines: list[Mark] = []
    for (name, rows), look in zip(others.items(), cycle(BESIDE)):
        told = [row for row in rows if row.get(share) is not None]
        lines.append(Line([row["population"] for row in told], [row[share] for row in told], look, name))
    return lines
