"""What comes of preparing, as it is told and written."""

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from reid_sql.check.files import files_read, refuse_to_overwrite, write_report
from reid_sql.check.html import PreparedRelease
from reid_sql.release.dialects import DUCKDB
from reid_sql.release.page import page
from reid_sql.release.python_file import python_file
from reid_sql.release.sentences import steps
from reid_sql.release.sought import Sought
from reid_sql.release.sql_file import sql_file


@dataclass(frozen=True)
class Prepared(Sought):
    """The release of a policy's tables; `report` is the gate's, measured on it, None if there is none."""

    @property
    def page(self) -> Mapping[str, Any]:
        """The outcome as a dictionary, small counts masked."""
        return page(self)

    @property
    def way_out(self) -> PreparedRelease:
        """The outcome as the gate's HTML report shows it, where the policy is not met."""
        told = dict(self.page)
        return PreparedRelease(told, steps(told))

    @property
    def sql(self) -> str:
        """The release as SQL of DuckDB: a view for each table."""
        return sql_file(self)

    def sql_in(self, dialect: str) -> str:
        """The release as SQL of another dialect, by sqlglot; it reads each table by its name there."""
        return sql_file(self, dialect)

    @property
    def python(self) -> str:
        """The release as Python with Polars: a function for each table."""
        return python_file(self)

    def write(self, path: str | PathLike[str], dialect: str = DUCKDB) -> Path:
        """Write the SQL in a dialect; refuses to write over anything else than an earlier one."""
        file = Path(path)
        refuse_to_overwrite({"--sql": file}, files_read(self.policy, None))
        write_report(file, self.sql_in(dialect))
        return file
