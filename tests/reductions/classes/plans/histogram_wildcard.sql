-- histogram(people, ['age', 'sex'], None, None, 'wildcard', None)
SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'wildcard' AS nulls
FROM (
  WITH reid_distinct AS MATERIALIZED (
    SELECT 0 AS side, row_number() OVER () AS id, q1, q2, records
    FROM (
      SELECT q1, q2, count(*) AS records
      FROM (
        SELECT reid_source."age", reid_source."sex"
        FROM query_table('people') AS reid_source
      ) AS reid_source_rows(q1, q2)
      GROUP BY q1, q2
    )
  ),
  reid_coded AS (
    SELECT side, id, records, [coalesce(code1, 0), coalesce(code2, 0)] AS codes
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
  ),
  reid_sizes AS (
    SELECT unnest(sizes) AS class_size, unnest(range(1, len(sizes) + 1)) AS id
    FROM (
      WITH reid_begun AS MATERIALIZED (
        SELECT reid_begin('reid_wildcard_class_sizes', (list(codes ORDER BY id ASC) FILTER (side = 0))::BIGINT[][], (list(codes ORDER BY id ASC) FILTER (side = 0))::BIGINT[][], (list(records ORDER BY id ASC) FILTER (side = 0))::BIGINT[]) AS reid_number
        FROM reid_coded
      ),
      reid_waited AS MATERIALIZED (
        SELECT reply
        FROM (
          SELECT reid_wildcard_class_sizes(reid_number) AS reply
          FROM range(9223372036854775807), reid_begun
        )
        WHERE reply IS NOT NULL
        LIMIT 1
      )
      SELECT CASE WHEN struct_extract(reply, 'refusal') IS NULL THEN struct_extract(reply, 'answers')
        ELSE error(struct_extract(reply, 'refusal')) END AS sizes
      FROM reid_waited
    )
  ),
  reid_matched AS (
    SELECT reid_distinct.*, class_size
    FROM reid_distinct
    JOIN reid_sizes ON reid_distinct.id = reid_sizes.id
    WHERE side = 0
  )
  SELECT class_size, count(*) AS classes, sum(records)::BIGINT AS records,
    coalesce(sum(records) FILTER (q1 IS NULL AND q2 IS NULL), 0)::BIGINT AS blank_records
  FROM reid_matched
  GROUP BY class_size
) AS reid_counted
ORDER BY class_size ASC
