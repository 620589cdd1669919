-- texts(people, ['age', 'sex'], ['state'], 'value')
WITH reid_divided AS MATERIALIZED (
  SELECT *, true AS complete
  FROM (
    SELECT q1, q2, q3, NULL AS entity, count(*) AS records
    FROM (
      SELECT reid_source."age", reid_source."sex", reid_source."state"
      FROM query_table('people') AS reid_source
    ) AS reid_source_rows(q1, q2, q3)
    GROUP BY q1, q2, q3
  )
),
reid_sized AS (
  SELECT DISTINCT q3, 0::BIGINT AS line, ['age', 'sex'] AS texts, 0::BIGINT AS records
  FROM reid_divided
  WHERE complete
  UNION ALL
  SELECT q3, row_number() OVER () AS line, [CASE WHEN regexp_matches(regexp_replace(typeof(q1), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g'), '\b(UNION|VARIANT)\b') THEN error(('columns of a model must be of types whose values differ as texts, got ' || regexp_replace(typeof(q1), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g') || '; cast the column in a view')::VARCHAR)::VARCHAR
    ELSE q1::VARCHAR END, CASE WHEN regexp_matches(regexp_replace(typeof(q2), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g'), '\b(UNION|VARIANT)\b') THEN error(('columns of a model must be of types whose values differ as texts, got ' || regexp_replace(typeof(q2), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g') || '; cast the column in a view')::VARCHAR)::VARCHAR
    ELSE q2::VARCHAR END] AS texts, records
  FROM reid_divided
  WHERE complete
),
reid_groups AS (
  SELECT q3, coalesce(sum(records) FILTER (NOT complete), 0)::BIGINT AS records_dropped
  FROM reid_divided
  GROUP BY q3
)
SELECT g.q3 AS "reid: state", line, texts, coalesce(s.records, 0)::BIGINT AS records,
  records_dropped, 'value' AS nulls
FROM reid_groups AS g
LEFT JOIN reid_sized AS s ON g.q3 IS NOT DISTINCT FROM s.q3
