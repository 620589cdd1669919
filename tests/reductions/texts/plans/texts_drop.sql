-- reid_plan_texts('query_table(''people'')', ['age', 'sex'], NULL::VARCHAR[], 'drop')
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
  SELECT reid_counted.*, reid_left_out.records_dropped, 'drop' AS nulls
  FROM (
    SELECT 0::BIGINT AS line, ['age', 'sex'] AS texts, 0::BIGINT AS records
    UNION ALL
    SELECT row_number() OVER () AS line, [reid.main.reid_written(q1), reid.main.reid_written(q2)] AS texts,
      records
    FROM (
      SELECT q1, q2, count(*) AS records
      FROM (
        SELECT "age", "sex"
        FROM query_table('people') AS reid_source
        WHERE reid.main.reid_is_told_apart(row("age", "sex"), 'age, sex') AND "age" IS NOT NULL
          AND "sex" IS NOT NULL
      ) AS reid_source_rows(q1, q2)
      GROUP BY q1, q2
    )
  ) AS reid_counted, (
    SELECT count(*)
    FROM query_table('people') AS reid_source
    WHERE "age" IS NULL OR "sex" IS NULL
  ) AS reid_left_out(records_dropped)
) AS reid_result
