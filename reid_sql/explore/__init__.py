"""One page on which a person chooses what others know and how exact it is released, and sees the risk.

The module itself can be called from a notebook: `reid_sql.explore(frame)` gives the address of the page.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reid_sql.explore.notebook import Page


class Explore(ModuleType):
    """A module that can be called."""

    def __call__(self, data: Any, *, mask: int = 1) -> "Page":  # noqa: ANN401 - a frame of any library
        """Serve the page of a file, or of a frame of Polars, pandas, Arrow or DuckDB, on this machine alone.

        Open its `address` in a browser; `stop()` ends it, as the end of the process does. A frame is written
        to a temporary file, which goes with the page. `mask` hides counts below it.
        """
        from reid_sql.explore.notebook import Page  # noqa: PLC0415 - `import reid_sql` stays quick

        return Page(data, mask)


sys.modules[__name__].__class__ = Explore
