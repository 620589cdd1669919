"""Spark: what a spelling may give where it is no relation that comes to the driver as it is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from reid_sql.engines.spark.counting import null_report
from reid_sql.engines.spark.frames import Rows, collected


@dataclass(frozen=True)
class Elsewhere:
    """Whole columns that stay on the executors: what a body asks in their place, and how NULLs were treated.

    The answer's `record` numbers `keys`, which are known only when the body has asked.
    """

    arrays: Any
    treated: pa.Table
    keys: Sequence[pa.Array] = ()


@dataclass(frozen=True)
class Held:
    """Distinct records, of which only the counts come to the driver; records find answers by values.

    Every record finds its answer back. Either the values come to the driver among the counts, or `classes`
    hold them on the executors under numbers, `place`, which the counts then have too.
    """

    rows: Rows  # every record, with `record`, by which it is told where there is a key
    nulls: str
    names: Sequence[str]  # the columns that tell distinct records apart, those that NULLs count in and others
    counts: DataFrame
    words: str  # what a refusal calls the counts
    arrays: Callable[[pa.Table], dict[str, Any]]
    classes: DataFrame | None = None

    @property
    def by(self) -> list[str]:
        """The columns by which answers find back to the distinct records."""
        return list(self.names) if self.classes is None else ["place"]

    def collected(self) -> pa.Table:
        """Bring the counts to the driver."""
        table = collected(self.counts, self.words)
        return table if self.classes is None else table.sort_by("place")

    def treated(self) -> pa.Table:
        """How NULLs were treated, in one row."""
        nothing = self.rows.frame.sparkSession.range(1).select()
        return collected(null_report(self.rows, self.nulls, nothing), "one row")
