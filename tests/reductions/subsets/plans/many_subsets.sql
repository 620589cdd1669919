-- reid_many_subsets('query_table(''people'')', ['age', 'sex'], 2, 'drop', 1024, NULL)
SELECT reid_result.*
FROM (
  SELECT NULL::VARCHAR AS "age", NULL::VARCHAR AS "sex"
  FROM (
    SELECT reid_names, reid.main.reid_missing(['age', 'sex'], reid_names) AS reid_missing
    FROM (
      SELECT list(column_name) AS reid_names
      FROM (DESCRIBE FROM query_table('people'))
    )
  )
  WHERE reid.main.reid_known('columns', reid_missing, reid_names)
) AS reid_fallback, LATERAL (
  WITH reid_distinct AS MATERIALIZED (
    SELECT 0 AS side, row_number() OVER () AS id, q1, q2, records
    FROM (
      SELECT q1, q2, count(*) AS records
      FROM (
        SELECT "age", "sex"
        FROM query_table('people') AS reid_source
        WHERE reid.main.reid_is_told_apart(row("age", "sex"), 'age, sex')
      ) AS reid_source_rows(q1, q2)
      GROUP BY q1, q2
    )
  ),
  reid_begun AS MATERIALIZED (
    SELECT reid_begin('reid_subset_counts', [list(coalesce(code1, 0)::INTEGER), list(coalesce(code2, 0)::INTEGER)], list(records)::BIGINT[], NULL::BIGINT[], 2, 'drop', 1024) AS reid_number
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
      SELECT reid.main.reid_in_memory(count(*), 72, 1024, ' distinct records of 2 columns')
      FROM reid_distinct
    )
  ),
  reid_waited AS (
    SELECT found
    FROM (
      SELECT reid_subset_counts(reid_number) AS found
      FROM range(9223372036854775807), reid_begun
    )
    WHERE found IS NOT NULL
    LIMIT 1
  ),
  reid_each AS (
    SELECT unnest(CASE WHEN found.refusal IS NULL THEN found.answers ELSE error(found.refusal) END) AS each
    FROM reid_waited
  )
  SELECT list_select(['age', 'sex'], each.places) AS subset, each.records,
    each.classes, each.reidentifications, each.pairs::HUGEINT AS pairs_alike,
    each.dropped AS records_dropped, 'drop' AS nulls
  FROM reid_each
) AS reid_result
