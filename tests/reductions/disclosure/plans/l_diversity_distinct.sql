-- reid_plan_l_diversity('query_table(''people'')', ['age', 'sex'], 'diagnosis', 'distinct', 3, NULL, 'value')
SELECT reid_result.*
FROM (
  SELECT NULL::VARCHAR AS "age", NULL::VARCHAR AS "sex", NULL::VARCHAR AS "diagnosis"
  FROM (
    SELECT reid_names, reid.main.reid_missing(['age', 'sex', 'diagnosis'], reid_names) AS reid_missing
    FROM (
      SELECT list(column_name) AS reid_names
      FROM (DESCRIBE FROM query_table('people'))
    )
  )
  WHERE reid.main.reid_known('quasi-identifiers and sensitive', reid_missing, reid_names)
) AS reid_fallback, LATERAL (
  SELECT reid_counted.*, reid_left_out.records_dropped, 'value' AS nulls
  FROM (
    SELECT class_size, value, sum(classes)::BIGINT AS classes
    FROM (
      WITH reid_cells AS MATERIALIZED (
        SELECT q1, q2, q3 AS s, count(*) AS n
        FROM (
          SELECT "age", "sex", "diagnosis"
          FROM query_table('people') AS reid_source
          WHERE reid.main.reid_is_told_apart(row("age", "sex", "diagnosis"), 'age, sex, diagnosis')
        ) AS reid_source_rows(q1, q2, q3)
        GROUP BY ALL
      )
      FROM (
        SELECT sum(n)::BIGINT AS class_size, 1 AS classes, count(*)::DOUBLE AS value
        FROM reid_cells
        GROUP BY q1, q2
      )
    )
    GROUP BY class_size, value
  ) AS reid_counted, (
    SELECT 0::BIGINT
  ) AS reid_left_out(records_dropped)
) AS reid_result
