"""Tables of aggregates in SQL: what the plans and the engine share."""

from typing import Final

SUPPRESSED: Final = "reid_suppressed_cells"  # the Python function that chooses the cells to hide
