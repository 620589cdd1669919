-- subsets(people, ['age', 'sex', 'race', 'zip', 'job', 'state', 'tax'], 4, 'drop', None)
WITH reid_distinct AS MATERIALIZED (
  SELECT 0 AS side, row_number() OVER () AS id, q1, q2, q3, q4, q5, q6, q7,
    records
  FROM (
    SELECT q1, q2, q3, q4, q5, q6, q7, count(*) AS records
    FROM (
      SELECT reid_source."age", reid_source."sex", reid_source."race", reid_source."zip",
        reid_source."job", reid_source."state", reid_source."tax"
      FROM query_table('people') AS reid_source
    ) AS reid_source_rows(q1, q2, q3, q4, q5, q6, q7)
    GROUP BY q1, q2, q3, q4, q5, q6, q7
  )
),
reid_begun AS MATERIALIZED (
  SELECT reid_begin('reid_subset_counts', [list(coalesce(code1, 0)::INTEGER), list(coalesce(code2, 0)::INTEGER), list(coalesce(code3, 0)::INTEGER), list(coalesce(code4, 0)::INTEGER), list(coalesce(code5, 0)::INTEGER), list(coalesce(code6, 0)::INTEGER), list(coalesce(code7, 0)::INTEGER)], list(records)::BIGINT[], NULL::BIGINT[], 4::BIGINT, 'drop', least(9e18, regexp_extract(current_setting('memory_limit'), '^[0-9.]+')::DOUBLE * pow(1024, list_position(['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'], regexp_extract(current_setting('memory_limit'), '[A-Za-z]+$')) - 1))::BIGINT) AS reid_number
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
  LEFT JOIN (
    SELECT v3, row_number() OVER () AS code3
    FROM (
      SELECT DISTINCT q3 AS v3
      FROM reid_distinct
      WHERE q3 IS NOT NULL
    )
  ) ON q3 = v3
  LEFT JOIN (
    SELECT v4, row_number() OVER () AS code4
    FROM (
      SELECT DISTINCT q4 AS v4
      FROM reid_distinct
      WHERE q4 IS NOT NULL
    )
  ) ON q4 = v4
  LEFT JOIN (
    SELECT v5, row_number() OVER () AS code5
    FROM (
      SELECT DISTINCT q5 AS v5
      FROM reid_distinct
      WHERE q5 IS NOT NULL
    )
  ) ON q5 = v5
  LEFT JOIN (
    SELECT v6, row_number() OVER () AS code6
    FROM (
      SELECT DISTINCT q6 AS v6
      FROM reid_distinct
      WHERE q6 IS NOT NULL
    )
  ) ON q6 = v6
  LEFT JOIN (
    SELECT v7, row_number() OVER () AS code7
    FROM (
      SELECT DISTINCT q7 AS v7
      FROM reid_distinct
      WHERE q7 IS NOT NULL
    )
  ) ON q7 = v7
  WHERE (
    SELECT CASE WHEN count(*) * 140::HUGEINT > least(9e18, regexp_extract(current_setting('memory_limit'), '^[0-9.]+')::DOUBLE * pow(1024, list_position(['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'], regexp_extract(current_setting('memory_limit'), '[A-Za-z]+$')) - 1))::BIGINT THEN error(('memory_limit must be at least ' || (count(*) * 140::HUGEINT + 999999) // 1000000 || ' MB for ' || count(*) || ' distinct records of 7 columns' || ', got ' || current_setting('memory_limit') || '; raise it (SET memory_limit, --memory-limit or REID_SQL_MEMORY_LIMIT), or pass fewer or coarser columns')::VARCHAR)::BOOLEAN
      ELSE true END
    FROM reid_distinct
  )
),
reid_waited AS MATERIALIZED (
  SELECT reply
  FROM (
    SELECT reid_subset_counts(reid_number) AS reply
    FROM range(9223372036854775807), reid_begun
  )
  WHERE reply IS NOT NULL
  LIMIT 1
),
reid_each AS (
  SELECT unnest(CASE WHEN reply.refusal IS NULL THEN reply.answers ELSE error(reply.refusal) END) AS each
  FROM reid_waited
)
SELECT list_select(['age', 'sex', 'race', 'zip', 'job', 'state', 'tax'], each.places) AS subset,
  each.records, each.classes, each.reidentifications, each.pairs::HUGEINT AS pairs_alike,
  each.unique_records, each.dropped AS records_dropped, 'drop' AS nulls
FROM reid_each
