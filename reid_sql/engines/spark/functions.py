"""Spark: functions of records as Columns and in Spark SQL, and functions of fitted models.

A model goes to the executors by value; the records stay there.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import signature
from typing import Any, Final
from uuid import uuid4

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import Column as SparkColumn
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.functions import arrow_udf

from reid_sql.engines import registry
from reid_sql.engines.arrow import (
    ARROW_TYPES,
    answer_rows,
    kernel,
    model_answer,
    model_kernel,
    record_codes,
    reply_type,
    rows_type,
)
from reid_sql.engines.public_api import checked
from reid_sql.engines.spark import is_in_sql
from reid_sql.engines.spark.frames import (
    Rows,
    column,
    count_records,
    join_classes,
    read_rows,
    refuse_without_text,
    with_key,
)
from reid_sql.errors import OutOfDomainError, ReidError
from reid_sql.function import Answer, Function
from reid_sql.models.fitted_model import FittedModel, Scores
from reid_sql.parameters import MAX_COLUMNS, Arguments, Columns, Integers, sql_literal
from reid_sql.parameters.outputs import REFUSAL_OF_OUTPUT, REQUIRED, Parameter

SPARK_TYPES: Final = {"BIGINT": "BIGINT", "DOUBLE": "DOUBLE", "VARCHAR": "STRING"}
udf: Final[Any] = arrow_udf  # whose overloads leave out the plain way to call it


def row_column(declared: Function, arguments: Sequence[Any]) -> SparkColumn:
    """Bind a row function to Columns, column names or numbers: a Column named after the function."""
    inputs = (
        as_double(p, argument) for p, argument in zip(declared.parameters, arguments, strict=True)
    )
    return answer_or_error(declared, row_body(declared)(*inputs))


def answer_or_error(declared: Function, result: SparkColumn) -> SparkColumn:
    """The answer of a body that may refuse, or its refusal as Spark's error."""
    refused = F.raise_error(result["refusal"]).cast("double")
    return (
        F.when(result["refusal"].isNull(), result["answer"]).otherwise(refused).alias(declared.name)
    )


def as_column(argument: Any) -> SparkColumn:  # noqa: ANN401 - a name, a Column, a number or None
    """The Column that is meant."""
    if isinstance(argument, SparkColumn):
        return argument
    if isinstance(argument, str):
        return column(argument)
    return F.lit(None if argument is None else float(argument))


def as_double(parameter: Parameter, argument: Any) -> SparkColumn:  # noqa: ANN401 - see above
    """The argument as doubles; no number is refused, also where Spark's ANSI mode is off.

    Without that mode Spark makes NULL of what is no number.
    """
    if isinstance(argument, int | float):
        parameter.domain.check_numbers(parameter.name, argument, of_column=False)
    value = as_column(argument)
    doubles = value.try_cast("double")
    refused = F.raise_error(F.lit(parameter.domain.refusal_of_cells(parameter.name))).cast("double")
    return F.when(value.isNotNull() & doubles.isNull(), refused).otherwise(doubles)


def row_body(declared: Function) -> Any:  # noqa: ANN401 - Spark's
    """The body over Arrow arrays of doubles: an answer for each row, or the sentence of the refusal.

    The refusal is for all rows.
    """
    return with_refusal(kernel(declared), declared)


def with_refusal(call: Callable[..., pa.Array], declared: Function) -> Any:  # noqa: ANN401 - Spark's
    """Make a function whose answers, doubles, come with its refusal."""

    def body(*columns: pa.Array) -> pa.Array:
        try:
            answers, refusals = call(*columns), pa.nulls(len(columns[0]), pa.string())
        except ReidError as error:  # Spark would show a traceback of its worker around the sentence
            answers, refusals = (
                pa.nulls(len(columns[0]), pa.float64()),
                pa.array([str(error)] * len(columns[0])),
            )
        return pa.StructArray.from_arrays([refusals, answers], ["refusal", "answer"])

    return udf(with_arrow_types(body, declared.name), "struct<refusal string, answer double>")


def with_arrow_types(body: Any, name: str = "reid_sql") -> Any:  # noqa: ANN401 - a callable
    """Give the body the hints by which Spark knows its kind, and the name that plans show."""
    body.__annotations__ = dict.fromkeys([*signature(body).parameters, "return"], pa.Array)
    body.__name__ = name
    return body


def struct_fields(columns: Mapping[str, str]) -> str:
    """Columns with their types, as Spark SQL writes them."""
    return ", ".join(f"{name} {SPARK_TYPES[kind]}" for name, kind in columns.items())


