"""Charts of estimates: by several methods, from samples, from known rows, and by the model of people."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from reid_sql.charts import spec
from reid_sql.charts.answers import Row, rows_of
from reid_sql.charts.spec import Marker, Style
from reid_sql.errors import WrongTypeError

if TYPE_CHECKING:
    from reid_sql.models.people.diagnostics import Check

METHOD_COLUMNS: Final = ("method", "uniqueness", "uniqueness_low", "uniqueness_high")
UNICITY_COLUMNS: Final = ("points", "uniqueness", "uniqueness_low", "uniqueness_high")
VALIDATION_COLUMNS: Final = ("method", "fraction", "sample", "figure", "value", "low", "high", "truth")
SPREAD: Final = 0.6  # of the row of a method, over which its samples are spread


def methods(answer: object) -> spec.Chart:
    """Mark each method's estimate in its interval, the lowest at the top; else write its status."""
    rows = rows_of("methods", answer, "population_uniqueness", METHOD_COLUMNS, "method")
    rows = sorted(rows, key=lambda row: float("inf") if row["uniqueness"] is None else row["uniqueness"])
    places = {place: row for place, row in enumerate(rows) if row["uniqueness"] is not None}
    within = {place: row for place, row in places.items() if row["uniqueness_low"] is not None}
    missing = [place for place in range(len(rows)) if place not in places]
    intervals = [
        ((row["uniqueness_low"], place), (row["uniqueness_high"], place)) for place, row in within.items()
    ]
    estimates = [row["uniqueness"] for row in places.values()]
    statuses = [str(rows[place]["status"]) for place in missing]
    values = [*estimates, *(value for each in intervals for value, _ in each)]
    return spec.Chart(
        "Unique in the population, by method",
        spec.share_axis(
            "share of the population that is unique, with 95 % intervals",
            max(values, default=0.0) or 1.0,
            min([0.0, *values]),
        ),
        spec.name_axis([row["method"] for row in rows]),
        [
            spec.Strokes(intervals, ""),
            spec.Line(estimates, list(places), "", marker=Marker.POINT),
            spec.Bars(missing, [0.0] * len(missing), statuses, Style.PLAIN),
        ],
    )


def unicity(answers: object) -> spec.Chart:
    """Draw a line for each resolution over the rows that an attacker knows."""
    given = answers if isinstance(answers, Mapping) else {"people whom their known rows single out": answers}
    lines = {str(name): rows_of("unicity", each, "unicity", UNICITY_COLUMNS) for name, each in given.items()}
    known = {row["points"] for rows in lines.values() for row in rows}
    order = sorted(known, key=lambda points: float("inf") if points is None else float(points))
    marks: list[spec.Mark] = []
    for (name, rows), look in zip(lines.items(), spec.LOOKS * len(lines), strict=False):
        across = [order.index(row["points"]) for row in rows]
        shares, low, high = ([row[column] for row in rows] for column in UNICITY_COLUMNS[1:])
        ends = [((at, a), (at, b)) for at, a, b in zip(across, low, high, strict=True)]
        marks += [spec.Strokes(ends, ""), spec.Line(across, shares, spec.shorten_name(name) or " ", *look)]
    return spec.Chart(
        "People whom a few of their rows single out",
        spec.name_axis(
            ["all" if points is None else f"{points}" for points in order],
            "rows of a person that the attacker knows",
        ),
        spec.share_axis("share of the people"),
        marks,
    )


def validation(answer: object) -> list[spec.Chart]:
    """Draw the estimates from samples of each size, the method with the least error at the top."""
    rows = rows_of("validation", answer, "validate_risk", VALIDATION_COLUMNS)
    methods = sorted(dict.fromkeys(row["method"] for row in rows), key=lambda name: _mean_error(rows, name))
    truth = next(row["truth"] for row in rows if row["truth"] is not None)
    fractions = sorted({row["fraction"] for row in rows}, reverse=True)
    own = [
        row for row in rows if row["sample"] and row["figure"] == "uniqueness" and row["value"] is not None
    ]
    return [
        spec.Chart(
            f"Samples of {100 * fraction:g} % of the table",
            spec.share_axis("share of unique people"),
            spec.name_axis(methods),
            [
                *_estimate_marks([row for row in own if row["fraction"] == fraction], methods),
                spec.Line([truth, truth], [-0.5, len(methods) - 0.5], "the truth", Style.SOLID),
            ],
        )
        for fraction in fractions
    ]


def _mean_error(rows: Sequence[Row], method: str) -> float:
    """Compute the mean absolute error of a method's estimates; infinite without an estimate."""
    own = [row for row in rows if row["method"] == method and row["sample"] and row["figure"] == "uniqueness"]
    errors = [abs(row["value"] - row["truth"]) for row in own if row["value"] is not None]
    return sum(errors) / len(errors) if errors else float("inf")


def _estimate_marks(rows: Sequence[Row], methods: Sequence[str]) -> list[spec.Mark]:
    """Mark each estimate on the row of its method, the samples one below the other."""
    most = max((row["sample"] for row in rows), default=1)
    marks: list[spec.Mark] = []
    for is_missed, interval, estimate, style, marker in (
        (False, "95 % interval that contains it", "estimate", Style.STROKE, Marker.POINT),
        (True, "95 % interval that missed it", "its estimate", Style.MISSED, Marker.CROSS),
    ):
        own = [row for row in rows if _is_missed(row) is is_missed]
        places = [
            methods.index(row["method"]) + SPREAD * (row["sample"] - (most + 1) / 2) / most for row in own
        ]
        at = list(zip(places, own, strict=True))
        within = [(place, row) for place, row in at if row["low"] is not None and row["high"] is not None]
        if within:
            ends = [((row["low"], place), (row["high"], place)) for place, row in within]
            marks.append(spec.Strokes(ends, interval, style))
        if own:
            marks.append(spec.Line([row["value"] for row in own], places, estimate, marker=marker))
    return marks


def _is_missed(row: Row) -> bool:
    known = row["low"] is not None and row["high"] is not None
    return known and not row["low"] <= row["truth"] <= row["high"]


def model_check(checks: "Sequence[Check]") -> spec.Chart:
    """Draw the table's share of people in small classes on what the model expects of such a table."""
    if not isinstance(checks, Sequence) or not all(hasattr(each, "expected") for each in checks):
        rule = f"model_check must be given the checks of a model, got {type(checks).__name__}"
        raise WrongTypeError(
            f"{rule}; pass the result of reid_sql.models.people.diagnostics.predictive_checks"
        )
    places = range(len(checks))
    low, high = [check.low for check in checks], [check.high for check in checks]
    expected, observed = [check.expected for check in checks], [check.observed for check in checks]
    return spec.Chart(
        "Does the model predict this table?",
        spec.name_axis([f"{check.below:,}" for check in checks], "in classes smaller than this many people"),
        spec.share_axis("share of the table's people"),
        [
            spec.Band(places, low, high, "95 % of tables that the model makes"),
            spec.Line(places, expected, "expected", Style.DASHED),
            spec.Line(places, observed, "this table", marker=Marker.POINT),
        ],
    )
