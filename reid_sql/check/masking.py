"""Reports contain no small counts, nor figures that would reveal them.

Few people of a kind can be identified by their number. What is hidden must have more than one solution:
complementary suppression, as statistical offices do.
"""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from reid_sql.charts.risk_charts import EDGES
from reid_sql.check.remarks import Remark, remark_of_status, withhold_shares
from reid_sql.models.classes.disclosure import Histogram

# What a report may contain: figures that a mask has shown or masked, and numbers of no record.

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


@dataclass(frozen=True)
class Worded:
    """A number in a sentence, with what it counts: a figure, or, as a setting, the bound below which it lies.

    Only of a figure that is shown the words may be singular: the verb of a masked one would say that it is 1.
    """

    figure: Figure | Setting
    words: str
    singular: str

    def __str__(self) -> str:
        """The number as a reader sees it."""
        if isinstance(self.figure, Masked):
            return f"some {self.words}"
        if isinstance(self.figure, Setting):
            return f"fewer than {self.figure.value:,} {self.words}"
        return f"{self.figure.value:,} {self.singular if self.figure.value == 1 else self.words}"


@dataclass(frozen=True)
class Sentence:
    """A sentence whose numbers are figures that a mask has seen."""

    parts: tuple[str | Worded, ...]

    def __str__(self) -> str:
        """The sentence as a reader sees it."""
        return "".join(map(str, self.parts))


Node = Figure | Setting | Sentence | str | bool | None | Mapping[str, "Node"] | Sequence["Node"]
Page = dict[str, Node]


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
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    return value


def _to_json(node: Node, where: str) -> Any:  # noqa: ANN401 - any part of a document
    if isinstance(node, ReportPage):
        return node
    if isinstance(node, Masked):
        return None
    if isinstance(node, Shown | Setting | Sentence):
        return str(node) if isinstance(node, Sentence) else round_figures(node.value)
    if isinstance(node, Mapping):
        return ReportPage(node, where)
    if isinstance(node, list | tuple):
        return [_to_json(each, f"{where}[{place}]") for place, each in enumerate(node)]
    if node is None or isinstance(node, str | bool):
        return node
    raise TypeError(f"{where} must be shown or masked in a report, got {type(node).__name__}")


# What is masked: small counts, and figures that would reveal them.

Bin = tuple[int, int | None]  # class sizes from, to
ROUNDING_DIGITS: Final = (2, 1)  # to which a figure is rounded that would reveal a small count
COUNT_IN_TEXT: Final = re.compile(r"(?<![\d,.])(\d+) (records?|people|classes|values)\b")


class Mask:
    """The policy's mask: what a report may show. Only here a figure becomes one that is shown or masked."""

    def __init__(self, below: int) -> None:
        """Hide counts below this, but not 0; 1 hides nothing."""
        self.below: Final = below

    def hides(self, count: int) -> bool:
        """Whether the count is too small to be shown."""
        return is_small(count, self.below)

    def count(self, count: int) -> Figure:
        """Show a count unless it is small."""
        return Masked() if self.hides(count) else Shown(count)

    def show(self, value: float | None, *, when: bool = True) -> Figure | None:
        """Show a figure where it reveals no small count."""
        return None if value is None else Shown(value) if when else Masked()

    def word(self, count: int, words: str) -> Worded:
        """Show a count in words, where the caller has found that it reveals no small count."""
        return Worded(Shown(count), words, words)

    def round_share(self, share: float, records: int) -> float:
        """Round a share of the records up, so far that no count of them follows."""
        return min(1.0, round_above(share, records, self.below))

    def round_down(self, share: float, records: int) -> float:
        """Round a share of the records down, so far that no count of them follows."""
        return round_between(share, records, self.below)[0]

    def bound_of(self, share: float, records: int) -> float | None:
        """Return the share below which a share of so few records lies; None if it may be shown as it is.

        What all but a few records have is shown as below 1.

        >>> mask = Mask(10)
        >>> mask.bound_of(0.003, 1000), mask.bound_of(0.03, 1000), mask.bound_of(0.997, 1000)
        (0.01, None, 1.0)
        """
        count = round(share * records)
        if self.hides(count):
            return self.below / records
        return 1.0 if self.hides(records - count) and share < 1 else None

    def has_small_counts(
        self, histogram: Histogram, dropped: int = 0, cuts: AbstractSet[int] = frozenset()
    ) -> bool:
        """Whether a count of records by class size, or of those dropped, is too small to be shown."""
        return has_small_counts(histogram, dropped, self.below, cuts)

    def bound_ratio(self, value: float, records: int) -> float | None:
        """Return a round figure above a factor by which a share of the records is multiplied; None for none.

        The factor 1/q is as open as the share q. It is rounded up to three digits.

        >>> Mask(10).bound_ratio(500, 1504), Mask(10).bound_ratio(3.2, 1504)
        (1510.0, 3.34)
        """
        if self.below == 1 or value <= 1:
            return None
        low, _ = round_between(1 / value, records, self.below)
        digits = 2 - math.floor(math.log10(1 / low))
        return math.ceil(round(10.0**digits / low, 6)) / 10.0**digits

    def sentence(self, remark: Remark, closed: Collection[str] = ()) -> Sentence:
        """Show or mask each count of a remark; those of the values of a `closed` column are masked.

        A count is shown if it is not small, nor any of the counts that it sums: who sees the others of them
        elsewhere would subtract.
        """
        parts: list[str | Worded] = []
        for each in remark.parts:
            if isinstance(each, str):
                parts.append(each)
                continue
            figure: Figure | Setting = Shown(each.number)
            if self.hides(each.number):
                figure = Setting(self.below)
            elif self.below > 1 and (any(map(self.hides, each.summands)) or each.column in closed):
                figure = Masked()
            parts.append(Worded(figure, each.words, each.singular or each.words))
        return Sentence(tuple(parts))

    def status(self, text: str, *, small: bool = False) -> Sentence:
        """Mask the status of a function: its counts are figures where the status is one that counts records.

        With `small` class sizes, shares of the records are withheld, too. Other texts, such as refusals, come
        from an engine as they are; small counts in them are replaced.
        """
        parts = remark_of_status(withhold_shares(text) if small and self.below > 1 else text).parts
        masked = (mask_counts_in_text(x, self.below) if isinstance(x, str) else x for x in parts)
        return self.sentence(Remark(tuple(masked)))


