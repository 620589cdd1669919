"""What comes of preparing: each table's form, its loss, how it was found, and the gate's verdict on it."""

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from reid_sql.check.judging.finding import FAIL, NO_WORSE, PASS
from reid_sql.check.policy.policy import Policy, TablePolicy, columns_named
from reid_sql.check.reports.files import refuse_to_overwrite, spared, write_report
from reid_sql.ladders.ladder import Ladder
from reid_sql.models.release.lattice import Lattice
from reid_sql.models.release.requirement import Requirement
from reid_sql.models.release.search import Result
from reid_sql.release.form import Form


@dataclass(frozen=True)
class TableForm:
    """A table's form, or None where none meets what is asked; its ladders and how it was sought."""

    table: TablePolicy
    columns: tuple[str, ...]  # of the source
    records: int
    ladders: tuple[Ladder, ...]
    lattice: Lattice
    requirement: Requirement
    result: Result
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
        return [name for name in self.columns if name in named]


@dataclass(frozen=True)
class Prepared:
    """The release of a policy's tables; `report` is the gate's, measured on it, None if there is none."""

    policy: Policy
    tables: tuple[TableForm, ...]
    report: Mapping[str, Any] | None

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

    @property
    def page(self) -> Mapping[str, Any]:
        """The outcome as a dictionary, small counts masked."""
        from reid_sql.release.page import page  # noqa: PLC0415 - it tells of this

        return page(self)

    @property
    def sql(self) -> str:
        """The release as SQL of DuckDB: a view for each table."""
        from reid_sql.release.sql_file import sql_file  # noqa: PLC0415 - it tells of this

        return sql_file(self)

    @property
    def python(self) -> str:
        """The release as Python with Polars: a function for each table."""
        from reid_sql.release.python_file import python_file  # noqa: PLC0415 - it tells of this

        return python_file(self)

    def write(self, path: str | PathLike[str]) -> Path:
        """Write the SQL, and give the path; refuses to write over anything else than an earlier one."""
        file = Path(path)
        refuse_to_overwrite({"--sql": file}, spared(self.policy, None))
        write_report(file, self.sql)
        return file
