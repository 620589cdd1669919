-- safe_cells(people, ['region', 'sex'], 'cost', 'id', 5, [1, 0.5], 0.1, 'margins', 'primary', 0, 'omit', 'drop', 5, 'all', None, None, None)
SELECT reid_counted.*, reid_left_out.records_dropped, 'drop' AS nulls
FROM (
  WITH reid_base AS MATERIALIZED (
    SELECT q1, q2, q3 AS entity, count(*) AS records, count(reid_given) - count(reid_value) AS bad,
      sum(reid_value) AS reid_value
    FROM (
      SELECT "cost", try_cast("cost" AS DOUBLE), reid_source."region", reid_source."sex",
        reid_source."id"
      FROM query_table('people') AS reid_source
    ) AS reid_source_rows(reid_given, reid_value, q1, q2, q3)
    WHERE q1 IS NOT NULL AND q2 IS NOT NULL
    GROUP BY q1, q2, q3
  ),
  reid_cells AS MATERIALIZED (
    SELECT q1, q2, totalled, records, people, value_sum, size, largest
    FROM (
      SELECT q1, q2, 0 AS totalled, records, people, bad, value_sum, size,
        largest
      FROM (
        SELECT q1, q2, sum(records)::BIGINT AS records, sum(bad)::BIGINT AS bad,
          count(*) AS people, sum(reid_value) AS value_sum, sum(abs(reid_value)) AS size,
          max(abs(reid_value), 2) AS largest
        FROM reid_base
        GROUP BY q1, q2
      ) AS reid_grouped
    ) AS reid_set
    WHERE CASE WHEN bad > 0 OR NOT size < 'infinity'::DOUBLE THEN error('value must be a column of finite numbers, got another value; cast it in a view, or leave it out to count people')::BOOLEAN
      ELSE records > 0 END
    UNION ALL
    SELECT q1, q2, totalled, records, people, value_sum, size, largest
    FROM (
      SELECT NULL AS q1, q2, 2 AS totalled, records, people, bad, value_sum,
        size, largest
      FROM (
        SELECT q2, sum(records)::BIGINT AS records, sum(bad)::BIGINT AS bad,
          count(*) AS people, sum(reid_value) AS value_sum, sum(abs(reid_value)) AS size,
          max(abs(reid_value), 2) AS largest
        FROM (
          SELECT q2, entity, sum(records)::BIGINT AS records, sum(bad)::BIGINT AS bad,
            sum(reid_value) AS reid_value
          FROM reid_base
          GROUP BY q2, entity
        ) AS reid_people
        GROUP BY q2
      ) AS reid_grouped
    ) AS reid_set
    WHERE CASE WHEN bad > 0 OR NOT size < 'infinity'::DOUBLE THEN error('value must be a column of finite numbers, got another value; cast it in a view, or leave it out to count people')::BOOLEAN
      ELSE records > 0 END
    UNION ALL
    SELECT q1, q2, totalled, records, people, value_sum, size, largest
    FROM (
      SELECT q1, NULL AS q2, 1 AS totalled, records, people, bad, value_sum,
        size, largest
      FROM (
        SELECT q1, sum(records)::BIGINT AS records, sum(bad)::BIGINT AS bad,
          count(*) AS people, sum(reid_value) AS value_sum, sum(abs(reid_value)) AS size,
          max(abs(reid_value), 2) AS largest
        FROM (
          SELECT q1, entity, sum(records)::BIGINT AS records, sum(bad)::BIGINT AS bad,
            sum(reid_value) AS reid_value
          FROM reid_base
          GROUP BY q1, entity
        ) AS reid_people
        GROUP BY q1
      ) AS reid_grouped
    ) AS reid_set
    WHERE CASE WHEN bad > 0 OR NOT size < 'infinity'::DOUBLE THEN error('value must be a column of finite numbers, got another value; cast it in a view, or leave it out to count people')::BOOLEAN
      ELSE records > 0 END
    UNION ALL
    SELECT q1, q2, totalled, records, people, value_sum, size, largest
    FROM (
      SELECT NULL AS q1, NULL AS q2, 3 AS totalled, records, people, bad,
        value_sum, size, largest
      FROM (
        SELECT sum(records)::BIGINT AS records, sum(bad)::BIGINT AS bad, count(*) AS people,
          sum(reid_value) AS value_sum, sum(abs(reid_value)) AS size, max(abs(reid_value), 2) AS largest
        FROM (
          SELECT entity, sum(records)::BIGINT AS records, sum(bad)::BIGINT AS bad,
            sum(reid_value) AS reid_value
          FROM reid_base
          GROUP BY entity
        ) AS reid_people
      ) AS reid_grouped
    ) AS reid_set
    WHERE CASE WHEN bad > 0 OR NOT size < 'infinity'::DOUBLE THEN error('value must be a column of finite numbers, got another value; cast it in a view, or leave it out to count people')::BOOLEAN
      ELSE records > 0 END
  ),
  reid_judged AS MATERIALIZED (
    SELECT c.*, CASE WHEN c.size > 0 THEN (coalesce(list_extract(c.largest, 1), 0)) / c.size END AS largest_share,
      list_filter([CASE WHEN c.people < 5 THEN 'few_people' END, CASE WHEN c.size > 0 AND (coalesce(list_extract(c.largest, 1), 0)) > 0.5 * c.size THEN 'dominance' END, CASE
      WHEN c.size > 0 AND c.size - (coalesce(list_extract(c.largest, 1), 0) + coalesce(list_extract(c.largest, 2), 0)) < 0.1 * list_extract(c.largest, 1) THEN 'p_percent' END, CASE
      WHEN (c.people = m0.people AND NOT false) OR (c.people = m1.people AND NOT false) THEN 'all_in_one_cell' END, CASE
      WHEN (c.people = m0.people AND false) OR (c.people = m1.people AND false) THEN 'determined' END], lambda reid_rule: reid_rule IS NOT NULL) AS unsafe
    FROM (
      SELECT *
      FROM reid_cells
      WHERE totalled IN (0, 2, 1, 3)
    ) AS c
    LEFT JOIN (
      SELECT *
      FROM reid_cells
      WHERE (
        SELECT count(*) > 1
        FROM (
          SELECT DISTINCT q1
          FROM reid_cells
          WHERE totalled & 2 = 0
        )
      )
    ) AS m0 ON c.totalled & 2 = 0 AND m0.totalled = c.totalled + 2 AND c.q2 IS NOT DISTINCT FROM m0.q2
    LEFT JOIN (
      SELECT *
      FROM reid_cells
      WHERE (
        SELECT count(*) > 1
        FROM (
          SELECT DISTINCT q2
          FROM reid_cells
          WHERE totalled & 1 = 0
        )
      )
    ) AS m1 ON c.totalled & 1 = 0 AND m1.totalled = c.totalled + 1 AND c.q1 IS NOT DISTINCT FROM m1.q1
  ),
  reid_hidden AS MATERIALIZED (
    SELECT *, CASE WHEN len(list_filter(unsafe, lambda reid_rule: reid_rule IN ('few_people', 'dominance', 'p_percent'))) > 0 THEN 1
      ELSE 0 END AS hidden
    FROM reid_judged
  ),
  reid_listed AS (
    SELECT q1, q2, totalled, records, people, value_sum, largest_share, unsafe,
      hidden
    FROM reid_hidden
  )
  SELECT q1 AS "region", q2 AS "sex", list_filter([CASE WHEN totalled & 2 > 0 THEN 'region' END, CASE
    WHEN totalled & 1 > 0 THEN 'sex' END], lambda reid_t: reid_t IS NOT NULL)::VARCHAR[] AS total_over,
    CASE WHEN hidden = 0 THEN records END AS records, CASE WHEN hidden = 0 THEN people END AS people,
    CASE WHEN hidden = 0 THEN value_sum END AS value_sum, CASE WHEN is_open THEN largest_share END AS largest_share,
    unsafe::VARCHAR[] AS unsafe, list_extract(['published', 'primary', 'secondary', 'unprotected'], hidden + 1) AS status,
    coalesce(loss, 0)::DOUBLE AS loss
  FROM reid_listed, (
    SELECT sum(records) FILTER (hidden > 0 AND totalled IN (0)) / sum(records) FILTER (totalled IN (0)) AS loss,
      max(hidden) = 0 AS is_open
    FROM reid_hidden
  )
  ORDER BY totalled ASC, q1 ASC NULLS LAST, q2 ASC NULLS LAST
) AS reid_counted, (
  SELECT count(*)
  FROM query_table('people') AS reid_source
  WHERE reid_source."region" IS NULL OR reid_source."sex" IS NULL
) AS reid_left_out(records_dropped)
