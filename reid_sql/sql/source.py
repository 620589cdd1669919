"""What a plan reads: a table of some engine, its columns made comparable and numbered."""

from collections.abc import Mapping, Sequence
from typing import Protocol


class Source(Protocol):
    """A table as a plan reads it; each engine has its own, and the texts over it are shared.

    An engine makes the values comparable here (collations, NaN, -0.0, padding), before any text of ours sees
    them: two values that differ must never count as one.
    """

    @property
    def is_materialized(self) -> bool:
        """Whether the engine computes a common table expression once, however often a plan reads it."""

    @property
    def has_people(self) -> bool:
        """Whether each row is a person, and has how many people its class has."""

    def rows(
        self,
        columns: Sequence[str],
        *,
        drop_nulls: bool = False,
        before: Mapping[str, str] | None = None,
        is_checked: bool = True,
    ) -> str:
        """Read the columns as q1, q2, … in a FROM item; `before` are expressions by the names they get.

        `drop_nulls` leaves out the rows with a NULL in one of the columns. `is_checked` is false where the
        same columns are checked for collations elsewhere in the query.
        """

    def items(self) -> str:
        """The table itself as a FROM item, with all of its own columns."""

    def count_nulls(self, columns: Sequence[str]) -> str:
        """Count the rows with a NULL in one of the columns, in a query of one value."""

    def has_columns(self, label: str, columns: Sequence[str]) -> str:
        """Test that the table has the columns, for a plan that must know before it joins by them."""

    def check_columns(self, label: str, columns: Sequence[str], body: str) -> str:
        """Write the body, a query, behind the check that the table has the columns; `label` names them."""

    def check_columns_of_both(self, other: "Source", label: str, columns: Sequence[str], body: str) -> str:
        """Write the body behind the check that both tables have the columns."""

    def check_types(self, other: "Source", columns: Sequence[str], body: str) -> str:
        """Write the body behind the check that the columns have comparable types in both tables."""

    def derive(self, query: str, *, has_people: bool = False) -> "Source":
        """The rows of a query over this table, in its place."""
