-- saved(models)
SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
FROM (
  SELECT row_number() OVER () AS line, q1::VARCHAR AS model, q2::VARCHAR AS json
  FROM (
    SELECT reid_source."model", reid_source."json"
    FROM query_table('models') AS reid_source
  ) AS reid_source_rows(q1, q2)
) AS reid_counted
