"""The models in a table that model_json wrote, in SQL."""

from reid_sql.sql.records import with_null_report
from reid_sql.sql.text import Source


def saved(tbl: Source) -> str:
    """List the models, each as a name and a JSON text."""
    columns = ["model", "json"]
    body = f"""
        SELECT row_number() OVER () AS line, q1::VARCHAR AS model, q2::VARCHAR AS json
        FROM {tbl.rows(columns, is_checked=False)}"""
    return tbl.check_columns(
        "columns of the saved models", columns, with_null_report(tbl, columns, "value", body)
    )
