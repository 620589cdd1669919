"""Spark: row functions as Columns, and the functions that Spark SQL can say under their own names."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from uuid import uuid4

import pyarrow as pa
from pyspark.sql import Column as SparkColumn
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.functions import arrow_udf

from reid_sql import registry
from reid_sql.domains import (
    MAX_COLUMNS,
    Column,
    Columns,
    Domain,
    Key,
    Number,
    Numbers,
    OptionalTable,
    Table,
    Values,
)
from reid_sql.engines.arrow import answer_rows, kernel, model_kernel
from reid_sql.engines.spark_catalogue import in_sql
from reid_sql.engines.spark_frames import arrow_type, column
from reid_sql.errors import ReidError
from reid_sql.function import REQUIRED, Answer, Function, Parameter, sql_literal
from reid_sql.models.copula.gaussian_copula import GaussianCopula

SPARK_TYPES: Final = {"BIGINT": "BIGINT", "DOUBLE": "DOUBLE", "VARCHAR": "STRING"}
udf: Final[Any] = arrow_udf  # whose overloads leave out the plain way to call it


def check_options(declared: Function, options: dict[str, Any]) -> None:
    """Hold the options against their domains, and put what a document says, or a whole number, in its place."""
    for parameter in declared.parameters:
        name, domain = parameter.name, parameter.domain
        if isinstance(domain, Columns | Column | Table | OptionalTable | Key | Values):
            continue
        value = domain.check(name, options[name])
        whole = isinstance(domain, Number) and domain.whole
        options[name] = int(options[name]) if whole else value if isinstance(value, str) else options[name]


def row_column(declared: Function, arguments: Sequence[Any]) -> SparkColumn:
    """Bind a row function to Columns, column names or numbers: a Column named after the function."""
    inputs = [as_column(argument).cast("double") for argument in arguments]
    return answered_or_refused(declared, _row_body(declared)(*inputs))


def answered_or_refused(declared: Function, found: SparkColumn) -> SparkColumn:
    """The answer of a body that may refuse, or its refusal as Spark's error."""
    refused = F.raise_error(found["refusal"]).cast("double")
    return F.when(found["refusal"].isNull(), found["answer"]).otherwise(refused).alias(declared.name)


def as_column(argument: Any) -> SparkColumn:  # noqa: ANN401 - a name, a Column or a number
    """The Column that is meant."""
    if isinstance(argument, SparkColumn):
        return argument
    return column(argument) if isinstance(argument, str) else F.lit(float(argument))


def register(spark: SparkSession, functions: Iterable[Function]) -> list[str]:
    """Put into the session what Spark SQL can say, as temporary functions: their names."""
    said, database = [declared for declared in functions if in_sql(declared)], f"reid_sql {uuid4()}"
    models = {name: replace(model, _scores={}) for name, model in registry.models().items()}
    for declared in said:
        if declared.answer is Answer.SCORE:
            body, sql = _model_body(declared, models, database), _model_sql(declared, database)
        elif declared.answer is Answer.VALUE:
            body, sql = _row_body(declared), _row_sql(declared)
        else:
            body, sql = _table_body(declared), _table_sql(declared)
        spark.udf.register(f"reid_body_{declared.name}", body)
        spark.sql(sql)
    return [declared.name for declared in said]


def _row_body(declared: Function) -> Any:  # noqa: ANN401 - a user-defined function
    """The body over Arrow arrays of doubles: for each row an answer, or for all the refusal in its own words."""
    return refusable(kernel(declared), declared)


def refusable(call: Callable[..., pa.Array], declared: Function) -> Any:  # noqa: ANN401 - a user-defined function
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

    return udf(typed(body, declared), "struct<refusal string, answer double>")


