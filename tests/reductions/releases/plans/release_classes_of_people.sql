-- release_classes(january, february, ['age', 'sex'], None, 'id', None, 'drop', None, None)
SELECT reid_counted.*, ((
  SELECT count(*)
  FROM query_table('january') AS reid_source
  WHERE reid_source."age" IS NULL OR reid_source."sex" IS NULL
) + (
  SELECT count(*)
  FROM query_table('february') AS reid_source
  WHERE reid_source."age" IS NULL OR reid_source."sex" IS NULL
))::BIGINT AS records_dropped, 'drop' AS nulls
FROM (
  WITH reid_read AS MATERIALIZED (
    SELECT DISTINCT 0 AS side, q1 AS q1, q2 AS q2, q3 AS p1, NULL AS p2
    FROM (
      SELECT reid_source."age", reid_source."sex", reid_source."id"
      FROM query_table('january') AS reid_source
    ) AS reid_source_rows(q1, q2, q3)
    WHERE q1 IS NOT NULL AND q2 IS NOT NULL
    UNION ALL
    SELECT DISTINCT 1 AS side, q1 AS q1, q2 AS q2, NULL AS p1, q3 AS p2
    FROM (
      SELECT reid_source."age", reid_source."sex", reid_source."id"
      FROM query_table('february') AS reid_source
    ) AS reid_source_rows(q1, q2, q3)
    WHERE q1 IS NOT NULL AND q2 IS NOT NULL
  ),
  reid_keys AS MATERIALIZED (
    SELECT CASE WHEN true AND true THEN r0.is_key AND r1.is_key AND coalesce(error(reid_refusal('keys', r0.kind, r1.kind, 'entity'))::BOOLEAN, true) END AS reid_has_keys
    FROM (
      SELECT true AS is_key, any_value(typeof(p1)) AS kind
      FROM reid_read
      WHERE side = 0
    ) AS r0, (
      SELECT true AS is_key, any_value(typeof(p2)) AS kind
      FROM reid_read
      WHERE side = 1
    ) AS r1
  ),
  reid_every AS (
    SELECT *
    FROM reid_read
    WHERE (
      SELECT reid_has_keys
      FROM reid_keys
    )
  ),
  reid_rows AS (
    SELECT *
    FROM reid_every
    WHERE side < 2
  ),
  reid_own AS MATERIALIZED (
    SELECT q1, q2, person, 1 - min(side) AS in_first, max(side) AS in_second
    FROM (
      SELECT q1, q2, side, p1 AS person
      FROM reid_rows
      WHERE side = 0
      UNION ALL
      SELECT q1, q2, side, p2 AS person
      FROM reid_rows
      WHERE side = 1
    )
    GROUP BY q1, q2, person
  ),
  reid_stays AS (
    SELECT q1, q2, sum(in_first * in_second) AS people
    FROM reid_own
    GROUP BY q1, q2
  ),
  reid_classes AS MATERIALIZED (
    SELECT q1, q2, count(*) FILTER (side = 0) AS n1, count(*) FILTER (side = 1) AS n2,
      0 AS people, 0 AS overlap, 0 AS common_values, 0 AS first_values, 0 AS second_values,
      0 AS gained_values, 0 AS lost_values
    FROM reid_rows
    GROUP BY q1, q2
  ),
  reid_people AS MATERIALIZED (
    SELECT sum(in_first) AS first_size, sum(in_second) AS second_size, max(CASE WHEN in_first = 1
      AND n1 > 0 AND n2 > 0 THEN 1 ELSE 0 END) AS is_common_first, max(CASE WHEN in_second = 1
      AND n1 > 0 AND n2 > 0 THEN 1 ELSE 0 END) AS is_common_second, max(CASE WHEN in_first = 1
      AND n1 = 1 AND n2 = 1 THEN 1 ELSE 0 END) AS is_followed_first, max(CASE WHEN in_second = 1
      AND n1 = 1 AND n2 = 1 THEN 1 ELSE 0 END) AS is_followed_second, min(o.q1) FILTER (in_first = 1) AS q1,
      min(o.q2) FILTER (in_first = 1) AS q2, min(o.q1) FILTER (in_second = 1) AS rq1,
      min(o.q2) FILTER (in_second = 1) AS rq2, coalesce(min(CASE WHEN in_first * in_second = 1 THEN greatest(n1, n2) END), 0) AS link_size
    FROM reid_own AS o
    JOIN reid_classes AS c ON o.q1 IS NOT DISTINCT FROM c.q1 AND o.q2 IS NOT DISTINCT FROM c.q2
    GROUP BY person
  ),
  reid_changes AS MATERIALIZED (
    SELECT q1, q2, rq1, rq2, count(*) AS people
    FROM reid_people
    WHERE first_size = 1 AND second_size = 1 AND NOT (q1 IS NOT DISTINCT FROM rq1 AND q2 IS NOT DISTINCT FROM rq2)
    GROUP BY q1, q2, rq1, rq2
  ),
  reid_arrivals AS (
    SELECT o.q1, o.q2, count(*) AS arrived
    FROM reid_own AS o
    JOIN (
      SELECT person
      FROM reid_own
      GROUP BY person HAVING max(in_first) = 1
    ) AS k ON o.person IS NOT DISTINCT FROM k.person
    WHERE in_first = 0
    GROUP BY o.q1, o.q2
  ),
  reid_values AS (
    SELECT q1, q2, row_number() OVER () AS class
    FROM (
      SELECT DISTINCT q1, q2
      FROM reid_every
    )
  ),
  reid_profiles AS MATERIALIZED (
    SELECT row_number() OVER () AS person, c1, c2, (c1 IS NOT NULL)::INTEGER + (c2 IS NOT NULL)::INTEGER AS present
    FROM (
      SELECT list_sort(list(DISTINCT class) FILTER (side = 0)) AS c1, list_sort(list(DISTINCT class) FILTER (side = 1)) AS c2
      FROM (
        SELECT q1, q2, side, p1 AS person
        FROM reid_every
        WHERE side = 0
        UNION ALL
        SELECT q1, q2, side, p2 AS person
        FROM reid_every
        WHERE side = 1
      ) AS r
      JOIN reid_values AS v ON r.q1 IS NOT DISTINCT FROM v.q1 AND r.q2 IS NOT DISTINCT FROM v.q2
      GROUP BY person
    )
  ),
  reid_singled AS MATERIALIZED (
    SELECT 0 AS one, 0 AS other, min(person) AS person
    FROM reid_profiles
    WHERE c1 IS NOT NULL OR c2 IS NOT NULL
    GROUP BY c1, c2 HAVING count(*) = 1
    UNION ALL
    SELECT 1 AS one, 0 AS other, min(person) AS person
    FROM reid_profiles
    WHERE c1 IS NOT NULL
    GROUP BY c1 HAVING count(*) = 1
    UNION ALL
    SELECT 2 AS one, 0 AS other, min(person) AS person
    FROM reid_profiles
    WHERE c2 IS NOT NULL
    GROUP BY c2 HAVING count(*) = 1
  )
  SELECT kind::BIGINT AS kind, first_size::BIGINT AS first_size, second_size::BIGINT AS second_size,
    people::BIGINT AS people, arrived::BIGINT AS arrived, overlap::BIGINT AS overlap,
    common_values::BIGINT AS common_values, first_values::BIGINT AS first_values,
    second_values::BIGINT AS second_values, gained_values::BIGINT AS gained_values,
    lost_values::BIGINT AS lost_values, is_common_first::BIGINT AS is_common_first,
    is_common_second::BIGINT AS is_common_second, is_followed_first::BIGINT AS is_followed_first,
    is_followed_second::BIGINT AS is_followed_second, link_size::BIGINT AS link_size,
    count(*) AS number, 1 AS is_keyed, 0 AS has_sensitive
  FROM (
    SELECT 0 AS kind, c.n1 AS first_size, c.n2 AS second_size, m.people AS people,
      coalesce(v.arrived, 0) AS arrived, c.overlap AS overlap, c.common_values AS common_values,
      c.first_values AS first_values, c.second_values AS second_values, c.gained_values AS gained_values,
      c.lost_values AS lost_values, 0 AS is_common_first, 0 AS is_common_second,
      0 AS is_followed_first, 0 AS is_followed_second, 0 AS link_size
    FROM reid_classes AS c
    JOIN reid_stays AS m ON c.q1 IS NOT DISTINCT FROM m.q1 AND c.q2 IS NOT DISTINCT FROM m.q2
    LEFT JOIN reid_arrivals AS v ON c.q1 IS NOT DISTINCT FROM v.q1 AND c.q2 IS NOT DISTINCT FROM v.q2
    UNION ALL
    SELECT 1 AS kind, a.n1 AS first_size, b.n2 AS second_size, m.people AS people,
      0 AS arrived, 0 AS overlap, 0 AS common_values, 0 AS first_values, 0 AS second_values,
      0 AS gained_values, 0 AS lost_values, 0 AS is_common_first, 0 AS is_common_second,
      0 AS is_followed_first, 0 AS is_followed_second, 0 AS link_size
    FROM reid_changes AS m
    JOIN reid_classes AS a ON m.q1 IS NOT DISTINCT FROM a.q1 AND m.q2 IS NOT DISTINCT FROM a.q2
    JOIN reid_classes AS b ON m.rq1 IS NOT DISTINCT FROM b.q1 AND m.rq2 IS NOT DISTINCT FROM b.q2
    UNION ALL
    SELECT 4 AS kind, 1 AS first_size, 0 AS second_size, count(c1) AS people,
      count(c1) FILTER (present > 1) AS arrived, 0 AS overlap, 0 AS common_values,
      0 AS first_values, 0 AS second_values, 0 AS gained_values, 0 AS lost_values,
      0 AS is_common_first, 0 AS is_common_second, 0 AS is_followed_first,
      0 AS is_followed_second, 0 AS link_size
    FROM reid_profiles
    UNION ALL
    SELECT 4 AS kind, 2 AS first_size, 0 AS second_size, count(c2) AS people,
      count(c2) FILTER (present > 1) AS arrived, 0 AS overlap, 0 AS common_values,
      0 AS first_values, 0 AS second_values, 0 AS gained_values, 0 AS lost_values,
      0 AS is_common_first, 0 AS is_common_second, 0 AS is_followed_first,
      0 AS is_followed_second, 0 AS link_size
    FROM reid_profiles
    UNION ALL
    SELECT 5 AS kind, one AS first_size, other AS second_size, count(*) AS people,
      0 AS arrived, 0 AS overlap, 0 AS common_values, 0 AS first_values, 0 AS second_values,
      0 AS gained_values, 0 AS lost_values, 0 AS is_common_first, 0 AS is_common_second,
      0 AS is_followed_first, 0 AS is_followed_second, 0 AS link_size
    FROM reid_singled
    WHERE one > 0
    GROUP BY one, other
    UNION ALL
    SELECT 6 AS kind, 2 AS first_size, 0 AS second_size, 0 AS people, 0 AS arrived,
      0 AS overlap, 0 AS common_values, 0 AS first_values, 0 AS second_values,
      0 AS gained_values, 0 AS lost_values, coalesce(common_first, 0) AS is_common_first,
      0 AS is_common_second, coalesce(followed_first, 0) AS is_followed_first,
      coalesce(followed_second, 0) AS is_followed_second, 0 AS link_size
    FROM reid_profiles
    LEFT JOIN (
      SELECT person, max(CASE WHEN one = 0 THEN 1 ELSE 0 END) AS common_first,
        max(CASE WHEN one > 0 AND other = 0 THEN 1 ELSE 0 END) AS followed_first,
        max(CASE WHEN other > 0 THEN 1 ELSE 0 END) AS followed_second
      FROM reid_singled
      GROUP BY person
    ) AS s USING (person)
    UNION ALL
    SELECT 2 AS kind, first_size AS first_size, second_size AS second_size,
      0 AS people, 0 AS arrived, 0 AS overlap, 0 AS common_values, 0 AS first_values,
      0 AS second_values, 0 AS gained_values, 0 AS lost_values, is_common_first AS is_common_first,
      is_common_second AS is_common_second, is_followed_first AS is_followed_first,
      is_followed_second AS is_followed_second, link_size AS link_size
    FROM reid_people
  )
  GROUP BY kind, first_size, second_size, people, arrived, overlap, common_values,
    first_values, second_values, gained_values, lost_values, is_common_first,
    is_common_second, is_followed_first, is_followed_second, link_size
  ORDER BY kind ASC
) AS reid_counted
