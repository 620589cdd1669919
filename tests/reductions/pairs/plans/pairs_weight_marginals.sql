-- reid_plan_pairs('query_table(''people'')', ['age', 'sex'], 'weight', 'query_table(''census'')', 'drop')
SELECT reid_result.*
FROM (
  SELECT NULL::VARCHAR AS "age", NULL::VARCHAR AS "sex", NULL::VARCHAR AS "weight"
  FROM (
    SELECT reid_names, reid.main.reid_missing(['age', 'sex', 'weight'], reid_names) AS reid_missing
    FROM (
      SELECT list(column_name) AS reid_names
      FROM (DESCRIBE FROM query_table('people'))
    )
  )
  WHERE reid.main.reid_known('columns', reid_missing, reid_names)
) AS reid_fallback, LATERAL (
  SELECT reid_counted.*, reid_left_out.records_dropped, 'drop' AS nulls
  FROM (
    WITH reid_taken AS (
      FROM (
        SELECT "age", "sex", "weight"
        FROM query_table('people') AS reid_source
        WHERE reid.main.reid_is_told_apart(row("age", "sex", "weight"), 'age, sex, weight')
          AND "age" IS NOT NULL AND "sex" IS NOT NULL AND "weight" IS NOT NULL
      ) AS reid_source_rows(q1, q2, q3)
    )
    SELECT row_number() OVER () AS cell, *
    FROM (
      SELECT 1::BIGINT AS first, 0::BIGINT AS second, 'age' AS label, reid.main.reid_written(q1) AS first_value,
        NULL::VARCHAR AS second_value, count(*) AS records, sum(CASE WHEN try_cast(q3 AS DOUBLE) >= 0 THEN q3::DOUBLE
        ELSE 'NaN'::DOUBLE END) AS mass
      FROM reid_taken
      GROUP BY q1
      UNION ALL
      SELECT 2::BIGINT AS first, 0::BIGINT AS second, 'sex' AS label, reid.main.reid_written(q2) AS first_value,
        NULL::VARCHAR AS second_value, count(*) AS records, sum(CASE WHEN try_cast(q3 AS DOUBLE) >= 0 THEN q3::DOUBLE
        ELSE 'NaN'::DOUBLE END) AS mass
      FROM reid_taken
      GROUP BY q2
      UNION ALL
      SELECT 1, 2, NULL, reid.main.reid_written(q1), reid.main.reid_written(q2),
        count(*) AS records, sum(CASE WHEN try_cast(q3 AS DOUBLE) >= 0 THEN q3::DOUBLE ELSE 'NaN'::DOUBLE END) AS mass
      FROM reid_taken
      GROUP BY q1, q2
      UNION ALL
      FROM (
        SELECT coalesce(list_position(['age', 'sex'], reid.main.reid_fold(q1::VARCHAR)), 0),
          -1, q1::VARCHAR, q2::VARCHAR, NULL, 0, coalesce(try_cast(q3 AS DOUBLE), 'NaN'::DOUBLE)
        FROM (
          SELECT reid_result.*
          FROM (
            SELECT NULL::VARCHAR AS "column_name", NULL::VARCHAR AS "value",
              NULL::VARCHAR AS "share"
            FROM (
              SELECT reid_names, reid.main.reid_missing(['column_name', 'value', 'share'], reid_names) AS reid_missing
              FROM (
                SELECT list(column_name) AS reid_names
                FROM (DESCRIBE FROM query_table('census'))
              )
            )
            WHERE reid.main.reid_known('columns of the marginals', reid_missing, reid_names)
          ) AS reid_fallback, LATERAL (
            FROM (
              SELECT "column_name", "value", "share"
              FROM query_table('census') AS reid_source
              WHERE reid.main.reid_is_told_apart(row("column_name", "value", "share"), 'column_name, value, share')
            ) AS reid_source_rows(q1, q2, q3)
          ) AS reid_result
        ) AS reid_given(q1, q2, q3)
        WHERE q2 IS NOT NULL
      ) AS reid_shares
    )
  ) AS reid_counted, (
    SELECT count(*)
    FROM query_table('people') AS reid_source
    WHERE "age" IS NULL OR "sex" IS NULL OR "weight" IS NULL
  ) AS reid_left_out(records_dropped)
) AS reid_result
