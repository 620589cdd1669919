-- t_closeness(people, ['age', 'sex'], 'diagnosis', 'equal', None, 'value')
SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
FROM (
  SELECT class_size, value, sum(classes)::BIGINT AS classes
  FROM (
    WITH reid_cells AS MATERIALIZED (
      SELECT q1, q2, q3 AS s, count(*) AS n
      FROM (
        SELECT reid_source."age", reid_source."sex", reid_source."diagnosis"
        FROM query_table('people') AS reid_source
      ) AS reid_source_rows(q1, q2, q3)
      WHERE CASE WHEN regexp_matches(regexp_replace(typeof(q3), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g'), '\bVARIANT([^\w ]|$)') THEN error('sensitive must be a column of values of one type, got ''diagnosis'' of type VARIANT; cast it in a view to the type of its values, or to JSON')::BOOLEAN
        ELSE true END
      GROUP BY q1, q2, q3
    )
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
      reid_held AS MATERIALIZED (
        SELECT s AS v, sum(n)::BIGINT AS held
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
        SELECT sum(held)::BIGINT AS total, count(*) AS kinds
        FROM reid_held
      ),
      reid_shares AS (
        SELECT c.*, total
        FROM reid_held AS c
        JOIN reid_whole AS h ON true
      ),
      reid_classes AS MATERIALIZED (
        SELECT q1, q2, size, total, 1 - alike::DOUBLE / total AS apart, least * total >= size AS settled
        FROM (
          SELECT c.*, total
          FROM (
            SELECT q1, q2, sum(n)::BIGINT AS size, sum(held) AS alike, min(n::DOUBLE / held) AS least
            FROM (
              SELECT c.*, held
              FROM reid_rest AS c
              JOIN reid_held AS h ON s IS NOT DISTINCT FROM v AND true
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
      SELECT n AS class_size, classes, 1 - held::DOUBLE / total AS value
      FROM (
        SELECT c.*, held, total
        FROM reid_alone AS c
        JOIN reid_shares AS h ON s IS NOT DISTINCT FROM v AND true
      )
      UNION ALL
      SELECT size AS class_size, 1 AS classes, apart AS value
      FROM reid_classes
      WHERE settled
      UNION ALL
      SELECT any_value(size) AS class_size, 1 AS classes, sum(greatest(0, n::DOUBLE / size - held::DOUBLE / total)) AS value
      FROM (
        SELECT c.*, held
        FROM reid_several AS c
        JOIN reid_held AS h ON s IS NOT DISTINCT FROM v AND true
      )
      GROUP BY q1, q2
    )
  )
  GROUP BY class_size, value
) AS reid_counted
