-- reid_plan_subsets('query_table(''people'')', ['age', 'sex'], 2, 'value', 1024, 'person')
FROM (
  SELECT reid_result.*
  FROM (
    SELECT NULL::VARCHAR AS "age", NULL::VARCHAR AS "sex", NULL::VARCHAR AS "person"
    FROM (
      SELECT reid_names, reid.main.reid_missing(['age', 'sex', 'person'], reid_names) AS reid_missing
      FROM (
        SELECT list(column_name) AS reid_names
        FROM (DESCRIBE FROM query_table('people'))
      )
    )
    WHERE reid.main.reid_known('columns and entity', reid_missing, reid_names)
  ) AS reid_fallback, LATERAL ((
    SELECT reid_counted.*, reid_left_out.records_dropped, 'value' AS nulls
    FROM (
      SELECT ['age'] AS subset, count(*) AS records, coalesce(sum(classes), 0)::BIGINT AS classes,
        coalesce(sum(1::DOUBLE / class_size), 0) AS reidentifications, coalesce(sum((class_size - 1)::HUGEINT), 0)::HUGEINT AS pairs_alike
      FROM (
        SELECT min(class_size) AS class_size, count(*) FILTER (place = 1) AS classes
        FROM (
          SELECT entity, count(*) OVER (PARTITION BY q1) AS class_size, row_number() OVER (PARTITION BY q1) AS place
          FROM (
            SELECT q1, q2 AS entity, count(*) AS records
            FROM (
              SELECT "age", "person"
              FROM query_table('people') AS reid_source
              WHERE reid.main.reid_is_told_apart(row("age", "person"), 'age, person')
            ) AS reid_source_rows(q1, q2)
            GROUP BY ALL
          )
        )
        GROUP BY entity
      )
    ) AS reid_counted, (
      SELECT 0::BIGINT
    ) AS reid_left_out(records_dropped)
  ) UNION ALL (
    SELECT reid_counted.*, reid_left_out.records_dropped, 'value' AS nulls
    FROM (
      SELECT ['sex'] AS subset, count(*) AS records, coalesce(sum(classes), 0)::BIGINT AS classes,
        coalesce(sum(1::DOUBLE / class_size), 0) AS reidentifications, coalesce(sum((class_size - 1)::HUGEINT), 0)::HUGEINT AS pairs_alike
      FROM (
        SELECT min(class_size) AS class_size, count(*) FILTER (place = 1) AS classes
        FROM (
          SELECT entity, count(*) OVER (PARTITION BY q1) AS class_size, row_number() OVER (PARTITION BY q1) AS place
          FROM (
            SELECT q1, q2 AS entity, count(*) AS records
            FROM (
              SELECT "sex", "person"
              FROM query_table('people') AS reid_source
              WHERE reid.main.reid_is_told_apart(row("sex", "person"), 'sex, person')
            ) AS reid_source_rows(q1, q2)
            GROUP BY ALL
          )
        )
        GROUP BY entity
      )
    ) AS reid_counted, (
      SELECT 0::BIGINT
    ) AS reid_left_out(records_dropped)
  ) UNION ALL (
    SELECT reid_counted.*, reid_left_out.records_dropped, 'value' AS nulls
    FROM (
      SELECT ['age', 'sex'] AS subset, count(*) AS records, coalesce(sum(classes), 0)::BIGINT AS classes,
        coalesce(sum(1::DOUBLE / class_size), 0) AS reidentifications, coalesce(sum((class_size - 1)::HUGEINT), 0)::HUGEINT AS pairs_alike
      FROM (
        SELECT min(class_size) AS class_size, count(*) FILTER (place = 1) AS classes
        FROM (
          SELECT entity, count(*) OVER (PARTITION BY q1, q2) AS class_size,
            row_number() OVER (PARTITION BY q1, q2) AS place
          FROM (
            SELECT q1, q2, q3 AS entity, count(*) AS records
            FROM (
              SELECT "age", "sex", "person"
              FROM query_table('people') AS reid_source
              WHERE true
            ) AS reid_source_rows(q1, q2, q3)
            GROUP BY ALL
          )
        )
        GROUP BY entity
      )
    ) AS reid_counted, (
      SELECT 0::BIGINT
    ) AS reid_left_out(records_dropped)
  )) AS reid_result
)
