-- l_diversity(people, ['age', 'sex'], 'income', 'distinct', 3, None, ['state'], 'value')
WITH reid_divided AS MATERIALIZED (
  SELECT *, true AS complete
  FROM (
    SELECT q1, q2, q3, q4, NULL AS entity, count(*) AS records
    FROM (
      SELECT reid_source."age", reid_source."sex", reid_source."income", reid_source."state"
      FROM query_table('people') AS reid_source
    ) AS reid_source_rows(q1, q2, q3, q4)
    GROUP BY q1, q2, q3, q4
  )
),
reid_cells AS MATERIALIZED (
  SELECT * EXCLUDE (q3, records, entity, complete), q3 AS s, records AS n
  FROM reid_divided
  WHERE complete
),
reid_sized AS (
  SELECT q4, class_size, value, sum(classes)::BIGINT AS classes, sum(class_size * classes)::BIGINT AS records
  FROM (
    SELECT q4, sum(n)::BIGINT AS class_size, 1 AS classes, count(*)::DOUBLE AS value
    FROM reid_cells
    GROUP BY q4, q1, q2
  )
  GROUP BY q4, class_size, value
),
reid_groups AS (
  SELECT q4, coalesce(sum(records) FILTER (NOT complete), 0)::BIGINT AS records_dropped
  FROM reid_divided
  GROUP BY q4
)
SELECT g.q4 AS "reid: state", class_size, value, coalesce(classes, 0)::BIGINT AS classes,
  coalesce(records, 0)::BIGINT AS records, records_dropped, 'value' AS nulls
FROM reid_groups AS g
LEFT JOIN reid_sized AS s ON g.q4 IS NOT DISTINCT FROM s.q4
