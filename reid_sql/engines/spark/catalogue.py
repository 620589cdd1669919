"""Which functions Spark SQL can say; known without Spark, as the documents say it too."""

from reid_sql.function import Answer, Function


def in_sql(declared: Function) -> bool:
    """Whether Spark SQL can say the function: it takes no table, no window, and keeps no model."""
    if declared.answer in {Answer.VALUE, Answer.SCORE}:
        return True
    return declared.answer.of_table and declared.reduction is None and not declared.models
