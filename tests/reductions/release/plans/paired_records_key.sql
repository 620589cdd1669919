-- reid_plan_paired_records(reid_table('original'), reid_table('released'), ['age', 'sex'], 'id')
SELECT reid_result.*
FROM (
  SELECT NULL::VARCHAR AS "age", NULL::VARCHAR AS "sex", NULL::VARCHAR AS "id"
  FROM (
    SELECT coalesce(reid_one.reid_missing, reid_other.reid_missing) AS reid_missing,
      CASE WHEN reid_one.reid_missing IS NULL THEN reid_other.reid_names ELSE reid_one.reid_names END AS reid_names
    FROM (
      SELECT reid_names, reid.main.reid_missing(['age', 'sex', 'id'], reid_names) AS reid_missing
      FROM (
        SELECT list(column_name) AS reid_names
        FROM (DESCRIBE FROM query_table('original'))
      )
    ) AS reid_one, (
      SELECT reid_names, reid.main.reid_missing(['age', 'sex', 'id'], reid_names) AS reid_missing
      FROM (
        SELECT list(column_name) AS reid_names
        FROM (DESCRIBE FROM query_table('released'))
      )
    ) AS reid_other
  )
  WHERE reid.main.reid_known('quasi-identifiers and key', reid_missing, reid_names)
) AS reid_fallback, LATERAL (
  SELECT reid_counted.*, reid_left_out.records_dropped, 'value' AS nulls
  FROM (
    WITH reid_own AS MATERIALIZED (
      SELECT *
      FROM (
        SELECT "age", "sex", "id"
        FROM query_table('original') AS reid_source
        WHERE reid.main.reid_is_told_apart(row("age", "sex", "id"), 'age, sex, id')
      ) AS reid_source_rows(q1, q2, q3)
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
        q3 AS key
      FROM reid_own
      LEFT JOIN reid_own_1 AS c1 ON q1 = c1.v
      LEFT JOIN reid_own_2 AS c2 ON q2 = c2.v
    ),
    reid_out AS MATERIALIZED (
      SELECT *
      FROM (
        SELECT "age", "sex", "id"
        FROM query_table('released') AS reid_source
        WHERE reid.main.reid_is_told_apart(row("age", "sex", "id"), 'age, sex, id')
      ) AS reid_source_rows(q1, q2, q3)
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
        q3 AS key
      FROM reid_out
      LEFT JOIN reid_out_1 AS c1 ON q1 = c1.v
      LEFT JOIN reid_out_2 AS c2 ON q2 = c2.v
    ),
    reid_pairs AS (
      SELECT own, out, count(*) AS records
      FROM (
        SELECT o.codes AS own, r.codes AS out
        FROM reid_own_coded AS o FULL
        JOIN reid_out_coded AS r ON o.key IS NOT DISTINCT FROM r.key
      )
      GROUP BY own, out
    )
    SELECT ['age', 'sex'] AS names, [true] AS keyed, [list(coalesce(own[1], -1)),
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
    FROM reid_pairs, (
      SELECT o.is_one AND r.is_one AND coalesce(reid.main.reid_same_key(o.kind, r.kind), true) AS is_right
      FROM (
        SELECT reid.main.reid_is_key(count(*), count(key), count(DISTINCT key), CASE WHEN count(*) - count(key) < 2 THEN mode(key) END) AS is_one,
          any_value(typeof(key)) AS kind
        FROM reid_own_coded
      ) AS o, (
        SELECT reid.main.reid_is_key(count(*), count(key), count(DISTINCT key), CASE WHEN count(*) - count(key) < 2 THEN mode(key) END) AS is_one,
          any_value(typeof(key)) AS kind
        FROM reid_out_coded
      ) AS r
    )
    WHERE is_right
  ) AS reid_counted, (
    SELECT 0::BIGINT
  ) AS reid_left_out(records_dropped)
) AS reid_result
