-- reid_grouped_evidence('query_table(''people'')', ['age', 'sex'], 'all', ['state'], 'q3, ', 'drop')
SELECT reid_result.*
FROM (
  SELECT NULL::VARCHAR AS "age", NULL::VARCHAR AS "sex", NULL::VARCHAR AS "state"
  FROM (
    SELECT reid_names, reid.main.reid_missing(['age', 'sex', 'state'], reid_names) AS reid_missing
    FROM (
      SELECT list(column_name) AS reid_names
      FROM (DESCRIBE FROM query_table('people'))
    )
  )
  WHERE reid.main.reid_known('quasi-identifiers and by', reid_missing, reid_names)
) AS reid_fallback, LATERAL (
  WITH reid_divided AS MATERIALIZED (
    SELECT *, q1 IS NOT NULL AND q2 IS NOT NULL AS kept
    FROM (
      SELECT q1, q2, q3, NULL AS entity, count(*) AS records
      FROM (
        SELECT "age", "sex", "state"
        FROM query_table('people') AS reid_source
        WHERE reid.main.reid_is_told_apart(row("age", "sex", "state"), 'age, sex, state')
      ) AS reid_source_rows(q1, q2, q3)
      GROUP BY ALL
    )
  ),
  reid_taken AS (
    FROM (
      SELECT "age", "sex", "state"
      FROM query_table('people') AS reid_source
      WHERE reid.main.reid_is_told_apart(row("age", "sex", "state"), 'age, sex, state')
    ) AS reid_source_rows(q1, q2, q3)
    WHERE q1 IS NOT NULL AND q2 IS NOT NULL
  ),
  reid_classes AS (
    SELECT * EXCLUDE (entity, kept)
    FROM reid_divided
    WHERE kept
  ),
  reid_sized AS (
    SELECT q3, row_number() OVER () AS place, class_size, log_expected, classes,
      coalesce(first, 0) AS first, coalesce(second, 0) AS second, label, first_value,
      second_value, coalesce(records, 0) AS records, coalesce(mass, 0) AS mass,
      texts
    FROM (
      SELECT *, NULL::VARCHAR[] AS texts
      FROM (
        SELECT q3, records AS class_size, round(log_expected * 1000) / 1000 AS log_expected,
          count(*) AS classes
        FROM (
          SELECT reid_classes.*, m1 + m2 - 1 * total AS log_expected
          FROM reid_classes
          JOIN (
            SELECT q3, ln(sum(records)) AS total
            FROM reid_classes
            GROUP BY ALL
          ) AS reid_all ON reid_classes.q3 IS NOT DISTINCT FROM reid_all.q3
          JOIN (
            SELECT q3, q1, ln(sum(records)) AS m1
            FROM reid_classes
            GROUP BY q3, q1
          ) AS reid_held_1 ON reid_classes.q3 IS NOT DISTINCT FROM reid_held_1.q3 AND reid_classes.q1 IS NOT DISTINCT FROM reid_held_1.q1
          JOIN (
            SELECT q3, q2, ln(sum(records)) AS m2
            FROM reid_classes
            GROUP BY q3, q2
          ) AS reid_held_2 ON reid_classes.q3 IS NOT DISTINCT FROM reid_held_2.q3 AND reid_classes.q2 IS NOT DISTINCT FROM reid_held_2.q2
        )
        GROUP BY ALL
      )
      UNION ALL BY NAME
      SELECT 0 AS class_size, NULL::DOUBLE AS log_expected, 0 AS classes,
        *
      FROM (
        SELECT q3, 1::BIGINT AS first, 0::BIGINT AS second, 'age' AS label,
          reid.main.reid_written(q1) AS first_value, NULL::VARCHAR AS second_value,
          count(*) AS records, count(*)::DOUBLE AS mass
        FROM reid_taken
        GROUP BY q3, q1
        UNION ALL
        SELECT q3, 2::BIGINT AS first, 0::BIGINT AS second, 'sex' AS label,
          reid.main.reid_written(q2) AS first_value, NULL::VARCHAR AS second_value,
          count(*) AS records, count(*)::DOUBLE AS mass
        FROM reid_taken
        GROUP BY q3, q2
        UNION ALL
        SELECT q3, 1, 2, NULL, reid.main.reid_written(q1), reid.main.reid_written(q2),
          count(*) AS records, count(*)::DOUBLE AS mass
        FROM reid_taken
        GROUP BY q3, q1, q2
        UNION ALL
        SELECT q3, 0, -2, NULL, NULL, NULL, coalesce(count_if(alike = 1), 0)::BIGINT,
          0
        FROM (
          SELECT q3, count(*) AS alike
          FROM reid_taken
          GROUP BY q3, q1, q2
        )
        GROUP BY q3
      )
      WHERE true
      UNION ALL BY NAME
      SELECT q3, 0 AS class_size, 0 AS classes, -4 AS second, records, mass,
        texts
      FROM (
        SELECT q3, records, [reid.main.reid_written(q1), reid.main.reid_written(q2)] AS texts,
          mass
        FROM (
          SELECT *, hash(q1, q2, copy, 0::BIGINT)::DOUBLE / 18446744073709551616 AS mass
          FROM (
            SELECT *, unnest(range(records)) AS copy
            FROM reid_classes
          ) QUALIFY row_number() OVER (PARTITION BY q3 ORDER BY mass ASC) <= 10000
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
    first, second, label, first_value, second_value, records, mass, texts,
    records_dropped, 'drop' AS nulls
  FROM reid_groups AS g
  LEFT JOIN reid_sized AS s ON g.q3 IS NOT DISTINCT FROM s.q3
) AS reid_result
