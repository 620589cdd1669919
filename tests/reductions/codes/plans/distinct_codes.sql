-- distinct_codes(people, ['age', 'sex'], 1024, 'value', None)
SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
FROM (
  WITH reid_distinct AS MATERIALIZED (
    FROM (
      SELECT 0 AS side, row_number() OVER () AS id, q1, q2, records
      FROM (
        SELECT q1, q2, count(*) AS records
        FROM (
          SELECT reid_source."age", reid_source."sex"
          FROM query_table('people') AS reid_source
        ) AS reid_source_rows(q1, q2)
        GROUP BY q1, q2
      )
    )
  )
  SELECT ['age', 'sex'] AS names, [list(coalesce(code1, 0)::INTEGER), list(coalesce(code2, 0)::INTEGER)] AS codes,
    list(records)::BIGINT[] AS records, []::BIGINT[] AS people
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
    SELECT CASE WHEN count(*)::HUGEINT * 24 > 1024::HUGEINT * 1000000 THEN error(('memory_mb must be at least ' || (count(*)::HUGEINT * 24 + 999999) // 1000000 || ' for ' || count(*) || ' distinct records of 2 columns' || ', got 1024; pass more, fewer columns, or a ' || 'smaller sample')::VARCHAR)::BOOLEAN
      ELSE true END
    FROM reid_distinct
  )
) AS reid_counted
