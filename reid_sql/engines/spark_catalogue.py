"""Which functions Spark has, and why it has not the others; known without Spark, as the documents say it too."""

from collections.abc import Mapping
from typing import Final

from reid_sql.function import Answer, Function
from reid_sql.reduction import reductions

OF_SENSITIVE: Final = tuple(each for each in reductions().values() if each.room.endswith(".disclosure"))
SAID: Final = (
    *("classes", "histogram", "population_histogram", "subsets", "matches", "known_records"),
    *("evidence", "fitted_records", "weighted_records"),
    *("pairs", "saved", "scored_classes", "codes"),
    *(reduction.name for reduction in OF_SENSITIVE),
)
EQUAL_ALONE: Final = "distances along a line need every class's values in order beside all those of the table"
IN_ONE_MEMORY: Final = "it goes through the codes of all records, again and again, in one memory"
RECORD_BY_RECORD: Final = ("qar_contributions", "qar_elimination", "qar_proxies")
BUT_EQUAL: Final = f"`variant='equal'` is there; 'ordered' and 'numeric' are not: {EQUAL_ALONE}"
IN_PART: Final[Mapping[str, str]] = {"t_closeness": BUT_EQUAL, "t_closeness_classes": BUT_EQUAL}


def why_not(declared: Function) -> str | None:
    """Why Spark does not have the function; None where it has."""
    if declared.name in RECORD_BY_RECORD:
        return IN_ONE_MEMORY
    if not declared.answer.of_table or declared.reduction is None or declared.reduction.name in SAID:
        return None
    return f"Spark has no words for what it is answered from: {declared.reduction.words}"


def in_sql(declared: Function) -> bool:
    """Whether Spark SQL can say the function: it takes no table, no window, and keeps no model."""
    if declared.answer in {Answer.VALUE, Answer.SCORE}:
        return True
    plain = declared.answer.of_table and declared.reduction is None
    return plain and not getattr(declared, "models", False)
