"""Distinct records as an engine passes them to a body, alone: every family of codes imports this module."""

from collections.abc import Sequence
from dataclasses import dataclass

from reid_sql.parameters import Integers


@dataclass(frozen=True)
class DistinctTexts:
    """Distinct records as texts, with the number of records of each; a row of 0 records names the columns."""

    line: Integers
    texts: Sequence[Sequence[str | None]]
    records: Integers
