-- reid_grouped_people('query_table(''people'')', ['age', 'sex'], ['age', 'sex', 'w'], 'w', 'query_table(''shares'')', 0, ['state'], 'q4, ', 'value')
SELECT reid_result.*
FROM (
  SELECT NULL::VARCHAR AS "age", NULL::VARCHAR AS "sex", NULL::VARCHAR AS "w",
    NULL::VARCHAR AS "state"
  FROM (
    SELECT list(column_name) AS reid_names_1
    FROM (DESCRIBE FROM query_table('people'))
  )
  WHERE reid.main.reid_known('columns and by', ['age', 'sex', 'w', 'state'], reid_names_1)
) AS reid_fallback, LATERAL (
  WITH reid_divided AS MATERIALIZED (
    SELECT *, true AS kept
    FROM (
      SELECT q1, q2, q3, q4, NULL AS entity, count(*) AS records
      FROM (
        SELECT "age", "sex", "w", "state"
        FROM query_table('people') AS reid_source
        WHERE reid.main.reid_is_told_apart(row("age", "sex", "w", "state"), 'age, sex, w, state')
      ) AS reid_source_rows(q1, q2, q3, q4)
      GROUP BY ALL
    )
  ),
  reid_taken AS (
    FROM (
      SELECT "age", "sex", "w", "state"
      FROM query_table('people') AS reid_source
      WHERE reid.main.reid_is_told_apart(row("age", "sex", "w", "state"), 'age, sex, w, state')
    ) AS reid_source_rows(q1, q2, q3, q4)
  ),
  reid_classes AS MATERIALIZED (
    SELECT q4, q1, q2, count(*) AS records, sum(CASE WHEN try_cast(q3 AS DOUBLE) >= 0 THEN q3::DOUBLE
      ELSE 'NaN'::DOUBLE END) AS weighed
    FROM reid_taken
    GROUP BY q4, q1, q2
  ),
  reid_sized AS (
    SELECT row_number() OVER () AS line, *
    FROM (
      SELECT q4, first, second, label, first_value, second_value, records,
        mass, NULL::VARCHAR[] AS texts
      FROM (
        SELECT *, count(*) OVER (PARTITION BY q4, first, second) AS reid_lines
        FROM (
          SELECT q4, 1::BIGINT AS first, 0::BIGINT AS second, 'age' AS label,
            reid.main.reid_written(q1) AS first_value, NULL::VARCHAR AS second_value,
            sum(records)::BIGINT AS records, sum(weighed) AS mass
          FROM reid_classes
          GROUP BY q4, q1
          UNION ALL
          SELECT q4, 2::BIGINT AS first, 0::BIGINT AS second, 'sex' AS label,
            reid.main.reid_written(q2) AS first_value, NULL::VARCHAR AS second_value,
            sum(records)::BIGINT AS records, sum(weighed) AS mass
          FROM reid_classes
          GROUP BY q4, q2
          UNION ALL
          SELECT q4, 1, 2, NULL, reid.main.reid_written(q1), reid.main.reid_written(q2),
            sum(records)::BIGINT AS records, sum(weighed) AS mass
          FROM reid_classes
          GROUP BY q4, q1, q2
          UNION ALL
          SELECT reid_divided.*, reid_shares.*
          FROM (
            SELECT DISTINCT q4
            FROM reid_taken
          ) AS reid_divided, (
            SELECT coalesce(list_position(['age', 'sex'], reid.main.reid_fold(q1::VARCHAR)), 0),
              -1, q1::VARCHAR, q2::VARCHAR, NULL, 0, coalesce(try_cast(q3 AS DOUBLE), 'NaN'::DOUBLE)
            FROM (
              SELECT reid_result.*
              FROM (
                SELECT NULL::VARCHAR AS "column_name", NULL::VARCHAR AS "value",
                  NULL::VARCHAR AS "share"
                FROM (
                  SELECT list(column_name) AS reid_names_1
                  FROM (DESCRIBE FROM query_table('shares'))
                )
                WHERE reid.main.reid_known('columns of the marginals', ['column_name', 'value', 'share'], reid_names_1)
              ) AS reid_fallback, LATERAL (
                FROM (
                  SELECT "column_name", "value", "share"
                  FROM query_table('shares') AS reid_source
                  WHERE reid.main.reid_is_told_apart(row("column_name", "value", "share"), 'column_name, value, share')
                ) AS reid_source_rows(q1, q2, q3)
              ) AS reid_result
            ) AS reid_given(q1, q2, q3)
          ) AS reid_shares
        )
      )
      WHERE second <= 0 OR reid_lines <= 20000
      UNION ALL
      SELECT q4, 0, -3, NULL, NULL, NULL, records, count(*)::DOUBLE, NULL
      FROM reid_classes
      GROUP BY q4, records
      UNION ALL
      SELECT q4, 0, -4, NULL, NULL, NULL, records, mass, texts
      FROM (
        SELECT q4, records, [reid.main.reid_written(q1), reid.main.reid_written(q2)] AS texts,
          mass
        FROM (
          SELECT *, hash(q1, q2, copy, 0::BIGINT)::DOUBLE / 18446744073709551616 AS mass
          FROM (
            SELECT *, unnest(range(records)) AS copy
            FROM reid_classes
          ) QUALIFY row_number() OVER (PARTITION BY q4 ORDER BY mass ASC) <= 10000
        )
      )
    )
  ),
  reid_groups AS (
    SELECT q4, coalesce(sum(records) FILTER (NOT kept), 0)::BIGINT AS records_dropped
    FROM reid_divided
    GROUP BY q4
  )
  SELECT g.q4 AS "reid: state", line, first, second, label, first_value, second_value,
    coalesce(records, 0)::BIGINT AS records, mass, texts, records_dropped,
    'value' AS nulls
  FROM reid_groups AS g
  LEFT JOIN reid_sized AS s ON g.q4 IS NOT DISTINCT FROM s.q4
) AS reid_result
