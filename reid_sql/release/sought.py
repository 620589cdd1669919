"""What was found for a policy: each table's form, how it was sought, and the gate's verdict on it."""

from collections.abc import Mapping
from dataclasses import dataclass

from reid_sql.check.figures import ReportPage
from reid_sql.check.policy import Policy, TablePolicy, columns_named
from reid_sql.check.verdicts import FAIL, NO_WORSE, PASS
from reid_sql.hierarchies.hierarchy import Hierarchy
from reid_sql.models.release.lattice import Lattice
from reid_sql.models.release.requirement import Requirement
from reid_sql.models.release.rules import Rules
from reid_sql.models.release.search import Result
from reid_sql.release.form import Form
from reid_sql.release.targeted import Target


@dataclass(frozen=True)
class TableForm:
    """A table's form, or None where none meets what is asked; its hierarchies and how it was sought."""

    table: TablePolicy
    kinds: Mapping[str, str]  # of the source's columns, their types
    records: int
    hierarchies: tuple[Hierarchy, ...]
    lattice: Lattice
    requirement: Requirement
    rules: Rules | None
    result: Result
    target: Target | None
    form: Form | None
    loss: str
    left_to_gate: tuple[str, ...]
    source: str
    seconds: float

    @property
    def proved(self) -> bool:
        """Whether no other form loses less: where NULL is no value, more than was needed was asked of it."""
        return self.result.optimal and self.table.nulls == "value"

    def shipped(self, keep: tuple[str, ...]) -> list[str]:
        """The columns of the release: those that the policy names, and those to keep."""
        named = {*columns_named(self.table), *keep}
        return [name for name in self.kinds if name in named]


@dataclass(frozen=True)
class Sought:
    """The release of a policy's tables; `report` is the gate's, measured on it, None if there is none."""

    policy: Policy
    tables: tuple[TableForm, ...]
    report: ReportPage | None

    @property
    def verdict(self) -> str:
        """The gate's verdict on the release; fail where a table has no form that meets the policy."""
        return FAIL if self.report is None else str(self.report["verdict"])

    @property
    def passed(self) -> bool:
        """Whether the release meets the policy."""
        return self.verdict in {PASS, NO_WORSE}

    @property
    def exit_code(self) -> int:
        """What the command ends with: 0, 1 or 2."""
        return 1 if self.report is None else int(self.report["exit_code"])
