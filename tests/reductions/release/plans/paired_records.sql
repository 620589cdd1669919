-- reid_plan_paired_records(reid_table('original'), reid_table('released'), ['age', 'sex'], NULL)
SELECT reid_result.*
FROM (
  SELECT NULL::VARCHAR AS "age", NULL::VARCHAR AS "sex"
  FROM (
    SELECT coalesce(reid_one.reid_missing, reid_other.reid_missing) AS reid_missing,
      CASE WHEN reid_one.reid_missing IS NULL THEN reid_other.reid_names ELSE reid_one.reid_names END AS reid_names
    FROM (
      SELECT reid_names, reid.main.reid_missing(['age', 'sex'], reid_names) AS reid_missing
      FROM (
        SELECT list(column_name) AS reid_names
        FROM (DESCRIBE FROM query_table('original'))
      )
    ) AS reid_one, (
      SELECT reid_names, reid.main.reid_missing(['age', 'sex'], reid_names) AS reid_missing
      FROM (
        SELECT list(column_name) AS reid_names
        FROM (DESCRIBE FROM query_table('released'))
      )
    ) AS reid_other
  )
  WHERE reid.main.reid_known('quasi-identifiers', reid_missing, reid_names)
) AS reid_fallback, LATERAL (
  SELECT reid_counted.*, reid_left_out.records_dropped, 'value' AS nulls
  FROM (
    WITH reid_own AS MATERIALIZED (
      SELECT *
      FROM (
        SELECT "age", "sex"
        FROM query_table('original') AS reid_source
        WHERE reid.main.reid_is_told_apart(row("age", "sex"), 'age, sex')
      ) AS reid_source_rows(q1, q2)
    ),
    reid_own_1 AS MATERIALIZED (
      SELECT v, row_number() OVER () AS code
      FROM (
        SELECT DISTINCT q1 AS v
        FROM reid_own
      )
      WHERE v IS NOT NULL
    ),
    reid_own_2 AS MATERIALIZED (
      SELECT v, row_number() OVER () AS code
      FROM (
        SELECT DISTINCT q2 AS v
        FROM reid_own
      )
      WHERE v IS NOT NULL
    ),
    reid_own_coded AS (
      SELECT [coalesce(c1.code, 0)::INTEGER, coalesce(c2.code, 0)::INTEGER] AS codes,
        NULL AS key
      FROM reid_own
      LEFT JOIN reid_own_1 AS c1 ON q1 = c1.v
      LEFT JOIN reid_own_2 AS c2 ON q2 = c2.v
    ),
    reid_out AS MATERIALIZED (
      SELECT *
      FROM (
        SELECT "age", "sex"
        FROM query_table('released') AS reid_source
        WHERE reid.main.reid_is_told_apart(row("age", "sex"), 'age, sex')
      ) AS reid_source_rows(q1, q2)
    ),
    reid_out_1 AS MATERIALIZED (
      SELECT v, row_number() OVER () AS code
      FROM (
        SELECT DISTINCT q1 AS v
        FROM reid_out
      )
      WHERE v IS NOT NULL
    ),
    reid_out_2 AS MATERIALIZED (
      SELECT v, row_number() OVER () AS code
      FROM (
        SELECT DISTINCT q2 AS v
        FROM reid_out
      )
      WHERE v IS NOT NULL
    ),
    reid_out_coded AS (
      SELECT [coalesce(c1.code, 0)::INTEGER, coalesce(c2.code, 0)::INTEGER] AS codes,
        NULL AS key
      FROM reid_out
      LEFT JOIN reid_out_1 AS c1 ON q1 = c1.v
      LEFT JOIN reid_out_2 AS c2 ON q2 = c2.v
    ),
    reid_pairs AS (
      SELECT own, out, count(*) AS records
      FROM (
        SELECT codes AS own, NULL::INTEGER[] AS out
        FROM reid_own_coded
        UNION ALL
        SELECT NULL, codes
        FROM reid_out_coded
      )
      GROUP BY own, out
    )
    SELECT ['age', 'sex'] AS names, [false] AS keyed, [list(coalesce(own[1], -1)),
      list(coalesce(own[2], -1))] AS original_codes, [list(coalesce(out[1], -1)),
      list(coalesce(out[2], -1))] AS released_codes, coalesce(list(records), []::BIGINT[]) AS records,
      [ (
      SELECT coalesce(list(v::VARCHAR ORDER BY code ASC), []::VARCHAR[])
      FROM reid_own_1
    ), (
      SELECT coalesce(list(v::VARCHAR ORDER BY code ASC), []::VARCHAR[])
      FROM reid_own_2
    ) ] AS original_values, [ (
      SELECT coalesce(list(v::VARCHAR ORDER BY code ASC), []::VARCHAR[])
      FROM reid_out_1
    ), (
      SELECT coalesce(list(v::VARCHAR ORDER BY code ASC), []::VARCHAR[])
      FROM reid_out_2
    ) ] AS released_values
    FROM reid_pairs
  ) AS reid_counted, (
    SELECT 0::BIGINT
  ) AS reid_left_out(records_dropped)
) AS reid_result
