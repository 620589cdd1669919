-- people(people, ['age', 'sex'], None, None, 0, None, 'value')
SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
FROM (
  WITH reid_taken AS (
    FROM (
      SELECT reid_source."age", reid_source."sex"
      FROM query_table('people') AS reid_source
    ) AS reid_source_rows(q1, q2)
  ),
  reid_classes AS MATERIALIZED (
    SELECT q1, q2, count(*) AS records, count(*) AS class_size
    FROM reid_taken
    GROUP BY q1, q2
  ),
  reid_few AS MATERIALIZED (
    FROM reid_classes
    LIMIT 32768
  )
  SELECT row_number() OVER () AS line, *
  FROM (
    SELECT first, second, label, first_value, second_value, records, mass,
      NULL::VARCHAR[] AS texts
    FROM (
      SELECT *, count(*) OVER (PARTITION BY first, second) AS reid_lines
      FROM (
        SELECT 1::BIGINT AS first, 0::BIGINT AS second, 'age' AS label, CASE WHEN regexp_matches(regexp_replace(typeof(q1), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g'), '\b(UNION|VARIANT)\b') THEN error('columns of a model must be of types whose values differ as texts, got ' || typeof(q1) || '; cast the column in a view')::VARCHAR
          ELSE q1::VARCHAR END AS first_value, NULL::VARCHAR AS second_value,
          sum(records)::BIGINT AS records, sum(records)::DOUBLE AS mass
        FROM reid_classes
        GROUP BY q1
        UNION ALL
        SELECT 2::BIGINT AS first, 0::BIGINT AS second, 'sex' AS label, CASE WHEN regexp_matches(regexp_replace(typeof(q2), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g'), '\b(UNION|VARIANT)\b') THEN error('columns of a model must be of types whose values differ as texts, got ' || typeof(q2) || '; cast the column in a view')::VARCHAR
          ELSE q2::VARCHAR END AS first_value, NULL::VARCHAR AS second_value,
          sum(records)::BIGINT AS records, sum(records)::DOUBLE AS mass
        FROM reid_classes
        GROUP BY q2
        UNION ALL
        SELECT 1, 2, NULL, q1::VARCHAR, q2::VARCHAR, sum(records)::BIGINT AS records,
          sum(records)::DOUBLE AS mass
        FROM reid_classes
        WHERE (
          SELECT count(*) <= 20000
          FROM (
            SELECT 1
            FROM reid_few
            GROUP BY q1, q2
          )
        )
        GROUP BY q1, q2
      )
    )
    WHERE second <= 0 OR reid_lines <= 20000
    UNION ALL
    SELECT 0, -3, NULL, NULL, NULL, class_size, sum(records)::DOUBLE / class_size,
      NULL
    FROM reid_classes
    GROUP BY class_size
    UNION ALL
    SELECT 0, -4, NULL, NULL, NULL, class_size, mass, texts
    FROM (
      SELECT class_size, [CASE WHEN regexp_matches(regexp_replace(typeof(q1), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g'), '\b(UNION|VARIANT)\b') THEN error('columns of a model must be of types whose values differ as texts, got ' || typeof(q1) || '; cast the column in a view')::VARCHAR
        ELSE q1::VARCHAR END, CASE WHEN regexp_matches(regexp_replace(typeof(q2), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g'), '\b(UNION|VARIANT)\b') THEN error('columns of a model must be of types whose values differ as texts, got ' || typeof(q2) || '; cast the column in a view')::VARCHAR
        ELSE q2::VARCHAR END] AS texts, mass
      FROM (
        SELECT *, hash(q1, q2, copy, 0::BIGINT)::DOUBLE / 18446744073709551616 AS mass
        FROM (
          SELECT *, unnest(range(records)) AS copy
          FROM reid_classes
        )
        ORDER BY mass ASC NULLS LAST
        LIMIT 10000
      )
    )
  )
) AS reid_counted
