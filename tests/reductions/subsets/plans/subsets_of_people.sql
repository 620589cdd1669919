-- subsets(people, ['age', 'sex'], 2, 'value', 1024, 'person')
(
  SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
  FROM (
    SELECT ['age'] AS subset, count(*) AS records, coalesce(sum(classes), 0)::BIGINT AS classes,
      coalesce(sum(1::DOUBLE / class_size), 0) AS reidentifications, coalesce(sum((class_size - 1)::HUGEINT), 0)::HUGEINT AS pairs_alike,
      count(*) FILTER (class_size = 1) AS unique_records
    FROM (
      SELECT min(class_size) AS class_size, count(*) FILTER (place = 1) AS classes
      FROM (
        SELECT entity, count(*) OVER (PARTITION BY q1) AS class_size, row_number() OVER (PARTITION BY q1) AS place
        FROM (
          SELECT q1, q2 AS entity, count(*) AS records
          FROM (
            SELECT reid_source."age", reid_source."person"
            FROM query_table('people') AS reid_source
          ) AS reid_source_rows(q1, q2)
          GROUP BY q1, q2
        )
      )
      GROUP BY entity
    )
  ) AS reid_counted
)
UNION ALL (
  SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
  FROM (
    SELECT ['sex'] AS subset, count(*) AS records, coalesce(sum(classes), 0)::BIGINT AS classes,
      coalesce(sum(1::DOUBLE / class_size), 0) AS reidentifications, coalesce(sum((class_size - 1)::HUGEINT), 0)::HUGEINT AS pairs_alike,
      count(*) FILTER (class_size = 1) AS unique_records
    FROM (
      SELECT min(class_size) AS class_size, count(*) FILTER (place = 1) AS classes
      FROM (
        SELECT entity, count(*) OVER (PARTITION BY q1) AS class_size, row_number() OVER (PARTITION BY q1) AS place
        FROM (
          SELECT q1, q2 AS entity, count(*) AS records
          FROM (
            SELECT reid_source."sex", reid_source."person"
            FROM query_table('people') AS reid_source
          ) AS reid_source_rows(q1, q2)
          GROUP BY q1, q2
        )
      )
      GROUP BY entity
    )
  ) AS reid_counted
)
UNION ALL (
  SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
  FROM (
    SELECT ['age', 'sex'] AS subset, count(*) AS records, coalesce(sum(classes), 0)::BIGINT AS classes,
      coalesce(sum(1::DOUBLE / class_size), 0) AS reidentifications, coalesce(sum((class_size - 1)::HUGEINT), 0)::HUGEINT AS pairs_alike,
      count(*) FILTER (class_size = 1) AS unique_records
    FROM (
      SELECT min(class_size) AS class_size, count(*) FILTER (place = 1) AS classes
      FROM (
        SELECT entity, count(*) OVER (PARTITION BY q1, q2) AS class_size,
          row_number() OVER (PARTITION BY q1, q2) AS place
        FROM (
          SELECT q1, q2, q3 AS entity, count(*) AS records
          FROM (
            SELECT reid_source."age", reid_source."sex", reid_source."person"
            FROM query_table('people') AS reid_source
          ) AS reid_source_rows(q1, q2, q3)
          GROUP BY q1, q2, q3
        )
      )
      GROUP BY entity
    )
  ) AS reid_counted
)
