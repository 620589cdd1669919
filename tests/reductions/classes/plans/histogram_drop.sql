-- histogram(people, ['age', 'sex'], None, None, 'drop', None)
SELECT reid_counted.*, reid_left_out.records_dropped, 'drop' AS nulls
FROM (
  SELECT class_size, count(*) AS classes, sum(class_size)::BIGINT AS records,
    NULL::BIGINT AS blank_records
  FROM (
    SELECT count(*) AS class_size
    FROM (
      SELECT reid_source."age", reid_source."sex"
      FROM query_table('people') AS reid_source
      WHERE reid_source."age" IS NOT NULL AND reid_source."sex" IS NOT NULL
    ) AS reid_source_rows(q1, q2)
    GROUP BY q1, q2
  )
  GROUP BY class_size
) AS reid_counted, (
  SELECT count(*)
  FROM query_table('people') AS reid_source
  WHERE reid_source."age" IS NULL OR reid_source."sex" IS NULL
) AS reid_left_out(records_dropped)
ORDER BY class_size ASC
