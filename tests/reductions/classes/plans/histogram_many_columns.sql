-- reid_plan_histogram('query_table(''people'')', ['age', 'sex', 'race', 'zip', 'postal "code"'], NULL, NULL, 'value')
SELECT reid_result.*
FROM (
  SELECT NULL::VARCHAR AS "age", NULL::VARCHAR AS "sex", NULL::VARCHAR AS "race",
    NULL::VARCHAR AS "zip", NULL::VARCHAR AS "postal ""code"""
  FROM (
    SELECT reid_names, reid.main.reid_missing(['age', 'sex', 'race', 'zip', 'postal "code"'], reid_names) AS reid_missing
    FROM (
      SELECT list(column_name) AS reid_names
      FROM (DESCRIBE FROM query_table('people'))
    )
  )
  WHERE reid.main.reid_known('quasi-identifiers', reid_missing, reid_names)
) AS reid_fallback, LATERAL (
  SELECT reid_counted.*, reid_left_out.records_dropped, 'value' AS nulls
  FROM (
    SELECT class_size, count(*) AS classes, sum(records)::BIGINT AS records,
      NULL::BIGINT AS blank_records
    FROM (
      SELECT count(*) AS class_size, count(*) AS records
      FROM (
        SELECT "age", "sex", "race", "zip", "postal ""code"""
        FROM query_table('people') AS reid_source
        WHERE reid.main.reid_is_told_apart(row("age", "sex", "race", "zip", "postal ""code"""), 'age, sex, race, zip, postal "code"')
      ) AS reid_source_rows(q1, q2, q3, q4, q5)
      GROUP BY q1, q2, q3, q4, q5
    )
    GROUP BY class_size
  ) AS reid_counted, (
    SELECT 0::BIGINT
  ) AS reid_left_out(records_dropped)
) AS reid_result
ORDER BY class_size ASC
