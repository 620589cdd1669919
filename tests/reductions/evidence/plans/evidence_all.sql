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
  reid_taken AS (
    FROM (
      SELECT reid_source."age", reid_source."sex"
      FROM query_table('people') AS reid_source
    ) AS reid_source_rows(q1, q2)
  )
  SELECT row_number() OVER () AS place, *
  FROM (
    SELECT class_size, log_expected, classes, 0::BIGINT AS first, 0::BIGINT AS second,
      NULL::VARCHAR AS label, NULL::VARCHAR AS first_value, NULL::VARCHAR AS second_value,
      0::BIGINT AS records, 0::DOUBLE AS mass, NULL::VARCHAR[] AS texts
    FROM (
      SELECT class_size, round(log_expected * 1000) / 1000 AS log_expected,
        sum(records::DOUBLE / class_size) AS classes
      FROM (
        SELECT reid_classes.*, m1 + m2 - 1 * total AS log_expected
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
    )
    UNION ALL
    SELECT 0, NULL, 0, first, second, label, first_value, second_value, records,
      mass, NULL
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
    UNION ALL
    SELECT 0, NULL, 0, 0, -4, NULL, NULL, NULL, class_size, mass, texts
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
