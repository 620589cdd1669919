"""Distinct records, scored under a fitted model, in SQL."""

from reid_sql import registry
from reid_sql.sql.scores import with_scores
from reid_sql.sql.source import Source
from reid_sql.sql.text import text


def scored_classes(tbl: Source, model: str, population: float, database: str) -> str:
    """Score the distinct records by the function that joins scores to a table's records."""
    arguments = [text(database), text(model), f"{population!r}::DOUBLE", "'ignored'"]
    body = """
        SELECT row_number() OVER () AS place, struct_extract(reid_answer, 'class_size') AS class_size,
          struct_extract(reid_answer, 'uniqueness_xi') AS uniqueness_xi,
          0::BIGINT AS records_dropped, 'value' AS nulls
        FROM reid_scored"""
    return with_scores(tbl, registry.known(model), arguments, "score_copula", body)
