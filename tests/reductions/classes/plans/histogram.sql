-- histogram(people, ['age', 'sex'], None, None, 'value', None)
SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
FROM (
  SELECT class_size, count(*) AS classes, sum(class_size)::BIGINT AS records,
    NULL::BIGINT AS blank_records
  FROM (
    SELECT count(*) AS class_size
    FROM (
      SELECT reid_source."age", reid_source."sex"
      FROM query_table('people') AS reid_source
    ) AS reid_source_rows(q1, q2)
    GROUP BY q1, q2
  )
  GROUP BY class_size
) AS reid_counted
ORDER BY class_size ASC
