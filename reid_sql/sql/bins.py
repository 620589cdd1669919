"""Columns at a coarser resolution: values in bins of time or of numbers, or another column in their place."""

from collections.abc import Mapping, Sequence

from reid_sql.parameters import fold_case
from reid_sql.parameters.bins import INTERVAL, Level
from reid_sql.sql.text import Source, name, refusal, text

MAX_NUMBER = "9e15"  # below which a double is exact
REMEDY = "cast them in a view, or name another column"


def coarsen(
    source: Source, label: str, columns: Sequence[str], levels: Mapping[str, Level]
) -> Source:
    """The table with the columns at these resolutions, under their own names."""
    by_name = {fold_case(column): level for column, level in levels.items()}
    chosen = [(column, by_name.get(fold_case(column))) for column in columns]
    read = [_column_of(column, level) for column, level in chosen]
    cells = ", ".join(
        f"{_cell(f'q{place}', column, level)} AS {name(column)}"
        for place, (column, level) in enumerate(chosen, 1)
    )
    query = f"SELECT {cells} FROM {source.rows(read)}"
    return source.derive(source.check_columns(label, read, query))


def _column_of(column: str, level: Level | None) -> str:
    return level if isinstance(level, str) and not INTERVAL.fullmatch(level) else column


def _cell(cell: str, column: str, level: Level | None) -> str:
    """The bin of a value; NULL stays NULL, and a value that has no bin is refused."""
    if level is None or _column_of(column, level) == level:
        return cell
    rule = f"bins must fit the values of '{column}', got some that are no"
    if isinstance(level, str):
        sentence = f"{rule} dates or times for '{level}'; {REMEDY}"
        moment = f"time_bucket(INTERVAL {text(level)}, try_cast({cell}::VARCHAR AS TIMESTAMP))"
        known = f"coalesce({moment}, {refusal(sentence, 'TIMESTAMP')})"
        return f"CASE WHEN {cell} IS NOT NULL THEN {known} END"
    sentence = f"{rule} numbers below {MAX_NUMBER}; {REMEDY}"
    number = f"try_cast({cell}::VARCHAR AS DOUBLE)"
    return f"""CASE WHEN {cell} IS NULL THEN NULL WHEN abs({number}) < {MAX_NUMBER}
      THEN floor({number} / {level!r}) ELSE {refusal(sentence, "DOUBLE")} END"""
