"""Values that determine those of another column, as a town determines its region, and pregnancy the sex.

Which towns a region has is no secret: counts by town and counts by region subtract, though no cell has both
columns. So a cell by town is audited as one by town and region. Several columns may determine another one
together, as adults and children determine the size of a household.
"""

from ast import literal_eval
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from math import log
from typing import Any, Final, TypeAlias

import duckdb
import numpy as np
import pyarrow as pa

from reid_sql.engines.drawn_rows import encode_columns
from reid_sql.errors import OutOfDomainError
from reid_sql.parameters import Integers, quoted
from reid_sql.serve.derived_columns import DerivedColumn, add_derived
from reid_sql.sql.totals import MIN_EXPECTED_DISAGREEMENTS

ROWS_DRAWN: Final = 10_000
FIRST_ROWS: Final = 500  # which show of most columns that they determine no other
SEED: Final = 1
MAX_JOINT_CELLS: Final = 500  # by three columns
MAX_CELLS_OF_BANDS: Final = 2_000
REFUSAL_MANY_BANDS: Final = (
    "bands of a column must make few groups together, got many with those before; ask for bands that were asked "
    "for before, or for the column itself"
)
REFUSAL_OTHER_COLUMNS: Final = (
    "a band must be of a column as it was before, got one of a column that is gone or has another type; "
    "ask the owner for a new record"
)
Cell = Mapping[
    str, str
]  # values by the names of columns, in small letters, as `repr` of their texts
Group: TypeAlias = tuple[str, ...]  # the values of some columns, in the order of their names


