"""A column whose values have no order: shares with room for values never seen.

Source: Good 1953 (the mass of values never seen is s₁/n); Chao 1984 (how many there are).
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from reid_sql.domains import Floats
from reid_sql.models.copula.marginals import given_marginal
from reid_sql.models.people.column import Column

MOST_UNSEEN: Final = 0.5  # share of values never seen, at most
NONE_ONCE: Final = 0.25  # records that values never seen stand for where no value was seen once alone
TWICE: Final = 2
AS_MANY: Final = 1e9  # records of a census, which leaves hardly a value unseen


def unseen_mass(counts: Floats) -> tuple[float, float]:
    """Mass of all values never seen, and the share of one of them.

    >>> unseen_mass(np.array([1.0, 1.0, 8.0]))
    (0.2, 0.05)
    """
    records = float(counts.sum())
    once, twice = float((counts <= 1).sum()), float(((counts > 1) & (counts <= TWICE)).sum())
    mass = min((once or NONE_ONCE) / records, MOST_UNSEEN)
    values = max(1.0, once * (once - 1) / (2 * (twice + 1)))
    return mass, min(mass / values, MOST_UNSEEN / records)


def nominal_column(
    name: str, values: Sequence[str | None], counts: Floats, most_bins: int, *, ordered: bool = False
) -> Column:
    """Share the records' mass out among the values; the rarest share a bin where there are too many.

    >>> nominal_column("sex", ["F", "M"], np.array([60.0, 40.0]), 8).mass.round(4).tolist()
    [0.5985, 0.399, 0.0025]
    """
    mass, share = unseen_mass(counts)
    seen = (1 - mass) * counts / counts.sum()
    bins = np.arange(len(seen) + 1)
    if len(bins) > most_bins:
        rank = np.argsort(np.argsort(-counts, kind="stable"))
        bins = np.append(np.minimum(rank, most_bins - 1), most_bins - 1)
    return Column(
        name,
        tuple(values),
        ordered,
        np.append(seen, mass),
        np.append(np.ones(len(seen)), mass / share),
        bins,
        None,
        np.maximum((1 - mass) * (counts - 1) / counts.sum(), share),
    )


def given_column(
    name: str, values: Sequence[str | None], told: Sequence[str | None], shares: Floats, most_bins: int
) -> Column:
    """Take the shares from outside, such as a census; refuses none for a value of the sample."""
    known = given_marginal(told, shares.tolist(), seen=values)
    share = dict(zip(known.values, known.shares.tolist(), strict=True))
    names = [*values, *(value for value in known.values if value not in set(values) and share[value] > 0)]
    counts = np.array([share[value] for value in names]) * AS_MANY
    return nominal_column(name, names, counts, most_bins)
