-- l_diversity(people, ['age', 'sex'], 'diagnosis', 'entropy', 3, None, None, 'value')
SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
FROM (
  WITH reid_cells AS MATERIALIZED (
    SELECT q1, q2, q3 AS s, count(*) AS n
    FROM (
      SELECT reid_source."age", reid_source."sex", reid_source."diagnosis"
      FROM query_table('people') AS reid_source
    ) AS reid_source_rows(q1, q2, q3)
    GROUP BY ALL
  )
  SELECT class_size, value, sum(classes)::BIGINT AS classes, sum(class_size * classes)::BIGINT AS records
  FROM (
    SELECT sum(n)::BIGINT AS class_size, 1 AS classes, CASE WHEN max(n) * count(*) = sum(n) THEN count(*)::DOUBLE
      ELSE exp(ln(sum(n)) - sum(n * ln(n)) / sum(n)) END AS value
    FROM reid_cells
    GROUP BY q1, q2
  )
  GROUP BY class_size, value
) AS reid_counted
