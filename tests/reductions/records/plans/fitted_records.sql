-- reid_plan_fitted_records('query_table(''people'')', ['age', 'sex'], 0, NULL, 'value')
SELECT reid_result.*
FROM (
  SELECT NULL::VARCHAR AS "sex", NULL::VARCHAR AS "age"
  FROM (
    SELECT reid_names, reid.main.reid_missing(['sex', 'age'], reid_names) AS reid_missing
    FROM (
      SELECT list(column_name) AS reid_names
      FROM (DESCRIBE FROM query_table('people'))
    )
  )
  WHERE reid.main.reid_known('quasi-identifiers', reid_missing, reid_names)
) AS reid_fallback, LATERAL (
  SELECT reid_counted.*, reid_left_out.records_dropped, 'value' AS nulls
  FROM (
    WITH reid_distinct AS MATERIALIZED (
      SELECT row_number() OVER () AS id, *
      FROM (
        SELECT q1, q2, count(*) AS records, list(record) AS members, sum(CASE WHEN weight > 0 THEN weight
          ELSE 'NaN'::DOUBLE END) AS mass
        FROM (
          SELECT row_number() OVER () - 1, 1::DOUBLE, "age", "sex"
          FROM query_table('people') AS reid_source
          WHERE reid.main.reid_is_told_apart(row("age", "sex"), 'age, sex')
        ) AS reid_rows(record, weight, q1, q2)
        GROUP BY q1, q2
      )
    )
    SELECT id AS place, records, log_expected, []::BIGINT[] AS codes, members
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
    WHERE (
      SELECT reid.main.reid_in_limit(count(*), 1400)
      FROM reid_distinct
    )
  ) AS reid_counted, (
    SELECT 0::BIGINT
  ) AS reid_left_out(records_dropped)
) AS reid_result
