"""Charts of what the functions answer.

Each function accepts the answer of one function: a relation of DuckDB, a frame of Polars, pandas or Arrow, or
a list of rows. It returns a `Picture`, which a notebook shows and `save("chart.svg")` writes. Its `charts`
contain the values that are drawn. All charts are readable in black and white.
"""

from reid_sql.charts import column_charts, estimate_charts, risk_charts
from reid_sql.charts.svg import pictured

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

class_sizes = pictured(risk_charts.class_sizes)
quasi_identifiers = pictured(risk_charts.quasi_identifiers)
frontier = pictured(risk_charts.frontier)
forecast = pictured(risk_charts.forecast)
attribute_risk = pictured(column_charts.attribute_risk)
uniqueness_by_size = pictured(column_charts.uniqueness_by_size)
minimal_sets = pictured(column_charts.minimal_sets)
choices = pictured(column_charts.choices)
contributions = pictured(column_charts.contributions)
elimination = pictured(column_charts.elimination)
methods = pictured(estimate_charts.methods)
validation = pictured(estimate_charts.validation)
unicity = pictured(estimate_charts.unicity)
model_check = pictured(estimate_charts.model_check)
comparison = pictured(estimate_charts.comparison)
losses = pictured(estimate_charts.losses)
attacks = pictured(estimate_charts.attacks)
audited_cells = pictured(estimate_charts.audited_cells)
