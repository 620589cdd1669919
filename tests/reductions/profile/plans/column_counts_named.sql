-- column_counts(people, ['age', 'sex'])
SELECT reid_counted.*, 0::BIGINT AS records_dropped, 'value' AS nulls
FROM (
  WITH reid_marked AS (
    SELECT *, coalesce(lower(trim(t)) IN ('', '?', '??', '???', '-', '--', '---', '.', '..', '*', '#', 'xxx', 'na', 'n/a', 'n.a.', '#n/a', '<na>', 'nan', 'null', '<null>', '(null)', '\n', 'unknown', 'unk', 'not known', 'unspecified', 'not specified', 'undefined', 'undetermined', 'missing', 'not available', 'not applicable', 'not stated', 'not given', 'not reported', 'no answer', 'refused', 'don''t know', 'dont know', 'tbd', 'tba')
      OR number IN ('9', '99', '999', '9999', '99999', '999999', '9999999', '99999999', '999999999', '9999999999', '97', '98', '997', '998', '9997', '9998', '-1', '-9', '-99', '-999', '-9999', '-99999', '-999999', '-9999999', '-99999999', '-999999999', '-9999999999')
      OR (substr(t, 1, 10) IN ('0000-00-00', '0001-01-01', '1899-12-30', '1899-12-31', '1900-00-00', '1900-01-01', '9999-01-01', '9999-12-31', '9999-99-99')
      AND NOT ends_with(t, '(BC)')), false) AS marked
    FROM (
      SELECT *, CASE WHEN regexp_full_match(t, '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?') THEN try_cast(t AS DOUBLE) END AS number
      FROM (
        SELECT 'age' AS reid_name, q1::VARCHAR AS t, count(*) AS n
        FROM (
          SELECT reid_source."age"
          FROM query_table('people') AS reid_source
        ) AS reid_source_rows(q1)
        GROUP BY q1
        UNION ALL
        SELECT 'sex' AS reid_name, q1::VARCHAR AS t, count(*) AS n
        FROM (
          SELECT reid_source."sex"
          FROM query_table('people') AS reid_source
        ) AS reid_source_rows(q1)
        GROUP BY q1
      )
    )
  )
  SELECT place, any_value(column_name) AS column_name, any_value(kind) AS column_type,
    coalesce(sum(n), 0)::BIGINT AS records, coalesce(sum(n) FILTER (t IS NULL), 0)::BIGINT AS missing,
    count(t) AS distinct_values, coalesce(sum(n) FILTER (n = 1), 0)::BIGINT AS unique_records,
    coalesce(sum(n::HUGEINT * (n - 1)), 0)::HUGEINT AS pairs_alike, coalesce(sum(n * ln(n) ORDER BY n) FILTER (n > 1), 0)::DOUBLE AS n_log_n,
    count(number) FILTER (NOT marked) AS numbers, count(number) FILTER (NOT marked AND number = floor(number)) AS whole,
    coalesce(min(number) FILTER (NOT marked), 0)::DOUBLE AS least, coalesce(max(number) FILTER (NOT marked), 0)::DOUBLE AS greatest,
    count(*) FILTER (NOT marked AND regexp_full_match(t, '[0-9]{4}-[0-9]{2}-[0-9]{2}([ T].*)?|[0-9]{4}/[0-9]{1,2}/[0-9]{1,2}|[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{4}')) AS dates,
    count(*) FILTER (NOT marked AND regexp_full_match(t, '0[0-9]+')) AS padded,
    count(*) FILTER (NOT marked AND length(t) - length(replace(t, ' ', '')) > 1) AS spaced,
    coalesce(min(length(t)) FILTER (NOT marked), 0)::BIGINT AS shortest, coalesce(max(length(t)) FILTER (NOT marked), 0)::BIGINT AS longest,
    coalesce(sum(length(t)) FILTER (NOT marked), 0)::BIGINT AS letters, coalesce(list((n::VARCHAR || ':' || t)::VARCHAR) FILTER (marked), []::VARCHAR[]) AS candidates
  FROM (
    SELECT column_name, CASE WHEN regexp_full_match(column_type, '(?s).*\]') THEN 'other' WHEN regexp_full_match(column_type, 'U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|BIGNUM') THEN 'integer'
      WHEN regexp_full_match(column_type, 'DECIMAL.*') THEN 'decimal' WHEN regexp_full_match(column_type, 'FLOAT|DOUBLE') THEN 'float'
      WHEN regexp_full_match(column_type, 'BOOLEAN') THEN 'boolean' WHEN regexp_full_match(column_type, 'DATE') THEN 'date'
      WHEN regexp_full_match(column_type, 'TIMESTAMP.*') THEN 'timestamp' WHEN regexp_full_match(column_type, 'TIME.*') THEN 'time'
      WHEN regexp_full_match(column_type, '(?s)VARCHAR|UUID|JSON|ENUM.*') THEN 'text' ELSE 'other' END AS kind,
      place
    FROM (
      SELECT column_name, column_type, list_position(['age', 'sex'], translate(column_name, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')) AS place
      FROM (DESCRIBE FROM query_table('people'))
    )
    WHERE place > 0
  )
  LEFT JOIN reid_marked ON translate(column_name, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') = translate(reid_name, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')
  GROUP BY place
) AS reid_counted
