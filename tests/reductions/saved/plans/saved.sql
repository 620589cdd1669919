-- reid_plan_saved('query_table(''models'')')
SELECT reid_result.*
FROM (
  SELECT NULL::VARCHAR AS "model", NULL::VARCHAR AS "json"
  FROM (
    SELECT reid_names, reid.main.reid_missing(['model', 'json'], reid_names) AS reid_missing
    FROM (
      SELECT list(column_name) AS reid_names
      FROM (DESCRIBE FROM query_table('models'))
    )
  )
  WHERE reid.main.reid_known('columns of the saved models', reid_missing, reid_names)
) AS reid_fallback, LATERAL (
  SELECT row_number() OVER () AS line, *, 0::BIGINT AS records_dropped, 'value' AS nulls
  FROM (
    SELECT "model"::VARCHAR, "json"::VARCHAR
    FROM query_table('models') AS reid_source
  ) AS reid_saved(model, json)
) AS reid_result
