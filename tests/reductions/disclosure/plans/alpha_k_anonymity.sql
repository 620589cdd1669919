-- reid_plan_alpha_k_anonymity('query_table(''people'')', ['age', 'sex', 'race', 'zip', 'job'], 'diagnosis', NULL, 'value')
SELECT reid_result.*
FROM (
  SELECT NULL::VARCHAR AS "age", NULL::VARCHAR AS "sex", NULL::VARCHAR AS "race",
    NULL::VARCHAR AS "zip", NULL::VARCHAR AS "job", NULL::VARCHAR AS "diagnosis"
  FROM (
    SELECT list(column_name) AS reid_names_1
    FROM (DESCRIBE FROM query_table('people'))
  )
  WHERE reid.main.reid_known('quasi-identifiers and sensitive', ['age', 'sex', 'race', 'zip', 'job', 'diagnosis'], reid_names_1)
) AS reid_fallback, LATERAL (
  SELECT reid_counted.*, reid_left_out.records_dropped, 'value' AS nulls
  FROM (
    SELECT class_size, value, count(*) AS classes
    FROM (
      FROM (
        WITH reid_cells AS MATERIALIZED (
          SELECT k1, k2, k3, k4, k5, k6, s, count(*) AS n
          FROM (
            SELECT reid.main.reid_plain_part(q1), reid.main.reid_plain_part(q2),
              reid.main.reid_plain_part(q3), reid.main.reid_plain_part(q4),
              reid.main.reid_plain_part(q5), CASE WHEN NOT (reid.main.reid_is_plain(q1) AND reid.main.reid_is_plain(q2)
              AND reid.main.reid_is_plain(q3) AND reid.main.reid_is_plain(q4) AND reid.main.reid_is_plain(q5)) THEN create_sort_key(reid.main.reid_other_part(q1), 'ASC NULLS LAST', reid.main.reid_other_part(q2), 'ASC NULLS LAST', reid.main.reid_other_part(q3), 'ASC NULLS LAST', reid.main.reid_other_part(q4), 'ASC NULLS LAST', reid.main.reid_other_part(q5), 'ASC NULLS LAST') END,
              q6
            FROM (
              SELECT "age", "sex", "race", "zip", "job", "diagnosis"
              FROM query_table('people') AS reid_source
              WHERE reid.main.reid_is_told_apart(row("age", "sex", "race", "zip", "job", "diagnosis"), 'age, sex, race, zip, job, diagnosis')
            ) AS reid_source_rows(q1, q2, q3, q4, q5, q6)
          ) AS reid_keyed(k1, k2, k3, k4, k5, k6, s)
          GROUP BY ALL
        ),
        reid_weighed AS (
          FROM reid_cells
        )
        SELECT k1, k2, k3, k4, k5, k6, sum(n)::BIGINT AS class_size, max(n)::DOUBLE / sum(n) AS value
        FROM reid_weighed
        GROUP BY k1, k2, k3, k4, k5, k6
      )
    )
    GROUP BY class_size, value
  ) AS reid_counted, (
    SELECT 0::BIGINT
  ) AS reid_left_out(records_dropped)
) AS reid_result
