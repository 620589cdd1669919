"""The share of unique people as a sentence to quote."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from reid_sql.models.population_risk.intervals import Share

MIN_PERCENT: Final = 0.001  # that a sentence shows
RELIABLE: Final = "For 95 of 100 comparable tables of people, the interval contains the true value."
UNWEIGHTED: Final = "The interval was tested on samples without weights only."
UNLIKE_REFERENCE: Final = (
    "The table is unlike the reference tables: its interval is wider, and may still miss the true value."
)
IF_SAMPLE: Final = "if the table is a random sample of them with one row per person"


def count_sentence(columns: Sequence[str], people: float, share: float) -> str:
    """State what was counted where the sample is the population.

    >>> count_sentence(("age", "zip"), 50, 0.5)
    'Of these 50 people, 50 % are unique by age and zip.'
    """
    percent = format_percent(share)
    return f"Of these {_format_people(people)} people, {percent} % are {_unique_by(columns)}."


def bound_sentence(columns: Sequence[str], people: float, unique: Share) -> str:
    """State the bound where no estimate is reliable.

    >>> bound_sentence(("age", "zip"), 67e6, Share(0.001, 0.0, 0.8))[:82]
    'This sample cannot tell: between 0 and 80 % of 67 million people are unique by age'
    """
    ends = f"between {format_percent(unique.low)} and {format_percent(unique.high)} %"
    people_of = f"of {_format_people(people)} people are {_unique_by(columns)}"
    return f"This sample cannot tell: {ends} {people_of}, {IF_SAMPLE}."


def estimate_sentence(
    columns: Sequence[str], people: float, unique: Share, reliability: str = RELIABLE
) -> str:
    """State the estimate and its interval, and how often such an interval contains the true value.

    >>> estimate_sentence(("age", "zip"), 67e6, Share(0.008, 0.004, 0.015))[:98]
    'Of 67 million people, about 0.8 % (0.4 to 1.5 %) are unique by age and zip, if the table is a rand'
    """
    ends = f"{format_percent(unique.low)} to {format_percent(unique.high)} %"
    share = format_percent(unique.estimate)
    share = share if " " in share else f"about {share}"
    risk = f"Of {_format_people(people)} people, {share} % ({ends}) are {_unique_by(columns)}"
    return f"{risk}, {IF_SAMPLE}. {reliability}"


def _unique_by(columns: Sequence[str]) -> str:
    return "unique by " + " and ".join(filter(None, (", ".join(columns[:-1]), columns[-1])))


def _format_people(count: float) -> str:
    for unit, word in ((1e9, "billion"), (1e6, "million")):
        if count >= unit:
            return f"{count / unit:.3g} {word}"
    return f"{count:,.0f}"


def format_percent(share: float) -> str:
    """Write a share in percent, with two significant digits of the distance to the nearer of 0 and 100.

    >>> [format_percent(share) for share in (0.008, 0.0, 0.1234, 0.99996, 0.00001, 1e-9)]
    ['0.8', '0', '12', '99.996', '0.001', 'less than 0.001']
    """
    points = 100 * share
    if points in {0.0, 100.0}:
        return f"{points:.0f}"
    if points < MIN_PERCENT or points > 100 - MIN_PERCENT:
        return f"less than {MIN_PERCENT}" if points < MIN_PERCENT else f"more than {100 - MIN_PERCENT}"
    digits = int(np.clip(1 - np.floor(np.log10(min(points, 100 - points))), 0, 4))
    return f"{points:.{digits}f}".rstrip("0").rstrip(".") if digits else f"{points:.0f}"
