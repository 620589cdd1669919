-- join(patients, members, {'id': 'pid'}, ['age', 'sex'], ['sport', 'level'], None, 2, 'value')
SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
FROM (
  WITH reid_own AS MATERIALIZED (
    SELECT *, CASE WHEN lower(h1::VARCHAR) = 'nan' THEN NULL ELSE h1 END IS NOT NULL AS has_key
    FROM (
      SELECT q1 AS a1, q2 AS a2, q3 AS h1, count(*) AS records
      FROM (
        SELECT reid_source."age", reid_source."sex", reid_source."id"
        FROM query_table('patients') AS reid_source
      ) AS reid_source_rows(q1, q2, q3)
      GROUP BY ALL
    )
  ),
  reid_theirs AS MATERIALIZED (
    SELECT *, CASE WHEN lower(g1::VARCHAR) = 'nan' THEN NULL ELSE g1 END IS NOT NULL AS has_key
    FROM (
      SELECT q1 AS b1, q2 AS b2, q3 AS g1, count(*) AS records
      FROM (
        SELECT reid_source."sport", reid_source."level", reid_source."pid"
        FROM query_table('members') AS reid_source
      ) AS reid_source_rows(q1, q2, q3)
      GROUP BY ALL
    )
  ),
  reid_keys AS MATERIALIZED (
    SELECT (
      SELECT coalesce(error(reid_refusal('keys', o.kind, t.kind, 'on'))::BOOLEAN, true)
      FROM (
        SELECT any_value(typeof(h1)) AS kind
        FROM reid_own
      ) AS o, (
        SELECT any_value(typeof(g1)) AS kind
        FROM reid_theirs
      ) AS t
    ) AS is_like
  ),
  reid_joined AS MATERIALIZED (
    SELECT DISTINCT o.h1 AS p1, o.a1, o.a2, t.b1, t.b2
    FROM (
      FROM reid_own
      WHERE has_key AND (
        SELECT is_like
        FROM reid_keys
      )
    ) AS o
    JOIN (
      FROM reid_theirs
      WHERE has_key AND (
        SELECT is_like
        FROM reid_keys
      )
    ) AS t ON o.h1 = t.g1
  ),
  reid_left_people AS MATERIALIZED (
    SELECT p1, min(size) AS size
    FROM (
      SELECT h1 AS p1, has_key, sum(CASE WHEN has_key THEN 1 ELSE records END) OVER (PARTITION BY a1, a2) AS size
      FROM reid_own
    )
    WHERE has_key
    GROUP BY p1
  ),
  reid_total AS (
    SELECT ((
      SELECT count(*)
      FROM reid_left_people
    ) + (
      SELECT coalesce(sum(records), 0)
      FROM reid_own
      WHERE NOT has_key
    ))::BIGINT AS left_people, ((
      SELECT count(*)
      FROM (
        SELECT DISTINCT g1
        FROM reid_theirs
        WHERE has_key
      )
    ) + (
      SELECT coalesce(sum(records), 0)
      FROM reid_theirs
      WHERE NOT has_key
    ))::BIGINT AS right_people, ((
      SELECT count(*)
      FROM (
        SELECT DISTINCT g1
        FROM reid_theirs AS t SEMI
        JOIN (
          FROM reid_own
          WHERE has_key AND (
            SELECT is_like
            FROM reid_keys
          )
        ) AS o ON o.h1 = t.g1
        WHERE has_key
      )
    ))::BIGINT AS matched_right, ((
      SELECT coalesce(sum(records), 0)
      FROM reid_own
      WHERE NOT has_key
    ) + (
      SELECT coalesce(sum(records), 0)
      FROM reid_theirs
      WHERE NOT has_key
    ))::BIGINT AS without_key, ((
      SELECT count(*)
      FROM (
        SELECT h1
        FROM reid_own
        WHERE has_key
        GROUP BY h1 HAVING sum(records) > 1
      )
    ))::BIGINT AS repeated_keys, ((
      SELECT count(*)
      FROM (
        SELECT p1
        FROM reid_joined
        GROUP BY p1 HAVING count(*) > 1
      )
    ))::BIGINT AS several_rows, ((
      SELECT count(*)
      FROM (
        SELECT f0
        FROM (
          SELECT is_right, ltrim(regexp_replace(CASE WHEN strlen(f0) = length(f0) THEN CASE
            WHEN strlen(f0) = length(f0) THEN lower(f0) ELSE lower(nfc_normalize(translate(regexp_replace(regexp_replace(f0, '[\p{Z}\s]+', ' ', 'g'), '[\p{Cf}\p{Cc}]+', '', 'g'), '！＂＃＄％＆＇（）＊＋，－．／０１２３４５６７８９：；＜＝＞？＠ＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺ［＼］＾＿｀ａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚ｛｜｝～‐‑‒–—―⁃−﹘﹣', '!"#$%&''()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_`abcdefghijklmnopqrstuvwxyz{|}~----------'))) END
            ELSE strip_accents(translate(replace(replace(replace(replace(CASE WHEN strlen(f0) = length(f0) THEN lower(f0)
            ELSE lower(nfc_normalize(translate(regexp_replace(regexp_replace(f0, '[\p{Z}\s]+', ' ', 'g'), '[\p{Cf}\p{Cc}]+', '', 'g'), '！＂＃＄％＆＇（）＊＋，－．／０１２３４５６７８９：；＜＝＞？＠ＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺ［＼］＾＿｀ａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚ｛｜｝～‐‑‒–—―⁃−﹘﹣', '!"#$%&''()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_`abcdefghijklmnopqrstuvwxyz{|}~----------'))) END, 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th'), 'øđðłħıŧ', 'oddlhit')) END, '[.]0+\s*$|[\s_]+', '', 'g'), '0') AS f0
          FROM (
            SELECT DISTINCT False AS is_right, CASE WHEN regexp_full_match(h1::VARCHAR, '[0-9]{1,3}([.,''’ ][0-9]{3})+') THEN regexp_replace(h1::VARCHAR, '[^0-9]', '', 'g')
              ELSE replace(h1::VARCHAR, ',', '.') END AS f0
            FROM reid_own AS o ANTI
            JOIN reid_theirs AS t ON o.h1 = t.g1
            WHERE has_key AND (typeof(h1) = 'VARCHAR')
            UNION ALL
            SELECT DISTINCT True AS is_right, CASE WHEN regexp_full_match(g1::VARCHAR, '[0-9]{1,3}([.,''’ ][0-9]{3})+') THEN regexp_replace(g1::VARCHAR, '[^0-9]', '', 'g')
              ELSE replace(g1::VARCHAR, ',', '.') END AS f0
            FROM reid_theirs AS t ANTI
            JOIN reid_own AS o ON o.h1 = t.g1
            WHERE has_key AND (typeof(g1) = 'VARCHAR')
          ) AS reid_unmatched
          WHERE (
            SELECT is_like
            FROM reid_keys
          )
        )
        GROUP BY ALL HAVING bool_or(is_right) AND NOT bool_and(is_right)
      )
    ))::BIGINT AS written_otherwise
  ),
  reid_lines AS (
    SELECT 0::BIGINT AS kind, NULL::VARCHAR AS column_name, count(*) AS people,
      count(*) FILTER (l.size < 2) AS below_left, count(*) FILTER (r.size < 2) AS below_right,
      count(*) FILTER (j.size < 2) AS below_joined, count(*) FILTER (j.size < 2 AND l.size >= 2
      AND r.size >= 2) AS singled_out
    FROM (
      SELECT p1, min(size) AS size
      FROM (
        SELECT p1, count(*) OVER (PARTITION BY a1, a2, b1, b2) AS size
        FROM (
          SELECT DISTINCT p1, a1, a2, b1, b2
          FROM reid_joined
        )
      )
      GROUP BY p1
    ) AS j
    JOIN reid_left_people AS l USING (p1)
    JOIN (
      SELECT p1, min(size) AS size
      FROM (
        SELECT g1 AS p1, has_key, sum(number) OVER (PARTITION BY true, b1, b2) AS size
        FROM (
          SELECT b1, b2, g1, has_key, CASE WHEN any_value(has_key) THEN 1 ELSE sum(records) END AS number
          FROM reid_theirs
          GROUP BY ALL
        )
      )
      WHERE has_key
      GROUP BY p1
    ) AS r USING (p1)
    UNION ALL
    SELECT 1::BIGINT AS kind, 'sport' AS column_name, count(*) AS people,
      count(*) FILTER (l.size < 2) AS below_left, count(*) FILTER (r.size < 2) AS below_right,
      count(*) FILTER (j.size < 2) AS below_joined, count(*) FILTER (j.size < 2 AND l.size >= 2
      AND r.size >= 2) AS singled_out
    FROM (
      SELECT p1, min(size) AS size
      FROM (
        SELECT p1, count(*) OVER (PARTITION BY a1, a2, b1) AS size
        FROM (
          SELECT DISTINCT p1, a1, a2, b1
          FROM reid_joined
        )
      )
      GROUP BY p1
    ) AS j
    JOIN reid_left_people AS l USING (p1)
    JOIN (
      SELECT p1, min(size) AS size
      FROM (
        SELECT g1 AS p1, has_key, sum(number) OVER (PARTITION BY true, b1) AS size
        FROM (
          SELECT b1, g1, has_key, CASE WHEN any_value(has_key) THEN 1 ELSE sum(records) END AS number
          FROM reid_theirs
          GROUP BY ALL
        )
      )
      WHERE has_key
      GROUP BY p1
    ) AS r USING (p1)
    UNION ALL
    SELECT 1::BIGINT AS kind, 'level' AS column_name, count(*) AS people,
      count(*) FILTER (l.size < 2) AS below_left, count(*) FILTER (r.size < 2) AS below_right,
      count(*) FILTER (j.size < 2) AS below_joined, count(*) FILTER (j.size < 2 AND l.size >= 2
      AND r.size >= 2) AS singled_out
    FROM (
      SELECT p1, min(size) AS size
      FROM (
        SELECT p1, count(*) OVER (PARTITION BY a1, a2, b2) AS size
        FROM (
          SELECT DISTINCT p1, a1, a2, b2
          FROM reid_joined
        )
      )
      GROUP BY p1
    ) AS j
    JOIN reid_left_people AS l USING (p1)
    JOIN (
      SELECT p1, min(size) AS size
      FROM (
        SELECT g1 AS p1, has_key, sum(number) OVER (PARTITION BY true, b2) AS size
        FROM (
          SELECT b2, g1, has_key, CASE WHEN any_value(has_key) THEN 1 ELSE sum(records) END AS number
          FROM reid_theirs
          GROUP BY ALL
        )
      )
      WHERE has_key
      GROUP BY p1
    ) AS r USING (p1)
    UNION ALL
    SELECT 2::BIGINT AS kind, 'sport' AS column_name, count(*) AS people,
      count(*) FILTER (l.size < 2) AS below_left, count(*) FILTER (r.size < 2) AS below_right,
      count(*) FILTER (j.size < 2) AS below_joined, count(*) FILTER (j.size < 2 AND l.size >= 2
      AND r.size >= 2) AS singled_out
    FROM (
      SELECT p1, min(size) AS size
      FROM (
        SELECT p1, count(*) OVER (PARTITION BY a1, a2, b2) AS size
        FROM (
          SELECT DISTINCT p1, a1, a2, b2
          FROM reid_joined
        )
      )
      GROUP BY p1
    ) AS j
    JOIN reid_left_people AS l USING (p1)
    JOIN (
      SELECT p1, min(size) AS size
      FROM (
        SELECT g1 AS p1, has_key, sum(number) OVER (PARTITION BY true, b2) AS size
        FROM (
          SELECT b2, g1, has_key, CASE WHEN any_value(has_key) THEN 1 ELSE sum(records) END AS number
          FROM reid_theirs
          GROUP BY ALL
        )
      )
      WHERE has_key
      GROUP BY p1
    ) AS r USING (p1)
    UNION ALL
    SELECT 2::BIGINT AS kind, 'level' AS column_name, count(*) AS people,
      count(*) FILTER (l.size < 2) AS below_left, count(*) FILTER (r.size < 2) AS below_right,
      count(*) FILTER (j.size < 2) AS below_joined, count(*) FILTER (j.size < 2 AND l.size >= 2
      AND r.size >= 2) AS singled_out
    FROM (
      SELECT p1, min(size) AS size
      FROM (
        SELECT p1, count(*) OVER (PARTITION BY a1, a2, b1) AS size
        FROM (
          SELECT DISTINCT p1, a1, a2, b1
          FROM reid_joined
        )
      )
      GROUP BY p1
    ) AS j
    JOIN reid_left_people AS l USING (p1)
    JOIN (
      SELECT p1, min(size) AS size
      FROM (
        SELECT g1 AS p1, has_key, sum(number) OVER (PARTITION BY true, b1) AS size
        FROM (
          SELECT b1, g1, has_key, CASE WHEN any_value(has_key) THEN 1 ELSE sum(records) END AS number
          FROM reid_theirs
          GROUP BY ALL
        )
      )
      WHERE has_key
      GROUP BY p1
    ) AS r USING (p1)
  )
  SELECT kind, column_name, 2::BIGINT AS k, people, below_left, below_right,
    below_joined, singled_out, several_rows, left_people, right_people, matched_right,
    without_key, repeated_keys, written_otherwise
  FROM reid_lines, reid_total
  ORDER BY kind ASC, column_name ASC
) AS reid_counted
