"""Charts that reports and figures share: class sizes, forecasts, risk against loss, omitted columns."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from typing import Any, Final

from reid_sql.charts.spec import (
    HEADROOM,
    Axis,
    Band,
    Bars,
    Chart,
    Line,
    Mark,
    Marker,
    Rule,
    Scale,
    Strokes,
    Style,
    format_share,
    name_axis,
    points,
    rows_of,
    share_axis,
    shorten_name,
    tables_of,
)
from reid_sql.errors import NoRecordsError, OutOfDomainError, UnknownNameError, suggestion
from reid_sql.models.numerics.quantiles import percent
from reid_sql.parameters import Row, Rows

# where ranges of class sizes begin
EDGES: Final = (1, 2, 3, 5, 10, 20, 50, 100, 1000, 10_000, 100_000)
NO_END: Final = 2**63  # of the last range
MASKED: Final = "masked"
REPORT_KEYS: Final = ("name", "records", "records_dropped", "classes", "columns")
PREPARED_KEYS: Final = ("name", "k", "losses", "frontier")
FORECAST_FUNCTIONS: Final = "population_risk, pyc_forecast, pyc_extrapolate or copula_forecast"
INTERVAL: Final = "95 % interval"
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


def class_sizes(answer: object, *, below: int = 5) -> Chart:
    """Draw how many people share their values with how many others.

    Bars of the answer of `class_size_histogram`, one for each range of class sizes; those of classes smaller
    than `below` are hatched.

    >>> sizes = [{"class_size": 1, "classes": 2, "records": 2}, {"class_size": 8, "classes": 1, "records": 8}]
    >>> [bars.lengths for bars in class_sizes(sizes).marks]
    [[0.2], [0.8]]
    """
    columns = ("class_size", "classes", "records")
    rows = rows_of("class_sizes", answer, "class_size_histogram", columns, "class_size")
    return class_sizes_chart(ranges(rows, below), sum(row["records"] for row in rows), below)


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
        share_axis(
            "share of the people (behind the bar their number)",
            max(filter(None, shares), default=1.0),
        ),
        name_axis(names, "people with the same values"),
        [
            bars
            for small in (True, False)
            if (bars := _range_bars(shown, shares, below, small=small)).places
        ],
    )


def _range_bars(
    shown: Sequence[Range], shares: Sequence[float | None], below: float, *, small: bool
) -> Bars:
    places = [place for place, each in enumerate(shown) if (each.low < below) is small]
    bars = [(shown[place].people, shares[place]) for place in places]
    behind = [
        MASKED if people is None or share is None else f"{people:,} ({percent(share)})"
        for people, share in bars
    ]
    style = Style.HATCHED if small else Style.PLAIN
    return Bars(
        places,
        [share for _, share in bars],
        behind,
        style,
        _bars_label(shown, below, small=small),
    )


def _bars_label(shown: Sequence[Range], below: float, *, small: bool) -> str:
    """Describe the bars; a range with sizes on both sides of `below` counts as small."""
    across = any(each.low < below and (each.high is None or each.high >= below) for each in shown)
    if small:
        return (
            f"in ranges that begin below {below:,g}"
            if across
            else f"in classes of fewer than {below:,g}"
        )
    return f"in classes of {below:,g} or more"


def quasi_identifiers(page: object) -> list[Chart]:
    """Draw the average risk without each quasi-identifier, and the risk with all of them.

    Of what `reid-sql check --json` prints: the page, a panel for each of its tables that has two
    quasi-identifiers or more, or one of its tables. The shorter the bar, the more that column drives the
    risk.
    """
    tables = tables_of("quasi_identifiers", page, "check", REPORT_KEYS)
    measured = [table for table in tables if measured_columns(table)]
    if not measured:
        raise NoRecordsError(
            "quasi_identifiers must be given a table whose columns were left out one by one, got none; check two quasi-identifiers or more, with NULL as a value or dropped"
        )
    if len(measured) == 1:
        return [quasi_identifiers_chart(measured[0])]
    charts = [(table["name"], quasi_identifiers_chart(table)) for table in measured]
    return [replace(chart, title=f"{shorten_name(name)}: {chart.title}") for name, chart in charts]


def quasi_identifiers_chart(table: Row) -> Chart:
    """Make bars of how much of a report's average risk goes without each of its quasi-identifiers.

    Where the risk by all of them would reveal a masked count, the bars are the risk that is left.
    """
    whole = risk_of_all(table)
    ordered = sorted(measured_columns(table), key=lambda each: each["without"]["average_risk"])
    left = [each["without"]["average_risk"] for each in ordered]
    sizes = left if whole is None else [max(0.0, whole - risk) for risk in left]
    labels = [
        f"{percent(each['without']['average_risk'])}, k = {each['without']['k']:,}"
        for each in ordered
    ]
    if whole is not None:
        labels = [f"{percent(whole)} to {label}" for label in labels]
    words = (
        "average risk that the column adds"
        if whole is not None
        else "average risk without the column"
    )
    return Chart(
        "Risk by quasi-identifier",
        share_axis(words, max(sizes) or 1.0),
        name_axis([each["column"] for each in ordered], "quasi-identifier left out"),
        [Bars(list(range(len(ordered))), sizes, labels, Style.PLAIN)],
    )


def measured_columns(table: Row) -> Rows:
    """Return the quasi-identifiers whose omission leaves other columns to count by, where that is shown."""
    return [each for each in table["columns"] if each["without"]]


def risk_of_all(table: Row) -> float | None:
    """Return the average risk by all quasi-identifiers; None if it would reveal a masked count.

    Reports of former versions lack it.
    """
    risk: float | None = table.get("average_risk")
    return risk


def forecast(
    answer: object,
    *,
    measured: object = None,
    beside: Mapping[str, object] | None = None,
    share: str | None = None,
    limit: float | None = None,
    k: int | None = None,
) -> list[Chart]:
    """Draw the predicted risk in larger populations, with 95 % intervals.

    Of the answer of `population_risk`, `pyc_forecast`, `pyc_extrapolate` or `copula_forecast`: a panel for
    each share over the size of the population, on a logarithmic axis; with `share`, such as `'correctness'`,
    only that one. `measured` is the answer of `correctness_curve`, a line up to the table; `beside` maps
    the names of other methods to their forecasts; `limit` is a share that must not be exceeded, a line.
    `k` is the class size that was passed for the forecast, for the title of its panel.

    >>> rows = [{"population": n, "uniqueness": 9 / n, "status": "ok"} for n in (10, 1000)]
    >>> forecast(rows)[0].marks[0].up
    [0.9, 0.009]
    """
    rows = _read_sorted(answer, FORECAST_FUNCTIONS, "population")
    keys = [name for name in SHARES if name in rows[0]]
    if share is not None and share not in keys:
        raise UnknownNameError(
            f"share must be a share of the answer, got '{share}'; {suggestion(share, keys, 'shares')}"
        )
    shown = [share] if share is not None else keys
    if limit is not None:
        _check_limit(limit, shown)
    curve: Rows = []
    if measured is not None:
        curve = _read_sorted(measured, "correctness_curve", "n", "correctness")
    forecasts = {
        name: _read_sorted(each, FORECAST_FUNCTIONS, "population")
        for name, each in (beside or {}).items()
    }
    charts = []
    for name in shown:
        chart = forecast_chart(name, rows, measured=curve, beside=forecasts, limit=limit)
        title = chart.title if k is None else chart.title.replace("than k", f"than {k:,}")
        charts.append(replace(chart, title=title))
    return charts


def _read_sorted(answer: object, function: str, key: str, *columns: str) -> Rows:
    rows = rows_of("forecast", answer, function, (key, *columns), key)
    return sorted(rows, key=lambda row: float(row[key]))


def _check_limit(limit: float, shown: Sequence[str]) -> None:
    if not 0 <= limit <= 1:
        raise OutOfDomainError(
            f"limit must be a share from 0 to 1, got {limit!r}; pass 0.05 for 5 %"
        )
    if len(shown) > 1:
        raise OutOfDomainError(
            f"limit must be of one share, got {', '.join(shown)}; pass share, such as '{shown[0]}'"
        )


def forecast_chart(
    share: str,
    rows: Rows,
    *,
    measured: Rows = (),
    beside: Mapping[str, Rows] | None = None,
    limit: float | None = None,
) -> Chart:
    """Draw the forecast of a share with its interval, what was measured, other forecasts, and a limit."""
    curve = measured if share == "correctness" else ()
    forecasts = beside or {}
    marks = [
        *_measured_marks(curve),
        *_forecast_marks(share, rows),
        *_other_lines(share, forecasts),
    ]
    highest = max([limit or 0.0, *(value for mark in marks for value in _heights(mark))])
    if limit is not None:
        words = f"limit {format_share(limit)}"
        marks.append(Rule(limit, upright=False, style=Style.LIMIT, words=words))
    sizes = [row["n"] for row in curve]
    sizes += [row["population"] for each in (rows, *forecasts.values()) for row in each]
    widened = WIDENING if min(sizes) == max(sizes) else 1
    low, high = min(sizes) / widened, max(sizes) * widened
    is_known = any(row[share] is not None for row in rows)
    return Chart(
        SHARES[share].capitalize(),
        Axis("people in the population", Scale.PEOPLE, low, high),
        share_axis(
            f"share of {SHARES[share].split()[0]}",
            min(1.0, HEADROOM * highest) if highest > 0 else 1.0,
        ),
        marks,
        "" if is_known else str(rows[0].get("status")),
    )


def _heights(mark: Mark) -> Sequence[float]:
    match mark:
        case Strokes():
            return [high for _, (_, high) in mark.ends]
        case Line():
            return mark.up
        case Band():
            return mark.high
    return ()


def _measured_marks(curve: Rows) -> list[Mark]:
    """Return what was measured, up to the size of the table."""
    if not curve:
        return []
    sizes = [row["n"] for row in curve]
    line = Line(sizes, [row["correctness"] for row in curve], "measured", Style.SOLID)
    return [line, Rule(sizes[-1], upright=True, style=Style.HERE, words="the table")]


def _forecast_marks(share: str, rows: Rows) -> list[Mark]:
    """Return the band where there are intervals, also without an estimate, and the forecast that is known."""
    ends = (f"{share}_low", f"{share}_high")
    within = [row for row in rows if all(row.get(end) is not None for end in ends)]
    sizes, low, high = ([row[name] for row in within] for name in ("population", *ends))
    marks: list[Mark] = []
    if len(within) == 1:
        marks.append(Strokes([((sizes[0], low[0]), (sizes[0], high[0]))], INTERVAL))
    elif within:
        marks.append(Band(sizes, low, high, INTERVAL))
    places, values = points(rows, "population", share)
    if places:
        marker = Marker.DOT if len(places) <= MAX_MARKED_POINTS else None
        marks.append(Line(places, values, "forecast", Style.DASHED, marker))
    return marks


def _other_lines(share: str, forecasts: Mapping[str, Rows]) -> list[Mark]:
    lines: list[Mark] = []
    for (name, rows), style in zip(forecasts.items(), cycle(OTHER_STYLES)):
        places, values = points(rows, "population", share)
        lines.append(Line(places, values, shorten_name(name), style))
    return lines


def frontier(page: object) -> list[Chart]:
    """Draw risk against loss of the transformations that were evaluated to prepare a release.

    Of what `reid-sql prepare --json` prints: the page, a panel for each of its tables, or one of its tables.
    Each mark is a transformation that no other one improves on in both respects.
    """
    return [
        frontier_chart(table) for table in tables_of("frontier", page, "prepare", PREPARED_KEYS)
    ]


def frontier_chart(table: Row) -> Chart:
    """Make a mark for each transformation: a dot if its class sizes meet the policy, else a cross."""
    forms = table["frontier"]
    looks = (
        (True, Marker.DOT, "class sizes meet the policy"),
        (False, Marker.CROSS, "they do not"),
    )
    marks: list[Mark] = []
    for met, marker, words in looks:
        chosen = [form for form in forms if form["meets_class_sizes"] is met]
        loss, risk = (
            [form[name] for form in chosen] for name in ("generalisation_loss", "records_below_k")
        )
        marks.append(Line(loss, risk, words, marker=marker))
    if table["losses"] is not None:
        release = float(table["losses"]["entropy"])
        marks.append(Rule(release, upright=True, style=Style.DASHED, words="the release"))
    most = max((form["records_below_k"] for form in forms), default=0.0) or 1.0
    return Chart(
        shorten_name(table["name"]),
        share_axis("information lost by coarser values"),
        share_axis(f"people in classes smaller than {table['k']:,}", HEADROOM * most),
        marks,
    )
