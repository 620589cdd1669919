-- distinct_codes(people, None, 1024, 'drop', 'person')
WITH reid_keys AS (
  SELECT create_sort_key(struct_pack(v := COLUMNS('(?s)^(?:|[^\x{70}\x{50}].*|[\x{70}\x{50}](?:|[^\x{65}\x{45}].*|[\x{65}\x{45}](?:|[^\x{72}\x{52}].*|[\x{72}\x{52}](?:|[^\x{73}\x{53}].*|[\x{73}\x{53}](?:|[^\x{6f}\x{4f}].*|[\x{6f}\x{4f}](?:|[^\x{6e}\x{4e}].*|[\x{6e}\x{4e}].+))))))$')), 'ASC NULLS LAST'),
    create_sort_key(struct_pack(v := "person"), 'ASC NULLS LAST') AS reid_person
  FROM query_table('people')
  WHERE COLUMNS('(?s)^(?:|[^\x{70}\x{50}].*|[\x{70}\x{50}](?:|[^\x{65}\x{45}].*|[\x{65}\x{45}](?:|[^\x{72}\x{52}].*|[\x{72}\x{52}](?:|[^\x{73}\x{53}].*|[\x{73}\x{53}](?:|[^\x{6f}\x{4f}].*|[\x{6f}\x{4f}](?:|[^\x{6e}\x{4e}].*|[\x{6e}\x{4e}].+))))))$') IS NOT NULL
),
reid_distinct AS MATERIALIZED (
  SELECT *, count(*) AS reid_records
  FROM reid_keys
  GROUP BY ALL
),
reid_ranks AS (
  SELECT dense_rank() OVER (ORDER BY COLUMNS(* EXCLUDE (reid_records, reid_person))::BLOB ASC NULLS LAST)::INTEGER,
    reid_records, dense_rank() OVER (ORDER BY reid_person ASC NULLS LAST) AS reid_person
  FROM reid_distinct
  WHERE (
    SELECT CASE WHEN count(*)::HUGEINT * 20 > 1024::HUGEINT * 1000000 THEN error(('memory_mb must be at least ' || (count(*)::HUGEINT * 20 + 999999) // 1000000 || ' for ' || count(*) || ' distinct records' || ', got 1024; pass more, fewer columns, or a ' || 'smaller sample')::VARCHAR)::BOOLEAN
      ELSE true END
    FROM reid_distinct
  )
),
reid_lists AS (
  SELECT list(COLUMNS(* EXCLUDE (reid_records, reid_person))), list(reid_records)::BIGINT[] AS reid_records,
    list(reid_person)::BIGINT[] AS reid_people
  FROM reid_ranks
),
reid_counts AS (
  SELECT count(*) AS reid_read
  FROM query_table('people')
)
SELECT (
  SELECT list(column_name)
  FROM (DESCRIBE FROM query_table('people'))
  WHERE translate(column_name, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') <> 'person'
) AS names, list_value(*COLUMNS(* EXCLUDE (reid_records, reid_people, reid_read))) AS codes,
  coalesce(reid_records, []) AS records, coalesce(reid_people, []) AS people,
  reid_read - coalesce(list_aggregate(reid_records, 'sum'), 0)::BIGINT AS records_dropped,
  'drop' AS nulls
FROM reid_lists, reid_counts
