-- evidence(people, ['age', 'sex'], 'all', None, 'value')
SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
FROM (
  WITH reid_classes AS MATERIALIZED (
    SELECT q1, q2, count(*) AS records, count(*) AS class_size
    FROM (
      SELECT reid_source."age", reid_source."sex"
      FROM query_table('people') AS reid_source
    ) AS reid_source_rows(q1, q2)
    GROUP BY q1, q2
  ),
  reid_drawn AS MATERIALIZED (
    SELECT *, hash(q1, q2, copy, 0::BIGINT)::DOUBLE / 18446744073709551616 AS draw_order
    FROM (
      SELECT *, unnest(range(records)) AS copy
      FROM reid_classes
    )
    WHERE draw_order * (
      SELECT sum(records)
      FROM reid_classes
    ) <= 100000
  ),
  reid_sized AS (
    SELECT row_number() OVER () AS line, kind, coalesce(first, 0) AS first,
      coalesce(second, 0) AS second, label, first_value, second_value, coalesce(class_size, 0) AS class_size,
      log_expected, coalesce(records, 0) AS records, weight, draw_order, texts
    FROM (
      SELECT 'class size' AS kind, class_size, round(log_expected * 1000) / 1000 AS log_expected,
        sum(records)::BIGINT AS records
      FROM (
        SELECT reid_classes.*, list_sum(list_sort([m1, m2])) - 1 * total AS log_expected
        FROM reid_classes CROSS
        JOIN (
          SELECT ln(sum(records)) AS total
          FROM reid_classes
        )
        JOIN (
          SELECT q1 AS v1, ln(sum(records)) AS m1
          FROM reid_classes
          GROUP BY q1
        ) AS reid_values_1 ON reid_classes.q1 IS NOT DISTINCT FROM reid_values_1.v1
        JOIN (
          SELECT q2 AS v2, ln(sum(records)) AS m2
          FROM reid_classes
          GROUP BY q2
        ) AS reid_values_2 ON reid_classes.q2 IS NOT DISTINCT FROM reid_values_2.v2
      )
      GROUP BY class_size, round(log_expected * 1000)
      UNION ALL BY NAME
      FROM (
        SELECT 'value' AS kind, 1::BIGINT AS first, 'age' AS label, CASE WHEN regexp_matches(regexp_replace(typeof(q1), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g'), '\b(UNION|VARIANT)\b') THEN error(('columns of a model must be of types whose values differ as texts, got ' || regexp_replace(typeof(q1), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g') || '; cast the column in a view')::VARCHAR)::VARCHAR
          ELSE q1::VARCHAR END AS first_value, sum(records)::BIGINT AS records,
          sum(records)::DOUBLE AS weight
        FROM reid_classes
        GROUP BY q1
        UNION ALL
        SELECT 'value' AS kind, 2::BIGINT AS first, 'sex' AS label, CASE WHEN regexp_matches(regexp_replace(typeof(q2), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g'), '\b(UNION|VARIANT)\b') THEN error(('columns of a model must be of types whose values differ as texts, got ' || regexp_replace(typeof(q2), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g') || '; cast the column in a view')::VARCHAR)::VARCHAR
          ELSE q2::VARCHAR END AS first_value, sum(records)::BIGINT AS records,
          sum(records)::DOUBLE AS weight
        FROM reid_classes
        GROUP BY q2
      )
      UNION ALL BY NAME
      FROM (
        SELECT 'pair' AS kind, 1::BIGINT AS first, 2::BIGINT AS second, q1::VARCHAR AS first_value,
          q2::VARCHAR AS second_value, sum(records)::BIGINT AS records, sum(records)::DOUBLE AS weight
        FROM reid_classes
        GROUP BY q1, q2
      )
      UNION ALL BY NAME
      SELECT 'drawn record' AS kind, class_size, draw_order, [CASE WHEN regexp_matches(regexp_replace(typeof(q1), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g'), '\b(UNION|VARIANT)\b') THEN error(('columns of a model must be of types whose values differ as texts, got ' || regexp_replace(typeof(q1), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g') || '; cast the column in a view')::VARCHAR)::VARCHAR
        ELSE q1::VARCHAR END, CASE WHEN regexp_matches(regexp_replace(typeof(q2), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g'), '\b(UNION|VARIANT)\b') THEN error(('columns of a model must be of types whose values differ as texts, got ' || regexp_replace(typeof(q2), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g') || '; cast the column in a view')::VARCHAR)::VARCHAR
        ELSE q2::VARCHAR END] AS texts
      FROM (
        FROM reid_drawn
        ORDER BY draw_order ASC NULLS LAST
        LIMIT 10000
      )
      UNION ALL BY NAME
      SELECT NULL::VARCHAR AS kind, NULL::BIGINT AS first, NULL::BIGINT AS second,
        NULL::VARCHAR AS label, NULL::VARCHAR AS first_value, NULL::VARCHAR AS second_value,
        NULL::BIGINT AS class_size, NULL::DOUBLE AS log_expected, NULL::BIGINT AS records,
        NULL::DOUBLE AS weight, NULL::DOUBLE AS draw_order, NULL::VARCHAR[] AS texts
      WHERE false
    )
  )
  FROM reid_sized
) AS reid_counted
