-- reid_plan_record_codes('query_table(''people'')', ['age', 'sex'], 1024, 'id', 'drop', NULL)
SELECT reid_result.*
FROM (
  SELECT NULL::VARCHAR AS "age", NULL::VARCHAR AS "sex", NULL::VARCHAR AS "id"
  FROM (
    SELECT reid_names, reid.main.reid_missing(['age', 'sex', 'id'], reid_names) AS reid_missing
    FROM (
      SELECT list(column_name) AS reid_names
      FROM (DESCRIBE FROM query_table('people'))
    )
  )
  WHERE reid.main.reid_known('columns and key', reid_missing, reid_names)
) AS reid_fallback, LATERAL (
  SELECT reid_counted.*, reid_left_out.records_dropped, 'drop' AS nulls
  FROM (
    WITH reid_records AS MATERIALIZED (
      SELECT *
      FROM (
        SELECT row_number() OVER () - 1 AS position, *
        FROM (
          SELECT "age", "sex", "id"
          FROM query_table('people') AS reid_source
          WHERE reid.main.reid_is_told_apart(row("age", "sex", "id"), 'age, sex, id')
        ) AS reid_source_rows(q1, q2, q3)
      )
      WHERE (
        SELECT reid.main.reid_in_memory(count(*), 64, 1024, ' records of 2 columns')
        FROM (
          SELECT "age", "sex"
          FROM query_table('people') AS reid_source
          WHERE reid.main.reid_is_told_apart(row("age", "sex"), 'age, sex') AND "age" IS NOT NULL
            AND "sex" IS NOT NULL
        ) AS reid_source_rows(q1, q2)
      ) AND q1 IS NOT NULL AND q2 IS NOT NULL
    )
    SELECT ['age', 'sex'] AS names, [reid.main.reid_ordinal(any_value(typeof(q1))),
      reid.main.reid_ordinal(any_value(typeof(q2)))] AS ordinal, [list(coalesce(code1, 0)::INTEGER),
      list(coalesce(code2, 0)::INTEGER)] AS codes, list(position) AS position,
      []::BIGINT[] AS people, CASE WHEN count(DISTINCT q3) + least(1, count(*) - count(q3)) < count(*) THEN error('key must tell each record from the others, got ' || coalesce(mode(q3)::VARCHAR, 'NULL') || ' twice; pass a column whose values are distinct, or none')
      ELSE list(q3 ORDER BY position ASC) END AS keys
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
  ) AS reid_counted, (
    SELECT count(*)
    FROM query_table('people') AS reid_source
    WHERE "age" IS NULL OR "sex" IS NULL
  ) AS reid_left_out(records_dropped)
) AS reid_result