class DeterminedColumns:
    """What the values of a served table determine."""

    def __init__(
        self,
        data: duckdb.DuckDBPyConnection,
        table: str,
        derived: Iterable[DerivedColumn] = (),
    ) -> None:
        """Draw rows, in which is looked first; `derived` are columns that the table lacks."""
        self._table = f"memory.main.{quoted(table)}"
        self._derived: dict[str, DerivedColumn] = {}
        self._is_determined: dict[tuple[Group, str], bool] = {}
        self._columns: dict[Group, frozenset[str]] = {}
        self._values: dict[tuple[Group, str], dict[Group, str]] = {}
        self._shares: dict[str, dict[str, float]] = {}
        self._joint: dict[Group, list[Cell]] = {}
        self._draw(data)
        self.derive(data, derived)

    def derive(
        self, data: duckdb.DuckDBPyConnection, derived: Iterable[DerivedColumn]
    ) -> list[DerivedColumn]:
        """Add derived columns; returns those that are new."""
        new = {each.name.casefold(): each for each in derived}
        new = {name: each for name, each in new.items() if name not in self._derived}
        if new:
            self._derived |= new
            self._columns.clear()
            self._draw(data)
        return list(new.values())

    def keep_derived(self, derived: Iterable[DerivedColumn]) -> None:
        """Keep some of the derived columns, and forget the others."""
        kept = {each.name.casefold() for each in derived}
        self._derived = {name: each for name, each in self._derived.items() if name in kept}
        self._columns.clear()

    def _draw(self, data: duckdb.DuckDBPyConnection) -> None:
        self.source = add_derived(self._table, self._derived.values())
        try:
            drawn = data.sql(
                f"FROM {self.source} USING SAMPLE reservoir({ROWS_DRAWN} ROWS) REPEATABLE ({SEED})"
            ).to_arrow_table()
        except duckdb.CatalogException:  # a table of the record that is served no more
            drawn = pa.table({})
        except duckdb.BinderException:  # whose message has the constants of a client
            raise OutOfDomainError(REFUSAL_OTHER_COLUMNS) from None
        self._codes = {name.casefold(): each for name, each in encode_columns(drawn).items()}
        self._names = {name.casefold(): quoted(name) for name in drawn.column_names}

    def list_columns(
        self, data: duckdb.DuckDBPyConnection, names: Iterable[str]
    ) -> tuple[frozenset[str], bool]:
        """List columns and those that they determine, with bases of derived ones; say whether some are."""
        names = frozenset(names)
        bases = {self._derived[name].base.casefold() for name in names & self._derived.keys()}
        return self.add_columns(data, names | bases), bool(bases)

    def add_columns(self, data: duckdb.DuckDBPyConnection, names: Iterable[str]) -> frozenset[str]:
        """Add to the columns those that one of them determines, or all of them together."""
        columns = frozenset(names)
        return columns.union(*(self._find_columns(data, each) for each in _parts(columns)))

    def add_values(
        self, data: duckdb.DuckDBPyConnection, cells: Iterable[Cell]
    ) -> list[tuple[Cell, Cell]]:
        """Name each cell by the columns that its own determine, and by the values that its own determine.

        Columns are added that any of the cells has. The first names are those of a whole table of cells; the
        second, of a few cells of a table, are names of the same people beside them.
        """
        cells = list(cells)
        names = self._names.keys() & frozenset().union(*cells)
        for part in dict.fromkeys(part for cell in cells for part in _parts(cell)):
            self._find_values(data, part, sorted(names))

        def is_whole(part: Group, other: str) -> bool:
            return other in self._find_columns(data, part)

        by_columns = [self._add(cell, names, is_whole) for cell in cells]
        return [(cell, self._add(cell, names, lambda *_: True)) for cell in by_columns]

    def list_joint_cells(
        self, data: duckdb.DuckDBPyConnection, cells: Iterable[Cell]
    ) -> dict[Group, list[Cell]]:
        """List the cells by two columns and another one that both determine together, and neither alone.

        Nobody asked for them, but they link: adults, children and sizes of households have one total.
        """
        cells = list(cells)
        names = sorted(self._names.keys() & frozenset().union(*cells))
        joint = self._list_cells_of_bands(data, cells)
        for pair in combinations(names, 2):
            alone = self._find_columns(data, pair[:1]) | self._find_columns(data, pair[1:])
            for other in (self._find_columns(data, pair) - alone) & {*names}:
                columns = tuple(sorted((*pair, other)))
                listed = self._list_groups(data, columns)
                if len(listed) <= MAX_JOINT_CELLS:
                    joint.setdefault(columns, listed)
        return joint

    def _list_groups(self, data: duckdb.DuckDBPyConnection, columns: Group) -> list[Cell]:
        """List the groups by some columns; of more than an audit takes, one too many."""
        if columns not in self._joint:
            texts = ", ".join(f"{self._names[name]}::VARCHAR" for name in columns)
            rows = data.sql(
                f"SELECT DISTINCT {texts} FROM {self.source} LIMIT {MAX_JOINT_CELLS + 1}"
            ).fetchall()
            self._joint[columns] = [
                dict(zip(columns, map(name_value, row), strict=True)) for row in rows
            ]
        return self._joint[columns]

    def _list_cells_of_bands(
        self, data: duckdb.DuckDBPyConnection, cells: Sequence[Cell]
    ) -> dict[Group, list[Cell]]:
        """List the cells between tables of different bands of one column, which anybody can overlay.

        People aged 60 to 69 less those aged 60 to 67 are aged 68 and 69. All bands that were asked for make
        the finest groups, which are cells by all of them, together with the other columns of both tables.
        """
        asked = frozenset().union(*cells)
        layouts = {self.add_columns(data, each) & asked for each in set(map(frozenset, cells))}
        joint: dict[Group, list[Cell]] = {}
        derived = [self._derived[name] for name in asked & self._derived.keys()]
        for base in sorted({each.base.casefold() for each in derived}):
            bands = (self._find_columns(data, (base,)) & asked) - {base}
            tables = [layout for layout in layouts if layout & bands and base not in layout]
            for one, other in combinations(tables, 2):
                first, second = one & bands, other & bands
                if first <= second or second <= first:
                    continue
                shared = tuple(sorted((one & other) - bands))
                columns = tuple(sorted({*shared, *bands}))
                finest = self._list_groups(data, tuple(sorted(bands)))
                common = self._list_groups(data, shared) if shared else [{}]
                is_cut = max(len(finest), len(common)) > MAX_JOINT_CELLS
                if is_cut or len(finest) * len(common) > MAX_CELLS_OF_BANDS:
                    raise OutOfDomainError(REFUSAL_MANY_BANDS)
                joint[columns] = [{**each, **band} for each in common for band in finest]
        return joint

    def _add(
        self, cell: Cell, names: Iterable[str], is_added: Callable[[Group, str], bool]
    ) -> Cell:
        added = {}
        for part in _parts(cell):
            group = tuple(cell[name] for name in part)
            for other in names:
                value = self._values.get((part, other), {}).get(group)
                if value is not None and is_added(part, other):
                    added[other] = value
        return {**added, **cell}

    def _find_columns(self, data: duckdb.DuckDBPyConnection, part: Group) -> frozenset[str]:
        """Find the columns that some determine together, and none of them alone."""
        if part not in self._columns:
            singles = [(name,) for name in part] if len(part) > 1 else []
            alone = frozenset(part).union(*(self._find_columns(data, each) for each in singles))
            self._test_columns(data, part, [other for other in self._codes if other not in alone])
            found = {other for other in self._codes if self._is_determined.get((part, other))}
            reached = found.union(part)
            computed = {
                name for name, each in self._derived.items() if each.base.casefold() in reached
            }
            self._columns[part] = frozenset(found | computed) - alone
        return self._columns[part]

    def _test_columns(
        self, data: duckdb.DuckDBPyConnection, part: Group, others: Sequence[str]
    ) -> None:
        """Test once whether some columns determine others: in the draw, then in all rows."""
        new = [other for other in others if (part, other) not in self._is_determined]
        if not new or not self._codes.keys() >= {*part}:
            return
        codes = combine_codes([self._codes[name] for name in part])
        for other in new:
            is_computed = other in self._derived and self._derived[other].base.casefold() in part
            self._is_determined[part, other] = is_computed or (
                determines(codes, self._codes[other]) and self._is_in_all_rows(data, part, other)
            )

    def _is_in_all_rows(self, data: duckdb.DuckDBPyConnection, part: Group, other: str) -> bool:
        names = ", ".join(self._names[name] for name in part)
        groups, pairs = (
            f"(SELECT count(*) FROM (SELECT DISTINCT {each} FROM {self.source}))"
            for each in (names, f"{names}, {self._names[other]}")
        )
        return bool(data.sql(f"SELECT {groups} = {pairs}").fetchall()[0][0])

    def _find_values(
        self, data: duckdb.DuckDBPyConnection, part: Group, names: Sequence[str]
    ) -> None:
        """Find the groups by some columns that have one value of another, and would not by chance.

        Of n groups by several columns, some have one value by chance unless more disagreements are expected:
        log n more, as the chance of none is about exp(-expected).
        """
        others = [name for name in names if name not in part and (part, name) not in self._values]
        if not others or not self._names.keys() >= {*part}:
            return
        rows = self._count_groups(data, part, others)
        least = MIN_EXPECTED_DISAGREEMENTS + (log(len(rows)) if len(part) > 1 else 0)
        for place, other in enumerate(others):
            shares, is_whole = self._share(data, other), other in self._find_columns(data, part)
            self._values[part, other] = {
                group: values[place]
                for group, records, values in rows
                if values[place] is not None
                and (is_whole or records * (1 - shares[values[place]]) >= least)
            }

    def _count_groups(
        self, data: duckdb.DuckDBPyConnection, part: Group, others: Sequence[str]
    ) -> list[tuple[Group, int, list[Any]]]:
        """List the groups by some columns, their records, and of each other column the one value, or None."""
        columns = [self._names[name] for name in part]
        texts = ", ".join(f"{column}::VARCHAR" for column in columns)
        single = ", ".join(
            f"CASE WHEN count({column}) IN (0, count(*)) AND min({column}) IS NOT DISTINCT FROM max({column}) "
            f"THEN [max({column})::VARCHAR] END"
            for column in map(self._names.__getitem__, others)
        )
        rows = data.sql(
            f"SELECT [{texts}], count(*), [{single}] FROM {self.source} GROUP BY {', '.join(columns)}"
        ).fetchall()
        return [
            (
                tuple(map(name_value, texts)),
                records,
                [each and name_value(each[0]) for each in values],
            )
            for texts, records, values in rows
        ]

    def _share(self, data: duckdb.DuckDBPyConnection, name: str) -> dict[str, float]:
        """The share of the records that have each value of a column."""
        if name not in self._shares:
            rows = data.sql(
                f"SELECT {self._names[name]}::VARCHAR, count(*) FROM {self.source} GROUP BY ALL"
            ).fetchall()
            records = sum(count for _, count in rows)
            self._shares[name] = {name_value(text): count / records for text, count in rows}
        return self._shares[name]


