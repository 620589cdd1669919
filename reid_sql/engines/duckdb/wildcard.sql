-- NULL matches anything.

-- Each record as a list of codes (0 for NULL), matched in one call with the records of the other side.
PLAN reid_matches(other, alias) AS
SELECT unnest(sizes) AS {{ alias }}, generate_subscripts(sizes, 1) AS id
FROM (
  WITH reid_begun AS MATERIALIZED (
    SELECT reid_begin('reid_wildcard_class_sizes',
      (list(codes ORDER BY id ASC) FILTER (side = 0))::BIGINT[][],
      (list(codes ORDER BY id ASC) FILTER (side = {{ other }}))::BIGINT[][],
      (list(records ORDER BY id ASC) FILTER (side = {{ other }}))::BIGINT[]
    ) AS reid_number FROM reid_coded
  )
  SELECT sizes
  FROM (SELECT reid_wildcard_class_sizes(reid_number) AS sizes FROM range(9223372036854775807), reid_begun)
  WHERE sizes IS NOT NULL LIMIT 1
)
;

PLAN reid_wildcard_with(columns, distinct_records, other) AS
WITH reid_distinct AS MATERIALIZED ({{ distinct_records }}),
reid_coded AS (
  SELECT side, id, records, {{ reid_codes(columns) }} AS codes
  FROM reid_distinct {{ reid_coding(columns, 'reid_distinct', false) }}
),
reid_sizes AS ({{ reid_matches(other, 'class_size') }}),
reid_matched AS (
  SELECT reid_distinct.*, class_size
  FROM reid_distinct JOIN reid_sizes ON reid_distinct.id = reid_sizes.id
  WHERE side = 0
)
;
