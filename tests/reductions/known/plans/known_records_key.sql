-- known_records(people, '{"columns": ["age"]}', None, 'id', 'drop', None, None)
SELECT reid_counted.*, reid_left_out.records_dropped, 'drop' AS nulls
FROM (
  SELECT reid_answer_of.*
  FROM (
    WITH reid_distinct AS MATERIALIZED (
      SELECT row_number() OVER () AS id, *
      FROM (
        SELECT q1, count(*) AS records, list(record) AS members, -1::BIGINT AS people
        FROM (
          SELECT "id", reid_source."age"
          FROM query_table('people') AS reid_source
        ) AS reid_source_rows(record, q1)
        WHERE q1 IS NOT NULL
        GROUP BY q1
      )
    )
    SELECT id AS place, records, [coalesce(code1, 0)] AS codes, []::VARCHAR[] AS texts,
      people, members, NULL::BIGINT[] AS near
    FROM reid_distinct
    LEFT JOIN (
      SELECT v1, row_number() OVER () AS code1
      FROM (
        SELECT DISTINCT q1 AS v1
        FROM reid_distinct
        WHERE q1 IS NOT NULL
      )
    ) ON q1 = v1
    WHERE (
      SELECT CASE WHEN count(*) * 600::DOUBLE > (regexp_extract(current_setting('memory_limit'), '^[0-9.]+')::DOUBLE * pow(1024, list_position(['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'], regexp_extract(current_setting('memory_limit'), '[A-Za-z]+$')) - 1)) THEN error(('memory_limit must be at least ' || (count(*) * 600::HUGEINT + 999999) // 1000000 || ' MB for ' || count(*) || ' distinct records, got ' || current_setting('memory_limit') || '; run SET memory_limit, or pass fewer or coarser columns')::VARCHAR)::BOOLEAN
        ELSE true END
      FROM reid_distinct
    )
  ) AS reid_answer_of, (
    SELECT CASE WHEN count(DISTINCT q1) + least(1, count(*) - count(q1)) < count(*) THEN error('key must differ between records, got a value that occurs more than once; pass a column whose values are distinct, or none')::BOOLEAN
      ELSE true END AS reid_is_key
    FROM (
      SELECT reid_source."id", reid_source."age"
      FROM query_table('people') AS reid_source
    ) AS reid_source_rows(q1, q2)
    WHERE q2 IS NOT NULL
  )
  WHERE reid_is_key
) AS reid_counted, (
  SELECT count(*)
  FROM query_table('people') AS reid_source
  WHERE reid_source."age" IS NULL
) AS reid_left_out(records_dropped)
