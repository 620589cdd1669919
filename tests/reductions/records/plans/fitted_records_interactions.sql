-- reid_plan_fitted_records('query_table(''people'')', ['age', 'sex'], 2, 'id', 'value')
SELECT reid_result.*
FROM (
  SELECT NULL::VARCHAR AS "id", NULL::VARCHAR AS "sex", NULL::VARCHAR AS "age"
  FROM (
    SELECT reid_names, reid.main.reid_missing(['id', 'sex', 'age'], reid_names) AS reid_missing
    FROM (
      SELECT list(column_name) AS reid_names
      FROM (DESCRIBE FROM query_table('people'))
    )
  )
  WHERE reid.main.reid_known('quasi-identifiers, weight and key', reid_missing, reid_names)
) AS reid_fallback, LATERAL (
  SELECT reid_counted.*, reid_left_out.records_dropped, 'value' AS nulls
  FROM (
    SELECT reid_answer_of.*
    FROM (
      WITH reid_distinct AS MATERIALIZED (
        SELECT row_number() OVER () AS id, *
        FROM (
          SELECT q1, q2, count(*) AS records, list(record) AS members, sum(CASE WHEN weight > 0 THEN weight
            ELSE 'NaN'::DOUBLE END) AS mass
          FROM (
            SELECT "id", 1::DOUBLE, "age", "sex"
            FROM query_table('people') AS reid_source
            WHERE reid.main.reid_is_told_apart(row("age", "sex"), 'age, sex')
          ) AS reid_rows(record, weight, q1, q2)
          GROUP BY q1, q2
        )
      )
      SELECT id AS place, records, log_expected, [code1, code2] AS codes,
        members
      FROM (
        SELECT reid_distinct.*, m1 + m2 - 1 * total AS log_expected
        FROM reid_distinct, (
          SELECT ln(sum(records)) AS total
          FROM reid_distinct
        )
        JOIN (
          SELECT q1 AS v1, ln(sum(records)) AS m1
          FROM reid_distinct
          GROUP BY q1
        ) ON q1 IS NOT DISTINCT FROM v1
        JOIN (
          SELECT q2 AS v2, ln(sum(records)) AS m2
          FROM reid_distinct
          GROUP BY q2
        ) ON q2 IS NOT DISTINCT FROM v2
      )
      JOIN (
        SELECT q1 AS w1, row_number() OVER () AS code1
        FROM reid_distinct
        GROUP BY q1
      ) ON q1 IS NOT DISTINCT FROM w1
      JOIN (
        SELECT q2 AS w2, row_number() OVER () AS code2
        FROM reid_distinct
        GROUP BY q2
      ) ON q2 IS NOT DISTINCT FROM w2
      WHERE (
        SELECT reid.main.reid_in_limit(count(*), 1400)
        FROM reid_distinct
      )
    ) AS reid_answer_of, (
      SELECT reid.main.reid_is_key(count(*), count(reid_key), count(DISTINCT reid_key), CASE
        WHEN count(*) - count(reid_key) < 2 THEN mode(reid_key) END) AS reid_is_one
      FROM (
        SELECT "id" AS reid_key, "age", "sex"
        FROM query_table('people')
      ) AS reid_source(reid_key, q1, q2)
    )
    WHERE reid_is_one
  ) AS reid_counted, (
    SELECT 0::BIGINT
  ) AS reid_left_out(records_dropped)
) AS reid_result
