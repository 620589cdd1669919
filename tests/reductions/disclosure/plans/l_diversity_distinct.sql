-- l_diversity(people, ['age', 'sex'], 'diagnosis', 'distinct', 3, None, 'value')
SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
FROM (
  SELECT class_size, value, sum(classes)::BIGINT AS classes
  FROM (
    WITH reid_cells AS MATERIALIZED (
      SELECT q1, q2, q3 AS s, count(*) AS n
      FROM (
        SELECT reid_source."age", reid_source."sex", reid_source."diagnosis"
        FROM query_table('people') AS reid_source
      ) AS reid_source_rows(q1, q2, q3)
      WHERE CASE WHEN regexp_matches(regexp_replace(typeof(q3), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g'), '\bVARIANT([^\w ]|$)') THEN error('sensitive must be a column of values of one type, got ''diagnosis'' of type VARIANT; cast it in a view to the type of its values, or to JSON')::BOOLEAN
        ELSE true END
      GROUP BY q1, q2, q3
    )
    FROM (
      SELECT sum(n)::BIGINT AS class_size, 1 AS classes, count(*)::DOUBLE AS value
      FROM reid_cells
      GROUP BY q1, q2
    )
  )
  GROUP BY class_size, value
) AS reid_counted
