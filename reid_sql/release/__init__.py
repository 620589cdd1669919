"""From a table that fails a policy to a release that meets it at the least loss, as SQL to run.

>>> import reid_sql.release
>>> reid_sql.release.prepare.__name__
'prepare'
"""

from os import PathLike
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reid_sql.release.preparation import Prepared


def prepare(
    policy: str | PathLike[str],
    *,
    memory_limit: str | None = None,
    target: str | None = None,
    method: str | None = None,
    choices: bool = False,
) -> "Prepared":
    """Find the transformation of each table of the policy that meets it at the least loss.

    `target`, instead of the policy's, is a column whose prediction by the others is reported. `method`,
    instead of the policy's, is 'global', 'local', or 'best' for the one of both that loses less. With
    `choices`, the best forms of each table are measured, too, for the page `choices`. The files are only
    read. Raises a `ReidError` for a policy that it cannot follow.
    """
    from reid_sql.release.preparation import run  # noqa: PLC0415 - `import reid_sql` stays quick

    return run(policy, memory_limit=memory_limit, target=target, method=method, choices=choices)


def propose_hierarchies(policy: str | PathLike[str], *, memory_limit: str | None = None) -> str:
    """Return the hierarchies of the policy's quasi-identifiers as TOML, to be edited and put in the policy.

    Those that the policy has are as they are, the others as `prepare` proposes them.
    """
    from reid_sql.release import proposal  # noqa: PLC0415 - the same

    return proposal.propose_hierarchies(policy, memory_limit=memory_limit)
