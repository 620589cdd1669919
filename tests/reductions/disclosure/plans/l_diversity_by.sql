-- reid_plan_l_diversity('query_table(''people'')', ['age', 'sex'], 'income', 'distinct', 3, ['state'], 'value')
FROM (
  SELECT reid_result.*
  FROM (
    SELECT NULL::VARCHAR AS "age", NULL::VARCHAR AS "sex", NULL::VARCHAR AS "income",
      NULL::VARCHAR AS "state"
    FROM (
      SELECT reid_names, reid.main.reid_missing(['age', 'sex', 'income', 'state'], reid_names) AS reid_missing
      FROM (
        SELECT list(column_name) AS reid_names
        FROM (DESCRIBE FROM query_table('people'))
      )
    )
    WHERE reid.main.reid_known('quasi-identifiers, sensitive and by', reid_missing, reid_names)
  ) AS reid_fallback, LATERAL (
    WITH reid_divided AS MATERIALIZED (
      SELECT *, true AS kept
      FROM (
        SELECT q1, q2, q3, q4, NULL AS entity, count(*) AS records
        FROM (
          SELECT "age", "sex", "income", "state"
          FROM query_table('people') AS reid_source
          WHERE reid.main.reid_is_told_apart(row("age", "sex", "income", "state"), 'age, sex, income, state')
        ) AS reid_source_rows(q1, q2, q3, q4)
        GROUP BY ALL
      )
    ),
    reid_cells AS MATERIALIZED (
      SELECT * EXCLUDE (q3, records, entity, kept), q3 AS s, records AS n
      FROM reid_divided
      WHERE kept
    ),
    reid_sized AS (
      SELECT q4, class_size, value, sum(classes)::BIGINT AS classes
      FROM (
        FROM (
          SELECT q4, sum(n)::BIGINT AS class_size, 1 AS classes, count(*)::DOUBLE AS value
          FROM reid_cells
          GROUP BY q4, q1, q2
        )
      )
      GROUP BY ALL
    ),
    reid_groups AS (
      SELECT q4, coalesce(sum(records) FILTER (NOT kept), 0)::BIGINT AS records_dropped
      FROM reid_divided
      GROUP BY q4
    )
    SELECT g.q4 AS "reid: state", class_size, value, coalesce(classes, 0)::BIGINT AS classes,
      records_dropped, 'value' AS nulls
    FROM reid_groups AS g
    LEFT JOIN reid_sized AS s ON g.q4 IS NOT DISTINCT FROM s.q4
  ) AS reid_result
)
