-- reid_plan_population_histogram('query_table(''people'')', 'query_table(''register'')', ['age', 'sex'], NULL, ['state'], 'value')
FROM (
  SELECT reid_result.*
  FROM (
    SELECT NULL::VARCHAR AS "age", NULL::VARCHAR AS "sex", NULL::VARCHAR AS "state"
    FROM (
      SELECT reid_names, reid.main.reid_missing(['age', 'sex', 'state'], reid_names) AS reid_missing
      FROM (
        SELECT list(column_name) AS reid_names
        FROM (DESCRIBE FROM query_table('people'))
      )
    )
    WHERE reid.main.reid_known('quasi-identifiers and by', reid_missing, reid_names)
  ) AS reid_fallback, LATERAL (
    WITH reid_divided AS MATERIALIZED (
      SELECT *, true AS kept
      FROM (
        SELECT q1, q2, q3, NULL AS entity, count(*) AS records
        FROM (
          SELECT "age", "sex", "state"
          FROM query_table('people') AS reid_source
          WHERE reid.main.reid_is_told_apart(row("age", "sex", "state"), 'age, sex, state')
        ) AS reid_source_rows(q1, q2, q3)
        GROUP BY ALL
      )
    ),
    reid_others AS (
      FROM (
        SELECT q1, q2, count(*) AS records
        FROM (
          SELECT "age", "sex"
          FROM query_table('register') AS reid_source
          WHERE reid.main.reid_is_told_apart(row("age", "sex"), 'age, sex')
        ) AS reid_source_rows(q1, q2)
        GROUP BY q1, q2
      )
    ),
    reid_met AS (
      SELECT o.*, greatest(coalesce(p.records, 0), own) AS class_size, coalesce(p.records, 0) < own AS short
      FROM (
        SELECT *, records AS own
        FROM reid_divided
        WHERE kept
      ) AS o
      LEFT JOIN reid_others AS p ON o.q1 IS NOT DISTINCT FROM p.q1 AND o.q2 IS NOT DISTINCT FROM p.q2,
        (
        SELECT reid.main.reid_first_unlike(['age', 'sex'], reid_one.names, reid_one.types, reid_other.names, reid_other.types) AS reid_unlike
        FROM (
          SELECT list(column_name) AS names, list(column_type) AS types
          FROM (DESCRIBE FROM query_table('people'))
        ) AS reid_one, (
          SELECT list(column_name) AS names, list(column_type) AS types
          FROM (DESCRIBE FROM query_table('register'))
        ) AS reid_other
      ) AS reid_compared
      WHERE reid.main.reid_comparable(reid_compared.reid_unlike)
    ),
    reid_sized AS (
      SELECT q3, class_size, count(*) AS classes, sum(records)::BIGINT AS records,
        coalesce(sum(records) FILTER (short), 0)::BIGINT AS uncovered
      FROM reid_met
      GROUP BY q3, class_size
    ),
    reid_groups AS (
      SELECT q3, coalesce(sum(records) FILTER (NOT kept), 0)::BIGINT AS records_dropped
      FROM reid_divided
      GROUP BY q3
    )
    SELECT g.q3 AS "reid: state", class_size, coalesce(classes, 0)::BIGINT AS classes,
      coalesce(records, 0)::BIGINT AS records, coalesce(uncovered, 0)::BIGINT AS uncovered,
      NULL::BIGINT AS blank_records, records_dropped, 'value' AS nulls
    FROM reid_groups AS g
    LEFT JOIN reid_sized AS s ON g.q3 IS NOT DISTINCT FROM s.q3
  ) AS reid_result
)
ORDER BY class_size ASC
