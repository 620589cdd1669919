-- person_rows(visits, 'person', ['place', 'day'], 1024, 'value')
SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
FROM (
  WITH reid_records AS MATERIALIZED (
    SELECT min(position) AS position, q1, q2, q3
    FROM (
      SELECT row_number() OVER () - 1, reid_source."place", reid_source."day",
        reid_source."person"
      FROM query_table('visits') AS reid_source
    ) AS reid_source_rows(position, q1, q2, q3)
    GROUP BY q1, q2, q3
  )
  SELECT ['place', 'day'] AS names, [regexp_full_match(any_value(typeof(q1)), 'BOOLEAN|U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|BIGNUM|FLOAT|DOUBLE|DECIMAL.*|DATE|TIME.*|INTERVAL|ENUM.*'),
    regexp_full_match(any_value(typeof(q2)), 'BOOLEAN|U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|BIGNUM|FLOAT|DOUBLE|DECIMAL.*|DATE|TIME.*|INTERVAL|ENUM.*')] AS ordinal,
    [list(coalesce(code1, 0)::INTEGER), list(coalesce(code2, 0)::INTEGER)] AS codes,
    list(position) AS position, list(coalesce(code3, 0)) AS people, list(q3 ORDER BY position ASC) AS keys
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
  LEFT JOIN (
    SELECT v3, row_number() OVER (ORDER BY v3 ASC NULLS LAST) AS code3
    FROM (
      SELECT DISTINCT q3 AS v3
      FROM reid_records
      WHERE q3 IS NOT NULL
    )
  ) ON q3 = v3
  WHERE (
    SELECT CASE WHEN count(*)::HUGEINT * 72 > 1024::HUGEINT * 1000000 THEN error(('memory_mb must be at least ' || (count(*)::HUGEINT * 72 + 999999) // 1000000 || ' for ' || count(*) || ' records of 2 columns' || ', got 1024; pass more, fewer columns, or a ' || 'smaller sample')::VARCHAR)::BOOLEAN
      ELSE true END
    FROM reid_records
  )
) AS reid_counted
