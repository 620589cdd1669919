"""The functions, one file each: the file's name is the SQL name.

Dropping in a file declares it everywhere.
"""

import importlib
import pkgutil
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reid_sql.function import Function


def declared() -> "Mapping[str, Function]":
    """Every function of this folder, by name, in alphabetical order; each loaded when it is asked for."""
    return _Declared(sorted(_files(tuple(__path__)) | _loaded().keys()))


def _loaded() -> "Mapping[str, Function]":
    """The functions that were declared so far: registering imports no declaration, and no numpy with it."""
    module: Any = sys.modules.get("reid_sql.function")
    return getattr(module, "FUNCTIONS", {})  # which another thread may be importing now


@cache
def _files(folders: tuple[str, ...]) -> frozenset[str]:
    return frozenset(module.name for module in pkgutil.iter_modules(folders))


class _Declared(Mapping[str, "Function"]):
    """The functions by name: a file is loaded with all the models that it needs, which takes its time."""

    def __init__(self, names: list[str]) -> None:
        self._names = dict.fromkeys(names)

    def __getitem__(self, name: str) -> "Function":
        if name not in self._names:
            raise KeyError(name)
        if name not in _loaded():
            importlib.import_module(f"{__name__}.{name}")
        return _loaded()[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
