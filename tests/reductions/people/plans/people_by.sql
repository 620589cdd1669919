-- people(people, ['age', 'sex'], 'w', shares, 0, ['state'], 'value')
WITH reid_divided AS MATERIALIZED (
  SELECT *, true AS kept
  FROM (
    SELECT q1, q2, q3, q4, NULL AS entity, count(*) AS records
    FROM (
      SELECT reid_source."age", reid_source."sex", reid_source."w", reid_source."state"
      FROM query_table('people') AS reid_source
    ) AS reid_source_rows(q1, q2, q3, q4)
    GROUP BY ALL
  )
),
reid_taken AS (
  FROM (
    SELECT reid_source."age", reid_source."sex", reid_source."w", reid_source."state"
    FROM query_table('people') AS reid_source
  ) AS reid_source_rows(q1, q2, q3, q4)
),
reid_classes AS MATERIALIZED (
  SELECT q4, q1, q2, count(*) AS records, count(*) AS class_size, sum(CASE WHEN try_cast(q3 AS DOUBLE) >= 0 THEN q3::DOUBLE
    ELSE 'NaN'::DOUBLE END) AS weights
  FROM reid_taken
  GROUP BY q4, q1, q2
),
reid_sized AS (
  SELECT row_number() OVER () AS line, *
  FROM (
    SELECT q4, first, second, label, first_value, second_value, records, mass,
      NULL::VARCHAR[] AS texts
    FROM (
      SELECT *, count(*) OVER (PARTITION BY q4, first, second) AS reid_lines
      FROM (
        SELECT q4, 1::BIGINT AS first, 0::BIGINT AS second, 'age' AS label,
          CASE WHEN regexp_matches(regexp_replace(typeof(q1), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g'), '\b(UNION|VARIANT)\b') THEN error('columns of a model must be of types whose values differ as texts, got ' || typeof(q1) || '; cast the column in a view')::VARCHAR
          ELSE q1::VARCHAR END AS first_value, NULL::VARCHAR AS second_value,
          sum(records)::BIGINT AS records, sum(weights) AS mass
        FROM reid_classes
        GROUP BY q4, q1
        UNION ALL
        SELECT q4, 2::BIGINT AS first, 0::BIGINT AS second, 'sex' AS label,
          CASE WHEN regexp_matches(regexp_replace(typeof(q2), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g'), '\b(UNION|VARIANT)\b') THEN error('columns of a model must be of types whose values differ as texts, got ' || typeof(q2) || '; cast the column in a view')::VARCHAR
          ELSE q2::VARCHAR END AS first_value, NULL::VARCHAR AS second_value,
          sum(records)::BIGINT AS records, sum(weights) AS mass
        FROM reid_classes
        GROUP BY q4, q2
        UNION ALL
        SELECT q4, 1, 2, NULL, q1::VARCHAR, q2::VARCHAR, sum(records)::BIGINT AS records,
          sum(weights) AS mass
        FROM reid_classes
        GROUP BY q4, q1, q2
        UNION ALL
        SELECT reid_divided.*, reid_shares.*
        FROM (
          SELECT DISTINCT q4
          FROM reid_taken
        ) AS reid_divided, (
          SELECT coalesce(list_position(['age', 'sex'], translate(q1::VARCHAR, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')), 0),
            -1, q1::VARCHAR, q2::VARCHAR, NULL, 0, coalesce(try_cast(q3 AS DOUBLE), 'NaN'::DOUBLE)
          FROM (
            FROM (
              SELECT reid_source."column_name", reid_source."value", reid_source."share"
              FROM query_table('shares') AS reid_source
            ) AS reid_source_rows(q1, q2, q3)
          ) AS reid_given(q1, q2, q3)
        ) AS reid_shares
      )
    )
    WHERE second <= 0 OR reid_lines <= 20000
    UNION ALL
    SELECT q4, 0, -3, NULL, NULL, NULL, class_size, sum(records)::DOUBLE / class_size,
      NULL
    FROM reid_classes
    GROUP BY q4, class_size
    UNION ALL
    SELECT q4, 0, -4, NULL, NULL, NULL, class_size, mass, texts
    FROM (
      SELECT q4, class_size, [CASE WHEN regexp_matches(regexp_replace(typeof(q1), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g'), '\b(UNION|VARIANT)\b') THEN error('columns of a model must be of types whose values differ as texts, got ' || typeof(q1) || '; cast the column in a view')::VARCHAR
        ELSE q1::VARCHAR END, CASE WHEN regexp_matches(regexp_replace(typeof(q2), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g'), '\b(UNION|VARIANT)\b') THEN error('columns of a model must be of types whose values differ as texts, got ' || typeof(q2) || '; cast the column in a view')::VARCHAR
        ELSE q2::VARCHAR END] AS texts, mass
      FROM (
        SELECT *, hash(q1, q2, copy, 0::BIGINT)::DOUBLE / 18446744073709551616 AS mass
        FROM (
          SELECT *, unnest(range(records)) AS copy
          FROM reid_classes
        ) QUALIFY row_number() OVER (PARTITION BY q4 ORDER BY mass ASC NULLS LAST) <= 10000
      )
    )
  )
),
reid_groups AS (
  SELECT q4, coalesce(sum(records) FILTER (NOT kept), 0)::BIGINT AS records_dropped
  FROM reid_divided
  GROUP BY q4
)
SELECT g.q4 AS "reid: state", line, first, second, label, first_value, second_value,
  coalesce(records, 0)::BIGINT AS records, mass, texts, records_dropped, 'value' AS nulls
FROM reid_groups AS g
LEFT JOIN reid_sized AS s ON g.q4 IS NOT DISTINCT FROM s.q4
