-- evidence(people, ['age', 'sex'], 'pitman', None, 'value')
SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
FROM (
  WITH reid_classes AS (
    SELECT q1, q2, count(*) AS records, count(*) AS class_size
    FROM (
      SELECT reid_source."age", reid_source."sex"
      FROM query_table('people') AS reid_source
    ) AS reid_source_rows(q1, q2)
    GROUP BY q1, q2
  )
  SELECT row_number() OVER () AS place, *
  FROM (
    SELECT class_size, log_expected, classes, 0::BIGINT AS first, 0::BIGINT AS second,
      NULL::VARCHAR AS label, NULL::VARCHAR AS first_value, NULL::VARCHAR AS second_value,
      0::BIGINT AS records, 0::DOUBLE AS mass, NULL::VARCHAR[] AS texts
    FROM (
      SELECT class_size, NULL::DOUBLE AS log_expected, sum(records)::DOUBLE / class_size AS classes
      FROM reid_classes
      GROUP BY class_size
    )
  )
) AS reid_counted
