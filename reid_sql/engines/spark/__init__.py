"""Spark's adapter: what implementations of reductions are made of, and how functions are bound.

Importing it needs no Spark.
"""

from reid_sql.function import Answer, Function


def is_in_sql(declared: Function) -> bool:
    """Whether Spark SQL can call the function: it takes no table, no window, and stores no model.

    It cannot call one without parameters: such a body gets no column, and so no number of rows.
    """
    if declared.answer in {Answer.SCALAR, Answer.MODEL_SCORE}:
        return True
    of_values = declared.reduction is None and bool(declared.parameters)
    return declared.answer.of_table and of_values and not declared.models
