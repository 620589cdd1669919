"""Scores in SQL: distinct records, each scored once under a fitted model."""

from collections.abc import Sequence

from reid_sql.fitted_model import FittedModel
from reid_sql.sql.records import value_texts
from reid_sql.sql.source import Source
from reid_sql.sql.text import numbered


def with_scores(
    source: Source, model: FittedModel, arguments: Sequence[str], function: str, body: str
) -> str:
    """Write the body behind reid_scored: the values as reid_q1, reid_q2, …, and reid_answer.

    They are scored in the model's order, so that those that begin alike are next to each other.
    """
    columns = list(model.columns)
    shown = ", ".join(f"q{place} AS reid_q{place}" for place, _ in enumerate(columns, 1))
    order = ", ".join(f"q{column + 1} ASC NULLS LAST" for column in model.order)
    call = f"reid_body_{function}({', '.join([value_texts(columns), 'class_size', *arguments])})"
    return source.check_columns(
        "columns of the model",
        columns,
        f"""
        WITH reid_distinct AS MATERIALIZED (
          SELECT {numbered(columns)}, count(*) AS class_size
          FROM {source.rows(columns)} GROUP BY {numbered(columns)}
        ),
        reid_scored AS MATERIALIZED (
          SELECT * EXCLUDE (reid_found), CASE WHEN struct_extract(reid_found, 'refusal') IS NULL
            THEN struct_extract(reid_found, 'answer')
            ELSE error(struct_extract(reid_found, 'refusal')) END AS reid_answer
          FROM (SELECT {shown}, {call} AS reid_found FROM (FROM reid_distinct ORDER BY {order}))
        )
        {body}""",
    )
