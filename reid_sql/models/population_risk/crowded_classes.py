"""Classes of far more records than the model expects, such as blank or straight-lined ones, are set apart.

One gamma shape serves all cells. A few crowded classes make it small, and everybody else then seems to be in
larger classes. The model is therefore fitted to the other records, and predicts the shares of as many people
as the other records represent: (1 − π) N. Of everybody, the shares are

    (1 − π) share(others) + π share(crowd),

with the ends of π by Clopper & Pearson 1934. A crowd has no unique people; each of its classes adds one to
the sum of 1/F. Source: Krosnick 1991 (satisficing respondents give the same answer to all items).
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from reid_sql.models.classes.disclosure import count_people
from reid_sql.models.numerics.quantiles import clopper_pearson_upper
from reid_sql.models.numerics.special_functions import gammainc
from reid_sql.models.people.evidence import PairCounts, PeopleEvidence, row_keys
from reid_sql.models.people.model import PeopleModel
from reid_sql.models.population_risk.intervals import Share
from reid_sql.models.population_risk.shares import Shares
from reid_sql.parameters import Integers

MIN_RECORDS: Final = 3  # of a crowded class: chance makes pairs of many classes
MIN_RATIO: Final = 10.0  # of its records to those that the model expects without them
MAX_CHANCE: Final = 0.01  # of one class or more that is as crowded, among all
MIN_OTHERS: Final = 100  # records, to which the model is fitted without the crowd
MIN_CROWD: Final = 0.05  # of the records, of which a part may be among the others
MAX_REPEATED_OTHERS: Final = 1 / 3  # of the other records, which may be the crowd's


@dataclass(frozen=True)
class CrowdedClasses:
    """Distinct records of crowded classes, how many of each were drawn, and the sizes of their classes."""

    codes: Integers  # (classes, columns)
    drawn: Integers  # (classes,)
    size: Integers  # (classes,)
    records: int  # of the sample

    @property
    def crowd(self) -> int:
        """Records in crowded classes."""
        return int(self.size.sum())

    def count_others(self, people: float) -> float:
        """People of a population outside of the crowd; at least the records that are."""
        outside = self.records - self.crowd
        return max(people * outside / self.records, outside)

    def is_mixed_with(self, model: PeopleModel) -> bool:
        """Whether the repeats of the others may be the crowd's own, of which a part is in small classes.

        Classes of one or two records are never crowded. Where the few repeats that are left call for far more
        overdispersion than tables of people have, one shape does not serve all: nothing shows how often the
        records repeat that belong to no crowd.
        """
        repeated = model.records - int(
            model.histogram.classes[model.histogram.class_size == 1].sum()
        )
        return (
            model.excess_overdispersion > 0
            and self.crowd >= MIN_CROWD * self.records
            and repeated <= MAX_REPEATED_OTHERS * model.records
        )

    def include(self, shares: Shares, people: float, k: int) -> Shares:
        """Shares of everybody, by those of the others."""
        low = 1 - clopper_pearson_upper(self.crowd, self.records)  # share of the others
        high = clopper_pearson_upper(self.records - self.crowd, self.records)
        estimate = 1 - self.crowd / self.records

        def mix(name: str, one: Share) -> Share:
            # what the crowd adds to the share: nothing to that of unique people
            low_crowd = crowd = high_crowd = 0.0
            if name == "correctness":
                low_crowd = crowd = high_crowd = len(self.size) / people
            elif name != "uniqueness":
                in_population = self.size * people / self.records
                crowd = float(self.size[in_population < k].sum() / self.records)
                high_crowd = float(self.size[self.size < k].sum() / self.records)
            highest = min(high * one.high + high_crowd, 1.0)
            return Share(estimate * one.estimate + crowd, low * one.low + low_crowd, highest)

        return shares.map(mix)


def find_crowded_classes(model: PeopleModel, evidence: PeopleEvidence) -> CrowdedClasses | None:
    """Find classes far larger than the model expects without them; None where no class is."""
    has_whole_classes = np.issubdtype(evidence.histogram.classes.dtype, np.integer)
    if evidence.weighted or evidence.known_shares or not has_whole_classes:
        return None
    _, first, drawn = np.unique(row_keys(evidence.drawn), return_index=True, return_counts=True)
    codes, size = evidence.drawn[first], evidence.drawn_size[first]
    of_mixture = codes[:, list(model.free_columns)]
    log_q = model.mixture.log_q_without_class(of_mixture, size, evidence.records)
    expected = evidence.records * np.exp(log_q)
    chance = gammainc(size.astype(np.float64), expected)  # of a Poisson count of at least the size
    crowded = (
        (size >= MIN_RECORDS) & (size > MIN_RATIO * expected) & (chance * len(size) < MAX_CHANCE)
    )
    if not crowded.any() or evidence.records - size[crowded].sum() < MIN_OTHERS:
        return None
    return CrowdedClasses(codes[crowded], drawn[crowded], size[crowded], evidence.records)


def drop_classes(evidence: PeopleEvidence, crowd: CrowdedClasses) -> PeopleEvidence:
    """The evidence of the other records, with the values that they have."""
    counts = [
        column - np.bincount(codes, crowd.size, len(column))
        for column, codes in zip(evidence.counts, crowd.codes.T, strict=True)
    ]
    seen = [column > 0.5 for column in counts]  # noqa: PLR2004  # whole numbers
    code = [np.cumsum(some) - 1 for some in seen]
    key = row_keys(np.concatenate([crowd.codes, evidence.drawn]))
    outside = ~np.isin(key[len(crowd.codes) :], key[: len(crowd.codes)])
    drawn = evidence.drawn[outside]
    sizes = evidence.histogram.class_size
    records = evidence.histogram.records.astype(np.int64).copy()
    np.subtract.at(records, np.searchsorted(sizes, crowd.size), crowd.size)
    return replace(
        evidence,
        values=tuple(
            tuple(value for value, is_seen in zip(column, some.tolist(), strict=True) if is_seen)
            for column, some in zip(evidence.values, seen, strict=True)
        ),
        counts=tuple(column[some] for column, some in zip(counts, seen, strict=True)),
        pairs=_drop_pairs(evidence, crowd, code),
        histogram=count_people(sizes[records > 0], records[records > 0]),
        drawn=np.stack(
            [column[codes] for column, codes in zip(code, drawn.T, strict=True)], axis=1
        ),
        drawn_size=evidence.drawn_size[outside],
    )


def _drop_pairs(
    evidence: PeopleEvidence, crowd: CrowdedClasses, code: list[Integers]
) -> PairCounts:
    """Pairs of the other records, of the whole sample or of the records drawn, as they were counted."""
    pairs = {}
    for (i, j), (first, second, counts) in evidence.pairs.items():
        width = len(evidence.values[j])
        key = first * width + second
        order = np.argsort(key, kind="stable")
        left = counts[order].astype(np.float64)
        times = crowd.size if round(float(counts.sum())) == evidence.records else crowd.drawn
        place = np.searchsorted(
            (first * width + second)[order], crowd.codes[:, i] * width + crowd.codes[:, j]
        )
        np.subtract.at(left, place, times)
        some = left > 0.5  # noqa: PLR2004  # whole numbers
        pairs[i, j] = code[i][first[order][some]], code[j][second[order][some]], left[some]
    return pairs
