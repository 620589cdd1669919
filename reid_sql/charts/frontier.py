"""Risk against loss: of the forms of a table that were counted, those that no other one betters in both."""

from collections.abc import Mapping
from typing import Any

from reid_sql.charts.marks import ROOM, Axis, Dots, Look, Mark, Picture, Rule, Scale

Table = Mapping[str, Any]


def frontier(table: Table) -> Picture:
    """Describe the forms of a prepared table: a dot where class sizes meet the policy, else a cross."""
    forms = table["frontier"]
    looks = ((True, Look.DOT, "class sizes meet the policy"), (False, Look.CROSS, "they do not"))
    marks: list[Mark] = []
    for met, look, words in looks:
        held = [form for form in forms if form["meets_class_sizes"] is met]
        loss, risk = ([form[name] for form in held] for name in ("generalisation_loss", "records_below_k"))
        marks.append(Dots(loss, risk, look, words))
    if table["losses"] is not None:
        release = float(table["losses"]["entropy"])
        marks.append(Rule(release, upright=True, look=Look.DASHED, words="the release"))
    most = max((form["records_below_k"] for form in forms), default=0.0) or 1.0
    return Picture(
        table["name"],
        Axis("information lost by coarser values", Scale.SHARE, 0.0, 1.0),
        Axis("people in classes smaller than k", Scale.SHARE, 0.0, ROOM * most),
        marks,
    )
