"""A release as the gate measures it: made by the query that the user gets, next to its source."""

from collections.abc import Sequence
from itertools import count
from typing import Final

from reid_sql.check.duckdb_table import DuckDBRelease, DuckDBTable
from reid_sql.check.measure import Row
from reid_sql.check.policy import columns_named
from reid_sql.parameters import quoted
from reid_sql.release.form import Form

NUMBERS: Final = count(1)


class ReleasedTable(DuckDBTable):
    """A released form of a table, in the connection of the table."""

    def __init__(self, original: DuckDBTable, form: Form) -> None:
        """Create the release; the values of a population are generalized in the same way."""
        view = f"reid_released_{next(NUMBERS)}"
        columns = [name for name in original.columns if name in columns_named(original.table)]
        original.ask(
            f"CREATE TEMP TABLE {view} AS {form.select(columns, original.view)}", "making the release"
        )
        super().__init__(original.con, original.table, view)
        self.cautions = list(original.cautions)
        self.left_out = {
            name for name, (each, level) in form.levels.items() if each.levels == level + 1 and level
        }
        if original.table.population_source is not None:
            self._generalize_population(original, form)

    def _generalize_population(self, original: DuckDBTable, form: Form) -> None:
        names = [row[0] for row in self.con.execute(f"DESCRIBE {original.population_view}").fetchall()]
        listed = ", ".join(form.columns(names))
        self.con.execute(
            f"CREATE TEMP VIEW {self.population_view} AS SELECT {listed} FROM {original.population_view}"
        )

    def profile(self, columns: Sequence[str]) -> list[Row]:
        """Profile the columns that are not left out: the mark in the others stands for every value."""
        released = [name for name in columns if name not in self.left_out]
        return super().profile(released) if released else []

    def drop(self) -> None:
        """Drop what was created to measure the form."""
        views = "SELECT view_name FROM duckdb_views() WHERE temporary AND starts_with(view_name, ?)"
        for (name,) in self.con.execute(views, [f"{self.view}_"]).fetchall():
            self.con.execute(f"DROP VIEW {quoted(name)}")
        self.forget_counts()
        self.con.execute(f"DROP TABLE {self.view}")


class FormRelease(DuckDBRelease):
    """A release that is measured as its table is."""

    engine: ReleasedTable


def release_form(original: DuckDBRelease, form: Form) -> FormRelease:
    """Create the release of a form, to be measured as its table is."""
    return FormRelease(original.table, ReleasedTable(original.engine, form), original.evidence)
