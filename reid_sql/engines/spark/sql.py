"""Spark SQL: the functions that take no table and store no model, under their own names, for a session."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final
from uuid import uuid4

import pyarrow as pa
from pyspark.sql import SparkSession

from reid_sql import registry
from reid_sql.engines.arrow import answer_rows, model_kernel
from reid_sql.engines.public_api import checked
from reid_sql.engines.spark import is_in_sql
from reid_sql.engines.spark.frames import arrow_type
from reid_sql.engines.spark.functions import row_body, struct_fields, udf, with_arrow_types
from reid_sql.errors import ReidError
from reid_sql.fitted_model import FittedModel
from reid_sql.function import REQUIRED, Answer, Function, Parameter, sql_literal
from reid_sql.parameters import MAX_COLUMNS, Domain, Number, Numbers

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
            body, sql = row_body(declared), _row_sql(declared)
        else:
            body, sql = _table_body(declared), _table_sql(declared)
        spark.udf.register(f"reid_body_{declared.name}", body)
        spark.sql(sql)
    return [declared.name for declared in registered]


def _table_body(declared: Function) -> Any:  # noqa: ANN401 - a user-defined function
    """The body over its parameters, checked: a list of structs, or the sentence of the refusal."""
    rows = pa.list_(pa.struct([(name, arrow_type(sql)) for name, sql in declared.columns.items()]))
    answer = pa.struct([("refusal", pa.string()), ("answers", rows)])

    def one(cells: Sequence[Any]) -> dict[str, Any]:
        options = dict(zip((p.name for p in declared.parameters), cells, strict=True))
        try:
            return {"refusal": None, "answers": answer_rows(declared, {}, checked(declared, options))}
        except ReidError as error:
            return {"refusal": str(error), "answers": []}

    def body(*columns: pa.Array) -> pa.Array:
        return pa.array(
            [one([cell.as_py() for cell in cells]) for cells in zip(*columns, strict=True)], type=answer
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
    return _function_sql(
        declared, _parameters(declared), ", ".join(parameter.name for parameter in declared.parameters)
    )


def _model_sql(declared: Function, database: str) -> str:
    """Write a function of any number of columns: the others default to a text that no value equals."""
    text = sql_literal(database)
    cells = [f"c{place}" for place in range(1, MAX_COLUMNS + 1)]
    taken = ", ".join(
        [_parameters(declared), "c1 STRING", *(f"{cell} STRING DEFAULT {text}" for cell in cells[1:])]
    )
    record = f"filter(array({', '.join(cells)}), reid_cell -> reid_cell IS NULL OR reid_cell <> {text})"
    names = ", ".join(parameter.name for parameter in declared.parameters)
    return _function_sql(declared, taken, f"{record}, {text}, {names}")


def _function_sql(declared: Function, parameters: str, arguments: str) -> str:
    reply = f"reid_body_{declared.name}({arguments})"
    answer = f"CASE WHEN {reply}.refusal IS NULL THEN {reply}.answer ELSE raise_error({reply}.refusal) END"
    return (
        f"CREATE OR REPLACE TEMPORARY FUNCTION {declared.name}({parameters}) RETURNS DOUBLE RETURN {answer}"
    )


def _table_sql(declared: Function) -> str:
    names = ", ".join(parameter.name for parameter in declared.parameters)
    answers = "CASE WHEN reply.refusal IS NULL THEN reply.answers ELSE raise_error(reply.refusal) END"
    called = f"SELECT inline({answers}) FROM (SELECT reid_body_{declared.name}({names}) AS reply)"
    returns = f"TABLE({struct_fields(declared.columns)})"
    return (
        f"CREATE OR REPLACE TEMPORARY FUNCTION {declared.name}({_parameters(declared)}) "
        f"RETURNS {returns} RETURN {called}"
    )


def _parameters(declared: Function) -> str:
    return ", ".join(f"{p.name} {_sql_type(p.domain)}{_default(p)}" for p in declared.parameters)


def _default(parameter: Parameter) -> str:
    return "" if parameter.default is REQUIRED else f" DEFAULT {sql_literal(parameter.default)}"


def _sql_type(domain: Domain) -> str:
    if isinstance(domain, Numbers):
        return "ARRAY<DOUBLE>"
    return "DOUBLE" if isinstance(domain, Number) or not hasattr(domain, "check") else "STRING"
