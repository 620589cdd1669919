"""Read how a release is sought: the table `prepare` of a policy."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from reid_sql.check.policy_model import Preparing
from reid_sql.document import Place, shown
from reid_sql.errors import OutOfDomainError, UnknownNameError, suggestion
from reid_sql.hierarchies.hierarchy import read_hierarchy
from reid_sql.hierarchies.limits import LIMIT_KEYS, read_limits
from reid_sql.models.release.lattice import LOSS
from reid_sql.models.release.partition import METHOD
from reid_sql.parameters import Number

PREPARE_KEYS: Final = (
    "suppression",
    "cells",
    "loss",
    "weights",
    "method",
    "time_limit",
    "keep",
    "target",
    "cross_tables",
    *LIMIT_KEYS,
    "hierarchies",
    "ladders",
)
SUPPRESSION: Final = Number(
    "a share from 0 to 0.5", "write how many records may be left out, such as 0.02 for 2 %", 0.0, 0.5
)
WEIGHT: Final = Number(
    "a number from 0.001 to 1000",
    "write how much the column counts, such as 3; others count 1",
    0.001,
    1000.0,
)
COLUMNS_OF_A_CROSS_TABLE: Final = 2
SECONDS: Final = Number(
    "a number of seconds from 1 to 1e6", "write how long a search may take, such as 60", 1.0, 1e6
)


def read_preparing(place: Place, columns: Sequence[str], folder: Path) -> Preparing:
    """Read the table `prepare` of a policy; hierarchies are of columns that its tables count by.

    The files of hierarchies are in the folder of the policy.
    """
    place.only(PREPARE_KEYS)
    given = place.table(_hierarchies_key(place))
    weights = place.table("weights")
    _refuse_unknown_columns(given.where, given.values, columns)
    _refuse_unknown_columns(weights.where, weights.values, columns)
    limits = read_limits(place)
    _refuse_unknown_columns(f"{place.where} limits", limits, columns)
    usual = Preparing()
    loss = LOSS.check(place.at("loss"), place.text("loss", usual.loss))
    if weights.values and loss != usual.loss:
        rule = f"{weights.where} must come with loss = '{usual.loss}', the only loss of columns"
        raise OutOfDomainError(f"{rule}, got '{loss}'; remove the weights or the loss")
    return Preparing(
        suppression=place.number("suppression", SUPPRESSION, usual.suppression),
        cells=place.flag("cells"),
        loss=loss,
        method=METHOD.check(place.at("method"), place.text("method", usual.method)),
        time_limit=place.number("time_limit", SECONDS, usual.time_limit),
        keep=place.texts("keep"),
        target=place.text("target") if "target" in place.values else None,
        hierarchies={name: read_hierarchy(given, name, folder) for name in given.values},
        weights={name: weights.number(name, WEIGHT) for name in weights.values},
        limits=limits,
        cross_tables=_read_cross_tables(place),
    )


def _read_cross_tables(place: Place) -> tuple[tuple[str, str], ...]:
    """Read pairs of columns."""
    given = place.values.get("cross_tables", [])
    pairs = given if isinstance(given, list) else [given]
    for number, pair in enumerate(pairs, 1):
        named = isinstance(pair, list) and all(isinstance(name, str) for name in pair)
        if not named or len(pair) != COLUMNS_OF_A_CROSS_TABLE or len(set(pair)) < len(pair):
            rule = f"{place.at('cross_tables')}[{number}] must name two columns, got {shown(pair)}"
            raise OutOfDomainError(f'{rule}; write it like [["sex", "income"]]')
    return tuple((first, second) for first, second in pairs)


def _refuse_unknown_columns(where: str, given: Iterable[str], columns: Sequence[str]) -> None:
    for name in given:
        if name not in columns:
            rule = f"{where} must name quasi-identifiers of the policy, got '{name}'"
            raise UnknownNameError(f"{rule}; {suggestion(str(name), list(columns), 'quasi-identifiers')}")


def list_hierarchy_files(place: Place, folder: Path) -> list[Path]:
    """List the files of hierarchies that the table names."""
    given = place.table(_hierarchies_key(place)).values.values()
    named = [each.get("arx") for each in given if isinstance(each, Mapping)]
    return [folder / each for each in named if isinstance(each, str)]


def _hierarchies_key(place: Place) -> str:
    """Return the key that the policy uses; `ladders` is the older name of `hierarchies`."""
    if "ladders" not in place.values:
        return "hierarchies"
    if "hierarchies" in place.values:
        rule = f"{place.where} must have one of the keys hierarchies and ladders (its older name), got both"
        raise OutOfDomainError(f"{rule}; move the steps to hierarchies")
    return "ladders"
