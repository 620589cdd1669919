"""From a table that fails a policy to a release that meets it at the least loss, as SQL to run.

>>> import reid_sql.release
>>> reid_sql.release.prepare.__name__
'prepare'
"""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb

    from reid_sql.release.perturbation import Perturbed
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
    `choices`, `page` lists for each table the best different transformations that meet the policy, at most
    ten, ranked by what they retain. The files are only read. Raises a `ReidError` for a policy that it cannot
    follow.
    """
    from reid_sql.release.preparation import run  # noqa: PLC0415 - `import reid_sql` stays quick

    return run(policy, memory_limit=memory_limit, target=target, method=method, choices=choices)


def perturb(
    con: "duckdb.DuckDBPyConnection",
    table: Any,  # noqa: ANN401 - a name, or any frame that DuckDB reads
    *,
    microaggregate: Sequence[str] = (),
    group_size: int = 3,
    pram: Mapping[str, float] | None = None,
    rank_swap: Mapping[str, float] | None = None,
    seed: int = 0,
) -> "Perturbed":
    """Perturb columns of a table: means of groups, values drawn anew, values that change places.

    `microaggregate` names columns of numbers that are grouped together by MDAV, `group_size` records or more
    in a group. `pram` gives the probability with which a value of a column is retained, `rank_swap` the share
    of all ranks within which the values of a column change places; NULL remains where it is. Nothing of it is
    safe by construction: `attacks()` of the result measures it.
    """
    from reid_sql.release import perturbation  # noqa: PLC0415 - the same

    return perturbation.perturb(
        con,
        table,
        microaggregate=microaggregate,
        group_size=group_size,
        pram=pram,
        rank_swap=rank_swap,
        seed=seed,
    )


def propose_hierarchies(policy: str | PathLike[str], *, memory_limit: str | None = None) -> str:
    """Return the hierarchies of the policy's quasi-identifiers as TOML, to be edited and put in the policy.

    Those that the policy has are as they are, the others as `prepare` proposes them.
    """
    from reid_sql.release import problem  # noqa: PLC0415 - the same

    return problem.propose_hierarchies(policy, memory_limit=memory_limit)
