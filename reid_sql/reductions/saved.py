"""Models in a table that model_json wrote."""

from typing import Final

from reid_sql.models.copula.copula_file import SavedModels
from reid_sql.reduction import TBL, Reduction
from reid_sql.sql.records import with_null_report
from reid_sql.sql.text import Source

LABEL_SAVED: Final = "columns of the saved models"
SAVED_COLUMNS: Final = ("model", "json")
SAVED: Final = Reduction(
    __name__,
    name="saved",
    words="the models in a table that model_json wrote",
    arguments=(TBL,),
    columns={"line": "BIGINT", "model": "VARCHAR", "json": "VARCHAR"},
    arrays=SavedModels,
    reasons=dict.fromkeys(("entity", "by"), "it reads saved models, and no records of people"),
)


def saved(tbl: Source) -> str:
    """List the models, each as a name and a JSON text."""
    body = f"""
        SELECT row_number() OVER () AS line, q1::VARCHAR AS model, q2::VARCHAR AS json
        FROM {tbl.rows(SAVED_COLUMNS, is_checked=False)}"""
    reported = with_null_report(tbl, SAVED_COLUMNS, "value", body)
    return tbl.check_columns(LABEL_SAVED, SAVED_COLUMNS, reported)
