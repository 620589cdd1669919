-- population_histogram(people, register, ['age', 'sex'], 'person', ['state'], 'value', None)
WITH reid_divided AS MATERIALIZED (
  SELECT *, true AS complete
  FROM (
    SELECT q1, q2, q3, q4 AS entity, count(*) AS records
    FROM (
      SELECT reid_source."age", reid_source."sex", reid_source."state", reid_source."person"
      FROM query_table('people') AS reid_source
    ) AS reid_source_rows(q1, q2, q3, q4)
    GROUP BY q1, q2, q3, q4
  )
),
reid_others AS (
  SELECT q1, q2, count(*) AS records
  FROM (
    SELECT q1, q2, q3 AS entity, count(*) AS records
    FROM (
      SELECT reid_source."age", reid_source."sex", reid_source."person"
      FROM query_table('register') AS reid_source
    ) AS reid_source_rows(q1, q2, q3)
    GROUP BY q1, q2, q3
  )
  GROUP BY q1, q2
),
reid_in_classes AS (
  SELECT o.*, greatest(coalesce(p.records, 0), own) AS class_size, coalesce(p.records, 0) < own AS short
  FROM (
    SELECT *, count(*) OVER (PARTITION BY q1, q2, q3) AS own
    FROM reid_divided
    WHERE complete
  ) AS o
  LEFT JOIN reid_others AS p ON o.q1 IS NOT DISTINCT FROM p.q1 AND o.q2 IS NOT DISTINCT FROM p.q2
),
reid_sized AS (
  SELECT c.*, p.records, p.uncovered
  FROM (
    SELECT q3, class_size, count(*) AS classes
    FROM (
      SELECT DISTINCT q1, q2, q3, class_size
      FROM reid_in_classes
    )
    GROUP BY q3, class_size
  ) AS c
  LEFT JOIN (
    SELECT q3, class_size, count(*) AS records, count(*) FILTER (short) AS uncovered
    FROM (
      SELECT q3, min(class_size) AS class_size, bool_or(short) AS short
      FROM reid_in_classes
      GROUP BY q3, entity
    )
    GROUP BY q3, class_size
  ) AS p ON c.class_size = p.class_size AND c.q3 IS NOT DISTINCT FROM p.q3
),
reid_groups AS (
  SELECT q3, coalesce(sum(records) FILTER (NOT complete), 0)::BIGINT AS records_dropped
  FROM reid_divided
  GROUP BY q3
)
SELECT g.q3 AS "reid: state", class_size, coalesce(classes, 0)::BIGINT AS classes,
  coalesce(records, 0)::BIGINT AS records, coalesce(uncovered, 0)::BIGINT AS uncovered,
  NULL::BIGINT AS blank_records, records_dropped, 'value' AS nulls
FROM reid_groups AS g
LEFT JOIN reid_sized AS s ON g.q3 IS NOT DISTINCT FROM s.q3
ORDER BY class_size ASC
