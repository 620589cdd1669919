-- pairs(people, ['age', 'sex'], None, None, 'value')
SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
FROM (
  WITH reid_taken AS (
    FROM (
      SELECT reid_source."age", reid_source."sex"
      FROM query_table('people') AS reid_source
    ) AS reid_source_rows(q1, q2)
  )
  SELECT row_number() OVER () AS cell, *
  FROM (
    SELECT 1::BIGINT AS first, 0::BIGINT AS second, 'age' AS label, CASE WHEN regexp_matches(regexp_replace(typeof(q1), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g'), '\b(UNION|VARIANT)\b') THEN error('columns of a model must be of types whose values differ as texts, got ' || typeof(q1) || '; cast the column in a view')::VARCHAR
      ELSE q1::VARCHAR END AS first_value, NULL::VARCHAR AS second_value,
      count(*) AS records, count(*)::DOUBLE AS mass
    FROM reid_taken
    GROUP BY q1
    UNION ALL
    SELECT 2::BIGINT AS first, 0::BIGINT AS second, 'sex' AS label, CASE WHEN regexp_matches(regexp_replace(typeof(q2), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g'), '\b(UNION|VARIANT)\b') THEN error('columns of a model must be of types whose values differ as texts, got ' || typeof(q2) || '; cast the column in a view')::VARCHAR
      ELSE q2::VARCHAR END AS first_value, NULL::VARCHAR AS second_value,
      count(*) AS records, count(*)::DOUBLE AS mass
    FROM reid_taken
    GROUP BY q2
    UNION ALL
    SELECT 1, 2, NULL, q1::VARCHAR, q2::VARCHAR, count(*) AS records, count(*)::DOUBLE AS mass
    FROM reid_taken
    GROUP BY q1, q2
    UNION ALL
    SELECT 0, -2, NULL, NULL, NULL, coalesce(count_if(class_size = 1), 0)::BIGINT,
      0
    FROM (
      SELECT count(*) AS class_size
      FROM reid_taken
      GROUP BY q1, q2
    )
  )
) AS reid_counted
