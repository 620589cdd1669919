-- classes(people, ['age', 'sex'], None, 'value', None)
SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
FROM (
  SELECT q1 AS "age", q2 AS "sex", count(*) AS class_size, count(*) AS records
  FROM (
    SELECT reid_source."age", reid_source."sex"
    FROM query_table('people') AS reid_source
  ) AS reid_source_rows(q1, q2)
  GROUP BY q1, q2
) AS reid_counted
