"""What a report may contain: figures that a mask has shown or masked, and numbers of no record."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final

DIGITS: Final = 12  # sums differ beyond, by the order of adding


@dataclass(frozen=True)
class Shown:
    """A figure that may be printed: it is no small count, and reveals none."""

    value: float


@dataclass(frozen=True)
class Masked:
    """A figure that may not be printed: it is a small count, or reveals one."""


@dataclass(frozen=True)
class Setting:
    """A number that comes from no record: a limit, a seed, a version's format, the end of a bin."""

    value: float


Figure = Shown | Masked
Node = Figure | Setting | str | bool | None | Mapping[str, "Node"] | Sequence["Node"]


class ReportPage(dict[str, Any]):
    """A report document as JSON has it, a masked figure as null.

    It is built of nodes alone, so that no number comes into it that was neither shown by a mask nor set. Its
    parts are such pages, too.

    >>> ReportPage({"records": Masked(), "limit": Setting(5), "share": Shown(0.25)})
    {'records': None, 'limit': 5, 'share': 0.25}
    """

    def __init__(self, nodes: Mapping[str, Node], where: str = "$") -> None:
        """Refuse a number that is neither a figure nor a setting."""
        super().__init__({key: _to_json(node, f"{where}.{key}") for key, node in nodes.items()})


def refuse_unmasked(page: object) -> None:
    """Refuse, before it is rendered, a document whose figures no mask has seen."""
    if not isinstance(page, ReportPage):
        raise TypeError(f"a report must be rendered from a ReportPage, got {type(page).__name__}")


def settings(value: Any) -> Node:  # noqa: ANN401 - a value of the policy
    """Return a value of the policy as a node, its numbers as settings."""
    if isinstance(value, Mapping):
        return {str(key): settings(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [settings(each) for each in value]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return Setting(value) if is_number else value


def round_figures(value: Any) -> Any:  # noqa: ANN401 - any part of a document
    """Round the figures of a document to twelve digits; JSON has no infinity, which the status names."""
    if isinstance(value, ReportPage):
        return value
    if isinstance(value, Mapping):
        return {key: round_figures(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [round_figures(each) for each in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if isfinite(value) else None
    return value


def _to_json(node: Node, where: str) -> Any:  # noqa: ANN401 - any part of a document
    if isinstance(node, ReportPage):
        return node
    if isinstance(node, Masked):
        return None
    if isinstance(node, Shown | Setting):
        return round_figures(node.value)
    if isinstance(node, Mapping):
        return ReportPage(node, where)
    if isinstance(node, list | tuple):
        return [_to_json(each, f"{where}[{place}]") for place, each in enumerate(node)]
    if node is None or isinstance(node, str | bool):
        return node
    raise TypeError(f"{where} must be shown or masked in a report, got {type(node).__name__}")
