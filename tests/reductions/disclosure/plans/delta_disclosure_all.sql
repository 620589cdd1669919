-- delta_disclosure(people, ['age', 'sex'], 'diagnosis', 'all', None, None, 'value')
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
      GROUP BY s, n
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
    ),
    reid_allowed AS (
      SELECT c.*, NULL::DOUBLE AS allowed
      FROM reid_values AS c
      JOIN reid_whole AS h ON true
    )
    SELECT size AS class_size, classes, CASE WHEN parts < kinds THEN 'infinity'::DOUBLE ELSE ln(greatest(1, most * total / size, size / (least * total))) END AS value
    FROM (
      SELECT c.*, total, kinds
      FROM (
        SELECT classes, n AS size, n::DOUBLE / in_table AS most, n::DOUBLE / in_table AS least,
          n * allowed AS needed, 1 AS parts
        FROM (
          SELECT c.*, in_table, allowed
          FROM reid_alone AS c
          JOIN reid_allowed AS h ON s IS NOT DISTINCT FROM v AND true
        )
        UNION ALL
        SELECT 1 AS classes, sum(n)::BIGINT AS size, max(n::DOUBLE / in_table) AS most,
          min(n::DOUBLE / in_table) AS least, max(n * allowed) AS needed,
          count(*) AS parts
        FROM (
          SELECT c.*, in_table, allowed
          FROM reid_rest AS c
          JOIN reid_allowed AS h ON s IS NOT DISTINCT FROM v AND true
        )
        GROUP BY q1, q2
      ) AS c
      JOIN reid_whole AS h ON true
    )
  )
  GROUP BY class_size, value
) AS reid_counted
