"""Charts of what the functions answer.

Each function accepts the answer of one function: a relation of DuckDB, a frame of Polars, pandas or Arrow, or
a list of rows. It returns a `Picture`, which a notebook shows and `save("chart.svg")` writes. Its `charts`
contain the values that are drawn. All charts are readable in black and white.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from reid_sql.charts import column_charts, estimate_charts, risk_charts
from reid_sql.charts.picture import Picture, draw

if TYPE_CHECKING:
    from reid_sql.models.people.diagnostics import Check

__all__ = [
    "attacks",
    "attribute_risk",
    "audited_cells",
    "choices",
    "class_sizes",
    "comparison",
    "contributions",
    "elimination",
    "forecast",
    "frontier",
    "losses",
    "methods",
    "minimal_sets",
    "model_check",
    "quasi_identifiers",
    "unicity",
    "uniqueness_by_size",
    "validation",
]


def class_sizes(answer: object, *, below: int = 5) -> Picture:
    """Draw how many people share their values with how many others.

    Bars of the answer of `class_size_histogram`, one for each range of class sizes; those of classes smaller
    than `below` are hatched.

    >>> sizes = [{"class_size": 1, "classes": 2, "records": 2}, {"class_size": 8, "classes": 1, "records": 8}]
    >>> [bars.lengths for bars in class_sizes(sizes).charts[0].marks]
    [[0.2], [0.8]]
    """
    return draw(risk_charts.class_sizes(answer, below))


def quasi_identifiers(page: object) -> Picture:
    """Draw the average risk without each quasi-identifier, and the risk with all of them.

    Of what `reid-sql check --json` prints: the page, a panel for each of its tables that has two
    quasi-identifiers or more, or one of its tables. The shorter the bar, the more that column drives the
    risk.
    """
    return draw(risk_charts.quasi_identifiers(page))


def frontier(page: object) -> Picture:
    """Draw risk against loss of the transformations that were evaluated to prepare a release.

    Of what `reid-sql prepare --json` prints: the page, a panel for each of its tables, or one of its tables.
    Each mark is a transformation that no other one improves on in both respects.
    """
    return draw(risk_charts.frontier(page))


def forecast(
    answer: object,
    *,
    measured: object = None,
    beside: Mapping[str, object] | None = None,
    share: str | None = None,
    limit: float | None = None,
    k: int | None = None,
) -> Picture:
    """Draw the predicted risk in larger populations, with 95 % intervals.

    Of the answer of `population_risk`, `pyc_forecast`, `pyc_extrapolate` or `copula_forecast`: a panel for
    each share over the size of the population, on a logarithmic axis; with `share`, such as `'correctness'`,
    only that one. `measured` is the answer of `correctness_curve`, a line up to the table; `beside` maps
    the names of other methods to their forecasts; `limit` is a share that must not be exceeded, a line.
    `k` is the class size that was passed for the forecast, for the title of its panel.

    >>> rows = [{"population": n, "uniqueness": 9 / n, "status": "ok"} for n in (10, 1000)]
    >>> forecast(rows).charts[0].marks[0].up
    [0.9, 0.009]
    """
    charts = risk_charts.forecast(
        answer,
        measured=measured,
        beside=beside,
        share=share,
        limit=limit,
        k=k,
    )
    return draw(charts)


def attribute_risk(answer: object, *, most: int = 20) -> Picture:
    """Draw how well each subset of the columns distinguishes people, the best first.

    Of the answer of `attribute_risk`, the `most` subsets with the highest distinction: a full mark at the
    share of distinct combinations, an open one at the share of pairs of people who differ.

    >>> rows = [{"columns": ["age"], "distinction": 0.1, "separation": 0.9, "status": "ok"}]
    >>> [points.across for points in attribute_risk(rows).charts[0].marks[1:]]
    [[0.1], [0.9]]
    """
    return draw(column_charts.attribute_risk(answer, most))


def uniqueness_by_size(answer: object) -> Picture:
    """Draw the share of unique people against the number of columns that an attacker knows.

    Of the answer of `attribute_risk`: for each number of columns the set that singles out most, the median
    set, and the set that singles out fewest. Of the answer of `uniqueness_profile`, or of those for several
    people one after the other, the same of the mean ξ: the chance to be unique in the population (figure 3b
    of Rocher, Hendrickx & de Montjoye 2019).

    >>> rows = [{"columns": [name], "records": 4, "unique_records": n} for name, n in (("a", 1), ("b", 3))]
    >>> [line.up for line in uniqueness_by_size(rows).charts[0].marks[1:]]
    [[0.75], [0.5], [0.25]]
    """
    return draw(column_charts.uniqueness_by_size(answer))


def minimal_sets(answer: object, *, most: int = 20) -> Picture:
    """Draw the minimal sets of columns that single out a share of the people, the smallest first.

    Of the answer of `quasi_identifiers`: the `most` first sets, each with a bar of the people whom it
    singles out, their number, and the number of classes.

    >>> row = {"columns": ["age", "sex"], "size": 2, "share_unique": 0.25, "unique_records": 1, "classes": 3}
    >>> minimal_sets([row]).charts[0].marks[0].behind
    ['1 (25.0 %), 3 classes']
    """
    return draw(column_charts.minimal_sets(answer, most))


def choices(answer: object, risk: object) -> Picture:
    """Draw how many choices of columns have which risk, and the extreme risk with its interval.

    Of the answers of `qar_risk`, its `output := 'quasi_identifiers'` first.
    """
    return draw(column_charts.choices(answer, risk))


def contributions(answer: object) -> Picture:
    """Draw by how much the extreme risk would fall without each record, those that add most first.

    Of the answer of `qar_contributions`.
    """
    return draw(column_charts.contributions(answer))


def elimination(answer: object) -> Picture:
    """Draw the fall of the extreme risk by removals, under the largest fall that is possible.

    Of the answer of `qar_contributions(output := 'elimination')`, or of several of them by the names of the
    orders that chose the records, a line each.
    """
    return draw(column_charts.elimination(answer))


def methods(answer: object) -> Picture:
    """Draw each method's estimate of the share of a population that is unique.

    Of the answer of `population_uniqueness`: a mark with its 95 % interval, if the method has one. The lowest
    estimate is at the top, and methods without an estimate are at the bottom.

    >>> rows = [{"method": "pitman", "uniqueness": 0.2, "uniqueness_low": 0.1, "uniqueness_high": 0.4}]
    >>> methods(rows).charts[0].marks[1].across
    [0.2]
    """
    return draw(estimate_charts.methods(answer))


def validation(answer: object) -> Picture:
    """Draw each method's estimates from samples of a table, with intervals, and the counted truth.

    Of the answer of `validate_risk`, the share of unique people; one panel for each sample size. The method
    with the least error is at the top. An interval that missed the truth is dashed, and its estimate a cross.
    """
    return draw(estimate_charts.validation(answer))


def unicity(answers: object) -> Picture:
    """Draw how many people some of their rows single out, over how many rows an attacker knows.

    Of the answer of `unicity`, or of several by the name of their resolution, such as
    `{"place and day": …, "district and week": …}`: a line each. A stroke is the 95 % interval of a draw.

    >>> rows = [{"points": 2, "uniqueness": 0.5, "uniqueness_low": 0.5, "uniqueness_high": 0.5}]
    >>> unicity({"place and day": rows}).charts[0].marks[1].up
    [0.5]
    """
    return draw(estimate_charts.unicity(answers))


def model_check(checks: "Sequence[Check]") -> Picture:
    """Draw the table's share of people in small classes on what the model expects of such a table.

    A posterior predictive check, by `reid_sql.models.people.diagnostics`. Source: Rocher, Hendrickx & de
    Montjoye 2025, figure 1.
    """
    return draw(estimate_charts.model_check(checks))


def comparison(answer: object) -> Picture:
    """Draw the risk of an original next to that of its release.

    Of the answer of `compare`, shares of the people; an unknown share has no bar.
    """
    return draw(estimate_charts.comparison(answer))


def losses(answer: object) -> Picture:
    """Draw the share of each column's information that a release loses, where it is known.

    Of the answer of `compare(output := 'columns')`.
    """
    return draw(estimate_charts.losses(answer))


def attacks(answer: object) -> Picture:
    """Draw the excess of each attack over people who were not used, in its 95 % interval.

    Of the answer of `audit_synthetic`. A full mark has an interval above 0: the synthetic table gives away
    its people. Of each membership score the area is drawn, less a half.

    >>> row = {"attack": "linkability", "column_name": None, "figure": "share"}
    >>> picture = attacks([row | {"excess": 0.1, "low": 0.05, "high": 0.15}])
    >>> picture.charts[0].marks[0].ends
    [((0.05, 0), (0.15, 0))]
    """
    return draw(estimate_charts.attacks(answer))


def audited_cells(answer: object) -> Picture:
    """Draw the hidden cells of published tables, darker the narrower the interval that an attacker computes.

    Of the answer of `audit_tables` on tables of two columns, or of the first column by all others. A cell
    shows its interval; a cross marks one that is known exactly or known below k. Cells that are not hidden
    stay white.

    >>> row = {"cell": "a = x, b = y", "categories": ["x", "y"], "kind": "suppressed", "low": 2, "high": 2}
    >>> picture = audited_cells([row | {"width": 0, "finding": "recovered"}])
    >>> picture.charts[0].marks[0].words
    ['2 ×']
    """
    return draw(estimate_charts.audited_cells(answer))
