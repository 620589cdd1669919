-- disclosing_classes(people, ['age', 'sex'], 'diagnosis', 'l_diversity', None, None, 3, None, None, 'value')
SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
FROM (
  WITH reid_cells AS MATERIALIZED (
    SELECT q1, q2, q3 AS s, count(*) AS n
    FROM (
      SELECT reid_source."age", reid_source."sex", reid_source."diagnosis"
      FROM query_table('people') AS reid_source
    ) AS reid_source_rows(q1, q2, q3)
    GROUP BY q1, q2, q3
  )
  SELECT q1 AS "age", q2 AS "sex", class_size, value
  FROM (
    SELECT q1, q2, sum(n)::BIGINT AS class_size, 1 AS classes, count(*)::DOUBLE AS value
    FROM reid_cells
    GROUP BY q1, q2
  )
  WHERE value IS NULL OR value < 2::DOUBLE * (1 - 1e-12)
) AS reid_counted
