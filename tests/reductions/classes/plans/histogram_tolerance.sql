-- histogram(people, ['age', 'sex', 'surname'], None, None, 'value', '{"age": "2", "surname": "1 edit"}')
SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
FROM (
  WITH reid_distinct AS MATERIALIZED (
    SELECT 0 AS side, row_number() OVER () AS id, q1, q2, q3, records
    FROM (
      SELECT q1, q2, q3, count(*) AS records
      FROM (
        SELECT reid_source."age", reid_source."sex", reid_source."surname"
        FROM query_table('people') AS reid_source
      ) AS reid_source_rows(q1, q2, q3)
      GROUP BY q1, q2, q3
    )
  ),
  reid_spots_1 AS MATERIALIZED (
    SELECT v, CASE WHEN (typeof(v) = 'VARCHAR' OR typeof(v) LIKE 'ENUM(%') AND others > 0 THEN error(concat('tolerance of ''age'' must be used with a column of numbers, got a text column with ', others, CASE
      WHEN others = 1 THEN ' value that is none' ELSE ' values that are none' END, '; write them so, make them NULL, or leave the column out of the tolerance'))::INTEGER
      WHEN typeof(v) IN ('TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'HUGEINT', 'UTINYINT', 'USMALLINT', 'UINTEGER', 'UBIGINT')
      OR typeof(v) LIKE 'DECIMAL%' OR is_exact OR isfinite(try_cast(v AS DOUBLE)) AND (typeof(v) IN ('FLOAT', 'DOUBLE')
      OR (typeof(v) = 'VARCHAR' OR typeof(v) LIKE 'ENUM(%') AND NOT is_exact) THEN 0 WHEN NOT (typeof(v) IN ('FLOAT', 'DOUBLE')
      OR (typeof(v) = 'VARCHAR' OR typeof(v) LIKE 'ENUM(%') AND NOT is_exact) THEN error(concat('tolerance of ''age'' must be used with a column of whole numbers, decimals, FLOAT or DOUBLE, got one of type ', split_part(typeof(v), '(', 1), '; cast it in a view, or leave it out of the tolerance'))::INTEGER
      WHEN try_cast(v AS DOUBLE) = 'inf'::DOUBLE THEN 1 WHEN try_cast(v AS DOUBLE) = '-inf'::DOUBLE THEN 2
      ELSE 3 END AS kind, CASE WHEN typeof(v) LIKE 'DECIMAL%' THEN try_cast(replace(v::VARCHAR, '.', '') AS HUGEINT)
      WHEN typeof(v) IN ('TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'HUGEINT', 'UTINYINT', 'USMALLINT', 'UINTEGER', 'UBIGINT') THEN try_cast(v AS HUGEINT)
      WHEN is_exact THEN try_cast(replace(try_cast(v::VARCHAR AS DECIMAL(38, 9))::VARCHAR, '.', '') AS HUGEINT)
      ELSE 0 END AS e, CASE WHEN (typeof(v) IN ('FLOAT', 'DOUBLE') OR (typeof(v) = 'VARCHAR'
      OR typeof(v) LIKE 'ENUM(%') AND NOT is_exact) AND isfinite(try_cast(v AS DOUBLE)) THEN try_cast(v AS DOUBLE)
      ELSE 0 END AS f, CASE WHEN (typeof(v) IN ('FLOAT', 'DOUBLE') OR (typeof(v) = 'VARCHAR'
      OR typeof(v) LIKE 'ENUM(%') AND NOT is_exact) THEN 0 ELSE least((CASE WHEN typeof(v) LIKE 'DECIMAL%' THEN try_cast(replace(v::VARCHAR, '.', '') AS HUGEINT)
      WHEN typeof(v) IN ('TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'HUGEINT', 'UTINYINT', 'USMALLINT', 'UINTEGER', 'UBIGINT') THEN try_cast(v AS HUGEINT)
      WHEN is_exact THEN try_cast(replace(try_cast(v::VARCHAR AS DECIMAL(38, 9))::VARCHAR, '.', '') AS HUGEINT)
      ELSE 0 END), 170141183460469231731687303715884105727::HUGEINT - list_extract([2, 20, 200, 2000, 20000, 200000, 2000000, 20000000, 200000000, 2000000000, 20000000000, 200000000000, 2000000000000, 20000000000000, 200000000000000, 2000000000000000, 20000000000000000, 200000000000000000, 2000000000000000000, 20000000000000000000, 200000000000000000000, 2000000000000000000000, 20000000000000000000000, 200000000000000000000000, 2000000000000000000000000, 20000000000000000000000000, 200000000000000000000000000, 2000000000000000000000000000, 20000000000000000000000000000, 200000000000000000000000000000, 2000000000000000000000000000000, 20000000000000000000000000000000, 200000000000000000000000000000000, 2000000000000000000000000000000000, 20000000000000000000000000000000000, 200000000000000000000000000000000000, 2000000000000000000000000000000000000, 20000000000000000000000000000000000000, 170141183460469231731687303715884105727]::HUGEINT[], (CASE
      WHEN typeof(v) LIKE 'DECIMAL%' THEN regexp_extract(typeof(v), ',(\d+)', 1)::INTEGER WHEN is_exact THEN 9
      ELSE 0 END) + 1)) + list_extract([2, 20, 200, 2000, 20000, 200000, 2000000, 20000000, 200000000, 2000000000, 20000000000, 200000000000, 2000000000000, 20000000000000, 200000000000000, 2000000000000000, 20000000000000000, 200000000000000000, 2000000000000000000, 20000000000000000000, 200000000000000000000, 2000000000000000000000, 20000000000000000000000, 200000000000000000000000, 2000000000000000000000000, 20000000000000000000000000, 200000000000000000000000000, 2000000000000000000000000000, 20000000000000000000000000000, 200000000000000000000000000000, 2000000000000000000000000000000, 20000000000000000000000000000000, 200000000000000000000000000000000, 2000000000000000000000000000000000, 20000000000000000000000000000000000, 200000000000000000000000000000000000, 2000000000000000000000000000000000000, 20000000000000000000000000000000000000, 170141183460469231731687303715884105727]::HUGEINT[], (CASE
      WHEN typeof(v) LIKE 'DECIMAL%' THEN regexp_extract(typeof(v), ',(\d+)', 1)::INTEGER WHEN is_exact THEN 9
      ELSE 0 END) + 1) END AS end_e, CASE WHEN (typeof(v) IN ('FLOAT', 'DOUBLE') OR (typeof(v) = 'VARCHAR'
      OR typeof(v) LIKE 'ENUM(%') AND NOT is_exact) AND isfinite(try_cast(v AS DOUBLE)) THEN (CASE
      WHEN (typeof(v) IN ('FLOAT', 'DOUBLE') OR (typeof(v) = 'VARCHAR' OR typeof(v) LIKE 'ENUM(%')
      AND NOT is_exact) AND isfinite(try_cast(v AS DOUBLE)) THEN try_cast(v AS DOUBLE) ELSE 0 END) * CASE
      WHEN (CASE WHEN (typeof(v) IN ('FLOAT', 'DOUBLE') OR (typeof(v) = 'VARCHAR' OR typeof(v) LIKE 'ENUM(%')
      AND NOT is_exact) AND isfinite(try_cast(v AS DOUBLE)) THEN try_cast(v AS DOUBLE) ELSE 0 END) < 0 THEN 1 - CASE
      WHEN typeof(v) = 'FLOAT' THEN 4.76837158203125e-07::DOUBLE ELSE 8.881784197001252e-16::DOUBLE END
      ELSE 1 + CASE WHEN typeof(v) = 'FLOAT' THEN 4.76837158203125e-07::DOUBLE ELSE 8.881784197001252e-16::DOUBLE END END + 2.0::DOUBLE * (1 + CASE
      WHEN typeof(v) = 'FLOAT' THEN 4.76837158203125e-07::DOUBLE ELSE 8.881784197001252e-16::DOUBLE END)
      ELSE 0 END AS end_f
    FROM (
      SELECT v, count(CASE WHEN (typeof(v) = 'VARCHAR' OR typeof(v) LIKE 'ENUM(%') AND try_cast(v::VARCHAR AS DOUBLE) IS NULL THEN 1 END) OVER () AS others,
        bool_and((typeof(v) = 'VARCHAR' OR typeof(v) LIKE 'ENUM(%') AND regexp_full_match(v::VARCHAR, '\s*[+-]?\d{1,20}(\.\d{1,9})?\s*')) OVER () AS is_exact
      FROM (
        SELECT DISTINCT q1 AS v
        FROM reid_distinct
        WHERE q1 IS NOT NULL
      )
    )
  ),
  reid_near_1 AS MATERIALIZED (
    SELECT v, max(code) AS code, max(low) AS low, max(high) AS high
    FROM (
      SELECT v, CASE WHEN NOT is_end THEN count(CASE WHEN NOT is_end THEN 1 END) OVER reid_up_to END AS code,
        CASE WHEN NOT is_end THEN 1 + count(CASE WHEN is_end THEN 1 END) OVER reid_before END AS low,
        CASE WHEN is_end THEN count(CASE WHEN NOT is_end THEN 1 END) OVER reid_up_to END AS high
      FROM (
        SELECT v, kind, e, f, false AS is_end
        FROM reid_spots_1
        UNION ALL
        SELECT v, kind, end_e, end_f, true
        FROM reid_spots_1
      )
      WINDOW reid_up_to AS (ORDER BY kind ASC, e ASC, f ASC),
      reid_before AS (ORDER BY kind ASC, e ASC, f ASC, is_end ASC)
    )
    GROUP BY v
  ),
  reid_words_3 AS MATERIALIZED (
    SELECT v, row_number() OVER () AS code, CASE WHEN typeof(v) = 'VARCHAR' OR typeof(v) LIKE 'ENUM(%' THEN v::VARCHAR
      ELSE error(concat('tolerance of ''surname'' must be used with a column of VARCHAR, got one of type ', split_part(typeof(v), '(', 1), '; cast it in a view, or leave it out of the tolerance'))::VARCHAR END AS word
    FROM (
      SELECT DISTINCT q3 AS v
      FROM reid_distinct
      WHERE q3 IS NOT NULL
    )
  ),
  reid_holes_3 AS MATERIALIZED (
    SELECT code, hole, substr(word, 1, hole - 1) || substr(word, hole + 1) AS rest
    FROM (
      SELECT code, word, unnest(range(1, length(word) + 1)) AS hole
      FROM reid_words_3
    )
  ),
  reid_near_3 AS MATERIALIZED (
    SELECT v, code, near
    FROM reid_words_3
    JOIN (
      SELECT code, list(DISTINCT other ORDER BY other ASC) AS near
      FROM (
        SELECT code, code AS other
        FROM reid_words_3
        UNION ALL
        SELECT a.code, b.code
        FROM reid_holes_3 AS a
        JOIN reid_holes_3 AS b ON a.hole = b.hole AND a.rest = b.rest
        UNION ALL
        SELECT a.code, b.code
        FROM reid_holes_3 AS a
        JOIN reid_words_3 AS b ON a.rest = b.word
        UNION ALL
        SELECT b.code, a.code
        FROM reid_holes_3 AS a
        JOIN reid_words_3 AS b ON a.rest = b.word
      )
      GROUP BY code
    ) USING (code)
  ),
  reid_placed AS MATERIALIZED (
    SELECT reid_distinct.*, coalesce(n1.code, 0) AS c1, coalesce(n1.low, 0) AS low1,
      coalesce(n1.high, 0) AS high1, coalesce(n3.code, 0) AS c3, coalesce(n3.near, [0]) AS near3
    FROM reid_distinct
    LEFT JOIN reid_near_1 AS n1 ON q1 = n1.v
    LEFT JOIN reid_near_3 AS n3 ON q3 = n3.v
  ),
  reid_sizes AS (
    SELECT id, sum(matches)::BIGINT AS class_size
    FROM (
      SELECT id, sum(change) OVER (PARTITION BY q2, x3 ORDER BY spot ASC) AS matches
      FROM (
        SELECT id, q2, x3, spot, 0 AS change
        FROM (
          SELECT * EXCLUDE (list3), unnest(list3) AS x3
          FROM (
            SELECT q2, id, c1 AS spot, [c3] AS list3
            FROM reid_placed
            WHERE side = 0
          )
        )
        UNION ALL
        SELECT NULL, q2, x3, spot, sum(change)
        FROM (
          WITH reid_spans AS (
            SELECT * EXCLUDE (list3), unnest(list3) AS x3
            FROM (
              SELECT q2, low1 AS low, high1 AS high, records AS weight, near3 AS list3
              FROM reid_placed
              WHERE side = 0
            )
          )
          SELECT q2, x3, low AS spot, weight AS change
          FROM reid_spans
          UNION ALL
          SELECT q2, x3, high + 1, -weight
          FROM reid_spans
        )
        GROUP BY q2, x3, spot
      )
    )
    WHERE id IS NOT NULL
    GROUP BY id
  ),
  reid_matched AS MATERIALIZED (
    SELECT reid_distinct.*, class_size
    FROM reid_distinct
    JOIN reid_sizes ON reid_distinct.id = reid_sizes.id
    WHERE side = 0
  )
  SELECT class_size, classes, coalesce(records, 0)::BIGINT AS records, NULL::BIGINT AS blank_records
  FROM (
    SELECT class_size, count(*) AS classes
    FROM (
      SELECT DISTINCT q1, q2, q3, class_size
      FROM reid_matched
    )
    GROUP BY class_size
  )
  LEFT JOIN (
    SELECT class_size, sum(records) AS records
    FROM (
      SELECT class_size, records
      FROM reid_matched
    )
    GROUP BY class_size
  ) USING (class_size)
) AS reid_counted
ORDER BY class_size ASC
