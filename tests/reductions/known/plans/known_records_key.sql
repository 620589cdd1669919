-- reid_plan_known_records('query_table(''people'')', '{"columns": ["age"]}', NULL, 'id', 'drop', NULL)
SELECT reid_result.*
FROM (
  SELECT NULL::VARCHAR AS "age", NULL::VARCHAR AS "id"
  FROM (
    SELECT reid_names, reid.main.reid_missing(['age', 'id'], reid_names) AS reid_missing
    FROM (
      SELECT list(column_name) AS reid_names
      FROM (DESCRIBE FROM query_table('people'))
    )
  )
  WHERE reid.main.reid_known('columns of the scenario, and key,', reid_missing, reid_names)
) AS reid_fallback, LATERAL (
  SELECT reid_counted.*, reid_left_out.records_dropped, 'drop' AS nulls
  FROM (
    SELECT reid_answer_of.*
    FROM (
      WITH reid_distinct AS MATERIALIZED (
        SELECT row_number() OVER () AS id, *
        FROM (
          SELECT q1, count(*) AS records, list(record) AS members, -1::BIGINT AS people
          FROM (
            SELECT "id", "age"
            FROM query_table('people') AS reid_source
            WHERE reid.main.reid_is_told_apart(row("age"), 'age')
          ) AS reid_rows(record, q1)
          WHERE q1 IS NOT NULL
          GROUP BY q1
        )
      )
      SELECT id AS place, records, [coalesce(code1, 0)] AS codes, []::VARCHAR[] AS texts,
        people, members
      FROM reid_distinct
      LEFT JOIN (
        SELECT v1, row_number() OVER () AS code1
        FROM (
          SELECT DISTINCT q1 AS v1
          FROM reid_distinct
          WHERE q1 IS NOT NULL
        )
      ) ON q1 = v1
      WHERE (
        SELECT reid.main.reid_in_limit(count(*), 600)
        FROM reid_distinct
      )
    ) AS reid_answer_of, (
      SELECT reid.main.reid_is_key(count(*), count(reid_key), count(DISTINCT reid_key), CASE
        WHEN count(*) - count(reid_key) < 2 THEN mode(reid_key) END) AS reid_is_one
      FROM (
        SELECT "id" AS reid_key, "age"
        FROM query_table('people')
      ) AS reid_source(reid_key, q1)
      WHERE q1 IS NOT NULL
    )
    WHERE reid_is_one
  ) AS reid_counted, (
    SELECT count(*)
    FROM query_table('people') AS reid_source
    WHERE "age" IS NULL
  ) AS reid_left_out(records_dropped)
) AS reid_result
