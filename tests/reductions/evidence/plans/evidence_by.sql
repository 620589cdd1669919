-- evidence(people, ['age', 'sex'], 'all', ['state'], 'drop')
WITH reid_divided AS MATERIALIZED (
  SELECT *, q1 IS NOT NULL AND q2 IS NOT NULL AS kept
  FROM (
    SELECT q1, q2, q3, NULL AS entity, count(*) AS records
    FROM (
      SELECT reid_source."age", reid_source."sex", reid_source."state"
      FROM query_table('people') AS reid_source
    ) AS reid_source_rows(q1, q2, q3)
    GROUP BY q1, q2, q3
  )
),
reid_classes AS (
  SELECT * EXCLUDE (entity, kept)
  FROM reid_divided
  WHERE kept
),
reid_taken AS (
  FROM (
    SELECT reid_source."age", reid_source."sex", reid_source."state"
    FROM query_table('people') AS reid_source
  ) AS reid_source_rows(q1, q2, q3)
  WHERE q1 IS NOT NULL AND q2 IS NOT NULL
),
reid_sized AS (
  SELECT row_number() OVER () AS place, *
  FROM (
    SELECT q3, class_size, log_expected, classes, 0::BIGINT AS first, 0::BIGINT AS second,
      NULL::VARCHAR AS label, NULL::VARCHAR AS first_value, NULL::VARCHAR AS second_value,
      0::BIGINT AS records, 0::DOUBLE AS mass, NULL::VARCHAR[] AS texts
    FROM (
      SELECT q3, records AS class_size, round(log_expected * 1000) / 1000 AS log_expected,
        count(*) AS classes
      FROM (
        SELECT reid_classes.*, m1 + m2 - 1 * total AS log_expected
        FROM reid_classes
        JOIN (
          SELECT q3, ln(sum(records)) AS total
          FROM reid_classes
          GROUP BY q3
        ) AS reid_all ON reid_classes.q3 IS NOT DISTINCT FROM reid_all.q3
        JOIN (
          SELECT q3, q1 AS v1, ln(sum(records)) AS m1
          FROM reid_classes
          GROUP BY q3, q1
        ) AS reid_values_1 ON reid_classes.q3 IS NOT DISTINCT FROM reid_values_1.q3 AND reid_classes.q1 IS NOT DISTINCT FROM reid_values_1.v1
        JOIN (
          SELECT q3, q2 AS v2, ln(sum(records)) AS m2
          FROM reid_classes
          GROUP BY q3, q2
        ) AS reid_values_2 ON reid_classes.q3 IS NOT DISTINCT FROM reid_values_2.q3 AND reid_classes.q2 IS NOT DISTINCT FROM reid_values_2.v2
      )
      GROUP BY q3, records, round(log_expected * 1000)
    )
    UNION ALL
    SELECT q3, 0, NULL, 0, first, second, label, first_value, second_value,
      records, mass, NULL
    FROM (
      SELECT q3, 1::BIGINT AS first, 0::BIGINT AS second, 'age' AS label,
        CASE WHEN regexp_matches(regexp_replace(typeof(q1), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g'), '\b(UNION|VARIANT)\b') THEN error('columns of a model must be of types whose values differ as texts, got ' || typeof(q1) || '; cast the column in a view')::VARCHAR
        ELSE q1::VARCHAR END AS first_value, NULL::VARCHAR AS second_value,
        count(*) AS records, count(*)::DOUBLE AS mass
      FROM reid_taken
      GROUP BY q3, q1
      UNION ALL
      SELECT q3, 2::BIGINT AS first, 0::BIGINT AS second, 'sex' AS label,
        CASE WHEN regexp_matches(regexp_replace(typeof(q2), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g'), '\b(UNION|VARIANT)\b') THEN error('columns of a model must be of types whose values differ as texts, got ' || typeof(q2) || '; cast the column in a view')::VARCHAR
        ELSE q2::VARCHAR END AS first_value, NULL::VARCHAR AS second_value,
        count(*) AS records, count(*)::DOUBLE AS mass
      FROM reid_taken
      GROUP BY q3, q2
      UNION ALL
      SELECT q3, 1, 2, NULL, q1::VARCHAR, q2::VARCHAR, count(*) AS records,
        count(*)::DOUBLE AS mass
      FROM reid_taken
      GROUP BY q3, q1, q2
      UNION ALL
      SELECT q3, 0, -2, NULL, NULL, NULL, coalesce(count_if(class_size = 1), 0)::BIGINT,
        0
      FROM (
        SELECT q3, count(*) AS class_size
        FROM reid_taken
        GROUP BY q3, q1, q2
      )
      GROUP BY q3
    )
    UNION ALL
    SELECT q3, 0, NULL, 0, 0, -4, NULL, NULL, NULL, records, mass, texts
    FROM (
      SELECT q3, records, [CASE WHEN regexp_matches(regexp_replace(typeof(q1), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g'), '\b(UNION|VARIANT)\b') THEN error('columns of a model must be of types whose values differ as texts, got ' || typeof(q1) || '; cast the column in a view')::VARCHAR
        ELSE q1::VARCHAR END, CASE WHEN regexp_matches(regexp_replace(typeof(q2), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g'), '\b(UNION|VARIANT)\b') THEN error('columns of a model must be of types whose values differ as texts, got ' || typeof(q2) || '; cast the column in a view')::VARCHAR
        ELSE q2::VARCHAR END] AS texts, mass
      FROM (
        SELECT *, hash(q1, q2, copy, 0::BIGINT)::DOUBLE / 18446744073709551616 AS mass
        FROM (
          SELECT *, unnest(range(records)) AS copy
          FROM reid_classes
        ) QUALIFY row_number() OVER (PARTITION BY q3 ORDER BY mass ASC NULLS LAST) <= 10000
      )
    )
  )
),
reid_groups AS (
  SELECT q3, coalesce(sum(records) FILTER (NOT kept), 0)::BIGINT AS records_dropped
  FROM reid_divided
  GROUP BY q3
)
SELECT g.q3 AS "reid: state", place, class_size, log_expected, coalesce(classes, 0)::BIGINT AS classes,
  first, second, label, first_value, second_value, records, mass, texts, records_dropped,
  'drop' AS nulls
FROM reid_groups AS g
LEFT JOIN reid_sized AS s ON g.q3 IS NOT DISTINCT FROM s.q3
