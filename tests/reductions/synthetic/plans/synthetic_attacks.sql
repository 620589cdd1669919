-- synthetic_attacks(original, synthetic, ['age', 'sex'], ['diagnosis'], holdout)
SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
FROM (
  WITH reid_rows AS MATERIALIZED (
    SELECT 0 AS side, q1, q2, q3
    FROM (
      SELECT reid_source."age", reid_source."sex", reid_source."diagnosis"
      FROM query_table('original') AS reid_source
    ) AS reid_source_rows(q1, q2, q3)
    UNION ALL
    SELECT 1 AS side, q1, q2, q3
    FROM (
      SELECT reid_source."age", reid_source."sex", reid_source."diagnosis"
      FROM query_table('synthetic') AS reid_source
    ) AS reid_source_rows(q1, q2, q3)
    UNION ALL
    SELECT 2 AS side, q1, q2, q3
    FROM (
      SELECT reid_source."age", reid_source."sex", reid_source."diagnosis"
      FROM query_table('holdout') AS reid_source
    ) AS reid_source_rows(q1, q2, q3)
  ),
  reid_sizes AS (
    SELECT count(*) FILTER (side = 0) AS o, count(*) FILTER (side = 1) AS s,
      count(*) FILTER (side = 2) AS h
    FROM reid_rows
  )
  SELECT place::BIGINT AS place, attack, column_name, coalesce(hits, 0)::BIGINT AS hits,
    coalesce(control_hits, 0)::BIGINT AS control_hits, o AS originals, s AS synthetics,
    h AS controls
  FROM (
    SELECT 0 AS place, 'replicated_uniques' AS attack, '' AS column_name,
      count(*) FILTER (o = 1 AND s = 1) AS hits, count(*) FILTER (h = 1 AND s = 1) AS control_hits
    FROM (
      SELECT count(*) FILTER (side = 0) AS o, count(*) FILTER (side = 1) AS s,
        count(*) FILTER (side = 2) AS h
      FROM reid_rows
      GROUP BY q1, q2
    )
    UNION ALL
    SELECT 1 AS place, 'exact_presence', '', sum(o) FILTER (s > 0), sum(h) FILTER (s > 0)
    FROM (
      SELECT count(*) FILTER (side = 0) AS o, count(*) FILTER (side = 1) AS s,
        count(*) FILTER (side = 2) AS h
      FROM reid_rows
      GROUP BY q1, q2, q3
    )
    UNION ALL
    SELECT 2 AS place, 'disclosive_correct', 'diagnosis', sum(o) FILTER (s > 0 AND n = 1),
      sum(h) FILTER (s > 0 AND n = 1)
    FROM (
      SELECT o, s, h, count(*) FILTER (s > 0) OVER (PARTITION BY q1, q2) AS n
      FROM (
        SELECT q1, q2, count(*) FILTER (side = 0) AS o, count(*) FILTER (side = 1) AS s,
          count(*) FILTER (side = 2) AS h
        FROM reid_rows
        GROUP BY q1, q2, q3
      )
    )
  ), reid_sizes
) AS reid_counted
ORDER BY place ASC
