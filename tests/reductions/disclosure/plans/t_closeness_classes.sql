-- t_closeness_classes(people, ['age', 'sex'], 'diagnosis', 'equal', 0.2, None, 'value')
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
  SELECT q1 AS "age", q2 AS "sex", class_size, value
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
      SELECT q1, q2, s, n, 1 AS classes
      FROM reid_cells AS c ANTI
      JOIN reid_many AS h ON c.q1 IS NOT DISTINCT FROM h.q1 AND c.q2 IS NOT DISTINCT FROM h.q2
      WHERE (
        FROM reid_sparse
      )
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
    ),
    reid_values AS MATERIALIZED (
      SELECT s AS v, sum(n)::BIGINT AS in_table
      FROM (
        SELECT s, n * classes AS n
        FROM reid_alone
        UNION ALL
        SELECT s, n
        FROM reid_rest
      )
      GROUP BY s
    ),
    reid_whole AS MATERIALIZED (
      SELECT sum(in_table)::BIGINT AS total, count(*) AS kinds
      FROM reid_values
      GROUP BY ALL
    ),
    reid_shares AS (
      SELECT c.*, total
      FROM reid_values AS c
      JOIN reid_whole AS h ON true
    ),
    reid_classes AS MATERIALIZED (
      SELECT q1, q2, size, total, 1 - alike::DOUBLE / total AS apart, least * total >= size AS settled
      FROM (
        SELECT c.*, total
        FROM (
          SELECT q1, q2, sum(n)::BIGINT AS size, sum(in_table) AS alike, min(n::DOUBLE / in_table) AS least
          FROM (
            SELECT c.*, in_table
            FROM reid_rest AS c
            JOIN reid_values AS h ON s IS NOT DISTINCT FROM v AND true
          )
          GROUP BY q1, q2
        ) AS c
        JOIN reid_whole AS h ON true
      )
    ),
    reid_several AS MATERIALIZED (
      SELECT c.*, size, total
      FROM reid_rest AS c
      JOIN (
        FROM reid_classes
        WHERE NOT settled
      ) AS h ON c.q1 IS NOT DISTINCT FROM h.q1 AND c.q2 IS NOT DISTINCT FROM h.q2
    )
    SELECT q1, q2, n AS class_size, classes, 1 - in_table::DOUBLE / total AS value
    FROM (
      SELECT c.*, in_table, total
      FROM reid_alone AS c
      JOIN reid_shares AS h ON s IS NOT DISTINCT FROM v AND true
    )
    UNION ALL
    SELECT q1, q2, size AS class_size, 1 AS classes, apart AS value
    FROM reid_classes
    WHERE settled
    UNION ALL
    SELECT q1, q2, any_value(size) AS class_size, 1 AS classes, sum(greatest(0, n::DOUBLE / size - in_table::DOUBLE / total)) AS value
    FROM (
      SELECT c.*, in_table
      FROM reid_several AS c
      JOIN reid_values AS h ON s IS NOT DISTINCT FROM v AND true
    )
    GROUP BY q1, q2
  )
  WHERE value IS NULL OR value > 0.2::DOUBLE * (1 + 1e-12)
) AS reid_counted
