-- safe_cells(people, ['region', 'town'], None, None, 5, [1, 0.5], 0.1, 'rollup', 'secondary', 0, 'omit', 'value', 5, 'all', ['region > town'], None, None)
SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
FROM (
  WITH reid_base AS MATERIALIZED (
    SELECT q1, q2, count(*) AS records, NULL::DOUBLE AS value_sum, NULL::DOUBLE AS size,
      NULL::DOUBLE[] AS largest
    FROM (
      SELECT reid_source."region", reid_source."town"
      FROM query_table('people') AS reid_source
    ) AS reid_source_rows(q1, q2)
    GROUP BY q1, q2
  ),
  reid_cells AS MATERIALIZED (
    SELECT q1, q2, totalled, records, people, value_sum, size, largest
    FROM (
      SELECT q1, q2, 0 AS totalled, sum(records)::BIGINT AS records, sum(records)::BIGINT AS people,
        NULL::DOUBLE AS value_sum, NULL::DOUBLE AS size, NULL::DOUBLE[] AS largest
      FROM reid_base
      GROUP BY q1, q2
    ) AS reid_set
    WHERE records > 0
    UNION ALL
    SELECT q1, q2, totalled, records, people, value_sum, size, largest
    FROM (
      SELECT q1, NULL AS q2, 1 AS totalled, sum(records)::BIGINT AS records,
        sum(records)::BIGINT AS people, NULL::DOUBLE AS value_sum, NULL::DOUBLE AS size,
        NULL::DOUBLE[] AS largest
      FROM reid_base
      GROUP BY q1
    ) AS reid_set
    WHERE records > 0
    UNION ALL
    SELECT q1, q2, totalled, records, people, value_sum, size, largest
    FROM (
      SELECT NULL AS q1, NULL AS q2, 3 AS totalled, sum(records)::BIGINT AS records,
        sum(records)::BIGINT AS people, NULL::DOUBLE AS value_sum, NULL::DOUBLE AS size,
        NULL::DOUBLE[] AS largest
      FROM reid_base
    ) AS reid_set
    WHERE records > 0
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
      WHERE totalled IN (0, 1, 3)
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
  reid_numbered AS MATERIALIZED (
    SELECT row_number() OVER () AS reid_cell, c.*, [CASE WHEN totalled & 2 > 0 THEN 0 ELSE dense_rank() OVER (ORDER BY totalled & 2 DESC, q1 ASC NULLS FIRST) END,
      CASE WHEN totalled & 1 > 0 THEN 0 ELSE dense_rank() OVER (ORDER BY totalled & 1 DESC, q2 ASC NULLS FIRST) END]::BIGINT[] AS reid_codes,
      c.records AS reid_records, (len(list_filter(unsafe, lambda reid_rule: reid_rule IN ('few_people', 'dominance', 'p_percent'))) > 0)::BIGINT AS reid_is_primary
    FROM reid_judged AS c
  ),
  reid_begun AS MATERIALIZED (
    SELECT reid_begin('reid_suppressed_cells', list(reid_codes ORDER BY reid_cell ASC), list(reid_records ORDER BY reid_cell ASC), list(reid_is_primary ORDER BY reid_cell ASC), 5::BIGINT, [[0, 1]]::BIGINT[][], ['region', 'town'], NULL::BIGINT[], NULL::VARCHAR[], NULL::VARCHAR[]) AS reid_number
    FROM reid_numbered
  ),
  reid_waited AS MATERIALIZED (
    SELECT reply
    FROM (
      SELECT reid_suppressed_cells(reid_number) AS reply
      FROM range(9223372036854775807), reid_begun
    )
    WHERE reply IS NOT NULL
    LIMIT 1
  ),
  reid_chosen AS MATERIALIZED (
    SELECT CASE WHEN struct_extract(reply, 'refusal') IS NULL THEN struct_extract(reply, 'answers')
      ELSE error(struct_extract(reply, 'refusal')) END AS chosen
    FROM reid_waited
  ),
  reid_hidden AS MATERIALIZED (
    SELECT reid_numbered.*, list_extract(chosen, reid_cell) AS hidden
    FROM reid_numbered, reid_chosen
  ),
  reid_listed AS (
    SELECT q1, q2, totalled, records, people, value_sum, largest_share, unsafe,
      hidden
    FROM reid_hidden
  )
  SELECT q1 AS "region", q2 AS "town", list_filter([CASE WHEN totalled & 2 > 0 THEN 'region' END, CASE
    WHEN totalled & 1 > 0 THEN 'town' END], lambda reid_t: reid_t IS NOT NULL)::VARCHAR[] AS total_over,
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
) AS reid_counted
