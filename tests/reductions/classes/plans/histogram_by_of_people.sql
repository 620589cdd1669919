-- histogram(people, ['age', 'sex'], 'person', ['state', 'age'], 'value', None)
WITH reid_divided AS MATERIALIZED (
  SELECT *, true AS complete
  FROM (
    SELECT q1, q2, q3, q4, q5 AS entity, count(*) AS records
    FROM (
      SELECT reid_source."age", reid_source."sex", reid_source."state", reid_source."age",
        reid_source."person"
      FROM query_table('people') AS reid_source
    ) AS reid_source_rows(q1, q2, q3, q4, q5)
    GROUP BY q1, q2, q3, q4, q5
  )
),
reid_in_classes AS (
  SELECT *, false AS short, count(*) OVER (PARTITION BY q1, q2, q3, q4) AS class_size
  FROM reid_divided
  WHERE complete
),
reid_sized AS (
  SELECT c.*, p.records, p.uncovered
  FROM (
    SELECT q3, q4, class_size, count(*) AS classes
    FROM (
      SELECT DISTINCT q1, q2, q3, q4, class_size
      FROM reid_in_classes
    )
    GROUP BY q3, q4, class_size
  ) AS c
  LEFT JOIN (
    SELECT q3, q4, class_size, count(*) AS records, count(*) FILTER (short) AS uncovered
    FROM (
      SELECT q3, q4, min(class_size) AS class_size, bool_or(short) AS short
      FROM reid_in_classes
      GROUP BY q3, q4, entity
    )
    GROUP BY q3, q4, class_size
  ) AS p ON c.class_size = p.class_size AND c.q3 IS NOT DISTINCT FROM p.q3 AND c.q4 IS NOT DISTINCT FROM p.q4
),
reid_groups AS (
  SELECT q3, q4, coalesce(sum(records) FILTER (NOT complete), 0)::BIGINT AS records_dropped
  FROM reid_divided
  GROUP BY q3, q4
)
SELECT g.q3 AS "reid: state", g.q4 AS "reid: age", class_size, coalesce(classes, 0)::BIGINT AS classes,
  coalesce(records, 0)::BIGINT AS records, NULL::BIGINT AS blank_records,
  records_dropped, 'value' AS nulls
FROM reid_groups AS g
LEFT JOIN reid_sized AS s ON g.q3 IS NOT DISTINCT FROM s.q3 AND g.q4 IS NOT DISTINCT FROM s.q4
ORDER BY class_size ASC
