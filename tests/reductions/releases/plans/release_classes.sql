-- release_classes(january, february, ['age', 'sex'], 'id', None, 'diagnosis', 'value')
SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
FROM (
  WITH reid_read AS MATERIALIZED (
    SELECT 0 AS side, q1 AS q1, q2 AS q2, q3 AS s, q4 AS p1, NULL AS p2
    FROM (
      SELECT reid_source."age", reid_source."sex", reid_source."diagnosis",
        reid_source."id"
      FROM query_table('january') AS reid_source
    ) AS reid_source_rows(q1, q2, q3, q4)
    UNION ALL
    SELECT 1 AS side, q1 AS q1, q2 AS q2, q3 AS s, NULL AS p1, q4 AS p2
    FROM (
      SELECT reid_source."age", reid_source."sex", reid_source."diagnosis",
        reid_source."id"
      FROM query_table('february') AS reid_source
    ) AS reid_source_rows(q1, q2, q3, q4)
  ),
  reid_keys AS MATERIALIZED (
    SELECT CASE WHEN true AND true THEN o.is_key AND r.is_key AND coalesce(error(reid_refusal('keys', o.kind, r.kind, 'key'))::BOOLEAN, true) END AS reid_has_keys
    FROM (
      SELECT CASE WHEN count(DISTINCT p1) + least(1, count(*) - count(p1)) < count(*) THEN error('key must differ between records, got a value that occurs more than once; pass a column whose values are distinct, or none')::BOOLEAN
        ELSE true END AS is_key, any_value(typeof(p1)) AS kind
      FROM reid_read
      WHERE side = 0
    ) AS o, (
      SELECT CASE WHEN count(DISTINCT p2) + least(1, count(*) - count(p2)) < count(*) THEN error('key must differ between records, got a value that occurs more than once; pass a column whose values are distinct, or none')::BOOLEAN
        ELSE true END AS is_key, any_value(typeof(p2)) AS kind
      FROM reid_read
      WHERE side = 1
    ) AS r
  ),
  reid_rows AS (
    SELECT *
    FROM reid_read
    WHERE (
      SELECT reid_has_keys
      FROM reid_keys
    )
  ),
  reid_joined AS MATERIALIZED (
    SELECT a.q1, a.q2, a.s, rq1, rq2, b.is_there, CASE WHEN b.is_there = 1 AND q1 IS NOT DISTINCT FROM rq1
      AND q2 IS NOT DISTINCT FROM rq2 THEN 1 ELSE 0 END AS has_stayed
    FROM (
      SELECT q1, q2, s, p1
      FROM reid_rows
      WHERE side = 0
    ) AS a
    LEFT JOIN (
      SELECT q1 AS rq1, q2 AS rq2, p2, 1 AS is_there
      FROM reid_rows
      WHERE side = 1
    ) AS b ON a.p1 IS NOT DISTINCT FROM b.p2
  ),
  reid_pairs AS (
    SELECT *
    FROM reid_joined
    WHERE is_there = 1
  ),
  reid_marked AS (
    SELECT q1, q2, s, 0 AS side, has_stayed
    FROM reid_joined
    UNION ALL
    SELECT q1, q2, s, 1, 0
    FROM reid_rows
    WHERE side = 1
  ),
  reid_cells AS MATERIALIZED (
    SELECT q1, q2, s, count(*) FILTER (side = 0) AS n1, count(*) FILTER (side = 1) AS n2,
      sum(has_stayed) AS people
    FROM reid_marked
    GROUP BY q1, q2, s
  ),
  reid_classes AS MATERIALIZED (
    SELECT q1, q2, sum(n1) AS n1, sum(n2) AS n2, sum(people) AS people, sum(least(n1, n2)) AS overlap,
      count(*) FILTER (n1 > 0 AND n2 > 0) AS common_values, count(*) FILTER (n1 > 0) AS first_values,
      count(*) FILTER (n2 > 0) AS second_values, count(*) FILTER (n2 > n1) AS gained_values,
      count(*) FILTER (n1 > n2) AS lost_values
    FROM reid_cells
    GROUP BY q1, q2
  ),
  reid_changes AS MATERIALIZED (
    SELECT q1, q2, rq1, rq2, count(*) AS people
    FROM reid_pairs
    WHERE has_stayed = 0
    GROUP BY q1, q2, rq1, rq2
  )
  SELECT kind::BIGINT AS kind, first_size::BIGINT AS first_size, second_size::BIGINT AS second_size,
    people::BIGINT AS people, overlap::BIGINT AS overlap, common_values::BIGINT AS common_values,
    first_values::BIGINT AS first_values, second_values::BIGINT AS second_values,
    gained_values::BIGINT AS gained_values, lost_values::BIGINT AS lost_values,
    is_common_first::BIGINT AS is_common_first, is_common_second::BIGINT AS is_common_second,
    is_followed_first::BIGINT AS is_followed_first, is_followed_second::BIGINT AS is_followed_second,
    link_size::BIGINT AS link_size, count(*) AS number, 1 AS is_keyed, 1 AS has_sensitive
  FROM (
    SELECT 0 AS kind, c.n1 AS first_size, c.n2 AS second_size, c.people AS people,
      c.overlap AS overlap, c.common_values AS common_values, c.first_values AS first_values,
      c.second_values AS second_values, c.gained_values AS gained_values,
      c.lost_values AS lost_values, 0 AS is_common_first, 0 AS is_common_second,
      0 AS is_followed_first, 0 AS is_followed_second, 0 AS link_size
    FROM reid_classes AS c
    UNION ALL
    SELECT 1 AS kind, n1 AS first_size, n2 AS second_size, people AS people,
      overlap AS overlap, common_values AS common_values, first_values AS first_values,
      second_values AS second_values, 0 AS gained_values, 0 AS lost_values,
      0 AS is_common_first, 0 AS is_common_second, 0 AS is_followed_first,
      0 AS is_followed_second, 0 AS link_size
    FROM (
      SELECT max(m.people) AS people, sum(a.n1) AS n1, max(b.n2) AS n2, sum(least(a.n1, coalesce(v.n2, 0))) AS overlap,
        count(v.n2) AS common_values, count(*) AS first_values, max(b.second_values) AS second_values
      FROM reid_changes AS m
      JOIN (
        SELECT *
        FROM reid_cells
        WHERE n1 > 0
      ) AS a ON m.q1 IS NOT DISTINCT FROM a.q1 AND m.q2 IS NOT DISTINCT FROM a.q2
      JOIN reid_classes AS b ON m.rq1 IS NOT DISTINCT FROM b.q1 AND m.rq2 IS NOT DISTINCT FROM b.q2
      LEFT JOIN (
        SELECT *
        FROM reid_cells
        WHERE n2 > 0
      ) AS v ON m.rq1 IS NOT DISTINCT FROM v.q1 AND m.rq2 IS NOT DISTINCT FROM v.q2 AND a.s IS NOT DISTINCT FROM v.s
      GROUP BY m.q1, m.q2, m.rq1, m.rq2
    )
  )
  GROUP BY kind, first_size, second_size, people, overlap, common_values,
    first_values, second_values, gained_values, lost_values, is_common_first,
    is_common_second, is_followed_first, is_followed_second, link_size
  ORDER BY kind ASC
) AS reid_counted