def has_small_counts(
    histogram: Histogram, dropped: int, below: int, cuts: AbstractSet[int] = frozenset()
) -> bool:
    """Whether a count of records by the size of their class, or of those dropped, is too small to be shown.

    Class sizes are shown by bins; some figure divides them at the `cuts`, too.
    """
    edges = np.array(sorted({*EDGES, *cuts}))
    parts = np.bincount(
        np.searchsorted(edges, histogram.class_size, side="right"), histogram.records
    )
    return 0 < dropped < below or bool(((parts > 0) & (parts < below)).any())


def shows_diversity(variant: str | None, values: float, k: int | None) -> bool:
    """Whether a diversity of sensitive values may be shown where some values have few records in a class.

    Of l values in the smallest class, of k records, one has at most k/l records: where that is a single one,
    l tells of a person. That a class has one value tells of nobody but the class; by recursive l it depends
    on c which counts that means. Each other digit of entropy and recursive l hangs on the counts.

    >>> [shows_diversity("distinct", values, 12) for values in (1, 6, 7)]
    [True, True, False]
    >>> shows_diversity("entropy", 1.0, 12), shows_diversity("entropy", 1.0251, 265)
    (True, False)
    """
    if variant == "distinct":
        return values <= 1 or (k is not None and 2 * values <= k)
    return variant == "entropy" and values <= 1


def is_small(count: int, below: int) -> bool:
    """Whether a count is masked: 0 counts no one."""
    return 0 < count < below


def round_above(value: float, records: int, below: int) -> float:
    """Give the round figure above a share: see `round_between`.

    >>> round_above(0.2206, 32561, 10), round_above(0.2201, 32561, 10)
    (0.23, 0.23)
    >>> round_above(5 / 32561, 32561, 10) * 32561
    10.0
    """
    return round_between(value, records, below)[1]


def round_between(value: float, records: int, below: int) -> tuple[float, float]:
    """Give the round figures around a share: what a reader knows of it who is shown the upper one.

    They do not hang on the value, so that a higher share has no lower bound, and are at least twice as many
    counts of records apart as the mask hides; the first is the mask itself.

    >>> round_between(0.2206, 32561, 10), round_between(0.9, 50, 10)
    ((0.22, 0.23), (0.2, 1.0))
    """
    if value * records < below:
        return 1 / records, below / records
    # the first of 1, 2, 5, 10, … of all powers of ten that is not below
    least = 3 * below / records
    power = math.floor(math.log10(least))
    rounded = (float(f"{step}e{power}") for step in (1, 2, 5, 10))
    first = min(1.0, next(each for each in rounded if each >= least))
    if value < first:
        return below / records, first
    for digits in (*ROUNDING_DIGITS, 0):
        unit = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
        if unit * records >= 2 * below or not digits:
            low = float(f"{math.floor(value / unit) * unit:.3g}")
            high = float(f"{low + unit:.3g}")
            return max(low, first), high
    raise AssertionError


def mask_counts_in_text(words: str, below: int) -> str:
    """Give a sentence that counts records without its small counts.

    >>> mask_counts_in_text("3 records are not covered by the population table of 1,003 records", 10)
    'fewer than 10 records are not covered by the population table of 1,003 records'
    """

    def mask_count(match: re.Match[str]) -> str:
        noun = "records" if match[2] == "record" else match[2]
        return f"fewer than {below} {noun}" if is_small(int(match[1]), below) else match[0]

    return COUNT_IN_TEXT.sub(mask_count, words)
