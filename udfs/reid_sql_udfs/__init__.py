"""The functions, one file each: the file's name is the SQL name.

Dropping in a file declares it everywhere.
"""

import importlib
import pkgutil
from collections.abc import Mapping

from reid_sql.function import FUNCTIONS, Function


def declared() -> Mapping[str, Function]:
    """Every function of this folder, by name, in alphabetical order."""
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        importlib.import_module(module.name)
    return {name: FUNCTIONS[name] for name in sorted(FUNCTIONS)}
