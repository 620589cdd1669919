"""A table of a warehouse, which counts where the table is, by Ibis."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import pyarrow as pa
from ibis.expr.types import Table

import reid_sql.ibis as ri
from reid_sql.client.calls import profile_columns
from reid_sql.engines import registry
from reid_sql.engines.ibis import adapter
from reid_sql.engines.ibis.adapter import find_panels
from reid_sql.engines.ibis.frames import before_computing, collected
from reid_sql.engines.ibis.people import count_nobodies
from reid_sql.engines.ibis.transfer import fetch_rarest
from reid_sql.errors import UnavailableError
from reid_sql.models.columns.identifiers import (
    RepeatedColumn,
    likely,
    repeating,
    repeating_people,
)
from reid_sql.models.columns.missing_value_codes import count_missing_values
from reid_sql.models.columns.nobodies import describe_nobodies
from reid_sql.models.fitted_model import FittedModel
from reid_sql.parameters import Arguments, Rows
from reid_sql.sources import warehouse
from reid_sql.sources.identifiers import count_values
from reid_sql.terminal.runner import Answer

MODELS: Final = ("population_risk", "pyc_forecast")  # which compute for long


class WarehouseTable:
    """A table of a warehouse and the columns that its functions are called with.

    While a model computes, no transaction of the server is open. What is asked later must be of the same
    records: their class sizes are compared.
    """

    def __init__(self, source: warehouse.Warehouse, table: Table, columns: list[str]) -> None:
        """Remember the connection and the table."""
        self.warehouse, self.table, self.columns = source, table, columns
        self._sizes: Rows | None = None  # when the transaction ended

    def call(self, function: str, *values: Any, words: str, **options: Any) -> Rows:  # noqa: ANN401 - the function's
        """Call by Ibis; an error of the database becomes one sentence."""
        return self._ask(function, [self.columns, *values], words, options)

    def known_rows(
        self,
        entity: str,
        points: Sequence[float],
        **options: Any,  # noqa: ANN401 - the function's
    ) -> Rows:
        """Call unicity by Ibis."""
        return self._ask("unicity", [entity, self.columns, points], "known rows", options)

    def _ask(self, function: str, values: Sequence[Any], words: str, options: Arguments) -> Rows:
        with self._transaction(models=function in MODELS):
            answer = self.warehouse.rows(
                lambda: getattr(ri, function)(self.table, *values, **options), words
            )
        return [dict(row) for row in answer]

    @contextmanager
    def _transaction(self, *, models: bool = False) -> Iterator[None]:
        """Begin a transaction where none is open; end it before models compute."""
        if self.warehouse.is_idle:
            self.warehouse.enter()
            if self._sizes != self._class_sizes():
                raise UnavailableError(
                    "the table must not change while it is read, got other class sizes than before; ask again, or ask about an extract"
                )
        with before_computing(self._leave if models else lambda: None):
            yield

    def _leave(self) -> None:
        if not self.warehouse.is_idle:
            self._sizes = self._class_sizes()
            self.warehouse.leave()

    def _class_sizes(self) -> Rows:
        return self.warehouse.rows(
            lambda: ri.class_size_histogram(self.table, self.columns), "class sizes"
        )

    def fit_people(self, name: str, **options: Any) -> FittedModel:  # noqa: ANN401 - the function's
        """Fit by Ibis; the model is Python's."""
        with self._transaction(models=True):
            self.warehouse.rows(
                lambda: ri.fit_people(name, self.table, self.columns, **options), "the model"
            )
        return registry.known(name)

    def most_exposed(self, count: int, **options: Any) -> Answer:  # noqa: ANN401 - the function's
        """Rank by Ibis; only the rarest are fetched."""

        def rarest() -> list[tuple[Any, ...]]:
            classes = ri.equivalence_classes(self.table, self.columns, **options)
            return fetch_rarest(classes, self.columns, count, "most exposed records")

        with self._transaction():
            return Answer(["class_size", *self.columns], warehouse.run_query(rarest))

    def missing_value_codes(self) -> dict[str, str]:
        """Profile the columns whose distinct values may come to the client."""
        with self._transaction():
            profiles = profile_columns(self.table, self.columns, warehouse.run_query, {}, adapter)
        return {
            row["column_name"]: count_missing_values(
                row["sentinels"], row["sentinel_records"], row["column_name"]
            )
            for row in profiles
            if row["sentinels"]
        }

    def repeated_identifiers(self) -> list[RepeatedColumn]:
        """Count in one scan if a column has such a name, or identifies people by the table's structure."""
        names = likely(self.table.columns, self.columns)
        with self._transaction():
            panels = find_panels(self.table, self._draw_rows)
            names = list(dict.fromkeys([*names, *panels]))
            if not names:
                return []
            counted = count_values(self.table, names, self._ask_identifiers)
            rows = self._ask_identifiers(lambda: self.table.aggregate(rows=self.table.count()))[0][
                "rows"
            ]
            repeated = repeating(names, *counted, self.columns, of_rows=rows)
            nobodies = [
                count_nobodies(self.table, each.name, self._ask_identifiers) for each in repeated
            ]
        return repeating_people(repeated, nobodies)

    def describe_copies(self) -> str:
        """Return nothing: a warehouse is not asked for all columns."""
        return ""

    def describe_nobodies(self, entity: str) -> str:
        """Ask for the most frequent values of it, and for codes."""
        with self._transaction():
            counts = count_nobodies(self.table, entity, self._ask_identifiers)
        return describe_nobodies(entity, counts)

    def _draw_rows(self, drawn: Callable[[], Table]) -> pa.Table:
        return warehouse.run_query(lambda: collected(drawn(), "a draw of rows"))

    def _ask_identifiers(self, count: Callable[[], Table]) -> Rows:
        return self.warehouse.rows(count, "identifiers")
