-- pairs(people, ['age', 'sex'], 'weight', census, 'drop')
SELECT reid_counted.*, reid_left_out.records_dropped, 'drop' AS nulls
FROM (
  WITH reid_taken AS (
    FROM (
      SELECT reid_source."age", reid_source."sex", reid_source."weight"
      FROM query_table('people') AS reid_source
      WHERE reid_source."age" IS NOT NULL AND reid_source."sex" IS NOT NULL AND reid_source."weight" IS NOT NULL
    ) AS reid_source_rows(q1, q2, q3)
  )
  SELECT row_number() OVER () AS cell, *
  FROM (
    SELECT 1::BIGINT AS first, 0::BIGINT AS second, 'age' AS label, CASE WHEN regexp_matches(regexp_replace(typeof(q1), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g'), '\b(UNION|VARIANT)\b') THEN error('columns of a model must be of types whose values differ as texts, got ' || typeof(q1) || '; cast the column in a view')::VARCHAR
      ELSE q1::VARCHAR END AS first_value, NULL::VARCHAR AS second_value,
      count(*) AS records, sum(CASE WHEN try_cast(q3 AS DOUBLE) >= 0 THEN q3::DOUBLE ELSE 'NaN'::DOUBLE END) AS mass
    FROM reid_taken
    GROUP BY q1
    UNION ALL
    SELECT 2::BIGINT AS first, 0::BIGINT AS second, 'sex' AS label, CASE WHEN regexp_matches(regexp_replace(typeof(q2), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g'), '\b(UNION|VARIANT)\b') THEN error('columns of a model must be of types whose values differ as texts, got ' || typeof(q2) || '; cast the column in a view')::VARCHAR
      ELSE q2::VARCHAR END AS first_value, NULL::VARCHAR AS second_value,
      count(*) AS records, sum(CASE WHEN try_cast(q3 AS DOUBLE) >= 0 THEN q3::DOUBLE ELSE 'NaN'::DOUBLE END) AS mass
    FROM reid_taken
    GROUP BY q2
    UNION ALL
    SELECT 1, 2, NULL, q1::VARCHAR, q2::VARCHAR, count(*) AS records, sum(CASE WHEN try_cast(q3 AS DOUBLE) >= 0 THEN q3::DOUBLE
      ELSE 'NaN'::DOUBLE END) AS mass
    FROM reid_taken
    GROUP BY q1, q2
    UNION ALL
    SELECT coalesce(list_position(['age', 'sex'], translate(q1::VARCHAR, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')), 0),
      -1, q1::VARCHAR, q2::VARCHAR, NULL, 0, coalesce(try_cast(q3 AS DOUBLE), 'NaN'::DOUBLE)
    FROM (
      FROM (
        SELECT reid_source."column_name", reid_source."value", reid_source."share"
        FROM query_table('census') AS reid_source
      ) AS reid_source_rows(q1, q2, q3)
    ) AS reid_given(q1, q2, q3)
    WHERE q2 IS NOT NULL
  )
) AS reid_counted, (
  SELECT count(*)
  FROM query_table('people') AS reid_source
  WHERE reid_source."age" IS NULL OR reid_source."sex" IS NULL OR reid_source."weight" IS NULL
) AS reid_left_out(records_dropped)
