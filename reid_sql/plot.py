"""Pictures of what the functions answer, with matplotlib (`pip install 'reid-sql[plot]'`).

Each takes the answer of a function, as a relation of DuckDB, a frame of Polars, pandas or Arrow, or a list of
rows, and gives a matplotlib Figure, which can be changed and saved; with `ax` it draws on axes of yours. All
can be read in black and white.
"""

from reid_sql.charts.figures.attribute_risk import attribute_risk
from reid_sql.charts.figures.class_sizes import class_sizes
from reid_sql.charts.figures.comparison import comparison, losses
from reid_sql.charts.figures.extreme_risk import choices, contributions, elimination
from reid_sql.charts.figures.forecast import forecast
from reid_sql.charts.figures.frontier import frontier
from reid_sql.charts.figures.methods import methods
from reid_sql.charts.figures.model_check import model_check
from reid_sql.charts.figures.quasi_identifiers import quasi_identifiers
from reid_sql.charts.figures.validation import validation

__all__ = [
    "attribute_risk",
    "choices",
    "class_sizes",
    "comparison",
    "contributions",
    "elimination",
    "forecast",
    "frontier",
    "losses",
    "methods",
    "model_check",
    "quasi_identifiers",
    "validation",
]