def model_column(
    declared: Function, model: FittedModel, arguments: Sequence[Any], columns: Sequence[Any]
) -> Column:
    """Bind a function of records under a model: a Column named after the function."""
    sent_model, count = model_to_send(model), len(arguments)
    if len(columns) != len(sent_model.columns):
        sent_model.codes([[]] * len(columns))

    def body(*cells: pa.Array) -> pa.Array:
        return model_answer(
            declared, sent_model.scored(record_codes(sent_model, cells[count:])), cells[:count]
        )

    texts = [as_column(one).cast("string") for one in columns]
    numbers = (
        as_double(p, argument)
        for p, argument in zip(declared.own_parameters, arguments, strict=True)
    )
    called = with_refusal(body, declared)(*numbers, *texts)
    return answer_or_error(declared, called)


def scored_frame(
    declared: Function, frame: DataFrame, model: FittedModel, options: Arguments
) -> DataFrame:
    """Bind a table function that scores a table's distinct records and joins the scores to its rows."""
    sent_model = model_to_send(model)
    rows = read_model_columns(sent_model, frame)
    for name in frame.columns:
        if name.lower() in declared.columns:
            raise OutOfDomainError(
                f"the table must have no column that is named as a score ({', '.join(declared.columns)}), got '{name}'; "
                "rename it in a view"
            )
    classes = score_records(
        rows,
        sent_model,
        lambda cells, sizes: declared.body(cells, sizes, **options),
        declared.columns,
    )
    return join_classes(frame, rows.table_names, with_key(classes, rows.names))


def model_to_send(model: str | FittedModel) -> FittedModel:
    """The model as it is sent, without the scores that it remembers."""
    return registry.known(model).light()


def read_model_columns(model: FittedModel, frame: DataFrame) -> Rows:
    """The columns of the model, found in the table by their names."""
    rows = read_rows(frame, model.columns, Columns("columns of the model"))
    refuse_without_text(rows)
    return rows


def score_records(
    rows: Rows,
    model: FittedModel,
    answer: Callable[[Scores, Integers], Any],
    columns: Mapping[str, str],
) -> DataFrame:
    """Score the distinct records on the executors: their columns, and these of a dataclass of arrays."""

    def body(*cells: pa.Array) -> pa.Array:
        scores = answer(model.scored(record_codes(model, cells[1:])), cells[0].to_numpy())
        arrays = [
            pa.array(getattr(scores, name), ARROW_TYPES[kind]) for name, kind in columns.items()
        ]
        return pa.StructArray.from_arrays(arrays, list(columns))

    texts = (F.col(name).cast("string") for name in rows.names)
    called = udf(with_arrow_types(body), f"struct<{struct_fields(columns)}>")(
        F.col("records"), *texts
    )
    return (
        count_records(rows, "value")
        .select(*rows.names, called.alias("scores"))
        .select(*rows.names, "scores.*")
    )


ANSI: Final = "spark.sql.ansi.enabled"


def register(spark: SparkSession, functions: Iterable[Function]) -> list[str]:
    """Register what Spark SQL can call as temporary functions of the session: their names."""
    with _strict(spark):
        return _registered(spark, functions)


@contextmanager
def _strict(spark: SparkSession) -> Iterator[None]:
    """A Spark SQL function casts by the mode it was made in: what is no number must not become NULL."""
    before = spark.conf.get(ANSI)
    spark.conf.set(ANSI, "true")
    try:
        yield
    finally:
        spark.conf.set(ANSI, str(before))


def _registered(spark: SparkSession, functions: Iterable[Function]) -> list[str]:
    registered, database = [each for each in functions if is_in_sql(each)], f"reid_sql {uuid4()}"
    models = {name: model.light() for name, model in registry.models().items()}
    for declared in registered:
        if declared.answer is Answer.MODEL_SCORE:
            body, sql = _model_body(declared, models, database), _model_sql(declared, database)
        elif declared.answer is Answer.SCALAR:
            for each in declared.all_outputs[1:]:
                spark.udf.register(f"reid_body_{each.key}", row_body(each))
            body, sql = row_body(declared.all_outputs[0]), _row_sql(declared)
        else:
            body, sql = _table_body(declared), _table_sql(declared)
        spark.udf.register(f"reid_body_{declared.key}", body)
        spark.sql(sql)
    return [declared.name for declared in registered]


