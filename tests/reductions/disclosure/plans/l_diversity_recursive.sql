-- l_diversity(people, ['age', 'sex'], 'diagnosis', 'recursive', 3, None, None, 'value')
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
    WITH reid_sparse AS MATERIALIZED (
      SELECT approx_count_distinct((q1, q2)) > 0.9 * count(*) AS sparse
      FROM reid_cells
    ),
    reid_many AS MATERIALIZED (
      SELECT q1, q2
      FROM reid_cells
      WHERE (
        FROM reid_sparse
      )
      GROUP BY q1, q2 HAVING count(*) > 1
    ),
    reid_alone AS MATERIALIZED (
      SELECT s, n, count(*) AS classes
      FROM reid_cells AS c ANTI
      JOIN reid_many AS h ON c.q1 IS NOT DISTINCT FROM h.q1 AND c.q2 IS NOT DISTINCT FROM h.q2
      WHERE (
        FROM reid_sparse
      )
      GROUP BY ALL
    ),
    reid_rest AS MATERIALIZED (
      SELECT c.*
      FROM reid_cells AS c SEMI
      JOIN reid_many AS h ON c.q1 IS NOT DISTINCT FROM h.q1 AND c.q2 IS NOT DISTINCT FROM h.q2
      UNION ALL
      FROM reid_cells
      WHERE NOT (
        FROM reid_sparse
      )
    )
    SELECT n AS class_size, classes, 1::DOUBLE AS value
    FROM reid_alone
    UNION ALL
    SELECT sum(n)::BIGINT AS class_size, 1 AS classes, count(*) FILTER (largest < 3::DOUBLE * tail)::DOUBLE AS value
    FROM (
      SELECT *, max(n) OVER (PARTITION BY q1, q2 ORDER BY n ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING
        AND UNBOUNDED FOLLOWING) AS largest, sum(n) OVER (PARTITION BY q1, q2 ORDER BY n ASC NULLS FIRST ROWS UNBOUNDED PRECEDING) AS tail
      FROM reid_rest
    )
    GROUP BY q1, q2
  )
  GROUP BY class_size, value
) AS reid_counted
