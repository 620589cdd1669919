"""The records of a warehouse's table at the client: what the warehouse does not say is asked of DuckDB."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from reid_sql.check.calls import Calls, beside
from reid_sql.check.measure import Row
from reid_sql.check.policy import Check, TablePolicy
from reid_sql.client_fallback import DistinctRecords, create_view, drop_view, needed_columns, open_client
from reid_sql.engines.duckdb.packed import Group
from reid_sql.engines.ibis.frames import most_values, places
from reid_sql.errors import OutOfDomainError, ReidError
from reid_sql.function import Function
from reid_sql.parameters import Columns, quoted

# The distinct records on some columns, and by the columns that divide them, these last.
Bring = Callable[[Sequence[str], Sequence[str]], DistinctRecords]
Place = Callable[[Sequence[str], tuple[Any, ...]], tuple[int, ...]]


class Client:
    """The DuckDB of the client, opened when it is first asked."""

    def __init__(self, stack: ExitStack) -> None:
        """Remember what closes it."""
        self._stack = stack

    @cached_property
    def con(self) -> duckdb.DuckDBPyConnection:
        """The connection."""
        return self._stack.enter_context(open_client())


class ClientRecords:
    """One table's records, brought once for the same columns and groups."""

    def __init__(self, client: Client, table: TablePolicy, number: int, bring: Bring, place: Place) -> None:
        """Remember how the records come, and how the values of a group tell its place."""
        self._client, self._table, self._name = client, table, f"reid_client_{number}"
        self._bring, self._place = bring, place
        self._views: dict[Any, tuple[str, int]] = {}  # with how many values each holds
        self._refused: dict[Any, ReidError] = {}
        self._made = 0

    @cached_property
    def _calls(self) -> Calls:
        return Calls(self._client.con, self._table, "")

    def of_part(self, function: Function, check: Check, given: Mapping[str, Any], group: Group) -> list[Row]:
        """Ask about the records of a group, or of the whole table."""
        columns = self._needed(function, check.quasi_identifiers, given)
        return self._calls.of_part(check, function, given, self._part(columns, check.by, group))

    def of_groups(
        self, function: Function, qi: Sequence[str], given: Mapping[str, Any], by: Sequence[str]
    ) -> list[Row]:
        """Ask about all groups at once."""
        view, digits = self._view(self._needed(function, qi, given), by)
        return self._calls.of_groups(function, qi, given, (view, [digits]))

    def _needed(self, function: Function, qi: Sequence[str], given: Mapping[str, Any]) -> list[str]:
        """The columns that the question is about: those that a model is of, too, and who is a person."""
        asked = {p.name: qi if isinstance(p.domain, Columns) else given[p.name] for p in function.parameters}
        person = [] if self._table.entity is None else [self._table.entity]
        return list(dict.fromkeys([*qi, *(needed_columns(function, "tbl", asked) or []), *person]))

    def _view(self, columns: Sequence[str], by: Sequence[str]) -> tuple[str, str]:
        """Name a view of all records, and its column of their groups' places."""
        digits = beside(columns)
        key = (frozenset(columns), tuple(by))
        if key not in self._views:
            if key in self._refused:
                raise self._refused[key]
            try:
                self._views[key] = self._stood(columns, by, digits)
            except ReidError as error:  # once for all groups: what is too much takes long to find out
                self._refused[key] = error
                raise
        return self._views[key][0], digits

    def _stood(self, columns: Sequence[str], by: Sequence[str], digits: str) -> tuple[str, int]:
        """Bring the records; those of the oldest questions go where all were more than may come at once."""
        found = self._bring(columns, by)
        while self._views and sum(held for _, held in self._views.values()) + found.values > most_values():
            view, _ = self._views.pop(next(iter(self._views)))
            drop_view(self._client.con, view)
        self._made += 1
        view = f"{self._name}_{self._made}"
        create_view(self._client.con, view, self._divided(found, by, digits) if by else found)
        return view, found.values

    def _divided(self, found: DistinctRecords, by: Sequence[str], digits: str) -> DistinctRecords:
        """The records with the places of their groups in place of the columns that divide them."""
        names = places(found.columns)
        own = len(names) - len(by)
        try:
            coded = [
                found.rows[name].combine_chunks().dictionary_encode(null_encoding="encode")
                for name in names[own:]
            ]
        except pa.ArrowNotImplementedError:
            rule = f"a check by {', '.join(by)} must be by columns of single values, got others"
            raise OutOfDomainError(f"{rule}; cast them to text in a view") from None
        codes = np.column_stack([each.indices.to_numpy(zero_copy_only=False) for each in coded])
        kinds, of_kind = np.unique(codes, axis=0, return_inverse=True)
        values = [each.dictionary.to_pylist() for each in coded]
        told = [
            self._place(by, tuple(each[code] for each, code in zip(values, kind, strict=True)))
            for kind in kinds
        ]
        numbers = np.array([place for (place,) in told], dtype=np.int64)[of_kind.reshape(-1)]
        rows = found.rows.select([*names[:own], "records"]).append_column(f"q{own + 1}", pa.array(numbers))
        return DistinctRecords((*found.columns[:own], digits), rows)

    def _part(self, columns: Sequence[str], by: Sequence[str], group: Group) -> str:
        """Name a view of the group's records alone."""
        view, digits = self._view(columns, by)
        if not by:
            return view
        (place,) = group.digits
        part = f"{view}_of_{place}"
        listed = ", ".join(quoted(name) for name in columns)
        told = f"CREATE OR REPLACE TEMP VIEW {part} AS SELECT {listed} FROM {view} WHERE {digits} = {place}"
        self._client.con.execute(told)
        return part
