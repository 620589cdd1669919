"""What a sample shows of its population: what a model of people, a copula and estimators are fitted to.

One reduction of rows of several kinds (reid_sql/models/evidence.py) under three names, by the arguments that
the functions have. `Parts` says which kinds are counted.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from reid_sql.models.evidence import EvidenceRows
from reid_sql.models.population.population_uniqueness import METHOD
from reid_sql.parameters import OPTIONAL_TABLE, QUASI_IDENTIFIERS, SEED, WEIGHT, Columns
from reid_sql.reduction import BY, DROPPABLE_NULLS, MAX_FITTED_GROUPS, QI, TBL, Argument, Reduction

Counts = TypeVar("Counts")  # what an engine counts: a relation, or the text of a query
WITH_WEIGHT: Final = Columns("quasi-identifiers and weight")
ROWS_LOOKED_AT: Final = 32_768  # these show first which pairs of columns have very many combinations


@dataclass(frozen=True)
class Parts:
    """What is counted beyond the sizes of classes.

    Only pairs of columns with few combinations are counted (max_combinations), unless `all_pairs`.
    `log_expected` is the logarithm of the count that independent columns would give a class. Records are
    drawn where there is a `seed`.
    """

    pairs: bool = False
    all_pairs: bool = False
    log_expected: bool = False
    seed: int | None = None
    is_optional: bool = False  # whether only sizes are counted where values have no text of their own


def parts_of(method: str) -> Parts:
    """What the estimators of population uniqueness need; records are drawn as population_risk draws them."""
    copula, people = method in {"all", "copula"}, method in {"all", "people"}
    return Parts(
        pairs=copula or people,
        all_pairs=copula,
        log_expected=method in {"all", "loglinear", "loglinear_nb"},
        seed=0 if people else None,
        is_optional=method == "all",
    )


def columns_asked(qi: Sequence[str], weight: str | None) -> tuple[Columns, list[str]]:
    """All columns that are read, the weight last, and what a refusal calls them."""
    return (QUASI_IDENTIFIERS, [*qi]) if weight is None else (WITH_WEIGHT, [*qi, weight])


def counted_for(name: str, words: str, *arguments: Argument) -> Reduction:
    """The reduction with these arguments between the columns and the treatment of NULLs."""
    return Reduction(
        __name__,
        name=name,
        words=words,
        arguments=(TBL, QI, *arguments, DROPPABLE_NULLS),
        columns={
            "line": "BIGINT",
            "kind": "VARCHAR",
            "first": "BIGINT",
            "second": "BIGINT",
            "label": "VARCHAR",
            "first_value": "VARCHAR",
            "second_value": "VARCHAR",
            "class_size": "BIGINT",
            "log_expected": "DOUBLE",
            "records": "BIGINT",
            "weight": "DOUBLE",
            "draw_order": "DOUBLE",
            "texts": "VARCHAR[]",
        },
        arrays=EvidenceRows,
        distinct=True,
        max_groups=MAX_FITTED_GROUPS,
    )


OUTSIDE: Final = (
    Argument("weight", WEIGHT, optional=True),
    Argument("marginals", OPTIONAL_TABLE, optional=True),
)
PAIRS: Final = counted_for(
    "pairs",
    "how often each value of each column occurs, each pair of values of two columns, and each class size",
    *OUTSIDE,
)
PEOPLE: Final = counted_for(
    "people",
    "how often each value, each pair of values of two columns and each class size occurs, and some records "
    "drawn",
    *OUTSIDE,
    Argument("seed", SEED, 0),
    BY,
)
EVIDENCE: Final = counted_for(
    "evidence",
    "how many classes have each size, and each logarithm of the count that independent columns would give "
    "them, to a thousandth; pairs of values, and some records drawn",
    Argument("method", METHOD, "all"),
    BY,
)


def implement(count: Callable[..., Counts]) -> tuple[Callable[..., Counts], ...]:
    """Bind pairs, people and evidence to an engine's count, by the parts of the evidence that each needs."""

    def pairs(**given: Any) -> Counts:  # noqa: ANN401 - the arguments of the reduction
        return count(**given, parts=Parts(pairs=True, all_pairs=True), by=None)

    def people(*, seed: float, by: Sequence[str] | None = None, **given: Any) -> Counts:  # noqa: ANN401 - the same
        return count(**given, parts=Parts(pairs=True, seed=int(seed)), by=by)

    def evidence(*, method: str, by: Sequence[str] | None = None, **given: Any) -> Counts:  # noqa: ANN401 - the same
        return count(**given, parts=parts_of(method), by=by, weight=None, marginals=None)

    return pairs, people, evidence
