"""Pictures of what the functions answer, with matplotlib (`pip install 'reid-sql[plot]'`).

Each takes the answer of a function, as a relation of DuckDB, a frame of Polars, pandas or Arrow, or a list of
rows, and gives a matplotlib Figure, which can be changed and saved; with `ax` it draws on axes of yours. All
can be read in black and white.
"""

from reid_sql.charts.column_sets import minimal_sets, uniqueness_by_size
from reid_sql.charts.figures import (
    attribute_risk,
    class_sizes,
    forecast,
    frontier,
    methods,
    quasi_identifiers,
    unicity,
    validation,
)
from reid_sql.charts.release_figures import (
    attacks,
    audited_cells,
    choices,
    comparison,
    contributions,
    elimination,
    losses,
    model_check,
)

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
