-- reid_plan_codes('query_table(''people'')', ['age', 'sex'], 1024, 'value', 'person')
FROM (
  SELECT reid_result.*
  FROM (
    SELECT NULL::VARCHAR AS "age", NULL::VARCHAR AS "sex", NULL::VARCHAR AS "person"
    FROM (
      SELECT reid_names, reid.main.reid_missing(['age', 'sex', 'person'], reid_names) AS reid_missing
      FROM (
        SELECT list(column_name) AS reid_names
        FROM (DESCRIBE FROM query_table('people'))
      )
    )
    WHERE reid.main.reid_known('columns and entity', reid_missing, reid_names)
  ) AS reid_fallback, LATERAL (
    SELECT reid_counted.*, reid_left_out.records_dropped, 'value' AS nulls
    FROM (
      WITH reid_records AS MATERIALIZED (
        SELECT min(position) AS position, q1, q2, q3
        FROM (
          SELECT row_number() OVER () - 1 AS position, *
          FROM (
            SELECT "age", "sex", "person"
            FROM query_table('people') AS reid_source
            WHERE reid.main.reid_is_told_apart(row("age", "sex", "person"), 'age, sex, person')
          ) AS reid_source_rows(q1, q2, q3)
        )
        GROUP BY q1, q2, q3
      )
      SELECT ['age', 'sex'] AS names, [reid.main.reid_ordinal(any_value(typeof(q1))),
        reid.main.reid_ordinal(any_value(typeof(q2)))] AS ordinal, [list(coalesce(code1, 0)::INTEGER),
        list(coalesce(code2, 0)::INTEGER)] AS codes, list(position) AS position,
        list(coalesce(code3, 0)) AS people, list(q3 ORDER BY position ASC) AS keys
      FROM reid_records
      LEFT JOIN (
        SELECT v1, row_number() OVER (ORDER BY v1 ASC NULLS LAST) AS code1
        FROM (
          SELECT DISTINCT q1 AS v1
          FROM reid_records
          WHERE q1 IS NOT NULL
        )
      ) ON q1 = v1
      LEFT JOIN (
        SELECT v2, row_number() OVER (ORDER BY v2 ASC NULLS LAST) AS code2
        FROM (
          SELECT DISTINCT q2 AS v2
          FROM reid_records
          WHERE q2 IS NOT NULL
        )
      ) ON q2 = v2
      LEFT JOIN (
        SELECT v3, row_number() OVER (ORDER BY v3 ASC NULLS LAST) AS code3
        FROM (
          SELECT DISTINCT q3 AS v3
          FROM reid_records
          WHERE q3 IS NOT NULL
        )
      ) ON q3 = v3
      WHERE (
        SELECT reid.main.reid_in_memory(count(*), 72, 1024, ' records of 2 columns')
        FROM reid_records
      )
    ) AS reid_counted, (
      SELECT 0::BIGINT
    ) AS reid_left_out(records_dropped)
  ) AS reid_result
)
