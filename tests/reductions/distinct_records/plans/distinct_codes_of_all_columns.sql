-- distinct_codes(people, None, 1024, 'drop', 'person')
WITH reid_keys AS (
  SELECT create_sort_key(struct_pack(v := COLUMNS('(?s)^(?:|[^\x{70}\x{50}].*|[\x{70}\x{50}](?:|[^\x{65}\x{45}].*|[\x{65}\x{45}](?:|[^\x{72}\x{52}].*|[\x{72}\x{52}](?:|[^\x{73}\x{53}].*|[\x{73}\x{53}](?:|[^\x{6f}\x{4f}].*|[\x{6f}\x{4f}](?:|[^\x{6e}\x{4e}].*|[\x{6e}\x{4e}].+))))))$')), 'ASC NULLS LAST'),
    create_sort_key(struct_pack(v := "person"), 'ASC NULLS LAST') AS reid_person
  FROM query_table('people')
  WHERE COLUMNS('(?s)^(?:|[^\x{70}\x{50}].*|[\x{70}\x{50}](?:|[^\x{65}\x{45}].*|[\x{65}\x{45}](?:|[^\x{72}\x{52}].*|[\x{72}\x{52}](?:|[^\x{73}\x{53}].*|[\x{73}\x{53}](?:|[^\x{6f}\x{4f}].*|[\x{6f}\x{4f}](?:|[^\x{6e}\x{4e}].*|[\x{6e}\x{4e}].+))))))$') IS NOT NULL
),
reid_distinct AS MATERIALIZED (
  SELECT *, row_number() OVER () AS reid_id
  FROM (
    SELECT list_value(*COLUMNS(*)) AS reid_row, count(*) AS reid_records
    FROM reid_keys
    GROUP BY ALL
  )
),
reid_cells AS (
  SELECT reid_id, unnest(reid_row) AS reid_key, unnest(range(1, len(reid_row) + 1)) AS reid_place
  FROM reid_distinct
  WHERE (
    SELECT CASE WHEN count(*)::HUGEINT * 20 > 1024::HUGEINT * 1000000 THEN error(('memory_mb must be at least ' || (count(*)::HUGEINT * 20 + 999999) // 1000000 || ' for ' || count(*) || ' distinct records' || ', got 1024; pass more, fewer columns, or a ' || 'smaller sample')::VARCHAR)::BOOLEAN
      ELSE true END
    FROM reid_distinct
  ) AND true
),
reid_values AS (
  SELECT *, row_number() OVER (PARTITION BY reid_place) AS reid_code
  FROM (
    SELECT DISTINCT reid_place, reid_key
    FROM reid_cells
  )
),
reid_lists AS (
  SELECT reid_place, list(reid_code::INTEGER ORDER BY reid_id ASC) AS reid_list
  FROM reid_cells
  JOIN reid_values USING (reid_place, reid_key)
  GROUP BY reid_place
),
reid_all AS (
  SELECT coalesce(list(reid_list ORDER BY reid_place ASC), []) AS reid_codes
  FROM reid_lists
),
reid_counts AS (
  SELECT count(*) AS reid_read
  FROM query_table('people')
),
reid_sizes AS (
  SELECT coalesce(list(reid_records ORDER BY reid_id ASC), [])::BIGINT[] AS reid_records
  FROM reid_distinct
)
SELECT (
  SELECT list(column_name)
  FROM (DESCRIBE FROM query_table('people'))
  WHERE translate(column_name, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') <> 'person'
) AS names, list_slice(reid_codes, 1, -2) AS codes, reid_records AS records,
  list_extract(reid_codes, -1)::BIGINT[] AS people, reid_read - coalesce(list_aggregate(reid_records, 'sum'), 0)::BIGINT AS records_dropped,
  'drop' AS nulls
FROM reid_all, reid_counts, reid_sizes
