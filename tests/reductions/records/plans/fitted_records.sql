-- fitted_records(people, ['age', 'sex'], 0, None, 'value')
SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
FROM (
  WITH reid_distinct AS MATERIALIZED (
    SELECT row_number() OVER () AS id, *
    FROM (
      SELECT q1, q2, count(*) AS records, count(*) AS class_size, list(record) AS members,
        sum(CASE WHEN weight > 0 THEN weight ELSE 'NaN'::DOUBLE END) AS mass
      FROM (
        SELECT row_number() OVER () - 1, 1::DOUBLE, reid_source."age", reid_source."sex"
        FROM query_table('people') AS reid_source
      ) AS reid_source_rows(record, weight, q1, q2)
      GROUP BY q1, q2
    )
  )
  SELECT id AS place, records, class_size, log_expected, []::BIGINT[] AS codes,
    members
  FROM (
    SELECT reid_distinct.*, list_sum(list_sort([m1, m2])) - 1 * total AS log_expected
    FROM reid_distinct CROSS
    JOIN (
      SELECT ln(sum(records)) AS total
      FROM reid_distinct
    )
    JOIN (
      SELECT q1 AS v1, ln(sum(records)) AS m1
      FROM reid_distinct
      GROUP BY q1
    ) AS reid_values_1 ON reid_distinct.q1 IS NOT DISTINCT FROM reid_values_1.v1
    JOIN (
      SELECT q2 AS v2, ln(sum(records)) AS m2
      FROM reid_distinct
      GROUP BY q2
    ) AS reid_values_2 ON reid_distinct.q2 IS NOT DISTINCT FROM reid_values_2.v2
  )
  WHERE (
    SELECT CASE WHEN count(*) * 1400::HUGEINT > least(9e18, regexp_extract(current_setting('memory_limit'), '^[0-9.]+')::DOUBLE * pow(1024, list_position(['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'], regexp_extract(current_setting('memory_limit'), '[A-Za-z]+$')) - 1))::BIGINT THEN error(('memory_limit must be at least ' || (count(*) * 1400::HUGEINT + 999999) // 1000000 || ' MB for ' || count(*) || ' distinct records' || ', got ' || current_setting('memory_limit') || '; raise it (SET memory_limit, --memory-limit or REID_SQL_MEMORY_LIMIT), or pass fewer or coarser columns')::VARCHAR)::BOOLEAN
      ELSE true END
    FROM reid_distinct
  )
) AS reid_counted
