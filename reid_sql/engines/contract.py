"""What an engine must implement, as types: a method for each `Answer`.

The module `reid_sql.engines.<engine>.adapter` of a dataframe engine fulfils `Adapter`, and `RecordAdapter`
unless the engine lacks functions of single records. `engines/public_api.py` checks the arguments of a call
and chooses the method by the function's `Answer`. An implementation,
`reid_sql/engines/<engine>/reductions/<family>.py`, has a function named like the reduction, which takes the
reduction's arguments by their names (`tbl`, `qi`, `nulls`, …, as the user passed them, checked) and returns
the reduced relation.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import Parameter, Signature
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from reid_sql.errors import OutOfDomainError, WrongCallError
from reid_sql.function import Function
from reid_sql.parameters import Arguments, ColumnNames

if TYPE_CHECKING:
    import pyarrow as pa

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
    """The signature of a count that adds a column: the table, the columns, the new name, and the entity."""
    kind = Parameter.POSITIONAL_OR_KEYWORD
    frame, columns = Parameter("tbl", kind), Parameter("columns", Parameter.VAR_POSITIONAL)
    name = Parameter("name", Parameter.KEYWORD_ONLY, default=declared.name)
    if len(declared.parameters) > 1:
        return Signature([frame, Parameter("entity", kind), columns, name])
    return Signature(
        [frame, columns, name, Parameter("entity", Parameter.KEYWORD_ONLY, default=None)]
    )


def unused_name(name: str, columns: ColumnNames) -> str:
    """The name, made longer until no column has it, in any case.

    >>> unused_name("reid_one", ["age", "REID_ONE"])
    'reid_one_'
    """
    folded = {column.lower() for column in columns}
    while name in folded:
        name = f"{name}_"
    return name


def read_limit(setting: str, value: str, default: int) -> int:
    """Read how many values may come to the client, rows times columns, or refuse the setting's value."""
    try:
        most = int(float(value))
    except (ValueError, OverflowError):
        most = 0
    if most < 1:
        raise OutOfDomainError(
            f"{setting} must be a whole number of at least 1, got '{value}'; the default is {default}"
        )
    return most


def refuse_added_name(name: str, columns: ColumnNames) -> None:
    """Refuse to add a column under a name that the table has, in any case."""
    if name.lower() in (other.lower() for other in columns):
        raise OutOfDomainError(
            f"name must not be a column of the table, got '{name}'; pass another, such as name='k'"
        )


class Adapter(Protocol[Frame, Value]):
    """The methods by which an engine answers functions of tables; `public_api` has checked the arguments."""

    ENGINE: str
    TABLE: Kind
    COLUMN: Kind
    # Answer.WINDOW: count the records that share each record's values. It takes the declared function, the
    # columns, and by name the options in the signature that `counting` returns.
    count: Callable[..., Any]

    def counting(self, declared: Function) -> Signature:
        """The signature of a function of Answer.WINDOW: its columns are the surplus positional arguments."""

    def table(self, declared: Function, arguments: Arguments) -> Frame:
        """Answer.ROW, ROWS, PER_RECORD and REDUCTION: reduce the table, then call the body, if there is one.

        The reduction takes those arguments that it declares, the body all others.
        """

    def collected(self, frame: Frame, words: str) -> "pa.Table":
        """Fetch the frame into this process, or refuse one above the engine's bound, if it has one."""

    def framed(self, table: "pa.Table") -> Frame:
        """Make a frame of the table; a type that the engine lacks becomes one that has room for it."""


class RecordAdapter(Adapter[Frame, Value], Protocol[Frame, Value]):
    """The methods of an engine that answers functions of single records too."""

    def value(self, declared: Function, arguments: Sequence[Any]) -> Value:
        """Answer.SCALAR: a number for each record from columns, names or numbers, in this order."""

    def score(
        self,
        declared: Function,
        model: Any,  # noqa: ANN401
        arguments: Sequence[Any],
        columns: Sequence[Any],
    ) -> Value:
        """Answer.MODEL_SCORE: a number for each record under the model.

        `arguments` are the function's own parameters, `columns` the record's values.
        """

    def scored_table(
        self,
        declared: Function,
        frame: Frame,
        model: Any,  # noqa: ANN401
        options: dict[str, Any],
    ) -> Frame:
        """Answer.SCORED_TABLE: score the distinct records, and join the scores to the frame's rows."""


def refuse_columns_in_a_row(declared: Function, arguments: Sequence[Any]) -> None:
    """Refuse columns that are passed one by one: the second would be read as the parameter after the list."""
    passed = zip(declared.parameters, arguments, strict=False)
    for (columns, first), (after, second) in pairwise(passed):
        if (
            columns.domain.role == "counted"
            and isinstance(first, str)
            and isinstance(second, str)
            and first.isidentifier()
            and second.isidentifier()
            and not after.domain.may_be_text(second)
        ):
            raise WrongCallError(
                f"{columns.name} must be one list of columns, got several arguments; write ['{first}', '{second}']"
            )


def refuse_names_of_options(declared: Function, arguments: Sequence[Any]) -> None:
    """Refuse a parameter's name as the value of one that takes no such text."""
    names = {*(parameter.name for parameter in declared.parameters), *declared.lacked}
    for parameter, value in zip(declared.parameters, arguments, strict=False):
        if isinstance(value, str) and value in names and not parameter.domain.may_be_text(value):
            raise WrongCallError(
                f"{parameter.name} must be a value, got '{value}', the name of a parameter; "
                "to set an option, write entity := 'pid'"
            )
