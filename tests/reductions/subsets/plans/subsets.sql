-- reid_plan_subsets('query_table(''people'')', ['age', 'sex'], 2, 'value', 1024, NULL)
FROM (
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
  ) AS reid_fallback, LATERAL ((
    SELECT reid_counted.*, reid_left_out.records_dropped, 'value' AS nulls
    FROM (
      SELECT ['age'] AS subset, coalesce(sum(records), 0)::BIGINT AS records,
        count(*) AS classes, count(*)::DOUBLE AS reidentifications, coalesce(sum(records * (class_size - 1)::HUGEINT), 0)::HUGEINT AS pairs_alike
      FROM (
        SELECT count(*) AS class_size, count(*) AS records
        FROM (
          SELECT "age"
          FROM query_table('people') AS reid_source
          WHERE reid.main.reid_is_told_apart(row("age"), 'age')
        ) AS reid_source_rows(q1)
        GROUP BY q1
      )
    ) AS reid_counted, (
      SELECT 0::BIGINT
    ) AS reid_left_out(records_dropped)
  ) UNION ALL (
    SELECT reid_counted.*, reid_left_out.records_dropped, 'value' AS nulls
    FROM (
      SELECT ['sex'] AS subset, coalesce(sum(records), 0)::BIGINT AS records,
        count(*) AS classes, count(*)::DOUBLE AS reidentifications, coalesce(sum(records * (class_size - 1)::HUGEINT), 0)::HUGEINT AS pairs_alike
      FROM (
        SELECT count(*) AS class_size, count(*) AS records
        FROM (
          SELECT "sex"
          FROM query_table('people') AS reid_source
          WHERE reid.main.reid_is_told_apart(row("sex"), 'sex')
        ) AS reid_source_rows(q1)
        GROUP BY q1
      )
    ) AS reid_counted, (
      SELECT 0::BIGINT
    ) AS reid_left_out(records_dropped)
  ) UNION ALL (
    SELECT reid_counted.*, reid_left_out.records_dropped, 'value' AS nulls
    FROM (
      SELECT ['age', 'sex'] AS subset, coalesce(sum(records), 0)::BIGINT AS records,
        count(*) AS classes, count(*)::DOUBLE AS reidentifications, coalesce(sum(records * (class_size - 1)::HUGEINT), 0)::HUGEINT AS pairs_alike
      FROM (
        SELECT count(*) AS class_size, count(*) AS records
        FROM (
          SELECT "age", "sex"
          FROM query_table('people') AS reid_source
          WHERE true
        ) AS reid_source_rows(q1, q2)
        GROUP BY q1, q2
      )
    ) AS reid_counted, (
      SELECT 0::BIGINT
    ) AS reid_left_out(records_dropped)
  )) AS reid_result
)
