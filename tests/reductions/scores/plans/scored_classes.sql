-- reid_with_scores('query_table(''people'')', ['age', 'sex'], [2, 1], 'reid_answered_score_copula', '''m'', ''1000'', ''ignored'')', 'FROM reid_scored')
SELECT reid_result.*
FROM (
  SELECT NULL::VARCHAR AS "age", NULL::VARCHAR AS "sex"
  FROM (
    SELECT reid_names, reid.main.reid_missing(['age', 'sex'], reid_names) AS reid_missing
    FROM (
      SELECT list(column_name) AS reid_names
      FROM (DESCRIBE FROM query_table('people'))
    )
  )
  WHERE reid.main.reid_known('columns of the model', reid_missing, reid_names)
) AS reid_fallback, LATERAL (
  WITH reid_distinct AS MATERIALIZED (
    SELECT *, count(*) AS class_size
    FROM (
      SELECT "age", "sex"
      FROM query_table('people') AS reid_source
      WHERE reid.main.reid_is_told_apart(row("age", "sex"), 'age, sex')
    ) AS reid_source_rows(q1, q2)
    GROUP BY ALL
  ),
  reid_scored AS MATERIALIZED (
    SELECT q1 AS reid_q1, q2 AS reid_q2, reid_answered_score_copula([reid.main.reid_written(q1), reid.main.reid_written(q2)], class_size, 'm', '1000', 'ignored') AS reid_answer
    FROM (
      FROM reid_distinct
      ORDER BY q2 ASC NULLS LAST, q1 ASC NULLS LAST
    )
  )
  FROM reid_scored
) AS reid_result
