"""Which functions Spark SQL can say; known without Spark, as the documents say it too."""

from reid_sql.function import Answer, Function


def in_sql(declared: Function) -> bool:
    """Whether Spark SQL can say the function: it takes no table, no window, and keeps no model.

    One without parameters it cannot: a body that is handed no column knows of no row.
    """
    if declared.answer in {Answer.SCALAR, Answer.MODEL_SCORE}:
        return True
    of_values = declared.reduction is None and bool(declared.parameters)
    return declared.answer.of_table and of_values and not declared.models
