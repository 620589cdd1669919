"""How SQL begins a Python body and waits for its answer, so that an interrupt is heard meanwhile."""

from collections.abc import Sequence
from typing import Final

from reid_sql.engines.duckdb.many_columns import met_first
from reid_sql.function import Function
from reid_sql.parameters import Domain, Number, Numbers, Texts

BEGIN: Final = "reid_begin"
OWN_MODELS: Final = "reid_database"  # a text by which this database is known, for models are fitted in one
LAST: Final = 2**63 - 1
IN_ARROW: Final = {
    "HUGEINT": "DECIMAL(38, 0)"
}  # which arrives as bytes where arrow_lossless_conversion is set


def body_name(declared: Function) -> str:
    """What the function's Python body is called in DuckDB."""
    return f"reid_body_{declared.name}"


def body_types(declared: Function) -> list[str]:
    """Types of what a body of a table takes: whole columns of the reduction, then parameters of its own.

    Of a function that can be asked for each group, the columns of each, and last whether it is.
    """
    reduction = declared.reduction
    listed = "" if reduction and reduction.whole else "[][]" if declared.grouped else "[]"
    inputs = (
        [f"{IN_ARROW.get(kind, kind)}{listed}" for kind in reduction.inputs.values()] if reduction else []
    )
    own = [sql_type(parameter.domain) for parameter in declared.own_parameters]
    return inputs + own + ["BOOLEAN"] * declared.grouped


def sql_type(domain: Domain) -> str:
    """The type by which a parameter reaches a body."""
    if isinstance(domain, Numbers):
        return "DOUBLE[]"
    if isinstance(domain, Texts):
        return "VARCHAR[]"
    if isinstance(domain, Number):
        return "BIGINT" if domain.whole else "DOUBLE"
    return "VARCHAR"


def awaited(declared: Function, arguments: Sequence[str], rest: str = "") -> str:
    """Select the body's rows as `answers`, or its refusal in its own words, beside what `rest` selects.

    One call begins the body; every row of a range that has no end asks for its answer, and the first to get
    it is the last. DuckDB may stop between two of them.
    """
    typed = [f"({value})::{kind}" for value, kind in zip(arguments, body_types(declared), strict=True)]
    body = f"'{body_name(declared)}'"
    if declared.parameters and not declared.reduction:
        body = met_first(declared.parameters[0].name, body)
    given = ", ".join([body, *[f"{OWN_MODELS}()"] * declared.models, *typed])
    number = "(SELECT reid_number FROM reid_begun)"  # alone: what is beside it would be copied at each call
    asked = f"SELECT {body_name(declared)}(reid_number) AS reid_answered FROM range({LAST}), {number}"
    return f"""WITH reid_begun AS MATERIALIZED (
        SELECT {BEGIN}({given}) AS reid_number{rest and f", {rest}"}
    ),
    reid_waited AS (SELECT reid_answered FROM ({asked}) WHERE reid_answered IS NOT NULL LIMIT 1)
    SELECT CASE WHEN reid_answered.refusal IS NULL THEN reid_answered.answers
        ELSE error(reid_answered.refusal) END AS answers, * EXCLUDE (reid_answered, reid_number)
    FROM reid_waited, reid_begun"""
