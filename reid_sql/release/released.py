"""A form of a table as the gate measures it: made by the query that the user gets, beside its source."""

from collections.abc import Sequence
from itertools import count
from typing import Final

from reid_sql.check.answers import Answers
from reid_sql.check.measure import Row
from reid_sql.check.policy import columns_named
from reid_sql.check.release import Release
from reid_sql.parameters import quoted
from reid_sql.release.form import Form

NUMBERS: Final = count(1)


class Released(Release):
    """A released form, in the connection of the table that it is made of."""

    def __init__(self, original: Release, form: Form) -> None:
        """Make the form; of a population, its values are made coarser in the same way."""
        Answers.__init__(self, original.table, original.evidence)
        self.con = original.con
        self.left_out = {
            name for name, (each, level) in form.levels.items() if each.levels == level + 1 and level
        }
        self.view = f"reid_released_{next(NUMBERS)}"
        self.population_view = f"{self.view}_population"
        self.cautions = list(original.cautions)
        self.columns = [name for name in original.columns if name in columns_named(original.table)]
        select = form.select(self.columns, original.view)
        self.ask(f"CREATE TEMP TABLE {self.view} AS {select}", "making the release")
        if original.table.population_source is not None:
            self._coarsen_population(original, form)
        self.begin()

    def _coarsen_population(self, original: Release, form: Form) -> None:
        names = [row[0] for row in self.con.execute(f"DESCRIBE {original.population_view}").fetchall()]
        listed = ", ".join(form.columns(names))
        self.con.execute(
            f"CREATE TEMP VIEW {self.population_view} AS SELECT {listed} FROM {original.population_view}"
        )

    def _profiled(self, columns: Sequence[str]) -> list[Row]:
        """Profile the columns that are not left out: the mark in the others stands for every value."""
        told = [name for name in columns if name not in self.left_out]
        return super()._profiled(told) if told else []

    def forget(self) -> None:
        """Take away what was made to measure the form."""
        made = "SELECT view_name FROM duckdb_views() WHERE temporary AND starts_with(view_name, ?)"
        for (name,) in self.con.execute(made, [f"{self.view}_"]).fetchall():
            self.con.execute(f"DROP VIEW {quoted(name)}")
        self.forget_counts()
        self.con.execute(f"DROP TABLE {self.view}")
