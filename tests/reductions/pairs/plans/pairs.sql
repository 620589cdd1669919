-- reid_plan_pairs('query_table(''people'')', ['age', 'sex'], NULL::VARCHAR, NULL::VARCHAR, 'value')
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
  WHERE reid.main.reid_known('columns', reid_missing, reid_names)
) AS reid_fallback, LATERAL (
  SELECT reid_counted.*, reid_left_out.records_dropped, 'value' AS nulls
  FROM (
    WITH reid_taken AS (
      FROM (
        SELECT "age", "sex"
        FROM query_table('people') AS reid_source
        WHERE reid.main.reid_is_told_apart(row("age", "sex"), 'age, sex')
      ) AS reid_source_rows(q1, q2)
    )
    SELECT row_number() OVER () AS cell, *
    FROM (
      SELECT 1::BIGINT AS first, 0::BIGINT AS second, 'age' AS label, reid.main.reid_written(q1) AS first_value,
        NULL::VARCHAR AS second_value, count(*) AS records, count(*)::DOUBLE AS mass
      FROM reid_taken
      GROUP BY q1
      UNION ALL
      SELECT 2::BIGINT AS first, 0::BIGINT AS second, 'sex' AS label, reid.main.reid_written(q2) AS first_value,
        NULL::VARCHAR AS second_value, count(*) AS records, count(*)::DOUBLE AS mass
      FROM reid_taken
      GROUP BY q2
      UNION ALL
      SELECT 1, 2, NULL, reid.main.reid_written(q1), reid.main.reid_written(q2),
        count(*) AS records, count(*)::DOUBLE AS mass
      FROM reid_taken
      GROUP BY q1, q2
      UNION ALL
      SELECT 0, -2, NULL, NULL, NULL, coalesce(count_if(alike = 1), 0)::BIGINT,
        0
      FROM (
        SELECT count(*) AS alike
        FROM reid_taken
        GROUP BY q1, q2
      )
    )
  ) AS reid_counted, (
    SELECT 0::BIGINT
  ) AS reid_left_out(records_dropped)
) AS reid_result
