-- histogram(people, ['age', 'sex'], None, ['state'], 'drop', None)
WITH reid_divided AS MATERIALIZED (
  SELECT *, q1 IS NOT NULL AND q2 IS NOT NULL AS complete
  FROM (
    SELECT q1, q2, q3, NULL AS entity, count(*) AS records
    FROM (
      SELECT reid_source."age", reid_source."sex", reid_source."state"
      FROM query_table('people') AS reid_source
    ) AS reid_source_rows(q1, q2, q3)
    GROUP BY q1, q2, q3
  )
),
reid_in_classes AS (
  SELECT *, false AS short, records AS class_size
  FROM reid_divided
  WHERE complete
),
reid_sized AS (
  SELECT q3, class_size, count(*) AS classes, sum(records)::BIGINT AS records,
    coalesce(sum(records) FILTER (short), 0)::BIGINT AS uncovered
  FROM reid_in_classes
  GROUP BY q3, class_size
),
reid_groups AS (
  SELECT q3, coalesce(sum(records) FILTER (NOT complete), 0)::BIGINT AS records_dropped
  FROM reid_divided
  GROUP BY q3
)
SELECT g.q3 AS "reid: state", class_size, coalesce(classes, 0)::BIGINT AS classes,
  coalesce(records, 0)::BIGINT AS records, NULL::BIGINT AS blank_records,
  records_dropped, 'drop' AS nulls
FROM reid_groups AS g
LEFT JOIN reid_sized AS s ON g.q3 IS NOT DISTINCT FROM s.q3
ORDER BY class_size ASC
