"""The Gaussian copula of a table's columns: marginals, joined by a correlation of latent normal variables.

Source: Rocher, Hendrickx & de Montjoye 2019. A model sees no record: only how often each value, and each pair
of values of two columns, occurs.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, Final, Literal

import numpy as np

from reid_sql.errors import OutOfDomainError
from reid_sql.models.classes.disclosure import OK, Integers
from reid_sql.models.copula.calibration import tempered
from reid_sql.models.copula.marginals import Marginal, number, sort_keys
from reid_sql.models.copula.placement import ends
from reid_sql.models.numerics.rectangle import Cells, Estimates, Precision, integrate
from reid_sql.parameters import Choice, Floats

METHODS: Final = ("paper", "calibrated", "sharp")
Method = Annotated[Literal["paper", "calibrated", "sharp"], Choice(METHODS)]
NEGLIGIBLE: Final = 1e-11  # an error of q that moves no ξ by more than 0.003 in a population of 300 million
EXACT: Final = {"points": 128, "most": 1024, "relative_error": 5e-3}
AVERAGED: Final = {"points": 256, "most": 256}  # over the orders of nominal columns
ROWS: Final = 2048  # distinct records that are scored together, so that memory stays bounded
KEPT: Final = 1 << 20  # scores that a model keeps


@dataclass(frozen=True)
class PairCounts:
    """How often each value of each column occurs, and each pair of values of two columns.

    One line a count. `first` and `second` are columns by number from 1; `second` is 0 in the counts of single
    values, which have the column's name as `label`, and -1 in shares from outside, which have it too; one
    line with -2 counts the records that are alone in all columns. `mass` is the sum of the survey weights, or
    the number of records, or the share.
    """

    cell: Integers
    first: Integers
    second: Integers
    label: Sequence[str | None]
    first_value: Sequence[str | None]
    second_value: Sequence[str | None]
    records: Integers
    mass: Sequence[float]


@dataclass(frozen=True)
class GaussianCopula:
    """A fitted model: what it needs to score and to draw any record, and nothing of any single record.

    What it draws is new records.
    """

    columns: tuple[str, ...]
    marginals: tuple[Marginal, ...]
    correlation: Floats  # (columns, columns)
    records: int  # of the sample
    method: str
    seed: int
    calibration: float = 1.0  # how many times more often rare records repeat than the copula says
    status: str = OK  # of the fit
    _scores: dict[bytes, tuple[float, float]] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def _codes(self) -> list[dict[str | None, int]]:
        return [{value: code for code, value in enumerate(marginal.values)} for marginal in self.marginals]

    @cached_property
    def order(self) -> list[int]:
        """Columns in the order of integration: most values first, as their intervals are narrowest."""
        return sorted(
            range(len(self.columns)), key=lambda column: (-len(self.marginals[column].values), column)
        )

    @property
    def precision(self) -> Precision:
        """Points of the integration; the average over orders of nominal columns gets more."""
        return Precision(
            **(EXACT if all(m.ordered for m in self.marginals) else AVERAGED),
            absolute_error=NEGLIGIBLE,
            seed=self.seed,
        )

    def codes(self, values: Sequence[Sequence[Any]]) -> Integers:
        """Codes (records, columns) of records given by column; values never seen have codes of their own.

        Values are text or None.
        """
        if len(values) != len(self.columns):
            rule = f"the columns must be the {len(self.columns)} of the model ({', '.join(self.columns)})"
            raise OutOfDomainError(f"{rule}, got {len(values)}; pass them in this order")
        return np.stack([self.column_codes(column, some) for column, some in enumerate(values)], axis=1)

    def light(self) -> "GaussianCopula":
        """The model without the scores that it remembers."""
        return replace(self, _scores={})

    def column_codes(self, column: int, values: Sequence[str | None]) -> Integers:
        """Codes of the values of one column, by its number from 0."""
        known = self._codes[column]
        return np.array(
            [known[v] if v in known else self._foreign(column, v) for v in values], dtype=np.int64
        )

    def _foreign(self, column: int, value: str | None) -> int:
        """Code of a text not among the values: another spelling of a number, or a value never seen."""
        marginal = self.marginals[column]
        found = number(value)
        same = (
            ()
            if found is None
            else (place for place, own in enumerate(marginal.values) if number(own) == found)
        )
        code = next(iter(same), len(marginal.values))
        if code == len(marginal.values) and marginal.ordered:
            code += bisect_left(sort_keys(marginal.values), sort_keys([value])[0])
        return code

    def texts(self, codes: Integers) -> list[list[str | None]]:
        """Values of records of codes, by column."""
        return [
            np.array(m.values, dtype=object)[own].tolist()
            for m, own in zip(self.marginals, codes.T, strict=True)
        ]

    def cell_probability(self, values: Sequence[Sequence[Any]]) -> Estimates:
        """Probability q(x) that a person has exactly these values, with the error of its integration.

        The error is a standard error. `values` are given by column, as text or None. q of values that the
        sample saw is never 0.
        """
        return self.scored(self.codes(values))

    def scored(self, codes: Integers) -> Estimates:
        """Cell probabilities of coded records, each distinct one integrated once; the model remembers."""
        distinct, inverse = np.unique(codes, axis=0, return_inverse=True)
        keys = [record.tobytes() for record in distinct]
        missing = [place for place, key in enumerate(keys) if key not in self._scores]
        fresh: dict[bytes, tuple[float, float]] = {}
        for start in range(0, len(missing), ROWS):
            some = missing[start : start + ROWS]
            found = self.integrated(distinct[some])
            pairs = zip(found.probability.tolist(), found.standard_error.tolist(), strict=True)
            fresh |= dict(zip([keys[place] for place in some], pairs, strict=True))
        scores = np.array([fresh.get(key) or self._scores[key] for key in keys]).reshape(-1, 2)[
            inverse.ravel()
        ]
        if len(self._scores) + len(fresh) <= KEPT:
            self._scores.update(fresh)
        return Estimates(scores[:, 0], scores[:, 1])

    def integrated(self, codes: Integers) -> Estimates:
        """Integrate distinct records of codes; q is 0 where a value's share is."""
        used = [np.unique(column, return_inverse=True) for column in codes.T]

        def cells(points: int) -> Cells:
            placed = [
                ends(marginal, own, points, [self.seed, column])
                for column, (marginal, (own, _)) in enumerate(zip(self.marginals, used, strict=True))
            ]
            return Cells([low for low, _ in placed], [high for _, high in placed])

        renumbered = np.stack([inverse for _, inverse in used], axis=1)
        found = integrate(renumbered, cells, self.correlation, self.order, self.precision)
        unseen = np.array([marginal.unseen for marginal in self.marginals])
        count = np.array([len(marginal.values) for marginal in self.marginals])
        impossible = ((codes >= count) & (unseen == 0)).any(axis=1)
        calibrated = self.calibrated(found, codes)
        return Estimates(
            np.where(impossible, 0.0, calibrated.probability),
            np.where(impossible, 0.0, calibrated.standard_error),
        )

    def calibrated(self, found: Estimates, codes: Integers) -> Estimates:
        """Multiply by the calibration where cells are rare, up to the frequency of the rarest value.

        No record is more frequent than the rarest of its values.
        """
        if self.calibration == 1:
            return found
        shares = [
            np.append(m.shares, m.unseen)[np.minimum(c, len(m.shares))]
            for m, c in zip(self.marginals, codes.T, strict=True)
        ]
        most = np.maximum(np.min(shares, axis=0), found.probability)
        moved = tempered(found.probability, self.calibration, self.records)
        grown = moved / np.maximum(found.probability, np.finfo(float).tiny)
        return Estimates(np.minimum(moved, most), found.standard_error * grown)
