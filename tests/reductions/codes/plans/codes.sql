-- codes(people, ['age', 'sex'], 1024, 'value', None)
SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
FROM (
  WITH reid_records AS MATERIALIZED (
    SELECT *
    FROM (
      SELECT row_number() OVER () - 1, reid_source."age", reid_source."sex"
      FROM query_table('people') AS reid_source
    ) AS reid_source_rows(position, q1, q2)
    WHERE (
      SELECT CASE WHEN count(*)::HUGEINT * 64 > 1024::HUGEINT * 1000000 THEN error(('memory_mb must be at least ' || (count(*)::HUGEINT * 64 + 999999) // 1000000 || ' for ' || count(*) || ' records of 2 columns' || ', got 1024; pass more, fewer columns, or a ' || 'smaller sample')::VARCHAR)::BOOLEAN
        ELSE true END
      FROM (
        SELECT reid_source."age", reid_source."sex"
        FROM query_table('people') AS reid_source
      ) AS reid_source_rows(q1, q2)
    )
  )
  SELECT ['age', 'sex'] AS names, [regexp_full_match(any_value(typeof(q1)), 'BOOLEAN|U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|BIGNUM|FLOAT|DOUBLE|DECIMAL.*|DATE|TIME.*|INTERVAL|ENUM.*'),
    regexp_full_match(any_value(typeof(q2)), 'BOOLEAN|U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|BIGNUM|FLOAT|DOUBLE|DECIMAL.*|DATE|TIME.*|INTERVAL|ENUM.*')] AS ordinal,
    [list(coalesce(code1, 0)::INTEGER), list(coalesce(code2, 0)::INTEGER)] AS codes,
    list(position) AS position, []::BIGINT[] AS people, list(position ORDER BY position ASC) AS keys
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
) AS reid_counted
