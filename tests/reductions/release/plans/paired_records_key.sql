-- paired_records(original, released, ['age', 'sex'], 'id', None)
SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
FROM (
  WITH reid_rows_of_original AS MATERIALIZED (
    SELECT *
    FROM (
      SELECT reid_source."age", reid_source."sex", reid_source."id"
      FROM query_table('original') AS reid_source
    ) AS reid_source_rows(q1, q2, q3)
  ),
  reid_rows_of_original_1 AS MATERIALIZED (
    SELECT v, row_number() OVER () AS code
    FROM (
      SELECT DISTINCT q1 AS v
      FROM reid_rows_of_original
    )
    WHERE v IS NOT NULL
  ),
  reid_rows_of_original_2 AS MATERIALIZED (
    SELECT v, row_number() OVER () AS code
    FROM (
      SELECT DISTINCT q2 AS v
      FROM reid_rows_of_original
    )
    WHERE v IS NOT NULL
  ),
  reid_rows_of_released AS MATERIALIZED (
    SELECT *
    FROM (
      SELECT reid_source."age", reid_source."sex", reid_source."id"
      FROM query_table('released') AS reid_source
    ) AS reid_source_rows(q1, q2, q3)
  ),
  reid_rows_of_released_1 AS MATERIALIZED (
    SELECT v, row_number() OVER () AS code
    FROM (
      SELECT DISTINCT q1 AS v
      FROM reid_rows_of_released
    )
    WHERE v IS NOT NULL
  ),
  reid_rows_of_released_2 AS MATERIALIZED (
    SELECT v, row_number() OVER () AS code
    FROM (
      SELECT DISTINCT q2 AS v
      FROM reid_rows_of_released
    )
    WHERE v IS NOT NULL
  ),
  reid_keys AS MATERIALIZED (
    SELECT CASE WHEN true AND true THEN o.is_key AND r.is_key AND coalesce(error(reid_refusal('keys', o.kind, r.kind))::BOOLEAN, true) END AS has_keys
    FROM (
      SELECT CASE WHEN count(DISTINCT q3) + least(1, count(*) - count(q3)) < count(*) THEN error('key must differ between records, got a value that occurs more than once; pass a column whose values are distinct, or none')::BOOLEAN
        ELSE true END AS is_key, any_value(typeof(q3)) AS kind
      FROM reid_rows_of_original
    ) AS o, (
      SELECT CASE WHEN count(DISTINCT q3) + least(1, count(*) - count(q3)) < count(*) THEN error('key must differ between records, got a value that occurs more than once; pass a column whose values are distinct, or none')::BOOLEAN
        ELSE true END AS is_key, any_value(typeof(q3)) AS kind
      FROM reid_rows_of_released
    ) AS r
  ),
  reid_rows_of_original_encoded AS (
    SELECT [coalesce(c1.code, 0)::INTEGER, coalesce(c2.code, 0)::INTEGER] AS codes,
      q3 AS key
    FROM reid_rows_of_original
    LEFT JOIN reid_rows_of_original_1 AS c1 ON q1 = c1.v
    LEFT JOIN reid_rows_of_original_2 AS c2 ON q2 = c2.v
    WHERE (
      SELECT has_keys
      FROM reid_keys
    )
  ),
  reid_rows_of_released_encoded AS (
    SELECT [coalesce(c1.code, 0)::INTEGER, coalesce(c2.code, 0)::INTEGER] AS codes,
      q3 AS key
    FROM reid_rows_of_released
    LEFT JOIN reid_rows_of_released_1 AS c1 ON q1 = c1.v
    LEFT JOIN reid_rows_of_released_2 AS c2 ON q2 = c2.v
    WHERE (
      SELECT has_keys
      FROM reid_keys
    )
  ),
  reid_pairs AS (
    SELECT original, released, count(*) AS records
    FROM (
      SELECT o.codes AS original, r.codes AS released
      FROM reid_rows_of_original_encoded AS o FULL
      JOIN reid_rows_of_released_encoded AS r ON o.key IS NOT DISTINCT FROM r.key
    )
    GROUP BY original, released
  )
  SELECT ['age', 'sex'] AS names, [true] AS keyed, [list(coalesce(original[1], -1)),
    list(coalesce(original[2], -1))] AS original_codes, [list(coalesce(released[1], -1)),
    list(coalesce(released[2], -1))] AS released_codes, coalesce(list(records), []::BIGINT[]) AS records,
    [(
    SELECT coalesce(list(v::VARCHAR ORDER BY code ASC NULLS LAST), []::VARCHAR[])
    FROM reid_rows_of_original_1
  ), (
    SELECT coalesce(list(v::VARCHAR ORDER BY code ASC NULLS LAST), []::VARCHAR[])
    FROM reid_rows_of_original_2
  )] AS original_values, [(
    SELECT coalesce(list(v::VARCHAR ORDER BY code ASC NULLS LAST), []::VARCHAR[])
    FROM reid_rows_of_released_1
  ), (
    SELECT coalesce(list(v::VARCHAR ORDER BY code ASC NULLS LAST), []::VARCHAR[])
    FROM reid_rows_of_released_2
  )] AS released_values, NULL::BIGINT[] AS within, NULL::BIGINT[] AS is_within
  FROM reid_pairs
) AS reid_counted
