"""Which columns distinguish records."""

from reid_sql.errors import NO_RECORDS
from reid_sql.function import Answer, Question, table_function
from reid_sql.models.classes import disclosure
from reid_sql.parameters import sql_text
from reid_sql.reduction import Needs
from reid_sql.reductions.subsets import SUBSETS


@table_function(
    "tbl, columns, max_size, nulls, entity",
    answer=Answer.ROWS,
    reduction=SUBSETS,
    question=Question.IDENTIFYING_COLUMNS,
    source="Motwani & Xu 2007; ARX attribute risk",
    duckdb=f"""
    subset AS columns,
    CASE WHEN records = 0 THEN error({sql_text(NO_RECORDS)})::DOUBLE
    WHEN nulls <> 'wildcard' THEN reidentifications / records END AS distinction,
    CASE WHEN records > 1 THEN (records::HUGEINT * (records - 1) - pairs_alike)::DOUBLE
    / (records::HUGEINT * (records - 1)) END AS separation,
    records,
    classes,
    unique_records,
    coalesce(nullif(concat_ws('; ',
      CASE WHEN nulls = 'wildcard' THEN '{disclosure.STATUS_NO_DISTINCTION}' END,
      CASE WHEN records = 1 THEN '{disclosure.STATUS_NO_PAIR}' END,
      CASE WHEN max(array_length(subset)) OVER () < count(*) FILTER (array_length(subset) = 1) OVER ()
      THEN format({sql_text(disclosure.STATUS_LARGER_SETS)}, max(array_length(subset)) OVER (),
        count(*) FILTER (array_length(subset) = 1) OVER ()) END), ''), '{disclosure.OK}') AS status""",
    overlapping_classes=True,
    needs=Needs.CODES,
)
def attribute_risk(subsets: disclosure.SubsetCounts) -> list[disclosure.AttributeRisk]:
    """Measure distinction and separation of every subset of the columns, up to max_size columns at a time.

    If NULL counts as a value, a further column never makes `unique_records` fewer. `nulls := 'drop'` leaves
    out, for each subset, the records that lack one of its values, so that subsets may count different
    records. Refuses an empty table and more than 10,000,000 subsets. If there is no answer, it is
    NULL, and `status` gives the reason; it is `incomplete` if sets of more than max_size columns were not
    counted.

    One row per person is assumed. With `entity`, classes count people, and a person counts by the smallest of
    their classes. `distinction` is then the mean of 1/class_size over the people, and `separation` the share
    of pairs of a person and another who is not in that class.

    >>> import numpy as np
    >>> five, two, none = np.array([5]), np.array([2]), np.array([0])
    >>> sexes = disclosure.SubsetCounts([["sex"]], five, two, two / 1.0, [8], none, ["value"])
    >>> attribute_risk(sexes)[0].separation
    0.6
    """
    return disclosure.attribute_risk(subsets)
