"""From a table that fails a policy to a release that meets it at the least loss, as SQL to run.

>>> import reid_sql.prepare
>>> reid_sql.prepare.prepare.__name__
'prepare'
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from reid_sql.prepare.preparation import prepare
    from reid_sql.prepare.problem import propose_hierarchies

__all__ = ["prepare", "propose_hierarchies"]
MODULES: Final = {
    "prepare": "preparation",
    "propose_hierarchies": "problem",
}


def __getattr__(name: str) -> object:
    """Load what is asked for: `import reid_sql` stays quick."""
    if name not in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{MODULES[name]}"), name)
