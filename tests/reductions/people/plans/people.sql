-- reid_plan_people('query_table(''people'')', ['age', 'sex'], NULL::VARCHAR, NULL::VARCHAR, 0, NULL::VARCHAR[], 'value')
SELECT reid_result.*
FROM (
  SELECT NULL::VARCHAR AS "age", NULL::VARCHAR AS "sex"
  FROM (
    SELECT list(column_name) AS reid_names_1
    FROM (DESCRIBE FROM query_table('people'))
  )
  WHERE reid.main.reid_known('columns', ['age', 'sex'], reid_names_1)
) AS reid_fallback, LATERAL (
  SELECT reid_counted.*, reid_left_out.records_dropped, 'value' AS nulls
  FROM (
    WITH reid_taken AS (
      FROM (
        SELECT "age", "sex"
        FROM query_table('people') AS reid_source
        WHERE reid.main.reid_is_told_apart(row("age", "sex"), 'age, sex')
      ) AS reid_source_rows(q1, q2)
    ),
    reid_classes AS MATERIALIZED (
      SELECT q1, q2, count(*) AS records
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
          SELECT 1::BIGINT AS first, 0::BIGINT AS second, 'age' AS label,
            reid.main.reid_written(q1) AS first_value, NULL::VARCHAR AS second_value,
            sum(records)::BIGINT AS records, sum(records)::DOUBLE AS mass
          FROM reid_classes
          GROUP BY q1
          UNION ALL
          SELECT 2::BIGINT AS first, 0::BIGINT AS second, 'sex' AS label,
            reid.main.reid_written(q2) AS first_value, NULL::VARCHAR AS second_value,
            sum(records)::BIGINT AS records, sum(records)::DOUBLE AS mass
          FROM reid_classes
          GROUP BY q2
          UNION ALL
          SELECT 1, 2, NULL, reid.main.reid_written(q1), reid.main.reid_written(q2),
            sum(records)::BIGINT AS records, sum(records)::DOUBLE AS mass
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
      SELECT 0, -3, NULL, NULL, NULL, records, count(*)::DOUBLE, NULL
      FROM reid_classes
      GROUP BY records
      UNION ALL
      SELECT 0, -4, NULL, NULL, NULL, records, mass, texts
      FROM (
        SELECT records, [reid.main.reid_written(q1), reid.main.reid_written(q2)] AS texts,
          mass
        FROM (
          SELECT *, hash(q1, q2, copy, 0::BIGINT)::DOUBLE / 18446744073709551616 AS mass
          FROM (
            SELECT *, unnest(range(records)) AS copy
            FROM reid_classes
          )
          ORDER BY mass
          LIMIT 10000
        )
      )
    )
  ) AS reid_counted, (
    SELECT 0::BIGINT
  ) AS reid_left_out(records_dropped)
) AS reid_result
