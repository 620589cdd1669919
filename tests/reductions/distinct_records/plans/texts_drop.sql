-- texts(people, ['age', 'sex'], None, 'drop')
SELECT reid_counted.*, reid_left_out.records_dropped, 'drop' AS nulls
FROM (
  SELECT 0::BIGINT AS line, ['age', 'sex'] AS texts, 0::BIGINT AS records
  UNION ALL
  SELECT row_number() OVER () AS line, [CASE WHEN regexp_matches(regexp_replace(typeof(q1), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g'), '\b(UNION|VARIANT)\b') THEN error(('columns of a model must be of types whose values differ as texts, got ' || regexp_replace(typeof(q1), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g') || '; cast the column in a view')::VARCHAR)::VARCHAR
    ELSE q1::VARCHAR END, CASE WHEN regexp_matches(regexp_replace(typeof(q2), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g'), '\b(UNION|VARIANT)\b') THEN error(('columns of a model must be of types whose values differ as texts, got ' || regexp_replace(typeof(q2), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g') || '; cast the column in a view')::VARCHAR)::VARCHAR
    ELSE q2::VARCHAR END] AS texts, records
  FROM (
    SELECT q1, q2, count(*) AS records
    FROM (
      SELECT reid_source."age", reid_source."sex"
      FROM query_table('people') AS reid_source
      WHERE reid_source."age" IS NOT NULL AND reid_source."sex" IS NOT NULL
    ) AS reid_source_rows(q1, q2)
    GROUP BY q1, q2
  )
) AS reid_counted, (
  SELECT count(*)
  FROM query_table('people') AS reid_source
  WHERE reid_source."age" IS NULL OR reid_source."sex" IS NULL
) AS reid_left_out(records_dropped)
