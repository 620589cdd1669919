"""What a policy's checks ask of class sizes, which the search can hold; the rest is left to the gate."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import floor, isclose
from typing import Final

from reid_sql.check.duckdb_table import DuckDBRelease
from reid_sql.check.policy import Check
from reid_sql.errors import UnavailableError
from reid_sql.models.release.criteria import Close, Criterion, Distinct, Diverse, Frequent
from reid_sql.models.release.requirement import Requirement

FOLDED: Final = ("k", "unique_records", "uniqueness", "records_at_risk", "highest_risk", "average_risk")
OWN: Final = "reid_"
UNIQUE: Final = 0.5  # a risk that only the records exceed which are the only one of their kind
# A finer form breaks them wherever a coarser one does, as long as no record is taken away.
MONOTONE: Final = (
    *(*FOLDED, "separation", "distinction"),
    *("journalist_highest_risk", "journalist_average_risk", "journalist_records_at_risk"),
    *("l_diversity", "t_closeness", "alpha_k_anonymity", "beta_likeness", "delta_disclosure"),
)


def columns_to_generalize(release: DuckDBRelease) -> tuple[str, ...]:
    """The columns that checks tell people apart by, those of the table first."""
    counted = [column for check in release.table.checks for column in check.counted]
    named = [column for column in release.table.quasi_identifiers if column in counted]
    return tuple(dict.fromkeys([*named, *counted]))


def refuse_unprepared(release: DuckDBRelease) -> None:
    """Refuse a table of which no form is sought."""
    table = release.table
    if table.entity is not None:
        rule = f"a table to prepare must have a row a person, got entity = '{table.entity}'"
        raise UnavailableError(f"{rule}; make one row of each person first, or use reid-sql advise")
    own = next((name for name in release.engine.columns if name.lower().startswith(OWN)), None)
    if own is not None:
        rule = f"a table to prepare must have no column whose name begins with {OWN}, got '{own}'"
        raise UnavailableError(f"{rule}; the release's own steps are named so: rename it in a view")
    if not columns_to_generalize(release):
        rule = "a table to prepare must have a check that counts by quasi-identifiers"
        raise UnavailableError(
            f'{rule}, got none for {table.name}; write quasi_identifiers = ["age", "sex"] and a check'
        )
    if not release.records:
        raise UnavailableError(
            f"a table to prepare must hold a record, got none in {table.name}; pass another"
        )


def requirement(release: DuckDBRelease, columns: Sequence[str], suppression: float) -> Requirement:
    """Put what the checks ask of class sizes into one requirement."""
    found = Requirement(release.records, floor(suppression * release.records + 1e-9))
    for check in release.table.checks:
        if is_folded(release, check, columns):
            found = _with(found, check)
    return found


def is_folded(release: DuckDBRelease, check: Check, columns: Sequence[str]) -> bool:
    """Whether class sizes by all the columns answer the check."""
    plain = check.limit is not None and not check.no_worse and not check.by
    exact = release.table.nulls == "value" or check.measure.name in ("k", "highest_risk")
    return plain and exact and check.measure.name in FOLDED and set(check.quasi_identifiers) == set(columns)


# Measures of sensitive values for whose sake classes go, by name and variant.
CRITERIA: Final[Mapping[tuple[str, str | None], Callable[[float], Criterion]]] = {
    ("l_diversity", "distinct"): Distinct,
    ("l_diversity", "entropy"): Diverse,
    ("t_closeness", "equal"): Close,
    ("alpha_k_anonymity", None): Frequent,
}


def rules(release: DuckDBRelease, columns: Sequence[str]) -> list[tuple[str, Criterion]]:
    """Put what the checks ask of sensitive values into criteria, each with its column."""
    return [
        (check.sensitive, _criterion(check)(float(check.limit)))
        for check in release.table.checks
        if is_ruled(release, check, columns) and check.sensitive and check.limit is not None
    ]


def is_ruled(release: DuckDBRelease, check: Check, columns: Sequence[str]) -> bool:
    """Whether classes by all the columns answer the check, and go if they break it."""
    plain = check.limit is not None and not check.no_worse and not check.by
    known = (check.measure.name, check.parameters.get("variant")) in CRITERIA
    whole = set(check.quasi_identifiers) == set(columns) and check.sensitive not in columns
    return plain and known and whole and release.table.nulls == "value"


def _criterion(check: Check) -> Callable[[float], Criterion]:
    return CRITERIA[check.measure.name, check.parameters.get("variant")]


def _with(found: Requirement, check: Check) -> Requirement:
    name, limit = check.measure.name, float(check.limit or 0)
    if name == "k":
        return replace(found, k=max(found.k, int(limit)))
    if name == "highest_risk":
        return replace(found, k=max(found.k, _size(limit, found.records)))
    if name == "average_risk":
        return replace(found, average=min(found.average, limit))
    if name == "unique_records":
        return replace(found, unique=min(found.unique, limit))
    threshold = UNIQUE if name == "uniqueness" else float(check.parameters["threshold"])
    return replace(found, shares=(*found.shares, (threshold, limit)))


def _size(risk: float, records: int) -> int:
    """Give the smallest class size whose risk is not above; one more than all records where there is none."""
    if risk * records < 1 and not isclose(risk * records, 1, rel_tol=1e-9):
        return records + 1
    size = max(1, floor(1 / risk))
    return size if isclose(1 / size, risk, rel_tol=1e-9) or 1 / size <= risk else size + 1


def is_monotone(check: Check) -> bool:
    """Whether breaking the check breaks it in all finer forms, if no record is taken away from any."""
    return check.measure.name in MONOTONE and not check.by and not check.no_worse
