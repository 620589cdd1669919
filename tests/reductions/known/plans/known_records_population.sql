-- reid_plan_known_records('query_table(''people'')', '{"columns": ["age", "sex"], "told": ["state"]}', 'register', NULL, 'value', NULL)
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
  WHERE reid.main.reid_known('columns of the scenario', reid_missing, reid_names)
) AS reid_fallback, LATERAL (
  SELECT reid_counted.*, reid_left_out.records_dropped, 'value' AS nulls
  FROM (
    SELECT reid_result.*
    FROM (
      SELECT NULL::VARCHAR AS "age", NULL::VARCHAR AS "sex"
      FROM (
        SELECT reid_names, reid.main.reid_missing(['age', 'sex'], reid_names) AS reid_missing
        FROM (
          SELECT list(column_name) AS reid_names
          FROM (DESCRIBE FROM register)
        )
      )
      WHERE reid.main.reid_known('columns of the scenario', reid_missing, reid_names)
    ) AS reid_fallback, LATERAL (
      SELECT reid_known_of.*
      FROM (
        WITH reid_distinct AS MATERIALIZED (
          SELECT row_number() OVER () AS id, *
          FROM (
            SELECT q1, q2, q3, count(*) FILTER (NOT other) AS records, coalesce(list(record) FILTER (NOT other), list_slice(list(record), 1, 0)) AS members,
              count(*) FILTER (other) AS people
            FROM (
              SELECT row_number() OVER () - 1, "age", "sex", "state", false
              FROM query_table('people') AS reid_source
              WHERE reid.main.reid_is_told_apart(row("age", "sex", "state"), 'age, sex, state')
              UNION ALL
              SELECT NULL, "age", "sex", NULL, true
              FROM register AS reid_source
              WHERE reid.main.reid_is_told_apart(row("age", "sex"), 'age, sex')
            ) AS reid_rows(record, q1, q2, q3, other)
            GROUP BY q1, q2, q3
          )
        )
        SELECT id AS place, records, [coalesce(code1, 0), coalesce(code2, 0)] AS codes,
          [q3::VARCHAR]::VARCHAR[] AS texts, people, members
        FROM reid_distinct
        LEFT JOIN (
          SELECT v1, row_number() OVER () AS code1
          FROM (
            SELECT DISTINCT q1 AS v1
            FROM reid_distinct
            WHERE q1 IS NOT NULL
          )
        ) ON q1 = v1
        LEFT JOIN (
          SELECT v2, row_number() OVER () AS code2
          FROM (
            SELECT DISTINCT q2 AS v2
            FROM reid_distinct
            WHERE q2 IS NOT NULL
          )
        ) ON q2 = v2
        WHERE (
          SELECT reid.main.reid_in_limit(count(*), 600)
          FROM reid_distinct
        )
      ) AS reid_known_of, (
        SELECT reid.main.reid_first_unlike(['age', 'sex'], reid_one.names, reid_one.types, reid_other.names, reid_other.types) AS reid_unlike
        FROM (
          SELECT list(column_name) AS names, list(column_type) AS types
          FROM (DESCRIBE FROM query_table('people'))
        ) AS reid_one, (
          SELECT list(column_name) AS names, list(column_type) AS types
          FROM (DESCRIBE FROM register)
        ) AS reid_other
      ) AS reid_compared
      WHERE reid.main.reid_comparable(reid_compared.reid_unlike)
    ) AS reid_result
  ) AS reid_counted, (
    SELECT 0::BIGINT
  ) AS reid_left_out(records_dropped)
) AS reid_result
