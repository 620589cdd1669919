"""What each quasi-identifier does to the risk: the risk that stays where it is left out, the least first."""

from collections.abc import Mapping
from typing import Any

from reid_sql.charts.class_sizes import MASKED
from reid_sql.charts.marks import Axis, Bars, Look, Mark, Picture, Rule, Scale
from reid_sql.models.numerics.quantiles import percent

Table = Mapping[str, Any]


def quasi_identifiers(table: Table) -> Picture:
    """Describe the average risk of a table of the gate's report without each of its quasi-identifiers.

    A rule is at the risk by all of them, unless it would tell a masked count.
    """
    ordered = sorted(measured(table), key=lambda each: float(each["without"]["average_risk"]))
    risks = [float(each["without"]["average_risk"]) for each in ordered]
    every = range(len(ordered))
    whole = risk_of_all(table)
    marks: list[Mark] = [Bars(every, risks, [_behind(each["without"]) for each in ordered], Look.PLAIN)]
    if whole is not None:
        marks.append(Rule(whole, upright=True, look=Look.HERE, words=f"with all: {percent(whole)}"))
    names = [each["column"] for each in ordered]
    return Picture(
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


def measured(table: Table) -> list[Table]:
    """The quasi-identifiers without which something is left to count."""
    return [each for each in table["columns"] if each["without"]]


def risk_of_all(table: Table) -> float | None:
    """The average risk by all quasi-identifiers; nothing where it would tell a masked count."""
    if table["classes"] is None or table["records_dropped"] is None:
        return None
    return float(table["classes"] / max(1, table["records"] - table["records_dropped"]))


def _behind(risk: Table) -> str:
    least = risk["k"]
    return f"{percent(risk['average_risk'])}, k {MASKED if least is None else f'= {least:,}'}"