def _table_body(declared: Function) -> Any:  # noqa: ANN401 - a user-defined function
    """The body over its parameters, checked: a list of structs, or the refusal in its own words."""
    rows = pa.list_(pa.struct([(name, arrow_type(sql)) for name, sql in declared.columns.items()]))
    answer = pa.struct([("refusal", pa.string()), ("answers", rows)])

    def one(cells: Sequence[Any]) -> dict[str, Any]:
        options = dict(zip((p.name for p in declared.parameters), cells, strict=True))
        try:
            check_options(declared, options)
            return {"refusal": None, "answers": answer_rows(declared, {}, options)}
        except ReidError as error:
            return {"refusal": str(error), "answers": []}

    def body(*columns: pa.Array) -> pa.Array:
        return pa.array(
            [one([cell.as_py() for cell in cells]) for cells in zip(*columns, strict=True)], type=answer
        )

    returned = f"struct<refusal string, answers array<struct<{fields_of(declared)}>>>"
    return udf(typed(body, declared), returned)


def typed(body: Any, declared: Function) -> Any:  # noqa: ANN401 - a callable
    """Spark tells the kind of a function by its hints."""
    body.__annotations__ = {"columns": pa.Array, "return": pa.Array}
    body.__name__ = declared.name
    return body


def fields_of(declared: Function) -> str:
    """The answer's columns with their types, as Spark SQL spells them."""
    return ", ".join(f"{name} {SPARK_TYPES[kind]}" for name, kind in declared.columns.items())


def _model_body(declared: Function, models: Mapping[str, GaussianCopula], database: str) -> Any:  # noqa: ANN401
    """The body over records as lists of texts, by the names of the models that are known now."""
    call = model_kernel(declared)

    def body(*columns: pa.Array) -> pa.Array:
        with registry.within(database):
            for name in set(models) - set(registry.models()):
                registry.keep(name, models[name])
        return call(*columns)

    return udf(typed(body, declared), "struct<refusal string, answer double>")


def _row_sql(declared: Function) -> str:
    return _function_sql(
        declared, _parameters(declared), ", ".join(parameter.name for parameter in declared.parameters)
    )


def _model_sql(declared: Function, database: str) -> str:
    """Spell a function that takes any number of columns: those that are not given hold a text that nobody can know before."""
    text = sql_literal(database)
    cells = [f"c{place}" for place in range(1, MAX_COLUMNS + 1)]
    taken = ", ".join(
        [_parameters(declared), "c1 STRING", *(f"{cell} STRING DEFAULT {text}" for cell in cells[1:])]
    )
    record = f"filter(array({', '.join(cells)}), reid_cell -> reid_cell IS NULL OR reid_cell <> {text})"
    names = ", ".join(parameter.name for parameter in declared.parameters)
    return _function_sql(declared, taken, f"{record}, {text}, {names}")


def _function_sql(declared: Function, parameters: str, arguments: str) -> str:
    found = f"reid_body_{declared.name}({arguments})"
    answer = f"CASE WHEN {found}.refusal IS NULL THEN {found}.answer ELSE raise_error({found}.refusal) END"
    return (
        f"CREATE OR REPLACE TEMPORARY FUNCTION {declared.name}({parameters}) RETURNS DOUBLE RETURN {answer}"
    )


def _table_sql(declared: Function) -> str:
    names = ", ".join(parameter.name for parameter in declared.parameters)
    answers = "CASE WHEN found.refusal IS NULL THEN found.answers ELSE raise_error(found.refusal) END"
    called = f"SELECT inline({answers}) FROM (SELECT reid_body_{declared.name}({names}) AS found)"
    returns = f"TABLE({fields_of(declared)})"
    return f"CREATE OR REPLACE TEMPORARY FUNCTION {declared.name}({_parameters(declared)}) RETURNS {returns} RETURN {called}"


def _parameters(declared: Function) -> str:
    return ", ".join(f"{p.name} {_sql_type(p.domain)}{_default(p)}" for p in declared.parameters)


def _default(parameter: Parameter) -> str:
    return "" if parameter.default is REQUIRED else f" DEFAULT {sql_literal(parameter.default)}"


def _sql_type(domain: Domain) -> str:
    if isinstance(domain, Numbers):
        return "ARRAY<DOUBLE>"
    return "DOUBLE" if isinstance(domain, Number) or not hasattr(domain, "check") else "STRING"
