-- people(people, ['age', 'sex'], 'w', shares, 0, ['state'], 'value')
WITH reid_divided AS MATERIALIZED (
  SELECT *, true AS complete
  FROM (
    SELECT q1, q2, q3, q4, NULL AS entity, count(*) AS records
    FROM (
      SELECT reid_source."age", reid_source."sex", reid_source."w", reid_source."state"
      FROM query_table('people') AS reid_source
    ) AS reid_source_rows(q1, q2, q3, q4)
    GROUP BY q1, q2, q3, q4
  )
),
reid_taken AS (
  FROM (
    SELECT reid_source."age", reid_source."sex", reid_source."w", reid_source."state"
    FROM query_table('people') AS reid_source
  ) AS reid_source_rows(q1, q2, q3, q4)
),
reid_classes AS MATERIALIZED (
  SELECT q4, q1, q2, count(*) AS records, count(*) AS class_size, sum(CASE WHEN CASE WHEN try_cast(q3 AS DOUBLE) IS NULL
    AND regexp_full_match(q3::VARCHAR, '\s*[+-]?[0-9.]*,[0-9]+\s*') THEN error('weight must be a number for every record, got text with decimal commas; write numbers with a decimal point, replace(weight, '','', ''.'')::DOUBLE in a view')::DOUBLE
    ELSE try_cast(q3 AS DOUBLE) END >= 0 THEN CASE WHEN try_cast(q3 AS DOUBLE) IS NULL AND regexp_full_match(q3::VARCHAR, '\s*[+-]?[0-9.]*,[0-9]+\s*') THEN error('weight must be a number for every record, got text with decimal commas; write numbers with a decimal point, replace(weight, '','', ''.'')::DOUBLE in a view')::DOUBLE
    ELSE try_cast(q3 AS DOUBLE) END ELSE 'NaN'::DOUBLE END) AS weights
  FROM reid_taken
  GROUP BY q4, q1, q2
),
reid_drawn AS (
  SELECT *, hash(q1, q2, copy, 0::BIGINT)::DOUBLE / 18446744073709551616 AS draw_order
  FROM (
    SELECT *, unnest(range(records)) AS copy
    FROM reid_classes
  )
),
reid_sized AS (
  SELECT row_number() OVER () AS line, q4, kind, coalesce(first, 0) AS first,
    coalesce(second, 0) AS second, label, first_value, second_value, coalesce(class_size, 0) AS class_size,
    log_expected, coalesce(records, 0) AS records, weight, draw_order, texts
  FROM (
    SELECT q4, 'class size' AS kind, class_size, sum(records)::BIGINT AS records
    FROM reid_classes
    GROUP BY q4, class_size
    UNION ALL BY NAME
    FROM (
      SELECT q4, 'value' AS kind, 1::BIGINT AS first, 'age' AS label, CASE WHEN regexp_matches(regexp_replace(typeof(q1), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g'), '\b(UNION|VARIANT)\b') THEN error(('columns of a model must be of types whose values differ as texts, got ' || regexp_replace(typeof(q1), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g') || '; cast the column in a view')::VARCHAR)::VARCHAR
        ELSE q1::VARCHAR END AS first_value, sum(records)::BIGINT AS records,
        sum(weights) AS weight
      FROM reid_classes
      GROUP BY q4, q1
      UNION ALL
      SELECT q4, 'value' AS kind, 2::BIGINT AS first, 'sex' AS label, CASE WHEN regexp_matches(regexp_replace(typeof(q2), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g'), '\b(UNION|VARIANT)\b') THEN error(('columns of a model must be of types whose values differ as texts, got ' || regexp_replace(typeof(q2), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g') || '; cast the column in a view')::VARCHAR)::VARCHAR
        ELSE q2::VARCHAR END AS first_value, sum(records)::BIGINT AS records,
        sum(weights) AS weight
      FROM reid_classes
      GROUP BY q4, q2
    )
    UNION ALL BY NAME
    FROM (
      SELECT q4, 'pair' AS kind, 1::BIGINT AS first, 2::BIGINT AS second,
        q1::VARCHAR AS first_value, q2::VARCHAR AS second_value, sum(records)::BIGINT AS records,
        sum(weights) AS weight
      FROM reid_classes
      GROUP BY q4, q1, q2
    ) QUALIFY count(*) OVER (PARTITION BY q4, first, second) <= 20000
    UNION ALL BY NAME
    SELECT q4, 'drawn record' AS kind, class_size, weights / records AS weight,
      draw_order, [CASE WHEN regexp_matches(regexp_replace(typeof(q1), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g'), '\b(UNION|VARIANT)\b') THEN error(('columns of a model must be of types whose values differ as texts, got ' || regexp_replace(typeof(q1), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g') || '; cast the column in a view')::VARCHAR)::VARCHAR
      ELSE q1::VARCHAR END, CASE WHEN regexp_matches(regexp_replace(typeof(q2), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g'), '\b(UNION|VARIANT)\b') THEN error(('columns of a model must be of types whose values differ as texts, got ' || regexp_replace(typeof(q2), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g') || '; cast the column in a view')::VARCHAR)::VARCHAR
      ELSE q2::VARCHAR END] AS texts
    FROM (
      FROM reid_drawn QUALIFY row_number() OVER (PARTITION BY q4 ORDER BY draw_order ASC NULLS LAST) <= 10000
    )
    UNION ALL BY NAME
    SELECT reid_divided.*, reid_shares.*
    FROM (
      SELECT DISTINCT q4
      FROM reid_classes
    ) AS reid_divided, (
      SELECT 'marginal share' AS kind, coalesce(list_position(['age', 'sex'], translate(q1::VARCHAR, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')), 0)::BIGINT AS first,
        q1::VARCHAR AS label, q2::VARCHAR AS first_value, coalesce(try_cast(q3 AS DOUBLE), 'NaN'::DOUBLE) AS weight
      FROM (
        FROM (
          SELECT reid_source."column_name", reid_source."value", reid_source."share"
          FROM query_table('shares') AS reid_source
        ) AS reid_source_rows(q1, q2, q3)
      ) AS reid_given(q1, q2, q3)
    ) AS reid_shares
    UNION ALL BY NAME
    SELECT NULL::VARCHAR AS kind, NULL::BIGINT AS first, NULL::BIGINT AS second,
      NULL::VARCHAR AS label, NULL::VARCHAR AS first_value, NULL::VARCHAR AS second_value,
      NULL::BIGINT AS class_size, NULL::DOUBLE AS log_expected, NULL::BIGINT AS records,
      NULL::DOUBLE AS weight, NULL::DOUBLE AS draw_order, NULL::VARCHAR[] AS texts
    WHERE false
  )
),
reid_groups AS (
  SELECT q4, coalesce(sum(records) FILTER (NOT complete), 0)::BIGINT AS records_dropped
  FROM reid_divided
  GROUP BY q4
)
SELECT g.q4 AS "reid: state", line, kind, first, second, label, first_value,
  second_value, class_size, log_expected, coalesce(records, 0)::BIGINT AS records,
  weight, draw_order, texts, records_dropped, 'value' AS nulls
FROM reid_groups AS g
LEFT JOIN reid_sized AS s ON g.q4 IS NOT DISTINCT FROM s.q4
