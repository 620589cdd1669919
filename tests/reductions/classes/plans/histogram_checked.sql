-- histogram(people, ['age', 'sex'], None, None, 'value', None)  # with the checks
SELECT reid_result.*
FROM (
  SELECT NULL::VARCHAR AS "age", NULL::VARCHAR AS "sex"
  WHERE CASE WHEN ('a' <> 'A' AND 'a' <> 'á' AND 'é' <> concat('e', chr(769))) IS NOT TRUE THEN error('default_collation must be unset, got one by which texts that differ are the same; run RESET default_collation')::BOOLEAN
    ELSE true END AND coalesce(error(reid_refusal('columns', 'quasi-identifiers', ['age', 'sex'], (
    SELECT list(column_name ORDER BY reid_place ASC)
    FROM (
      SELECT *, row_number() OVER () AS reid_place
      FROM (DESCRIBE FROM query_table('people'))
    )
    WHERE true
  )))::BOOLEAN, true)
) AS reid_fallback, LATERAL (
  SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
  FROM (
    SELECT class_size, count(*) AS classes, sum(class_size)::BIGINT AS records,
      NULL::BIGINT AS blank_records
    FROM (
      SELECT count(*) AS class_size
      FROM (
        SELECT "age", "sex"
        FROM query_table('people') AS reid_source
        WHERE CASE WHEN typeof(replace_type(row("age", "sex"), NULL::INTERVAL, NULL::VARCHAR)) <> typeof(row("age", "sex")) THEN error('columns must have values of which equal ones are one value, got an INTERVAL in one of age, sex, of which 1 month equals 30 days; cast it in a view to VARCHAR, or to seconds by epoch(name)')::BOOLEAN
          WHEN regexp_replace(create_sort_key(get_type(row("age", "sex")), 'ASC NULLS LAST')::VARCHAR, 'e\\x01\\x00\\x01\\x01d\\x01\\x00\\x03\\xC8\\x01\\x00(\\x01\\x01C|\\x05POSIX|\\x06binary)\\xFF\\xFF', '', 'gi') <> create_sort_key(get_type(replace_type(replace_type(row("age", "sex"), NULL::VARCHAR, NULL::STRUCT("reid text" VARCHAR)), NULL::STRUCT("reid text" VARCHAR), NULL::VARCHAR)), 'ASC NULLS LAST')::VARCHAR THEN error('columns must distinguish texts that differ, got a collation of its own for one of age, sex; pass a view that has decode(encode(name)) in its place, or where its texts are within a value create_sort_key(name, ''ASC NULLS LAST'')')::BOOLEAN
          ELSE true END
      ) AS reid_source_rows(q1, q2)
      GROUP BY q1, q2
    )
    GROUP BY class_size
  ) AS reid_counted
) AS reid_result
ORDER BY class_size ASC
