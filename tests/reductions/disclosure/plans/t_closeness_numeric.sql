-- t_closeness(people, ['age', 'sex'], 'income', 'numeric', None, None, 'drop')
SELECT reid_counted.*, reid_left_out.records_dropped, 'drop' AS nulls
FROM (
  WITH reid_cells AS MATERIALIZED (
    SELECT q1, q2, q3 AS s, count(*) AS n
    FROM (
      SELECT reid_source."age", reid_source."sex", reid_source."income"
      FROM query_table('people') AS reid_source
      WHERE reid_source."age" IS NOT NULL AND reid_source."sex" IS NOT NULL AND reid_source."income" IS NOT NULL
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
    ),
    reid_placed AS MATERIALIZED (
      SELECT s AS v, sum(n)::BIGINT AS in_table, CASE WHEN regexp_full_match(typeof(s), 'U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*') THEN CASE
        WHEN isfinite(try_cast(s::VARCHAR AS DOUBLE)) THEN try_cast(s::VARCHAR AS DOUBLE) END
        ELSE error('sensitive must be a column of numbers for variant := ''numeric'', got ''income''; cast it to a number, or pass variant := ''equal''')::DOUBLE END AS place
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
      SELECT sum(in_table)::DOUBLE AS total, min(place) AS least, max(place) AS most,
        count(place) = count(*) AS known
      FROM reid_placed
      GROUP BY ALL
    ),
    reid_spread AS (
      SELECT c.*, total, CASE WHEN known THEN 1 END AS last, CASE WHEN most = least THEN 1 ELSE (place / 2 - least / 2) / (most / 2 - least / 2) END AS spot
      FROM reid_placed AS c
      JOIN reid_whole AS h ON true
    ),
    reid_values AS MATERIALIZED (
      SELECT v, spot::DOUBLE / last AS x, reached / total AS f, (spot * reached - moment) / (last * total) AS g
      FROM (
        SELECT *, sum(in_table) OVER so_far AS reached, sum(spot * in_table) OVER so_far AS moment
        FROM reid_spread
        WINDOW so_far AS (ORDER BY place ASC ROWS UNBOUNDED PRECEDING)
      )
    ),
    reid_area AS MATERIALIZED (
      SELECT max(g) AS area
      FROM reid_values
      GROUP BY ALL
    )
    SELECT n AS class_size, classes, value
    FROM (
      SELECT c.*, value
      FROM reid_alone AS c
      JOIN (
        SELECT c.*, 2 * g - area + 1 - x AS value
        FROM reid_values AS c
        JOIN reid_area AS h ON true
      ) AS h ON s IS NOT DISTINCT FROM v AND true
    )
    UNION ALL
    SELECT sum(n)::BIGINT AS class_size, 1 AS classes, sum(CASE WHEN first THEN g ELSE 0 END + reached * (2 * cross_x - x - next_x) + g + next_g - 2 * cross_g) AS value
    FROM (
      SELECT *, CASE WHEN coalesce(found_x, next_x) <= x THEN x WHEN coalesce(found_x, next_x) >= next_x THEN next_x
        ELSE found_x END AS cross_x, CASE WHEN coalesce(found_x, next_x) <= x THEN g WHEN coalesce(found_x, next_x) >= next_x THEN next_g
        ELSE found_g END AS cross_g
      FROM (
        SELECT c.*, h.x AS found_x, h.g AS found_g
        FROM (
          SELECT *, row_number() OVER by_value = 1 AS first, (sum(n) OVER by_value)::DOUBLE / sum(n) OVER (by_value ROWS BETWEEN UNBOUNDED PRECEDING
            AND UNBOUNDED FOLLOWING) AS reached, coalesce(lead(x) OVER by_value, 1) AS next_x,
            coalesce(lead(g) OVER by_value, area) AS next_g
          FROM (
            SELECT c.*, area
            FROM (
              SELECT c.*, x, g
              FROM reid_rest AS c
              JOIN reid_values AS h ON s IS NOT DISTINCT FROM v AND true
            ) AS c
            JOIN reid_area AS h ON true
          )
          WINDOW by_value AS (PARTITION BY q1, q2 ORDER BY x ASC)
        ) AS c ASOF LEFT JOIN reid_values AS h ON true AND reached < h.f
      )
    )
    GROUP BY q1, q2
  )
  GROUP BY class_size, value
) AS reid_counted, (
  SELECT count(*)
  FROM query_table('people') AS reid_source
  WHERE reid_source."age" IS NULL OR reid_source."sex" IS NULL OR reid_source."income" IS NULL
) AS reid_left_out(records_dropped)
