-- reid_grouped_texts('query_table(''people'')', ['age', 'sex'], ['state'], 'q3, ', 'value')
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
  WHERE reid.main.reid_known('quasi-identifiers and by', reid_missing, reid_names)
) AS reid_fallback, LATERAL (
  WITH reid_divided AS MATERIALIZED (
    SELECT *, true AS kept
    FROM (
      SELECT q1, q2, q3, NULL AS entity, count(*) AS records
      FROM (
        SELECT "age", "sex", "state"
        FROM query_table('people') AS reid_source
        WHERE reid.main.reid_is_told_apart(row("age", "sex", "state"), 'age, sex, state')
      ) AS reid_source_rows(q1, q2, q3)
      GROUP BY ALL
    )
  ),
  reid_sized AS (
    SELECT DISTINCT q3, 0::BIGINT AS line, ['age', 'sex'] AS texts, 0::BIGINT AS records
    FROM reid_divided
    WHERE kept
    UNION ALL
    SELECT q3, row_number() OVER () AS line, [reid.main.reid_written(q1),
      reid.main.reid_written(q2)] AS texts, records
    FROM reid_divided
    WHERE kept
  ),
  reid_groups AS (
    SELECT q3, coalesce(sum(records) FILTER (NOT kept), 0)::BIGINT AS records_dropped
    FROM reid_divided
    GROUP BY q3
  )
  SELECT g.q3 AS "reid: state", line, texts, coalesce(s.records, 0)::BIGINT AS records,
    records_dropped, 'value' AS nulls
  FROM reid_groups AS g
  LEFT JOIN reid_sized AS s ON g.q3 IS NOT DISTINCT FROM s.q3
) AS reid_result
