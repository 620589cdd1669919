-- population_histogram(people, census, ['age', 'sex'], None, None, 'value', None)
SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
FROM (
  SELECT greatest(in_population, own) AS class_size, count(*) AS classes,
    sum(records)::BIGINT AS records, coalesce(sum(records) FILTER (in_population < own), 0)::BIGINT AS uncovered,
    sum(blank)::BIGINT AS blank_records
  FROM (
    SELECT s.records AS own, s.records, coalesce(p.records, 0) AS in_population,
      NULL::BIGINT AS blank
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
    ) s
    LEFT JOIN (
      SELECT 1 AS side, row_number() OVER () AS id, q1, q2, records
      FROM (
        SELECT q1, q2, count(*) AS records
        FROM (
          SELECT reid_source."age", reid_source."sex"
          FROM query_table('census') AS reid_source
        ) AS reid_source_rows(q1, q2)
        GROUP BY q1, q2
      )
    ) p ON s.q1 IS NOT DISTINCT FROM p.q1 AND s.q2 IS NOT DISTINCT FROM p.q2
  )
  GROUP BY ALL
) AS reid_counted
ORDER BY class_size ASC
