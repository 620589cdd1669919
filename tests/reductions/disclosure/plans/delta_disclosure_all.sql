-- reid_plan_delta_disclosure('query_table(''people'')', ['age', 'sex'], 'diagnosis', 'all', NULL, 'value')
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
    SELECT class_size, value, count(*) AS classes
    FROM (
      FROM (
        WITH reid_cells AS MATERIALIZED (
          SELECT q1, q2, q3 AS s, count(*) AS n
          FROM (
            SELECT "age", "sex", "diagnosis"
            FROM query_table('people') AS reid_source
            WHERE reid.main.reid_is_told_apart(row("age", "sex", "diagnosis"), 'age, sex, diagnosis')
          ) AS reid_source_rows(q1, q2, q3)
          GROUP BY ALL
        ),
        reid_held AS MATERIALIZED (
          SELECT s AS v, sum(n)::BIGINT AS held, 0.0 AS x, 0.0 AS f, 0.0 AS g
          FROM reid_cells
          GROUP BY s
        ),
        reid_weighed AS (
          SELECT reid_cells.*, held, x, g, total, kinds, area
          FROM reid_cells
          JOIN reid_held ON s IS NOT DISTINCT FROM v, (
            SELECT sum(held)::BIGINT AS total, count(*) AS kinds, max(g) AS area
            FROM reid_held
          )
        )
        SELECT q1, q2, sum(n)::BIGINT AS class_size, CASE WHEN count(*) = any_value(kinds) THEN greatest(0, ln(max(n::DOUBLE / held) * any_value(total) / sum(n)), -ln(min(n::DOUBLE / held) * any_value(total) / sum(n)))
          ELSE 'infinity'::DOUBLE END AS value
        FROM reid_weighed
        GROUP BY q1, q2
      )
    )
    GROUP BY class_size, value
  ) AS reid_counted, (
    SELECT 0::BIGINT
  ) AS reid_left_out(records_dropped)
) AS reid_result
