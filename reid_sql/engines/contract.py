"""What an engine must give, as types: the primitives of its spellings, and a binding by answer shape.

There is a binding for each answer shape. The module `reid_sql.engines.<engine>.adapter` of a dataframe engine
fulfils `Adapter`, and `RecordAdapter` unless it lacks functions of single records; what its implementations
share fulfils `Primitives`. An implementation, `reid_sql/reductions/<family>/<engine>.py`, has a function
named like the reduction, which takes the reduction's arguments by their names (`tbl`, `qi`, `nulls`, …, as
the user gave them, checked) and returns the reduced relation.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, Signature
from typing import Any, Protocol, TypeVar

import pyarrow as pa

from reid_sql.errors import OutOfDomainError
from reid_sql.function import Function
from reid_sql.parameters import Columns

Frame = TypeVar("Frame")  # a relation of the engine, lazy where the engine is
Value = TypeVar("Value", covariant=True)  # noqa: PLC0105 - an expression or a column


@dataclass(frozen=True)
class Kind:
    """What users pass for a table or a column: its types, and the words and the remedy of a refusal.

    `convert` reads what is of no such type, or returns None.
    """

    types: tuple[type, ...]
    words: str
    remedy: str
    convert: Callable[[Any], Any] | None = None


def signature_of_added_count(declared: Function) -> Signature:
    """How a count is called that adds a column: the table, the columns, the new name, and who is a person."""
    kind = Parameter.POSITIONAL_OR_KEYWORD
    frame, columns = Parameter("tbl", kind), Parameter("columns", Parameter.VAR_POSITIONAL)
    name = Parameter("name", Parameter.KEYWORD_ONLY, default=declared.name)
    if len(declared.parameters) > 1:
        return Signature([frame, Parameter("entity", kind), columns, name])
    return Signature([frame, columns, name, Parameter("entity", Parameter.KEYWORD_ONLY, default=None)])


def refuse_added_name(name: str, columns: Sequence[str]) -> None:
    """Refuse to add a column under a name that the table has, in any case."""
    if name.lower() in (other.lower() for other in columns):
        rule = f"name must not be a column of the table, got '{name}'"
        raise OutOfDomainError(f"{rule}; pass another, such as name='k'")


class Primitives(Protocol[Frame]):
    """The relations that all reductions share; their columns are q1, q2, …, so that no names clash."""

    def check_columns(self, words: Columns, columns: Sequence[str], frame: Frame) -> list[str]:
        """Return the frame's own case of the names, or refuse with the label in `words`."""

    def with_aliases(self, frame: Frame, columns: Sequence[str]) -> Frame:
        """The columns of these exact names, as q1, q2, …."""

    def drop_nulls(self, rows: Frame, names: Sequence[str], nulls: str) -> Frame:
        """The rows, without those that have a NULL in one of the columns where NULLs are dropped."""

    def count_distinct(self, rows: Frame, names: Sequence[str], nulls: str) -> Frame:
        """The distinct rows, with the number of each in `records`; NULL and NaN are values of their own."""

    def join_null_safe(self, left: Frame, right: Frame, names: Sequence[str]) -> Frame:
        """Join each row of the left with the right row of the same values, NULL = NULL, NaN = NaN."""

    def null_report(self, rows: Frame, names: Sequence[str], nulls: str, reduced: Frame) -> Frame:
        """The reduced rows, each with `records_dropped` and `nulls`, the treatment of NULLs."""


class Adapter(Protocol[Frame, Value]):
    """How an engine binds functions of tables; arguments come bound and checked from the face."""

    ENGINE: str
    TABLE: Kind
    COLUMN: Kind
    # Binds COUNT, how many records share each record's values: (declared, columns, **the options that
    # `counting` names).
    count: Callable[..., Any]

    def counting(self, declared: Function) -> Signature:
        """How a function of the shape COUNT is called: its columns are the surplus positional arguments."""

    def table(self, declared: Function, arguments: Mapping[str, Any]) -> Frame:
        """Bind ROW, ROWS, RECORDS and REDUCTION: reduce by the reduction's arguments, then answer.

        The body answers by its own arguments.
        """

    def drawn(self, declared: Function, model: Any, n: int, options: dict[str, Any]) -> Frame:  # noqa: ANN401
        """Bind DRAWN: n records drawn from the model."""

    def collected(self, frame: Frame, words: str) -> pa.Table:
        """The frame in this process, or a refusal where it is larger than the engine's bound, if any."""

    def framed(self, table: pa.Table) -> Frame:
        """The table as a frame of the engine; types it lacks as the nearest that hold every value."""


class RecordAdapter(Adapter[Frame, Value], Protocol[Frame, Value]):
    """How an engine binds functions of single records too, if it does not lack them by their shape."""

    def value(self, declared: Function, arguments: Sequence[Any]) -> Value:
        """Bind VALUE: a number for each record from columns, names or numbers, in the parameters' order."""

    def score(
        self,
        declared: Function,
        model: Any,  # noqa: ANN401
        arguments: Sequence[Any],
        columns: Sequence[Any],
    ) -> Value:
        """Bind SCORE: a number for each record under the model, by parameters and the record's values.

        The parameters are the function's own.
        """

    def scored_table(
        self,
        declared: Function,
        frame: Frame,
        model: Any,  # noqa: ANN401
        options: dict[str, Any],
    ) -> Frame:
        """Bind SCORED_TABLE: score the distinct records, and join the scores to the frame's rows."""
