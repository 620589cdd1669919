-- reid_plan_population_histogram('query_table(''people'')', 'query_table(''census'')', ['age', 'sex'], NULL, NULL, 'value')
SELECT reid_result.*
FROM (
  SELECT NULL::VARCHAR AS "age", NULL::VARCHAR AS "sex"
  FROM (
    SELECT coalesce(reid_one.reid_missing, reid_other.reid_missing) AS reid_missing,
      CASE WHEN reid_one.reid_missing IS NULL THEN reid_other.reid_names ELSE reid_one.reid_names END AS reid_names
    FROM (
      SELECT reid_names, reid.main.reid_missing(['age', 'sex'], reid_names) AS reid_missing
      FROM (
        SELECT list(column_name) AS reid_names
        FROM (DESCRIBE FROM query_table('people'))
      )
    ) AS reid_one, (
      SELECT reid_names, reid.main.reid_missing(['age', 'sex'], reid_names) AS reid_missing
      FROM (
        SELECT list(column_name) AS reid_names
        FROM (DESCRIBE FROM query_table('census'))
      )
    ) AS reid_other
  )
  WHERE reid.main.reid_known('quasi-identifiers', reid_missing, reid_names)
) AS reid_fallback, LATERAL (
  SELECT reid_counted.*, reid_left_out.records_dropped, 'value' AS nulls
  FROM (
    SELECT greatest(found, own) AS class_size, count(*) AS classes, sum(records)::BIGINT AS records,
      coalesce(sum(records) FILTER (found < own), 0)::BIGINT AS uncovered,
      sum(blank)::BIGINT AS blank_records
    FROM (
      SELECT s.records AS own, s.records, coalesce(p.records, 0) AS found,
        NULL::BIGINT AS blank
      FROM (
        SELECT 0 AS side, row_number() OVER () AS id, q1, q2, records
        FROM (
          SELECT q1, q2, count(*) AS records
          FROM (
            SELECT "age", "sex"
            FROM query_table('people') AS reid_source
            WHERE reid.main.reid_is_told_apart(row("age", "sex"), 'age, sex')
          ) AS reid_source_rows(q1, q2)
          GROUP BY q1, q2
        )
      ) s
      LEFT JOIN (
        SELECT 1 AS side, row_number() OVER () AS id, q1, q2, records
        FROM (
          SELECT q1, q2, count(*) AS records
          FROM (
            SELECT "age", "sex"
            FROM query_table('census') AS reid_source
            WHERE reid.main.reid_is_told_apart(row("age", "sex"), 'age, sex')
          ) AS reid_source_rows(q1, q2)
          GROUP BY q1, q2
        )
      ) p ON s.q1 IS NOT DISTINCT FROM p.q1 AND s.q2 IS NOT DISTINCT FROM p.q2
    ), (
      SELECT reid.main.reid_first_unlike(['age', 'sex'], reid_one.names, reid_one.types, reid_other.names, reid_other.types) AS reid_unlike
      FROM (
        SELECT list(column_name) AS names, list(column_type) AS types
        FROM (DESCRIBE FROM query_table('people'))
      ) AS reid_one, (
        SELECT list(column_name) AS names, list(column_type) AS types
        FROM (DESCRIBE FROM query_table('census'))
      ) AS reid_other
    ) AS reid_compared
    WHERE reid.main.reid_comparable(reid_compared.reid_unlike)
    GROUP BY ALL
  ) AS reid_counted, (
    SELECT 0::BIGINT
  ) AS reid_left_out(records_dropped)
) AS reid_result
ORDER BY class_size ASC
