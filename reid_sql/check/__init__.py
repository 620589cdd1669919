"""The release gate: a policy, what the table shows, a verdict, and reports of it.

The module itself is what a scheduler calls: `reid_sql.check("policy.toml")` gives a report.
"""

import sys
from collections.abc import Mapping
from os import PathLike
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reid_sql.check.gate import Report


class Gate(ModuleType):
    """A module that can be called."""

    def __call__(
        self,
        policy: str | PathLike[str],
        *,
        baseline: str | PathLike[str] | None = None,
        engine: str | None = None,
        tables: Mapping[str, Any] | None = None,
    ) -> "Report":
        """Check the tables of a policy file; `baseline` is an earlier JSON report, `engine` may be 'spark'.

        `tables` are Ibis tables by the names that the policy gives them, in place of its files: the warehouse
        counts. Nothing is written. Refuses, by a `ReidError` of one sentence, a policy that it cannot follow.
        """
        from reid_sql.check.gate import run  # noqa: PLC0415 - `import reid_sql` stays quick

        return run(policy, baseline=baseline, engine=engine, tables=tables)

    run = __call__


sys.modules[__name__].__class__ = Gate
