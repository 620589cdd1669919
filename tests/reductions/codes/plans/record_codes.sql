-- record_codes(people, ['age', 'sex'], 'id', 'drop', None)
SELECT reid_counted.*, reid_left_out.records_dropped, 'drop' AS nulls
FROM (
  WITH reid_records AS MATERIALIZED (
    SELECT *
    FROM (
      SELECT row_number() OVER () - 1, reid_source."age", reid_source."sex",
        reid_source."id"
      FROM query_table('people') AS reid_source
    ) AS reid_source_rows(position, q1, q2, q3)
    WHERE (
      SELECT CASE WHEN count(*) * 64::HUGEINT > least(9e18, regexp_extract(current_setting('memory_limit'), '^[0-9.]+')::DOUBLE * pow(1024, list_position(['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'], regexp_extract(current_setting('memory_limit'), '[A-Za-z]+$')) - 1))::BIGINT THEN error(('memory_limit must be at least ' || (count(*) * 64::HUGEINT + 999999) // 1000000 || ' MB for ' || count(*) || ' records of 2 columns' || ', got ' || current_setting('memory_limit') || '; raise it (SET memory_limit, --memory-limit or REID_SQL_MEMORY_LIMIT), or pass fewer or coarser columns')::VARCHAR)::BOOLEAN
        ELSE true END
      FROM (
        SELECT reid_source."age", reid_source."sex"
        FROM query_table('people') AS reid_source
        WHERE reid_source."age" IS NOT NULL AND reid_source."sex" IS NOT NULL
      ) AS reid_source_rows(q1, q2)
    ) AND q1 IS NOT NULL AND q2 IS NOT NULL
  )
  SELECT ['age', 'sex'] AS names, [regexp_full_match(any_value(typeof(q1)), 'BOOLEAN|U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|BIGNUM|FLOAT|DOUBLE|DECIMAL.*|DATE|TIME.*|INTERVAL|ENUM.*'),
    regexp_full_match(any_value(typeof(q2)), 'BOOLEAN|U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|BIGNUM|FLOAT|DOUBLE|DECIMAL.*|DATE|TIME.*|INTERVAL|ENUM.*')] AS ordinal,
    [list(coalesce(code1, 0)::INTEGER), list(coalesce(code2, 0)::INTEGER)] AS codes,
    list(position) AS position, [least(9e18, regexp_extract(current_setting('memory_limit'), '^[0-9.]+')::DOUBLE * pow(1024, list_position(['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'], regexp_extract(current_setting('memory_limit'), '[A-Za-z]+$')) - 1))::BIGINT] AS memory,
    []::BIGINT[] AS people, CASE WHEN CASE WHEN count(DISTINCT q3) + least(1, count(*) - count(q3)) < count(*) THEN error('key must differ between records, got a value that occurs more than once; pass a column whose values are distinct, or none')::BOOLEAN
    ELSE true END THEN list(q3 ORDER BY position ASC) END AS keys
  FROM reid_records
  LEFT JOIN (
    SELECT v1, row_number() OVER (ORDER BY v1 ASC NULLS LAST) AS code1
    FROM (
      SELECT DISTINCT q1 AS v1
      FROM reid_records
      WHERE q1 IS NOT NULL
    )
  ) ON q1 = v1
  LEFT JOIN (
    SELECT v2, row_number() OVER (ORDER BY v2 ASC NULLS LAST) AS code2
    FROM (
      SELECT DISTINCT q2 AS v2
      FROM reid_records
      WHERE q2 IS NOT NULL
    )
  ) ON q2 = v2
) AS reid_counted, (
  SELECT count(*)
  FROM query_table('people') AS reid_source
  WHERE reid_source."age" IS NULL OR reid_source."sex" IS NULL
) AS reid_left_out(records_dropped)