def _table_body(declared: Function) -> Any:  # noqa: ANN401 - a user-defined function
    """The body over its parameters, checked: a list of structs, or the sentence of the refusal."""
    answer = reply_type(rows_type(declared))

    def one(cells: Sequence[Any]) -> dict[str, Any]:
        options = dict(zip((p.name for p in declared.parameters), cells, strict=True))
        try:
            return {
                "refusal": None,
                "answers": answer_rows(declared, {}, checked(declared, options)),
            }
        except ReidError as error:
            return {"refusal": str(error), "answers": []}

    def body(*columns: pa.Array) -> pa.Array:
        return pa.array(
            [one([cell.as_py() for cell in cells]) for cells in zip(*columns, strict=True)],
            type=answer,
        )

    returned = f"struct<refusal string, answers array<struct<{struct_fields(declared.columns)}>>>"
    return udf(with_arrow_types(body, declared.name), returned)


def _model_body(declared: Function, models: Mapping[str, FittedModel], database: str) -> Any:  # noqa: ANN401
    """The body over records as lists of texts, by the names of the models that are known now."""
    call = model_kernel(declared)

    def body(*columns: pa.Array) -> pa.Array:
        with registry.within(database):
            for name in set(models) - set(registry.models()):
                registry.keep(name, models[name])
        return call(*columns)

    return udf(with_arrow_types(body, declared.name), "struct<refusal string, answer double>")


def _row_sql(declared: Function) -> str:
    if not declared.outputs:
        return _function_sql(declared, _parameters(declared), _names(declared))
    cases = []
    for word, output in declared.outputs.items():
        answer = _reply(output, _names(output))
        taken = {declared.selector, *(parameter.name for parameter in output.parameters)}
        for other in (each for each in declared.parameters if each.name not in taken):
            rule = REFUSAL_OF_OUTPUT.format(other.name, f"with {declared.selector} := '{word}'")
            is_default = f"{other.name} <=> {sql_literal(other.default)}"
            answer = (
                f"CASE WHEN {is_default} THEN {answer} ELSE raise_error({sql_literal(rule)}) END"
            )
        cases.append(f"WHEN {sql_literal(word)} THEN {answer}")
    words = ", ".join(map(sql_literal, declared.outputs))
    rule = f"{declared.selector} must be one of {words}, got another; pass one of these"
    chosen = f"CASE {declared.selector} {' '.join(cases)} ELSE raise_error({sql_literal(rule)}) END"
    return _create_sql(declared, _parameters(declared), chosen)


def _names(declared: Function) -> str:
    return ", ".join(parameter.name for parameter in declared.parameters)


def _model_sql(declared: Function, database: str) -> str:
    """Write a function of any number of columns: the others default to a text that no value equals."""
    text = sql_literal(database)
    cells = [f"c{place}" for place in range(1, MAX_COLUMNS + 1)]
    taken = ", ".join(
        [
            _parameters(declared),
            "c1 STRING",
            *(f"{cell} STRING DEFAULT {text}" for cell in cells[1:]),
        ]
    )
    record = (
        f"filter(array({', '.join(cells)}), reid_cell -> reid_cell IS NULL OR reid_cell <> {text})"
    )
    return _function_sql(declared, taken, f"{record}, {text}, {_names(declared)}")


def _function_sql(declared: Function, parameters: str, arguments: str) -> str:
    return _create_sql(declared, parameters, _reply(declared, arguments))


def _reply(declared: Function, arguments: str) -> str:
    """Write the answer of a body, or its refusal."""
    reply = f"reid_body_{declared.key}({arguments})"
    return f"CASE WHEN {reply}.refusal IS NULL THEN {reply}.answer ELSE raise_error({reply}.refusal) END"


def _create_sql(declared: Function, parameters: str, answer: str) -> str:
    return f"CREATE OR REPLACE TEMPORARY FUNCTION {declared.name}({parameters}) RETURNS DOUBLE RETURN {answer}"


def _table_sql(declared: Function) -> str:
    names = ", ".join(parameter.name for parameter in declared.parameters)
    answers = (
        "CASE WHEN reply.refusal IS NULL THEN reply.answers ELSE raise_error(reply.refusal) END"
    )
    called = f"SELECT inline({answers}) FROM (SELECT reid_body_{declared.name}({names}) AS reply)"
    returns = f"TABLE({struct_fields(declared.columns)})"
    return (
        f"CREATE OR REPLACE TEMPORARY FUNCTION {declared.name}({_parameters(declared)}) "
        f"RETURNS {returns} RETURN {called}"
    )


def _parameters(declared: Function) -> str:
    return ", ".join(f"{p.name} {p.domain.spark_type}{_default(p)}" for p in declared.parameters)


def _default(parameter: Parameter) -> str:
    return "" if parameter.default is REQUIRED else f" DEFAULT {sql_literal(parameter.default)}"
