-- weighted_records(people, ['age', 'sex'], None, 'home', None, 'value')
SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
FROM (
  WITH reid_distinct AS MATERIALIZED (
    SELECT row_number() OVER () AS id, *
    FROM (
      SELECT q1, q2, count(*) AS records, count(*) AS class_size, list({'record': record, 'household': household}) AS members,
        sum(CASE WHEN weight > 0 THEN weight ELSE 'NaN'::DOUBLE END) AS mass
      FROM (
        SELECT row_number() OVER () - 1, 1::DOUBLE, CASE WHEN lower("home"::VARCHAR) = 'nan' THEN NULL
          ELSE "home" END, reid_source."age", reid_source."sex"
        FROM query_table('people') AS reid_source
      ) AS reid_source_rows(record, weight, household, q1, q2)
      GROUP BY q1, q2
    )
  )
  SELECT id AS place, records, class_size, mass, log_expected, members
  FROM (
    SELECT *, NULL::DOUBLE AS log_expected
    FROM reid_distinct
  )
  WHERE (
    SELECT CASE WHEN count(*) * 600::DOUBLE > (regexp_extract(current_setting('memory_limit'), '^[0-9.]+')::DOUBLE * pow(1024, list_position(['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'], regexp_extract(current_setting('memory_limit'), '[A-Za-z]+$')) - 1)) THEN error(('memory_limit must be at least ' || (count(*) * 600::HUGEINT + 999999) // 1000000 || ' MB for ' || count(*) || ' distinct records, got ' || current_setting('memory_limit') || '; run SET memory_limit, or pass fewer or coarser columns')::VARCHAR)::BOOLEAN
      ELSE true END
    FROM reid_distinct
  )
) AS reid_counted
