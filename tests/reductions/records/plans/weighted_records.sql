-- reid_plan_weighted_records('query_table(''people'')', ['age', 'sex'], 'weight', NULL, 'drop')
SELECT reid_result.*
FROM (
  SELECT NULL::VARCHAR AS "weight", NULL::VARCHAR AS "sex", NULL::VARCHAR AS "age"
  FROM (
    SELECT reid_names, reid.main.reid_missing(['weight', 'sex', 'age'], reid_names) AS reid_missing
    FROM (
      SELECT list(column_name) AS reid_names
      FROM (DESCRIBE FROM query_table('people'))
    )
  )
  WHERE reid.main.reid_known('quasi-identifiers, weight and key', reid_missing, reid_names)
) AS reid_fallback, LATERAL (
  SELECT reid_counted.*, reid_left_out.records_dropped, 'drop' AS nulls
  FROM (
    WITH reid_distinct AS MATERIALIZED (
      SELECT row_number() OVER () AS id, *
      FROM (
        SELECT q1, q2, count(*) AS records, list(record) AS members, sum(CASE WHEN weight > 0 THEN weight
          ELSE 'NaN'::DOUBLE END) AS mass
        FROM (
          SELECT row_number() OVER () - 1, try_cast("weight" AS DOUBLE), "age",
            "sex"
          FROM query_table('people') AS reid_source
          WHERE reid.main.reid_is_told_apart(row("age", "sex"), 'age, sex')
        ) AS reid_rows(record, weight, q1, q2)
        WHERE q1 IS NOT NULL AND q2 IS NOT NULL
        GROUP BY q1, q2
      )
    )
    SELECT id AS place, records, mass, members
    FROM reid_distinct
    WHERE (
      SELECT reid.main.reid_in_limit(count(*), 600)
      FROM reid_distinct
    )
  ) AS reid_counted, (
    SELECT count(*)
    FROM query_table('people') AS reid_source
    WHERE "age" IS NULL OR "sex" IS NULL
  ) AS reid_left_out(records_dropped)
) AS reid_result
