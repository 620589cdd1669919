"""How a release that meets a policy is sought: hierarchies, suppression, loss and time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from reid_sql.document import Place
from reid_sql.errors import OutOfDomainError, UnknownNameError
from reid_sql.hierarchies.written import Written, written
from reid_sql.models.release.loss import LOSS
from reid_sql.parameters import Number
from reid_sql.suggestion import suggestion

KEYS: Final = ("suppression", "cells", "loss", "time_limit", "keep", "target", "hierarchies", "ladders")
SUPPRESSION: Final = Number(
    "a share from 0 to 0.5", "write how many records may be left out, such as 0.02 for 2 %", 0.0, 0.5
)
SECONDS: Final = Number(
    "a number of seconds from 1 to 1e6", "write how long a search may take, such as 60", 1.0, 1e6
)


@dataclass(frozen=True)
class Preparing:
    """The settings of `prepare`: the share of records that may be left out, loss, time and hierarchies.

    With `cells`, single values of records that would be left out become blank, where that is enough.
    `keep` are columns that the release holds beside those that the policy names, unmeasured; `target` is one
    of which it is told how well the others still predict it.
    """

    suppression: float = 0.02
    cells: bool = False
    loss: str = "entropy"
    time_limit: float = 60.0
    keep: tuple[str, ...] = ()
    target: str | None = None
    hierarchies: Mapping[str, Written] = field(default_factory=dict)


def preparing(place: Place, columns: Sequence[str]) -> Preparing:
    """Read the table `prepare` of a policy; hierarchies are of columns that its tables count by."""
    place.only(KEYS)
    given = place.table(_hierarchies_key(place))
    for name in given.values:
        if name not in columns:
            rule = f"{given.where} must name quasi-identifiers of the policy, got '{name}'"
            raise UnknownNameError(f"{rule}; {suggestion(str(name), list(columns), 'quasi-identifiers')}")
    usual = Preparing()
    return Preparing(
        suppression=place.number("suppression", SUPPRESSION, usual.suppression),
        cells=place.flag("cells"),
        loss=LOSS.check(place.at("loss"), place.text("loss", usual.loss)),
        time_limit=place.number("time_limit", SECONDS, usual.time_limit),
        keep=place.texts("keep"),
        target=place.text("target") if "target" in place.values else None,
        hierarchies={name: written(given, name) for name in given.values},
    )


def _hierarchies_key(place: Place) -> str:
    """Return the key that the policy uses; `ladders` is the older name of `hierarchies`."""
    if "ladders" not in place.values:
        return "hierarchies"
    if "hierarchies" in place.values:
        rule = f"{place.where} must have one of the keys hierarchies and ladders (its older name), got both"
        raise OutOfDomainError(f"{rule}; move the steps to hierarchies")
    return "ladders"
