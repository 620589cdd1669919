-- reid_plan_t_closeness('query_table(''people'')', ['age', 'sex'], 'diagnosis', 'equal', NULL, 'value')
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
        ),
        reid_counted AS MATERIALIZED (
          SELECT q1, q2, sum(n)::BIGINT AS size, count(*) AS parts, any_value(1 - held::DOUBLE / total) AS single
          FROM reid_weighed
          GROUP BY q1, q2
        ),
        reid_several AS (
          SELECT reid_weighed.*, size
          FROM reid_weighed
          JOIN (
            SELECT q1, q2, size
            FROM reid_counted
            WHERE parts > 1
          ) AS reid_sized ON reid_weighed.q1 IS NOT DISTINCT FROM reid_sized.q1 AND reid_weighed.q2 IS NOT DISTINCT FROM reid_sized.q2
        )
        SELECT q1, q2, size AS class_size, single AS value
        FROM reid_counted
        WHERE parts = 1
        UNION ALL
        SELECT q1, q2, any_value(size) AS class_size, sum(greatest(0, n::DOUBLE / size - held::DOUBLE / total)) AS value
        FROM reid_several
        GROUP BY q1, q2
      )
    )
    GROUP BY class_size, value
  ) AS reid_counted, (
    SELECT 0::BIGINT
  ) AS reid_left_out(records_dropped)
) AS reid_result
