"""How far figures may differ by rounding alone."""

from typing import Final

ROUNDING: Final = 1e-12  # relative: figures that differ by less differ by rounding
