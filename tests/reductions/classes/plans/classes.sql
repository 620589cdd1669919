-- reid_plan_classes('query_table(''people'')', ['age', 'sex'], NULL, 'value')
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
  WHERE reid.main.reid_known('quasi-identifiers', reid_missing, reid_names)
) AS reid_fallback, LATERAL (
  SELECT reid_counted.*, reid_left_out.records_dropped, 'value' AS nulls
  FROM (
    SELECT q1 AS "age", q2 AS "sex", count(*) AS class_size, count(*) AS records
    FROM (
      SELECT "age", "sex"
      FROM query_table('people') AS reid_source
      WHERE reid.main.reid_is_told_apart(row("age", "sex"), 'age, sex')
    ) AS reid_source_rows(q1, q2)
    GROUP BY q1, q2
  ) AS reid_counted, (
    SELECT 0::BIGINT
  ) AS reid_left_out(records_dropped)
) AS reid_result