def _parts(names: Iterable[str]) -> list[Group]:
    """The columns one by one, and all of them."""
    ordered = tuple(sorted(names))
    return list(dict.fromkeys([*((name,) for name in ordered), ordered])) if ordered else []


def name_value(text: str | None) -> str:
    """Name a value by its text; of zero, DuckDB writes the sign of the one that it finds first.

    >>> name_value("-0.0"), name_value("None"), name_value(None)
    ("'0.0'", "'None'", 'None')
    """
    return repr("0.0" if text == "-0.0" else text)


def read_value(name: str) -> str | None:
    """Read the text that `name_value` names.

    >>> read_value(name_value("it's")), read_value(name_value(None))
    ("it's", None)
    """
    text: str | None = literal_eval(name)
    return text


def combine_codes(columns: Sequence[Integers]) -> Integers:
    """Number the combinations of values of columns.

    >>> combine_codes([np.array([0, 0, 1, 1]), np.array([-1, 3, -1, -1])])
    array([0, 1, 2, 2])
    """
    codes = np.zeros(len(columns[0]) if columns else 0, dtype=np.int64)
    for column in columns:
        pairs = codes * (int(column.max(initial=0)) + 2) + column
        codes = np.unique(pairs, return_inverse=True)[1].ravel()
    return codes


def determines(one: Integers, other: Integers) -> bool:
    """Whether each value of a column has one value of the other, and would not by chance.

    >>> town = np.repeat(np.arange(20), 5)
    >>> determines(town, town // 4), determines(town // 4, town), determines(np.arange(100), town)
    (True, False, False)
    """
    for rows in (slice(FIRST_ROWS), slice(None)):
        pairs = one[rows] * (int(other.max(initial=0)) + 2) + other[rows]
        values = len(np.unique(one[rows]))
        if len(np.unique(pairs)) > values:
            return False
    by_chance = float(np.sum((np.unique(other, return_counts=True)[1] / len(other)) ** 2))
    return (1 - by_chance) * (len(one) - values) >= MIN_EXPECTED_DISAGREEMENTS
