-- reid_plan_t_closeness('query_table(''people'')', ['age', 'sex'], 'income', 'ordered', ['state'], 'drop')
FROM (
  SELECT reid_result.*
  FROM (
    SELECT NULL::VARCHAR AS "age", NULL::VARCHAR AS "sex", NULL::VARCHAR AS "income",
      NULL::VARCHAR AS "state"
    FROM (
      SELECT reid_names, reid.main.reid_missing(['age', 'sex', 'income', 'state'], reid_names) AS reid_missing
      FROM (
        SELECT list(column_name) AS reid_names
        FROM (DESCRIBE FROM query_table('people'))
      )
    )
    WHERE reid.main.reid_known('quasi-identifiers, sensitive and by', reid_missing, reid_names)
  ) AS reid_fallback, LATERAL (
    WITH reid_divided AS MATERIALIZED (
      SELECT *, q1 IS NOT NULL AND q2 IS NOT NULL AND q3 IS NOT NULL AS kept
      FROM (
        SELECT q1, q2, q3, q4, NULL AS entity, count(*) AS records
        FROM (
          SELECT "age", "sex", "income", "state"
          FROM query_table('people') AS reid_source
          WHERE reid.main.reid_is_told_apart(row("age", "sex", "income", "state"), 'age, sex, income, state')
        ) AS reid_source_rows(q1, q2, q3, q4)
        GROUP BY ALL
      )
    ),
    reid_cells AS MATERIALIZED (
      SELECT * EXCLUDE (q3, records, entity, kept), q3 AS s, records AS n
      FROM reid_divided
      WHERE kept
    ),
    reid_sized AS (
      SELECT q4, class_size, value, count(*) AS classes
      FROM (
        WITH reid_held AS MATERIALIZED (
          SELECT q4, v, held, x, f, sum(area) OVER (PARTITION BY q4 ORDER BY f ASC) AS g
          FROM (
            SELECT *, coalesce(lag(f) OVER (PARTITION BY q4 ORDER BY f ASC), 0) * (x - coalesce(lag(x) OVER (PARTITION BY q4 ORDER BY f ASC), 0)) AS area
            FROM (
              SELECT *, (sum(held) OVER (PARTITION BY q4 ORDER BY v ASC NULLS LAST))::DOUBLE / sum(held) OVER (PARTITION BY q4) AS f,
                CASE WHEN count(place) OVER (PARTITION BY q4) = count(*) OVER (PARTITION BY q4) THEN CASE
                WHEN max(place) OVER (PARTITION BY q4) = min(place) OVER (PARTITION BY q4) THEN 1
                ELSE (place / 2 - min(place) OVER (PARTITION BY q4) / 2) / (max(place) OVER (PARTITION BY q4) / 2 - min(place) OVER (PARTITION BY q4) / 2) END END AS x
              FROM (
                SELECT q4, s AS v, sum(n)::BIGINT AS held, CASE WHEN regexp_full_match(typeof(s), 'U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*|DATE|TIME.*|INTERVAL|BOOLEAN|ENUM.*') THEN CASE
                  WHEN s IS NOT NULL THEN row_number() OVER (PARTITION BY q4 ORDER BY s ASC NULLS LAST) - 1 END::DOUBLE
                  ELSE error('sensitive must be a column of numbers, dates, times, booleans or ENUMs for variant := ''ordered'', got ''income''; cast it to one of them, or pass variant := ''equal''')::DOUBLE END AS place
                FROM reid_cells
                GROUP BY q4, s
              )
            )
          )
        ),
        reid_weighed AS (
          SELECT c.*, held, x, g, total, kinds, area
          FROM reid_cells AS c
          JOIN reid_held AS h ON s IS NOT DISTINCT FROM v AND c.q4 IS NOT DISTINCT FROM h.q4
          JOIN (
            SELECT q4, sum(held)::BIGINT AS total, count(*) AS kinds, max(g) AS area
            FROM reid_held
            GROUP BY q4
          ) AS t ON c.q4 IS NOT DISTINCT FROM t.q4
        ),
        reid_counted AS MATERIALIZED (
          SELECT q4, q1, q2, sum(n)::BIGINT AS size, count(*) AS parts, any_value(2 * g - area + 1 - x) AS single
          FROM reid_weighed
          GROUP BY q4, q1, q2
        ),
        reid_several AS (
          SELECT reid_weighed.*, size
          FROM reid_weighed
          JOIN (
            SELECT q4, q1, q2, size
            FROM reid_counted
            WHERE parts > 1
          ) AS reid_sized ON reid_weighed.q4 IS NOT DISTINCT FROM reid_sized.q4 AND reid_weighed.q1 IS NOT DISTINCT FROM reid_sized.q1
            AND reid_weighed.q2 IS NOT DISTINCT FROM reid_sized.q2
        )
        SELECT q4, q1, q2, size AS class_size, single AS value
        FROM reid_counted
        WHERE parts = 1
        UNION ALL
        SELECT q4, q1, q2, any_value(size) AS class_size, sum(CASE WHEN first THEN g ELSE 0 END + reached * (2 * cross_x - x - next_x) + g + next_g - 2 * cross_g) AS value
        FROM (
          SELECT *, CASE WHEN coalesce(found_x, next_x) <= x THEN x WHEN coalesce(found_x, next_x) >= next_x THEN next_x
            ELSE found_x END AS cross_x, CASE WHEN coalesce(found_x, next_x) <= x THEN g WHEN coalesce(found_x, next_x) >= next_x THEN next_g
            ELSE found_g END AS cross_g
          FROM (
            SELECT reid_run.*, reid_held.x AS found_x, reid_held.g AS found_g
            FROM (
              SELECT *, (sum(n) OVER by_value)::DOUBLE / size AS reached,
                row_number() OVER by_value = 1 AS first, coalesce(lead(x) OVER by_value, 1) AS next_x,
                coalesce(lead(g) OVER by_value, area) AS next_g
              FROM reid_several
              WINDOW by_value AS (PARTITION BY q4, q1, q2 ORDER BY x ASC)
            ) AS reid_run ASOF LEFT JOIN reid_held ON reid_run.q4 IS NOT DISTINCT FROM reid_held.q4
              AND reached < reid_held.f
          )
        )
        GROUP BY q4, q1, q2
      )
      GROUP BY ALL
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
  ) AS reid_result
)
