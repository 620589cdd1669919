-- t_closeness(people, ['age', 'sex'], 'income', 'ordered', ['state'], 'drop')
WITH reid_divided AS MATERIALIZED (
  SELECT *, q1 IS NOT NULL AND q2 IS NOT NULL AND q3 IS NOT NULL AS kept
  FROM (
    SELECT q1, q2, q3, q4, NULL AS entity, count(*) AS records
    FROM (
      SELECT reid_source."age", reid_source."sex", reid_source."income", reid_source."state"
      FROM query_table('people') AS reid_source
    ) AS reid_source_rows(q1, q2, q3, q4)
    GROUP BY q1, q2, q3, q4
  )
),
reid_cells AS MATERIALIZED (
  SELECT * EXCLUDE (q3, records, entity, kept), q3 AS s, records AS n
  FROM reid_divided
  WHERE kept AND CASE WHEN regexp_matches(regexp_replace(typeof(q3), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g'), '\bVARIANT([^\w ]|$)') THEN error('sensitive must be a column of values of one type, got ''income'' of type VARIANT; cast it in a view to the type of its values, or to JSON')::BOOLEAN
    ELSE true END
),
reid_sized AS (
  SELECT q4, class_size, value, sum(classes)::BIGINT AS classes
  FROM (
    WITH reid_sparse AS MATERIALIZED (
      SELECT approx_count_distinct((q4, q1, q2)) > 0.9 * count(*) AS sparse
      FROM reid_cells
    ),
    reid_many AS MATERIALIZED (
      SELECT q4, q1, q2
      FROM reid_cells
      WHERE (
        FROM reid_sparse
      )
      GROUP BY q4, q1, q2 HAVING count(*) > 1
    ),
    reid_alone AS MATERIALIZED (
      SELECT q4, s, n, count(*) AS classes
      FROM reid_cells AS c ANTI
      JOIN reid_many AS h ON c.q4 IS NOT DISTINCT FROM h.q4 AND c.q1 IS NOT DISTINCT FROM h.q1
        AND c.q2 IS NOT DISTINCT FROM h.q2
      WHERE (
        FROM reid_sparse
      )
      GROUP BY q4, s, n
    ),
    reid_rest AS MATERIALIZED (
      SELECT c.*
      FROM reid_cells AS c SEMI
      JOIN reid_many AS h ON c.q4 IS NOT DISTINCT FROM h.q4 AND c.q1 IS NOT DISTINCT FROM h.q1
        AND c.q2 IS NOT DISTINCT FROM h.q2
      UNION ALL
      FROM reid_cells
      WHERE NOT (
        FROM reid_sparse
      )
    ),
    reid_placed AS MATERIALIZED (
      SELECT q4, s AS v, sum(n)::BIGINT AS held, CASE WHEN regexp_full_match(typeof(s), 'U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*|DATE|TIME.*|INTERVAL|BOOLEAN|ENUM.*') THEN CASE
        WHEN s IS NOT NULL THEN row_number() OVER (PARTITION BY q4 ORDER BY s ASC NULLS LAST) - 1 END
        ELSE error('sensitive must be a column of numbers, dates, times, booleans or ENUMs for variant := ''ordered'', got ''income''; cast it to one of them, or pass variant := ''equal''')::BIGINT END AS place
      FROM (
        SELECT q4, s, n * classes AS n
        FROM reid_alone
        UNION ALL
        SELECT q4, s, n
        FROM reid_rest
      )
      GROUP BY q4, s
    ),
    reid_whole AS MATERIALIZED (
      SELECT q4, sum(held)::DOUBLE AS total, min(place) AS least, max(place) AS most,
        count(place) = count(*) AS known
      FROM reid_placed
      GROUP BY q4
    ),
    reid_spread AS (
      SELECT c.*, total, CASE WHEN known THEN greatest(most, 1) END AS last,
        CASE WHEN most = 0 THEN 1 ELSE place END AS spot
      FROM reid_placed AS c
      JOIN reid_whole AS h ON c.q4 IS NOT DISTINCT FROM h.q4
    ),
    reid_held AS MATERIALIZED (
      SELECT q4, v, spot::DOUBLE / last AS x, reached / total AS f, (spot * reached - moment) / (last * total) AS g
      FROM (
        SELECT *, sum(held) OVER so_far AS reached, sum(spot * held) OVER so_far AS moment
        FROM reid_spread
        WINDOW so_far AS (PARTITION BY q4 ORDER BY place ASC ROWS UNBOUNDED PRECEDING)
      )
    ),
    reid_area AS MATERIALIZED (
      SELECT q4, max(g) AS area
      FROM reid_held
      GROUP BY q4
    )
    SELECT q4, n AS class_size, classes, value
    FROM (
      SELECT c.*, value
      FROM reid_alone AS c
      JOIN (
        SELECT c.*, 2 * g - area + 1 - x AS value
        FROM reid_held AS c
        JOIN reid_area AS h ON c.q4 IS NOT DISTINCT FROM h.q4
      ) AS h ON s IS NOT DISTINCT FROM v AND c.q4 IS NOT DISTINCT FROM h.q4
    )
    UNION ALL
    SELECT q4, sum(n)::BIGINT AS class_size, 1 AS classes, sum(CASE WHEN first THEN g ELSE 0 END + reached * (2 * cross_x - x - next_x) + g + next_g - 2 * cross_g) AS value
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
              JOIN reid_held AS h ON s IS NOT DISTINCT FROM v AND c.q4 IS NOT DISTINCT FROM h.q4
            ) AS c
            JOIN reid_area AS h ON c.q4 IS NOT DISTINCT FROM h.q4
          )
          WINDOW by_value AS (PARTITION BY q4, q1, q2 ORDER BY x ASC)
        ) AS c ASOF LEFT JOIN reid_held AS h ON c.q4 IS NOT DISTINCT FROM h.q4 AND reached < h.f
      )
    )
    GROUP BY q4, q1, q2
  )
  GROUP BY q4, class_size, value
),
reid_groups AS (
  SELECT q4, coalesce(sum(records) FILTER (NOT kept), 0)::BIGINT AS records_dropped
  FROM reid_divided
  GROUP BY q4
)
SELECT g.q4 AS "reid: state", class_size, value, coalesce(classes, 0)::BIGINT AS classes,
  records_dropped, 'drop' AS nulls
FROM reid_groups AS g
LEFT JOIN reid_sized AS s ON g.q4 IS NOT DISTINCT FROM s.q4
