"""Charts that reports and figures share: class sizes, forecasts, risk against loss, omitted columns."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any, Final

from reid_sql.charts.spec import (
    HEADROOM,
    Axis,
    Band,
    Bars,
    Chart,
    Dots,
    Line,
    Mark,
    Rule,
    Scale,
    Style,
    format_share,
)
from reid_sql.models.numerics.quantiles import percent

EDGES: Final = (1, 2, 3, 5, 10, 20, 50, 100, 1000, 10_000, 100_000)  # where ranges of class sizes begin
NO_END: Final = 2**63  # of the last range
MASKED: Final = "masked"
Row = Mapping[str, Any]
SHARES: Final[Mapping[str, str]] = {
    "correctness": "matches that name the right person",
    "uniqueness": "people who are unique by their values",
    "below_k": "people in classes smaller than k",
    "k_violation": "people in classes smaller than k",
}
OTHER_STYLES: Final = (Style.DOTTED, Style.DASHES_AND_DOTS)  # other methods
WIDENING: Final = 30  # times a single population that the axis reaches to either side
MAX_MARKED_POINTS: Final = 12  # points up to which each has a mark


@dataclass(frozen=True)
class Range:
    """The people in classes of these sizes; `high` None has no end, `people` None is masked."""

    low: int
    high: int | None
    people: int | None

    @property
    def name(self) -> str:
        """Describe the sizes in words.

        >>> [Range(*sizes, 9).name for sizes in ((1, 1), (2, 2), (3, 4), (1000, None))]
        ['alone', '2', '3 to 4', '1,000 or more']
        """
        if self.high is None:
            return f"{self.low:,} or more"
        if self.low == self.high:
            return "alone" if self.low == 1 else f"{self.low:,}"
        return f"{self.low:,} to {self.high:,}"


def ranges(rows: Iterable[Mapping[str, Any]], below: int) -> list[Range]:
    """Sum the people of a histogram by ranges of the class size, one of which ends at `below`."""
    edges = sorted({*EDGES, below})
    people = [0] * len(edges)
    for row in rows:
        people[bisect_right(edges, row["class_size"]) - 1] += row["records"]
    ends = [*(edge - 1 for edge in edges[1:]), None]
    return [Range(low, high, count) for low, high, count in zip(edges, ends, people, strict=True)]


def class_sizes_chart(size_ranges: Sequence[Range], people: int, below: float) -> Chart:
    """Make bars of the ranges that contain people; those with classes smaller than `below` are hatched.

    The bars are shares of all `people`.
    """
    shown = [each for each in size_ranges if each.people != 0]
    shares = [None if each.people is None else each.people / max(1, people) for each in shown]
    names = [each.name for each in shown]
    return Chart(
        "Who shares their values with how many",
        Axis(
            "share of the people (behind the bar their number)",
            Scale.SHARE,
            0.0,
            max(filter(None, shares), default=1.0),
        ),
        Axis("people with the same values", Scale.NAMES, -0.5, len(names) - 0.5, names),
        [bars for small in (True, False) if (bars := _range_bars(shown, shares, below, small=small)).places],
    )


def _range_bars(shown: Sequence[Range], shares: Sequence[float | None], below: float, *, small: bool) -> Bars:
    places = [place for place, each in enumerate(shown) if (each.low < below) is small]
    behind = [_bar_label(shown[place].people, shares[place]) for place in places]
    style = Style.HATCHED if small else Style.PLAIN
    return Bars(
        places, [shares[place] for place in places], behind, style, _bars_label(shown, below, small=small)
    )


def _bar_label(people: int | None, share: float | None) -> str:
    return MASKED if people is None or share is None else f"{people:,} ({percent(share)})"


def _bars_label(shown: Sequence[Range], below: float, *, small: bool) -> str:
    """Describe the bars; a range with sizes on both sides of `below` counts as small."""
    across = any(each.low < below and (each.high is None or each.high >= below) for each in shown)
    if small:
        return f"in ranges that begin below {below:,g}" if across else f"in classes of fewer than {below:,g}"
    return f"in classes of {below:,g} or more"


def quasi_identifiers_chart(table: Row) -> Chart:
    """Make bars of the average risk of a report's table without each of its quasi-identifiers.

    A rule marks the risk by all of them, unless it would reveal a masked count.
    """
    ordered = sorted(measured_columns(table), key=lambda each: each["without"]["average_risk"])
    risks = [each["without"]["average_risk"] for each in ordered]
    labels = [f"{percent(each['without']['average_risk'])}, k = {each['without']['k']:,}" for each in ordered]
    whole = risk_of_all(table)
    marks: list[Mark] = [Bars(list(range(len(ordered))), risks, labels, Style.PLAIN)]
    if whole is not None:
        marks.append(Rule(whole, upright=True, style=Style.HERE, words=f"with all: {percent(whole)}"))
    names = [each["column"] for each in ordered]
    return Chart(
        "Risk by quasi-identifier",
        Axis(
            "share of the people matched rightly without it",
            Scale.SHARE,
            0.0,
            max([*risks, whole or 0.0]) or 1.0,
        ),
        Axis("quasi-identifier left out", Scale.NAMES, -0.5, len(names) - 0.5, names),
        marks,
    )


def measured_columns(table: Row) -> list[Row]:
    """Return the quasi-identifiers whose omission leaves other columns to count by, where that is shown."""
    return [each for each in table["columns"] if each["without"]]


def risk_of_all(table: Row) -> float | None:
    """Return the average risk by all quasi-identifiers; None if it would reveal a masked count."""
    if table["classes"] is None or table["records_dropped"] is None:
        return None
    return float(table["classes"] / max(1, table["records"] - table["records_dropped"]))


def forecast_chart(
    share: str,
    rows: Sequence[Row],
    *,
    measured: Sequence[Row] = (),
    beside: Mapping[str, Sequence[Row]] | None = None,
    limit: float | None = None,
) -> Chart:
    """Draw the forecast of a share with its interval, what was measured, other forecasts, and a limit."""
    curve = measured if share == "correctness" else ()
    known = [row for row in rows if row[share] is not None]
    marks = [
        *_measured_marks(curve),
        *_forecast_marks(share, known),
        *_other_lines(share, beside or {}),
    ]
    highest = max([limit or 0.0, *(value for mark in marks for value in _heights(mark))])
    if limit is not None:
        marks.append(Rule(limit, upright=False, style=Style.LIMIT, words=f"limit {format_share(limit)}"))
    shown_rows = (*rows, *(row for other in (beside or {}).values() for row in other))
    sizes = [*(row["n"] for row in curve), *(row["population"] for row in shown_rows)]
    widened = WIDENING if min(sizes) == max(sizes) else 1
    return Chart(
        SHARES[share].capitalize(),
        Axis("people in the population", Scale.PEOPLE, min(sizes) / widened, max(sizes) * widened),
        Axis(
            f"share of {SHARES[share].split()[0]}",
            Scale.SHARE,
            0.0,
            min(1.0, HEADROOM * highest) if highest > 0 else 1.0,
        ),
        marks,
        "" if known else str(rows[0].get("status")),
    )


def _heights(mark: Mark) -> Sequence[float]:
    return mark.up if isinstance(mark, Line) else mark.high if isinstance(mark, Band) else ()


def _measured_marks(curve: Sequence[Row]) -> list[Mark]:
    """Return what was measured, up to the size of the table."""
    if not curve:
        return []
    sizes = [row["n"] for row in curve]
    line = Line(sizes, [row["correctness"] for row in curve], Style.SOLID, "measured")
    return [line, Rule(sizes[-1], upright=True, style=Style.HERE, words="the table")]


def _forecast_marks(share: str, known: Sequence[Row]) -> list[Mark]:
    """Return the forecast, with its band where it has intervals."""
    if not known:
        return []
    ends = (f"{share}_low", f"{share}_high")
    within = [row for row in known if all(row.get(end) is not None for end in ends)]
    low, high = ([row[end] for row in within] for end in ends)
    band = [Band([row["population"] for row in within], low, high, "95 % interval")] if within else []
    places, values = [row["population"] for row in known], [row[share] for row in known]
    return [*band, Line(places, values, Style.DASHED, "forecast", marked=len(known) <= MAX_MARKED_POINTS)]


def _other_lines(share: str, others: Mapping[str, Sequence[Row]]) -> list[Mark]:
    lines: list[Mark] = []
    for (name, rows), style in zip(others.items(), cycle(OTHER_STYLES)):
        shown_rows = [row for row in rows if row.get(share) is not None]
        lines.append(
            Line([row["population"] for row in shown_rows], [row[share] for row in shown_rows], style, name)
        )
    return lines


def frontier_chart(table: Row) -> Chart:
    """Make a mark for each transformation: a dot if its class sizes meet the policy, else a cross."""
    forms = table["frontier"]
    looks = ((True, Style.DOT, "class sizes meet the policy"), (False, Style.CROSS, "they do not"))
    marks: list[Mark] = []
    for met, style, words in looks:
        chosen = [form for form in forms if form["meets_class_sizes"] is met]
        loss, risk = ([form[name] for form in chosen] for name in ("generalisation_loss", "records_below_k"))
        marks.append(Dots(loss, risk, style, words))
    if table["losses"] is not None:
        release = float(table["losses"]["entropy"])
        marks.append(Rule(release, upright=True, style=Style.DASHED, words="the release"))
    most = max((form["records_below_k"] for form in forms), default=0.0) or 1.0
    return Chart(
        table["name"],
        Axis("information lost by coarser values", Scale.SHARE, 0.0, 1.0),
        Axis(f"people in classes smaller than {table['k']:,}", Scale.SHARE, 0.0, HEADROOM * most),
        marks,
    )
