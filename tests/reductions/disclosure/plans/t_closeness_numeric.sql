-- reid_plan_t_closeness('query_table(''people'')', ['age', 'sex'], 'income', 'numeric', NULL, 'drop')
SELECT reid_result.*
FROM (
  SELECT NULL::VARCHAR AS "age", NULL::VARCHAR AS "sex", NULL::VARCHAR AS "income"
  FROM (
    SELECT reid_names, reid.main.reid_missing(['age', 'sex', 'income'], reid_names) AS reid_missing
    FROM (
      SELECT list(column_name) AS reid_names
      FROM (DESCRIBE FROM query_table('people'))
    )
  )
  WHERE reid.main.reid_known('quasi-identifiers and sensitive', reid_missing, reid_names)
) AS reid_fallback, LATERAL (
  SELECT reid_counted.*, reid_left_out.records_dropped, 'drop' AS nulls
  FROM (
    SELECT class_size, value, count(*) AS classes
    FROM (
      FROM (
        WITH reid_cells AS MATERIALIZED (
          SELECT q1, q2, q3 AS s, count(*) AS n
          FROM (
            SELECT "age", "sex", "income"
            FROM query_table('people') AS reid_source
            WHERE reid.main.reid_is_told_apart(row("age", "sex", "income"), 'age, sex, income')
              AND "age" IS NOT NULL AND "sex" IS NOT NULL AND "income" IS NOT NULL
          ) AS reid_source_rows(q1, q2, q3)
          GROUP BY ALL
        ),
        reid_held AS MATERIALIZED (
          SELECT v, held, x, f, sum(area) OVER (ORDER BY f ASC) AS g
          FROM (
            SELECT *, coalesce(lag(f) OVER (ORDER BY f ASC), 0) * (x - coalesce(lag(x) OVER (ORDER BY f ASC), 0)) AS area
            FROM (
              SELECT *, (sum(held) OVER (ORDER BY v ASC NULLS LAST))::DOUBLE / sum(held) OVER () AS f,
                CASE WHEN count(place) OVER () = count(*) OVER () THEN CASE WHEN max(place) OVER () = min(place) OVER () THEN 1
                ELSE (place / 2 - min(place) OVER () / 2) / (max(place) OVER () / 2 - min(place) OVER () / 2) END END AS x
              FROM (
                SELECT s AS v, sum(n)::BIGINT AS held, CASE WHEN regexp_full_match(typeof(s), 'U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*') THEN CASE
                  WHEN isfinite(try_cast(s::VARCHAR AS DOUBLE)) THEN try_cast(s::VARCHAR AS DOUBLE) END
                  ELSE error('sensitive must be a column of numbers for variant := ''numeric'', got ''income''; cast it to a number, or pass variant := ''equal''')::DOUBLE END AS place
                FROM reid_cells
                GROUP BY s
              )
            )
          )
        ),
        reid_weighed AS (
          SELECT reid_cells.*, held, x, g, total, kinds, area
          FROM reid_cells
          JOIN reid_held ON s IS NOT DISTINCT FROM v, (
            SELECT sum(held)::BIGINT AS total, count(*) AS kinds, max(g) AS area
            FROM reid_held
          )
        ),
        reid_counted AS MATERIALIZED (
          SELECT q1, q2, sum(n)::BIGINT AS size, count(*) AS parts, any_value(2 * g - area + 1 - x) AS single
          FROM reid_weighed
          GROUP BY q1, q2
        ),
        reid_several AS (
          SELECT reid_weighed.*, size
          FROM reid_weighed
          JOIN (
            SELECT q1, q2, size
            FROM reid_counted
            WHERE parts > 1
          ) AS reid_sized ON reid_weighed.q1 IS NOT DISTINCT FROM reid_sized.q1 AND reid_weighed.q2 IS NOT DISTINCT FROM reid_sized.q2
        )
        SELECT q1, q2, size AS class_size, single AS value
        FROM reid_counted
        WHERE parts = 1
        UNION ALL
        SELECT q1, q2, any_value(size) AS class_size, sum(CASE WHEN first THEN g ELSE 0 END + reached * (2 * cross_x - x - next_x) + g + next_g - 2 * cross_g) AS value
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
              WINDOW by_value AS (PARTITION BY q1, q2 ORDER BY x ASC)
            ) AS reid_run ASOF LEFT JOIN reid_held ON reached < reid_held.f
          )
        )
        GROUP BY q1, q2
      )
    )
    GROUP BY class_size, value
  ) AS reid_counted, (
    SELECT count(*)
    FROM query_table('people') AS reid_source
    WHERE "age" IS NULL OR "sex" IS NULL OR "income" IS NULL
  ) AS reid_left_out(records_dropped)
) AS reid_result
