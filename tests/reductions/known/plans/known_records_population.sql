-- known_records(people, '{"columns": ["age", "sex"], "told": ["state"]}', register, None, 'value', None, None)
SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
FROM (
  WITH reid_distinct AS MATERIALIZED (
    SELECT row_number() OVER () AS id, *
    FROM (
      SELECT q1, q2, count(*) FILTER (NOT other) AS records, coalesce(list(record) FILTER (NOT other), list_slice(list(record), 1, 0)) AS members,
        count(*) FILTER (other) AS people
      FROM (
        SELECT *, false AS other
        FROM (
          SELECT row_number() OVER () - 1, reid_source."age", reid_source."sex"
          FROM query_table('people') AS reid_source
        ) AS reid_source_rows(record, q1, q2)
        UNION ALL
        SELECT NULL, q1, q2, true
        FROM (
          SELECT reid_source."age", reid_source."sex"
          FROM query_table('register') AS reid_source
        ) AS reid_source_rows(q1, q2)
      )
      GROUP BY q1, q2
    )
  )
  SELECT id AS place, records, [coalesce(code1, 0), coalesce(code2, 0)] AS codes,
    []::VARCHAR[] AS texts, people, members, NULL::BIGINT[] AS near
  FROM reid_distinct
  LEFT JOIN (
    SELECT v1, row_number() OVER () AS code1
    FROM (
      SELECT DISTINCT q1 AS v1
      FROM reid_distinct
      WHERE q1 IS NOT NULL
    )
  ) ON q1 = v1
  LEFT JOIN (
    SELECT v2, row_number() OVER () AS code2
    FROM (
      SELECT DISTINCT q2 AS v2
      FROM reid_distinct
      WHERE q2 IS NOT NULL
    )
  ) ON q2 = v2
  WHERE (
    SELECT CASE WHEN count(*) * 600::DOUBLE > (regexp_extract(current_setting('memory_limit'), '^[0-9.]+')::DOUBLE * pow(1024, list_position(['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'], regexp_extract(current_setting('memory_limit'), '[A-Za-z]+$')) - 1)) THEN error(('memory_limit must be at least ' || (count(*) * 600::HUGEINT + 999999) // 1000000 || ' MB for ' || count(*) || ' distinct records, got ' || current_setting('memory_limit') || '; run SET memory_limit, or pass fewer or coarser columns')::VARCHAR)::BOOLEAN
      ELSE true END
    FROM reid_distinct
  )
) AS reid_counted
