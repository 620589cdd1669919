-- pairs(people, ['age', 'sex'], 'weight', census, 'drop')
SELECT reid_counted.*, reid_left_out.records_dropped, 'drop' AS nulls
FROM (
  WITH reid_classes AS MATERIALIZED (
    SELECT q1, q2, count(*) AS records, count(*) AS class_size, sum(CASE WHEN CASE WHEN try_cast(q3 AS DOUBLE) IS NULL
      AND regexp_full_match(q3::VARCHAR, '\s*[+-]?[0-9.]*,[0-9]+\s*') THEN error('weight must be a number for every record, got text with decimal commas; write numbers with a decimal point, replace(weight, '','', ''.'')::DOUBLE in a view')::DOUBLE
      ELSE try_cast(q3 AS DOUBLE) END >= 0 THEN CASE WHEN try_cast(q3 AS DOUBLE) IS NULL AND regexp_full_match(q3::VARCHAR, '\s*[+-]?[0-9.]*,[0-9]+\s*') THEN error('weight must be a number for every record, got text with decimal commas; write numbers with a decimal point, replace(weight, '','', ''.'')::DOUBLE in a view')::DOUBLE
      ELSE try_cast(q3 AS DOUBLE) END ELSE 'NaN'::DOUBLE END) AS weights
    FROM (
      SELECT reid_source."age", reid_source."sex", reid_source."weight"
      FROM query_table('people') AS reid_source
      WHERE reid_source."age" IS NOT NULL AND reid_source."sex" IS NOT NULL AND reid_source."weight" IS NOT NULL
    ) AS reid_source_rows(q1, q2, q3)
    GROUP BY q1, q2
  ),
  reid_sized AS (
    SELECT row_number() OVER () AS line, kind, coalesce(first, 0) AS first,
      coalesce(second, 0) AS second, label, first_value, second_value, coalesce(class_size, 0) AS class_size,
      log_expected, coalesce(records, 0) AS records, weight, draw_order, texts
    FROM (
      SELECT 'class size' AS kind, class_size, sum(records)::BIGINT AS records
      FROM reid_classes
      GROUP BY class_size
      UNION ALL BY NAME
      FROM (
        SELECT 'value' AS kind, 1::BIGINT AS first, 'age' AS label, CASE WHEN regexp_matches(regexp_replace(typeof(q1), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g'), '\b(UNION|VARIANT)\b') THEN error(('columns of a model must be of types whose values differ as texts, got ' || regexp_replace(typeof(q1), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g') || '; cast the column in a view')::VARCHAR)::VARCHAR
          ELSE q1::VARCHAR END AS first_value, sum(records)::BIGINT AS records,
          sum(weights) AS weight
        FROM reid_classes
        GROUP BY q1
        UNION ALL
        SELECT 'value' AS kind, 2::BIGINT AS first, 'sex' AS label, CASE WHEN regexp_matches(regexp_replace(typeof(q2), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g'), '\b(UNION|VARIANT)\b') THEN error(('columns of a model must be of types whose values differ as texts, got ' || regexp_replace(typeof(q2), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g') || '; cast the column in a view')::VARCHAR)::VARCHAR
          ELSE q2::VARCHAR END AS first_value, sum(records)::BIGINT AS records,
          sum(weights) AS weight
        FROM reid_classes
        GROUP BY q2
      )
      UNION ALL BY NAME
      FROM (
        SELECT 'pair' AS kind, 1::BIGINT AS first, 2::BIGINT AS second, q1::VARCHAR AS first_value,
          q2::VARCHAR AS second_value, sum(records)::BIGINT AS records, sum(weights) AS weight
        FROM reid_classes
        GROUP BY q1, q2
      )
      UNION ALL BY NAME
      SELECT 'marginal share' AS kind, coalesce(list_position(['age', 'sex'], translate(q1::VARCHAR, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')), 0)::BIGINT AS first,
        q1::VARCHAR AS label, q2::VARCHAR AS first_value, coalesce(try_cast(q3 AS DOUBLE), 'NaN'::DOUBLE) AS weight
      FROM (
        FROM (
          SELECT reid_source."column_name", reid_source."value", reid_source."share"
          FROM query_table('census') AS reid_source
        ) AS reid_source_rows(q1, q2, q3)
      ) AS reid_given(q1, q2, q3)
      WHERE q2 IS NOT NULL
      UNION ALL BY NAME
      SELECT NULL::VARCHAR AS kind, NULL::BIGINT AS first, NULL::BIGINT AS second,
        NULL::VARCHAR AS label, NULL::VARCHAR AS first_value, NULL::VARCHAR AS second_value,
        NULL::BIGINT AS class_size, NULL::DOUBLE AS log_expected, NULL::BIGINT AS records,
        NULL::DOUBLE AS weight, NULL::DOUBLE AS draw_order, NULL::VARCHAR[] AS texts
      WHERE false
    )
  )
  FROM reid_sized
) AS reid_counted, (
  SELECT count(*)
  FROM query_table('people') AS reid_source
  WHERE reid_source."age" IS NULL OR reid_source."sex" IS NULL OR reid_source."weight" IS NULL
) AS reid_left_out(records_dropped)
