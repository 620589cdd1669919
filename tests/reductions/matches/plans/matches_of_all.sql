-- matches(visits, 'person', ['place', 'day'], None, 1000000, 10000, 0, 'value', None, None)
SELECT reid_rows.*, 0::BIGINT AS place, NULL::VARCHAR AS resolution
FROM (
  SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
  FROM (
    WITH reid_coded AS MATERIALIZED (
      SELECT dense_rank() OVER (ORDER BY q1 ASC NULLS LAST) AS p, dense_rank() OVER (ORDER BY q2 ASC NULLS LAST, q3 ASC NULLS LAST) AS i
      FROM (
        SELECT DISTINCT q1, q2, q3
        FROM (
          SELECT reid_source."person", reid_source."place", reid_source."day"
          FROM query_table('visits') AS reid_source
        ) AS reid_source_rows(q1, q2, q3)
      )
    ),
    reid_sizes AS MATERIALIZED (
      SELECT p, count(*) AS size
      FROM reid_coded
      GROUP BY p
    ),
    reid_total AS MATERIALIZED (
      SELECT points, sum(number)::BIGINT AS people, sum(number * CASE WHEN size > points THEN list_reduce(list_concat(list_value(1::DOUBLE), range(1, points + 1)::DOUBLE[]), lambda reid_product, reid_i: reid_product * (size - reid_i + 1) / reid_i)
        ELSE 1 END) <= 1000000 AS exact, sum(CASE WHEN size < points AND points < 2147483647 THEN number
        ELSE 0 END)::BIGINT AS people_with_fewer
      FROM (
        SELECT size, count(*) AS number
        FROM reid_sizes
        GROUP BY size
      ), (VALUES (2147483647)) AS reid_points(points)
      GROUP BY points
    ),
    reid_turns AS MATERIALIZED (
      SELECT p, unnest(range((10000 + people - 1) // people)) AS turn
      FROM reid_sizes, (
        SELECT max(people) AS people
        FROM reid_total HAVING NOT bool_and(exact)
      )
      ORDER BY turn ASC, list_reduce([list_reduce([0, 0]::BIGINT[], lambda reid_x, reid_y: ((((((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) + ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * 16807 + 7) % 2147483647) * ((((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) + ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * 16807 + 7) % 2147483647) + ((((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) + ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * 16807 + 7) % 2147483647) * 48271 + 3) % 2147483647)), p]::BIGINT[], lambda reid_x, reid_y: ((((((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) + ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * 16807 + 7) % 2147483647) * ((((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) + ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * 16807 + 7) % 2147483647) + ((((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) + ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * 16807 + 7) % 2147483647) * 48271 + 3) % 2147483647)) ASC,
        p ASC
      LIMIT 10000
    ),
    reid_sets AS MATERIALIZED (
      SELECT p, i, size, row_number() OVER (PARTITION BY p ORDER BY support ASC, i ASC) AS place
      FROM reid_coded
      JOIN reid_sizes USING (p)
      JOIN (
        SELECT i, count(*) AS support
        FROM reid_coded
        GROUP BY i
      ) USING (i)
      WHERE p IN (
        SELECT p
        FROM reid_turns
        UNION ALL
        SELECT p
        FROM reid_sizes
        WHERE (
          SELECT bool_or(exact)
          FROM reid_total
        )
      )
    ),
    reid_exact AS MATERIALIZED (
      SELECT reid_total.points, p, i, size, place
      FROM reid_sets, reid_total
      WHERE exact
    ),
    reid_drawn AS MATERIALIZED (
      SELECT p, turn, i, place, row_number() OVER (PARTITION BY p, turn ORDER BY list_reduce([start, i]::BIGINT[], lambda reid_x, reid_y: ((((((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) + ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * 16807 + 7) % 2147483647) * ((((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) + ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * 16807 + 7) % 2147483647) + ((((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) + ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * 16807 + 7) % 2147483647) * 48271 + 3) % 2147483647)) ASC, i ASC) AS rank
      FROM reid_sets
      JOIN (
        SELECT *, list_reduce([0, turn + 1, p]::BIGINT[], lambda reid_x, reid_y: ((((((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) + ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * 16807 + 7) % 2147483647) * ((((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) + ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * 16807 + 7) % 2147483647) + ((((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) + ((reid_x * 48271 + reid_y * 69621 + 11) % 2147483647) * 16807 + 7) % 2147483647) * 48271 + 3) % 2147483647)) AS start
        FROM reid_turns
      ) USING (p) QUALIFY rank <= 2147483647
    ),
    reid_knowledge AS MATERIALIZED (
      SELECT row_number() OVER () AS id, points, known, weight
      FROM (
        SELECT points, known, sum(weight ORDER BY weight ASC) AS weight
        FROM (
          SELECT points, list(i ORDER BY place ASC) AS known, 1::DOUBLE AS weight
          FROM reid_exact
          WHERE points = 2147483647 AND size <= 2147483647
          GROUP BY points, p
          UNION ALL
          SELECT points, list(i ORDER BY place ASC) AS known, 1::DOUBLE AS weight
          FROM reid_drawn
          JOIN reid_total ON rank <= points
          WHERE NOT exact
          GROUP BY points, p, turn
        )
        GROUP BY points, known
      )
    ),
    reid_matched AS (
      SELECT points, weight, matches
      FROM reid_knowledge
      JOIN (
        SELECT id, count(*) AS matches
        FROM (
          SELECT id, p
          FROM (
            SELECT id, p, greatest(len(known), 4) - 4 + 1 AS others, unnest(list_slice(known, least(4, len(known)), len(known))) AS i
            FROM (
              SELECT id, known, c1.p
              FROM (
                SELECT id, known, CASE WHEN len(known) > 1 THEN list_extract(known, 1) END AS i1,
                  list_extract(known, least(2, len(known))) AS i2, list_extract(known, least(3, len(known))) AS i3,
                  list_extract(known, least(4, len(known))) AS i4
                FROM reid_knowledge
              )
              JOIN reid_coded c1 ON c1.i = i1 SEMI
              JOIN reid_coded c2 ON c2.p = c1.p AND c2.i = i2 SEMI
              JOIN reid_coded c3 ON c3.p = c1.p AND c3.i = i3 SEMI
              JOIN reid_coded c4 ON c4.p = c1.p AND c4.i = i4
            )
          )
          JOIN reid_coded USING (p, i)
          GROUP BY id, p HAVING count(*) = any_value(others)
        )
        GROUP BY id
      ) USING (id)
      UNION ALL
      SELECT points, weight, matches
      FROM reid_knowledge
      JOIN (
        SELECT i, count(*) AS matches
        FROM reid_coded
        GROUP BY i
      ) ON i = list_extract(known, 1)
      WHERE len(known) = 1
    )
    SELECT points % 2147483647 AS points, matches, sum(weight ORDER BY weight ASC) AS weight,
      people, people_with_fewer, CASE WHEN exact THEN 0 ELSE 10000 END::BIGINT AS draws
    FROM reid_matched
    JOIN reid_total USING (points)
    GROUP BY ALL
    ORDER BY points ASC, matches ASC
  ) AS reid_counted
) AS reid_rows
