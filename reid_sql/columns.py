"""Columns: those whose values divide a table into groups, and types of an answer's that are not numbers."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

TextColumn = npt.NDArray[np.str_]  # a text each
NameLists = npt.NDArray[np.object_]  # a list of names each


@dataclass(frozen=True)
class Groups:
    """A list of columns by whose values a table is divided, each group answered for itself, or NULL."""
