-- subsets(people, ['age', 'sex'], 2, 'value', 1024, None)
(
  SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
  FROM (
    SELECT ['age'] AS subset, coalesce(sum(records), 0)::BIGINT AS records,
      count(*) AS classes, count(*)::DOUBLE AS reidentifications, coalesce(sum(records * (class_size - 1)::HUGEINT), 0)::HUGEINT AS pairs_alike,
      coalesce(sum(records) FILTER (class_size = 1), 0)::BIGINT AS unique_records
    FROM (
      SELECT count(*) AS class_size, count(*) AS records
      FROM (
        SELECT reid_source."age"
        FROM query_table('people') AS reid_source
      ) AS reid_source_rows(q1)
      GROUP BY q1
    )
  ) AS reid_counted
)
UNION ALL (
  SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
  FROM (
    SELECT ['sex'] AS subset, coalesce(sum(records), 0)::BIGINT AS records,
      count(*) AS classes, count(*)::DOUBLE AS reidentifications, coalesce(sum(records * (class_size - 1)::HUGEINT), 0)::HUGEINT AS pairs_alike,
      coalesce(sum(records) FILTER (class_size = 1), 0)::BIGINT AS unique_records
    FROM (
      SELECT count(*) AS class_size, count(*) AS records
      FROM (
        SELECT reid_source."sex"
        FROM query_table('people') AS reid_source
      ) AS reid_source_rows(q1)
      GROUP BY q1
    )
  ) AS reid_counted
)
UNION ALL (
  SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
  FROM (
    SELECT ['age', 'sex'] AS subset, coalesce(sum(records), 0)::BIGINT AS records,
      count(*) AS classes, count(*)::DOUBLE AS reidentifications, coalesce(sum(records * (class_size - 1)::HUGEINT), 0)::HUGEINT AS pairs_alike,
      coalesce(sum(records) FILTER (class_size = 1), 0)::BIGINT AS unique_records
    FROM (
      SELECT count(*) AS class_size, count(*) AS records
      FROM (
        SELECT reid_source."age", reid_source."sex"
        FROM query_table('people') AS reid_source
      ) AS reid_source_rows(q1, q2)
      GROUP BY q1, q2
    )
  ) AS reid_counted
)
