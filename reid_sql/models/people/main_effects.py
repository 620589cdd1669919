"""Ξ by the log-linear model of main effects with negative binomial counts, from a draw of records.

The records are the sample's. It needs each drawn record's class size in the whole sample: a class of f
records is drawn f times as often as one of 1, and counts by 1/f of its records. Source: Skinner & Shlomo
2008.
"""

import numpy as np

from reid_sql.models.people.people_evidence import PeopleEvidence
from reid_sql.models.population import loglinear


def uniqueness(evidence: PeopleEvidence, people: float) -> float | None:
    """Share of people who are unique; None without a fit.

    There is none where all classes have one size, or main effects repeat the sample.
    """
    n, size = evidence.records, evidence.drawn_size
    shares = [
        np.log(np.maximum(counts, 1e-12) / counts.sum())[codes]
        for counts, codes in zip(evidence.counts, evidence.drawn.T, strict=True)
    ]
    log_expected = np.log(n) + np.sum(shares, axis=0)
    if (size == size[0]).all() or loglinear.is_saturated(size, log_expected):
        return None
    expected = np.exp(log_expected)
    shape = loglinear.fit_shape(size, expected, 1 / size)
    alone = size == 1
    found = loglinear.loglinear_uniqueness(expected[alone], min(n / people, 1.0), shape).sum()
    return float(found / len(size))
