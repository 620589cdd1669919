"""What may be asked, and names and types of the served tables, in a database in which they have no record."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import duckdb

from reid_sql.errors import UnavailableError
from reid_sql.parameters import quoted, sql_text
from reid_sql.sql.tolerance import WHOLE_TYPES
from reid_sql_udfs import declared

BAND_WIDTH: Final = 10  # of the example
RESERVED: Final = "reid_"  # begins the names of what a statement computes from cells
IN_UTC: Final = "SET GLOBAL TimeZone = 'UTC'"  # of each session, whatever the zone of the machine
HELP: Final = "FROM reid.help()"


@dataclass(frozen=True)
class ServedColumn:
    """A column: its type as DuckDB writes it, and whether some record has no value in it."""

    type: str
    has_nulls: bool = True
    values: int = 0  # how many different ones, about

    @property
    def has_fields(self) -> bool:
        """Whether its values have parts with names."""
        return self.type.startswith(("STRUCT", "UNION", "MAP", "JSON", "VARIANT"))


Columns = Mapping[str, Mapping[str, ServedColumn]]  # of each table, by its name as served


def read_columns(data: duckdb.DuckDBPyConnection, tables: Sequence[str]) -> Columns:
    """Read the columns of tables; the values that a type lists, as ENUM does, are not told: it is VARCHAR."""
    columns: dict[str, dict[str, ServedColumn]] = {}
    for table in tables:
        described = data.execute(f"DESCRIBE memory.main.{quoted(table)}").fetchall()
        _refuse_names(table, [str(name) for name, *_ in described])
        counted = ", ".join(
            f"(count(*) > count({name}), approx_count_distinct({name}))"
            for name in (quoted(each[0]) for each in described)
        )
        [row] = data.execute(f"SELECT {counted} FROM memory.main.{quoted(table)}").fetchall()
        columns[table] = {
            str(name): ServedColumn("VARCHAR" if "ENUM(" in kind else str(kind), *facts)
            for (name, kind, *_), facts in zip(described, row, strict=True)
        }
    return columns


def _refuse_names(table: str, names: Sequence[str]) -> None:
    """Refuse names that a statement of cells, or the record, would take for others.

    The record knows no case of any letter, and DuckDB none of ASCII's alone: STRASSE is not Straße there.
    """
    alike = Counter(name.casefold() for name in names)
    wrong = [name for name in names if alike[name.casefold()] > 1]
    wrong += [name for name in names if name.casefold().startswith(RESERVED)]
    if wrong:
        raise UnavailableError(
            f"columns of a served table must differ without regard to case, and not begin with {RESERVED}, "
            f"got {table} with '{wrong[0]}'; serve a view with other names"
        )


def open_catalogue(columns: Columns) -> duckdb.DuckDBPyConnection:
    """Open a database that has the names and types of the served tables, and no record of them."""
    con = duckdb.connect(config={"enable_external_access": "false", "threads": "1"})
    for table, described in columns.items():
        typed = ", ".join(f"{quoted(name)} {each.type}" for name, each in described.items())
        con.execute(f"CREATE TABLE {quoted(table)} ({typed})")
    con.execute(f"{IN_UTC}; SET lock_configuration = true")
    return con


def write_help(columns: Columns, functions: Sequence[str], cautions: Mapping[str, str]) -> str:
    """Write the SELECT of what may be asked, each with an example, behind the caution of each table."""
    rows = [
        (f"caution: {caution}", f"DESCRIBE {quoted(table)}") for table, caution in cautions.items()
    ]
    rows.append(("the tables", "SHOW TABLES"))
    for table, described in columns.items():
        first = quoted(min(described, key=lambda name: described[name].values))
        rows += [
            (f"the columns of {table}", f"DESCRIBE {quoted(table)}"),
            ("how many people", f"SELECT count(*) FROM {quoted(table)}"),
            (
                "counts of groups; a last row of NULL stands for those that are hidden",
                f"SELECT {first}, count(*) FROM {quoted(table)} GROUP BY {first}",
            ),
        ]
        numbers = [name for name, each in described.items() if each.type in WHOLE_TYPES]
        if numbers:
            # the one with the most values is often an identifier, of which most bands are hidden
            values = {name: described[name].values for name in numbers}
            wide = min(numbers, key=lambda name: (values[name] < BAND_WIDTH, values[name]))
            band = f"{quoted(wide)} // {BAND_WIDTH}"
            rows.append(
                (
                    f"counts of bands of one column, of width 1, 2, 2.5 or 5, or {BAND_WIDTH}, 20, …",
                    f"SELECT {band}, count(*) FROM {quoted(table)} GROUP BY {band}",
                )
            )
    answering = [declared()[name] for name in functions if name in declared()]
    rows += [(each.words, f"FROM reid.{each.signature}") for each in answering]
    listed = ", ".join(f"({sql_text(question)}, {sql_text(example)})" for question, example in rows)
    return f"SELECT * FROM (VALUES {listed}) AS help(question, example)"
