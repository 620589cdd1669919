-- matches(visits, 'person', 'place', 2, 1000000, 10000, 0, 'value')
SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
FROM (
  WITH reid_coded AS MATERIALIZED (
    SELECT dense_rank() OVER (ORDER BY q1 ASC NULLS LAST) AS p, dense_rank() OVER (ORDER BY q2 ASC NULLS LAST) AS i
    FROM (
      SELECT DISTINCT q1, q2
      FROM (
        SELECT reid_source."person", reid_source."place"
        FROM query_table('visits') AS reid_source
      ) AS reid_source_rows(q1, q2)
    )
  ),
  reid_sets AS MATERIALIZED (
    SELECT p, i, count(*) OVER (PARTITION BY p) AS size, row_number() OVER (PARTITION BY p ORDER BY support ASC, i ASC) AS place
    FROM reid_coded
    JOIN (
      SELECT i, count(*) AS support
      FROM reid_coded
      GROUP BY i
    ) USING (i)
  ),
  reid_total AS MATERIALIZED (
    SELECT count(*) AS people, sum(list_reduce(list_prepend(1::DOUBLE, range(1, least(2, size) + 1)::DOUBLE[]), lambda reid_product, reid_i: reid_product * (size - reid_i + 1) / reid_i)) <= 1000000 AS exact
    FROM reid_sets
    WHERE place = 1
  ),
  reid_knowledge AS MATERIALIZED (
    SELECT row_number() OVER () AS id, known, weight
    FROM (
      SELECT known, sum(weight) AS weight
      FROM (
        SELECT list(i ORDER BY place ASC) AS known, 1::DOUBLE AS weight
        FROM reid_sets, reid_total
        WHERE exact AND size <= 2
        GROUP BY p
        UNION ALL
        SELECT [s1.i, s2.i], 1 / list_reduce(list_prepend(1::DOUBLE, range(1, 2 + 1)::DOUBLE[]), lambda reid_product, reid_i: reid_product * (s1.size - reid_i + 1) / reid_i)
        FROM (
          SELECT reid_sets.*
          FROM reid_sets, reid_total
          WHERE exact AND size > 2
        ) s1
        JOIN reid_sets s2 ON s2.p = s1.p AND s2.place > s1.place
        UNION ALL
        SELECT list(i ORDER BY place ASC) AS known, 1::DOUBLE AS weight
        FROM (
          SELECT p, turn, i, place, row_number() OVER (PARTITION BY p, turn ORDER BY list_reduce([0, turn + 1, p, i]::BIGINT[], lambda reid_x, reid_y: ((((((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) + ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * 16807 + 7) % 2147483647) * ((((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) + ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * 16807 + 7) % 2147483647) + ((((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) + ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * 16807 + 7) % 2147483647) * 48271 + 3) % 2147483647)) ASC, i ASC) AS rank
          FROM reid_sets
          JOIN (
            SELECT p, unnest(range((10000 + people - 1) // people)) AS turn
            FROM reid_sets, reid_total
            WHERE NOT exact AND place = 1
            ORDER BY turn ASC, list_reduce([0, 0, p]::BIGINT[], lambda reid_x, reid_y: ((((((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) + ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * 16807 + 7) % 2147483647) * ((((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) + ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * 16807 + 7) % 2147483647) + ((((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) + ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * 16807 + 7) % 2147483647) * 48271 + 3) % 2147483647)) ASC,
              p ASC
            LIMIT 10000
          ) USING (p)
        )
        WHERE rank <= 2
        GROUP BY p, turn
      )
      GROUP BY known
    )
  ),
  reid_matched AS (
    SELECT id, any_value(weight) AS weight, count(*) AS matches
    FROM reid_knowledge
    JOIN reid_coded c1 ON c1.i = known[1]
    JOIN reid_coded c2 ON c2.p = c1.p AND c2.i = known[least(2, len(known))]
    GROUP BY id
  )
  SELECT matches, sum(weight) AS weight, people, CASE WHEN exact THEN 0 ELSE 10000 END::BIGINT AS draws
  FROM reid_matched, reid_total
  GROUP BY ALL
) AS reid_counted
